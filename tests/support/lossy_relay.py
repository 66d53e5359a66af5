"""A relay of UDP between the two ends of a call, which loses packets and delays each differently.

Both ends are told the relay's addresses in the place of each other's, in the offer and its answer.
"""

from __future__ import annotations

import asyncio
import random
import re
import threading

_CANDIDATE = re.compile(r"^a=candidate:.*\r?\n", re.M)
_ADDRESS = re.compile(
    r"^a=candidate:\S+ 1 udp \S+ (127\.0\.0\.1|\d+\.\d+\.\d+\.\d+) (\d+) ", re.M | re.I
)

_APPLICATION_DATA = 23
"""The first byte of DTLS's packets that carry what the data channel says."""


class _Side(asyncio.DatagramProtocol):
    """The socket that one end sends to."""

    def __init__(self, relay: LossyRelay) -> None:
        self._relay = relay
        self.transport: asyncio.DatagramTransport | None = None
        self.end: tuple[str, int] | None = None
        """Where that end is."""
        self.other: _Side | None = None

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self.end = addr
        if self.other is not None:
            self._relay.pass_on(data, self.other)


class LossyRelay:
    """One call's. Used with `with`.

    Args:
        loss: probability that a packet is lost.
        jitter_s: each is delayed by up to so much.
    """

    def __init__(self, loss: float, jitter_s: float) -> None:
        self._loss, self._jitter_s = loss, jitter_s
        self._random = random.Random(21)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._server, self._client = _Side(self), _Side(self)
        self._server.other, self._client.other = self._client, self._server
        self.lost = 0
        self.passed = 0
        self.cut = False
        """Nothing passes any more."""

    def __enter__(self) -> LossyRelay:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._open(), self._loop).result()
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def offer(self, sdp: str) -> str:
        """As the server is to see it: the client is here."""
        return _through(sdp, self._port(self._server))

    def answer(self, sdp: str) -> str:
        """As the client is to see it: the server is here."""
        found = _ADDRESS.search(sdp)
        assert found is not None, sdp
        self._server.end = (found[1], int(found[2]))
        return _through(sdp, self._port(self._client))

    def pass_on(self, data: bytes, side: _Side) -> None:
        """Send on what came, later or never; what sets up the connection is late, but not lost."""
        if self.cut:
            return
        sound, messages = 128 <= data[0] < 192, data[0] == _APPLICATION_DATA
        if (sound or messages) and self._random.random() < self._loss:
            self.lost += 1
            return
        self.passed += 1
        self._loop.call_later(self._random.random() * self._jitter_s, self._send, data, side)

    def _send(self, data: bytes, side: _Side) -> None:
        if side.transport is not None and side.end is not None:
            side.transport.sendto(data, side.end)

    async def _open(self) -> None:
        for side in (self._server, self._client):
            side.transport, _ = await self._loop.create_datagram_endpoint(
                lambda side=side: side, ("127.0.0.1", 0)
            )

    async def _close(self) -> None:
        for side in (self._server, self._client):
            if side.transport is not None:
                side.transport.close()

    def _port(self, side: _Side) -> int:
        assert side.transport is not None
        return int(side.transport.get_extra_info("sockname")[1])


def _through(sdp: str, port: int) -> str:
    """`sdp` with one candidate alone in each part."""
    bare = _CANDIDATE.sub("", sdp)
    one = f"a=candidate:1 1 udp 2130706431 127.0.0.1 {port} typ host\r\n"
    return re.sub(r"^(m=.*\r?\nc=.*\r?\n)", rf"\g<1>{one}", bare, flags=re.M)
