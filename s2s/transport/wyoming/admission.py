"""Who may come in. The protocol has no keys, so it goes by addresses:
docs/decisions/wyoming-has-no-keys.md.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from s2s.transport.wyoming.config import PRIVATE, WyomingConfig, network_of


@dataclass(frozen=True, slots=True)
class Admission:
    """The rule of one server."""

    everybody: bool
    private: bool
    networks: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]

    @classmethod
    def of(cls, config: WyomingConfig) -> Admission:
        """As configured.

        Raises:
            ValueError: other machines reach the server, and nothing says who may.
        """
        if not (config.allow or config.insecure or _is_loopback(config.host)):
            raise ValueError(
                f"listening on {config.host} lets other machines in, and the Wyoming protocol has "
                "no keys: name who may come in (--allow ADDRESS of Home Assistant, or --allow "
                "private for your own network), or say --insecure to serve everybody."
            )
        networks = tuple(network_of(each) for each in config.allow if each != PRIVATE)
        return cls(config.insecure, PRIVATE in config.allow, networks)

    def admits(self, address: str) -> bool:
        """Whether a client of this address is let in; this machine's own always are."""
        try:
            found = ipaddress.ip_address(address.partition("%")[0])
        except ValueError:
            return self.everybody
        if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is not None:
            found = found.ipv4_mapped
        if self.everybody or found.is_loopback or (self.private and found.is_private):
            return True
        return any(found in network for network in self.networks)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
