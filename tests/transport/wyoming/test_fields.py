"""What stands in events, before it is believed."""

from __future__ import annotations

import pytest
from wyoming.event import Event

from s2s.transport.wyoming import fields
from s2s.transport.wyoming.framing import WireFault


@pytest.mark.parametrize(
    ("value", "code"),
    [("de", "de"), ("de-DE", "de"), ("zh_CN", "zh"), (" EN ", "en"), ("", None), (3, None)],
)
def test_languages_are_their_codes(value: object, code: str | None) -> None:
    assert fields.language(Event("x", {"language": value})) == code


def test_a_text_is_there_and_not_too_long() -> None:
    assert fields.text(Event("x", {"text": "abc"}), "text", 3) == "abc"
    with pytest.raises(WireFault, match="x needs a text `text`"):
        fields.text(Event("x"), "text", 3)
    with pytest.raises(WireFault, match="4 characters; 3"):
        fields.text(Event("x", {"text": "abcd"}), "text", 3)


def test_what_is_of_another_kind_is_not_there() -> None:
    event = Event("x", {"context": 1, "names": [1, "a"], "voice": []})
    assert fields.context(event) == {}
    assert fields.names(event, "names") == ("a",)
    assert fields.names(event, "none") == ()
    assert fields.voice(event) == {}
