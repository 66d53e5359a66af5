"""Addresses, files and paths are said sign by sign, without what nobody wants to hear."""

from __future__ import annotations

import pytest

from s2s.tts.text.addresses import read_addresses
from s2s.tts.text.names import SIGN_NAMES
from tests.support.rewriting import rewritten


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("See https://www.example.org/a/b?x=1#y.", "See example dot org slash a slash b."),
        (
            "Write to jane.doe@mail.example.com!",
            "Write to jane dot doe at mail dot example dot com!",
        ),
        ("Open /etc/hosts now", "Open slash etc slash hosts now"),
        ("C:\\Users\\me\\x.txt", "C colon backslash Users backslash me backslash x dot txt"),
        ("edit main.py", "edit main dot P Y"),
        ("setup.cfg, please", "setup dot cfg, please"),
        ("~/notes/todo.md", "tilde slash notes slash todo dot M D"),
        ("example.com", "example dot com"),
    ],
)
def test_an_address_is_said(text: str, said: str) -> None:
    assert rewritten(read_addresses, text, SIGN_NAMES["en"]) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("and/or", "and/or"),
        ("The end.Next", "The end.Next"),
        ("It is 3.5 m.", "It is 3.5 m."),
    ],
)
def test_what_is_none_stays(text: str, said: str) -> None:
    assert rewritten(read_addresses, text, SIGN_NAMES["en"]) == said


def test_signs_have_the_names_of_the_language() -> None:
    assert rewritten(read_addresses, "a.b@beispiel.de", SIGN_NAMES["de"]) != rewritten(
        read_addresses, "a.b@beispiel.de", SIGN_NAMES["en"]
    )


@pytest.mark.parametrize("login", ["bob", "bob:secret", "bob:sec@ret", "bob.e:secret.x"])
@pytest.mark.parametrize("scheme", ["ftp", "https", "ssh"])
def test_who_logs_in_and_the_password_are_not_said(scheme: str, login: str) -> None:
    said = rewritten(read_addresses, f"See {scheme}://{login}@files.net/x now.", SIGN_NAMES["en"])
    assert said.split() == ["See", "files", "dot", "net", "slash", "x", "now."]
