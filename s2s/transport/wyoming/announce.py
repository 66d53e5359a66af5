"""Tells the local network where the server is, so that Home Assistant offers it by itself."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from zeroconf import InterfaceChoice
from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

SERVICE = "_wyoming._tcp.local."


def service_info(name: str, port: int, addresses: Sequence[str]) -> AsyncServiceInfo:
    """What is told.

    Args:
        name: of the server; two in one network are told apart by the machine's name.
        addresses: of this machine, as others reach it.
    """
    host = socket.gethostname().partition(".")[0] or "s2s"
    return AsyncServiceInfo(
        SERVICE,
        f"{name} on {host}.{SERVICE}",
        port=port,
        addresses=[ipaddress.ip_address(each).packed for each in addresses],
        server=f"{host}.local.",
    )


@asynccontextmanager
async def announced(
    info: AsyncServiceInfo, interfaces: InterfaceChoice | list[str] = InterfaceChoice.All
) -> AsyncGenerator[None]:
    """Inside, the network is told; at the end it is told that it is no more.

    Raises:
        OSError: there is no network to tell.
    """
    zeroconf = AsyncZeroconf(interfaces=interfaces)
    try:
        # The types of what this gives are unknown: it is awaited twice, until the network was told.
        await (await zeroconf.async_register_service(info, allow_name_change=True))  # pyright: ignore[reportUnknownMemberType]
        yield
    finally:
        await asyncio.shield(zeroconf.async_unregister_all_services())
        await zeroconf.async_close()
