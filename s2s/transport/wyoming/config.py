"""Settings of the Wyoming server."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from s2s.core.setting import made_setting, setting
from s2s.transport.wyoming.satellite.config import SatelliteConfig

PRIVATE = "private"
"""In a list of who is let in: every address that is no public one, of one's own network mostly."""


@dataclass(frozen=True, slots=True)
class WyomingConfig:
    """Where the Wyoming protocol is served, to whom, and how much is taken from a client."""

    enabled: bool = setting(False, "`serve` serves the Wyoming protocol too.")
    host: str = setting(
        "127.0.0.1",
        "Address to listen on; 0.0.0.0 is every network of this machine, and asks for `allow`.",
    )
    port: int = setting(10_800, "Port to listen on; 0 takes a free one.")
    allow: tuple[str, ...] = setting(
        (),
        "Who is let in beside this machine, as the protocol has no keys: addresses, networks such "
        "as 192.168.1.0/24, or `private`, which is every private address.",
    )
    insecure: bool = setting(False, "Serve every machine that reaches this one.")
    zeroconf: bool = setting(
        True, "Tell the network where the server is, so that Home Assistant finds it."
    )
    name: str = setting("s2s", "What it is called there.")
    max_connections: int = setting(32, "Connections at a time; who comes beyond is told.")
    max_payload_bytes: int = setting(16 * 1024 * 1024, "Longest sound in one event.")
    max_audio_s: float = setting(300.0, "Longest sound to be written down.")
    max_text_chars: int = setting(20_000, "Longest text to be spoken or answered.")
    partials: bool = setting(True, "Words are told while they are said, once they are certain.")
    conversations: int = setting(64, "Conversations that are kept for more questions.")
    idle_s: float = setting(600.0, "A client that says nothing for so long is gone.")
    slow_reader_s: float = setting(15.0, "So is one that takes nothing for so long.")
    satellite: SatelliteConfig = made_setting(
        SatelliteConfig, "This machine's microphone and loudspeaker, for Home Assistant."
    )

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65_535:
            raise ValueError(f"port must be 0 to 65535, got {self.port}")
        counts = {
            "max_connections": self.max_connections,
            "max_payload_bytes": self.max_payload_bytes,
            "max_audio_s": self.max_audio_s,
            "max_text_chars": self.max_text_chars,
            "conversations": self.conversations,
            "idle_s": self.idle_s,
            "slow_reader_s": self.slow_reader_s,
        }
        for name, value in counts.items():
            if value <= 0:
                raise ValueError(f"{name} must be positive, got {value}")
        for each in self.allow:
            if each != PRIVATE:
                network_of(each)


def network_of(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    """The addresses that an entry of `allow` stands for.

    Raises:
        ValueError: it is none.
    """
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError as error:
        raise ValueError(
            f"allow: {text!r} is no address, no network such as 192.168.1.0/24, and not `{PRIVATE}`"
        ) from error
