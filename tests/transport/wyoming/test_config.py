"""Settings of the Wyoming server that cannot be."""

from __future__ import annotations

import ipaddress

import pytest

from s2s.transport.wyoming.config import WyomingConfig, network_of


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("port", 70_000, "0 to 65535"),
        ("max_connections", 0, "max_connections must be positive, got 0"),
        ("max_audio_s", -1.0, "max_audio_s"),
        ("allow", ("home",), "'home' is no address"),
    ],
)
def test_a_wrong_value_is_named(name: str, value: object, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        WyomingConfig(**{name: value})  # pyright: ignore[reportArgumentType]


def test_an_address_is_a_network_of_one() -> None:
    assert network_of("192.168.1.7").num_addresses == 1
    assert network_of("192.168.1.7/24") == ipaddress.ip_network("192.168.1.0/24")
    assert WyomingConfig(allow=("private", "fd00::/8")).allow
