"""Who may come in, by address."""

from __future__ import annotations

import pytest

from s2s.transport.wyoming.admission import Admission
from s2s.transport.wyoming.config import WyomingConfig


def admits(address: str, **config: object) -> bool:
    made = WyomingConfig(host="0.0.0.0", **config)  # pyright: ignore[reportArgumentType]
    return Admission.of(made).admits(address)


def test_a_server_for_others_must_say_for_whom() -> None:
    with pytest.raises(ValueError, match="--allow private"):
        Admission.of(WyomingConfig(host="0.0.0.0"))
    for host in ("127.0.0.1", "localhost", "::1"):
        assert Admission.of(WyomingConfig(host=host)).admits("127.0.0.1")


@pytest.mark.parametrize(
    ("address", "allow", "let_in"),
    [
        ("192.168.1.7", ("192.168.1.7",), True),
        ("192.168.1.8", ("192.168.1.7",), False),
        ("192.168.1.8", ("192.168.1.0/24",), True),
        ("192.168.2.8", ("192.168.1.0/24", "10.0.0.0/8"), False),
        ("10.1.2.3", ("private",), True),
        ("fd00::1", ("private",), True),
        ("fe80::1%eth0", ("private",), True),
        ("8.8.8.8", ("private",), False),
        ("::ffff:192.168.1.7", ("192.168.1.7",), True),
        ("127.0.0.1", ("192.168.1.7",), True),
        ("no address", ("private",), False),
    ],
)
def test_addresses_and_networks_are_let_in(
    address: str, allow: tuple[str, ...], let_in: bool
) -> None:
    assert admits(address, allow=allow) is let_in


def test_insecure_lets_everybody_in() -> None:
    assert admits("8.8.8.8", insecure=True)
    assert admits("no address", insecure=True)
