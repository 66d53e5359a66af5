"""What people write for the address of a server, and what it is."""

from __future__ import annotations

import pytest

from s2s.transport.remote.address import LinkError, LinkLost, realtime_address


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("kitchen", "ws://kitchen:8765/v1/realtime"),
        ("kitchen:9000", "ws://kitchen:9000/v1/realtime"),
        ("ws://kitchen", "ws://kitchen:8765/v1/realtime"),
        ("http://kitchen:8765/v1", "ws://kitchen:8765/v1/realtime"),
        ("http://kitchen:8765/", "ws://kitchen:8765/v1/realtime"),
        ("https://kitchen", "wss://kitchen/v1/realtime"),
        ("wss://kitchen:8765/v1/realtime/", "wss://kitchen:8765/v1/realtime"),
        ("ws://kitchen/behind/a/proxy?model=x", "ws://kitchen:8765/behind/a/proxy?model=x"),
        ("  192.168.1.7:8765 ", "ws://192.168.1.7:8765/v1/realtime"),
        ("ws://[fe80::1]:8765", "ws://[fe80::1]:8765/v1/realtime"),
    ],
)
def test_an_address_is_completed(text: str, address: str) -> None:
    assert realtime_address(text) == address
    assert realtime_address(address) == address


@pytest.mark.parametrize("text", ["", "ftp://kitchen", "ws://", "kitchen:port", "ws://a:99999"])
def test_what_is_no_address_is_refused_with_how_one_looks(text: str) -> None:
    with pytest.raises(LinkError, match="ws://host:8765") as caught:
        realtime_address(text)
    assert not isinstance(caught.value, LinkLost), "it will never work"


def test_a_key_in_an_address_is_refused_and_not_shown() -> None:
    with pytest.raises(LinkError, match="--api-key") as caught:
        realtime_address("ws://user:secret@kitchen")
    assert "secret" not in str(caught.value)
