"""What the network is told of the server, and that another in it finds it."""

from __future__ import annotations

import asyncio

from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

from s2s.transport.wyoming.announce import SERVICE, announced, service_info


def test_the_service_is_the_one_that_home_assistant_looks_for() -> None:
    info = service_info("s2s", 10_800, ["192.168.1.7", "fd00::1"])
    assert info.type == "_wyoming._tcp.local."
    assert info.name.startswith("s2s on ")
    assert info.port == 10_800
    assert info.parsed_addresses() == ["192.168.1.7", "fd00::1"]


def test_another_machine_of_the_network_finds_it() -> None:
    async def main() -> tuple[int | None, list[str]]:
        info = service_info("test", 1234, ["127.0.0.1"])
        async with announced(info, ["127.0.0.1"]):
            other = AsyncZeroconf(interfaces=["127.0.0.1"])
            try:
                found = AsyncServiceInfo(SERVICE, info.name)
                assert await found.async_request(other.zeroconf, 20_000)
                return found.port, found.parsed_addresses()
            finally:
                await other.async_close()

    assert asyncio.run(main()) == (1234, ["127.0.0.1"])
