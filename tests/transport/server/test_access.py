"""Who may come in."""

from __future__ import annotations

import socket

import pytest

from s2s.transport.server.access import Access, is_loopback, same, sent_key, sub_protocols
from s2s.transport.server.config import ServeConfig
from s2s.transport.server.reply import ApiError


@pytest.mark.parametrize(
    ("headers", "key"),
    [
        ({}, None),
        ({"authorization": "Bearer abc"}, "abc"),
        ({"authorization": "bearer  abc "}, "abc"),
        ({"authorization": "Basic abc"}, None),
        ({"authorization": "Bearer "}, None),
        ({"x-api-key": "abc"}, "abc"),
        ({"api-key": "abc"}, "abc"),
        ({"sec-websocket-protocol": "realtime, openai-insecure-api-key.a.b"}, "a.b"),
        ({"sec-websocket-protocol": "realtime"}, None),
    ],
)
def test_a_key_comes_in_a_header_or_among_the_sub_protocols(
    headers: dict[str, str], key: str | None
):
    assert sent_key(headers) == key


def test_sub_protocols_are_read_as_they_are_offered():
    assert sub_protocols({"sec-websocket-protocol": " realtime ,x,, y"}) == ["realtime", "x", "y"]
    assert sub_protocols({}) == []


def test_secrets_are_equal_or_not():
    assert same("käse", "käse")
    assert not same("käse", "kase")
    assert not same("", "a")


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True),
     ("0.0.0.0", False), ("::", False), ("192.168.1.2", False), ("example.org", False)],
)  # fmt: skip
def test_what_nobody_else_reaches(host: str, loopback: bool):
    assert is_loopback(host) is loopback


def test_other_machines_come_in_with_a_key_or_because_it_was_said():
    everywhere = ServeConfig(host="0.0.0.0")
    with pytest.raises(ValueError, match=r"S2S_API_KEY.*--insecure"):
        Access.of(everywhere, None)
    assert Access.of(everywhere, "k").key == "k"
    assert Access.of(ServeConfig(host="0.0.0.0", insecure=True), None).key is None
    assert Access.of(ServeConfig(), None).key is None


def refused(access: Access, headers: dict[str, str], **options: bool) -> str | None:
    """The code of the refusal; None: let in."""
    try:
        access.check({"host": "127.0.0.1:8765"} | headers, **options)
    except ApiError as error:
        return error.code
    return None


def test_the_key_is_asked_for():
    access = Access("secret")
    assert refused(access, {}) == "missing_api_key"
    assert refused(access, {"authorization": "Bearer secre"}) == "invalid_api_key"
    assert refused(access, {"authorization": "Bearer secret"}) is None
    assert refused(access, {}, needs_key=False) is None
    assert refused(Access(None), {"authorization": "Bearer anything"}) is None


@pytest.mark.parametrize(
    ("host", "code"),
    [
        ("127.0.0.1:8765", None),
        ("localhost:8765", None),
        ("LOCALHOST", None),
        ("[::1]:8765", None),
        ("192.168.7.7:8765", None),
        (socket.gethostname(), None),
        ("talk.example.org", None),
        ("evil.example.com:8765", "host_not_allowed"),
        ("localhost.evil.com", "host_not_allowed"),
        ("", "host_not_allowed"),
        ("[::1", "host_not_allowed"),
    ],
)
def test_without_a_key_only_names_of_this_machine_are_answered(host: str, code: str | None):
    """A stranger's name that points here is how a page gets around the rules of browsers."""
    assert refused(Access(None, hosts=("talk.example.org",)), {"host": host}) == code
    assert refused(Access("k"), {"host": host, "authorization": "Bearer k"}) is None


@pytest.mark.parametrize(
    ("origin", "code"),
    [
        (None, None),
        ("http://127.0.0.1:8765", None),
        ("http://127.0.0.1:9999", "origin_not_allowed"),
        ("http://evil.example.com", "origin_not_allowed"),
        ("null", "origin_not_allowed"),
        ("", "origin_not_allowed"),
        ("https://friend.example.org", None),
    ],
)
def test_pages_of_others_are_refused(origin: str | None, code: str | None):
    access = Access(None, origins=("https://friend.example.org",))
    headers = {} if origin is None else {"origin": origin}
    assert refused(access, headers) == code
    assert refused(Access(None, origins=("*",)), headers) is None
