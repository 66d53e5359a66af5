"""One call: a peer connection, its data channel, its sound both ways, and the session behind."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
from collections.abc import Awaitable, Callable

from aiortc import (
    RTCConfiguration,
    RTCDataChannel,
    RTCIceServer,
    RTCPeerConnection,
    RTCSessionDescription,
)
from aiortc.mediastreams import MediaStreamTrack

from s2s.transport.server.config import ServeConfig
from s2s.transport.webrtc.channel import ChannelSocket
from s2s.transport.webrtc.packet_order import order_packets
from s2s.transport.webrtc.tracks import WebRtcSound

log = logging.getLogger(__name__)

CHANNEL = "oai-events"
CONNECT_S = 30.0
"""A client whose channel is not there after so long does not come."""
GRACE_S = 5.0
"""A connection that broke off may come back for so long."""
FAREWELL_S = 1.0
"""A client has so long to agree that the channel closes, before the connection does."""

Serve = Callable[[ChannelSocket, WebRtcSound], Awaitable[None]]
"""Holds the conversation of a call whose channel is open."""


PACKET_MS = 40
"""What a client is asked to send at a time: half of the packets of the usual 20, half of the work
(docs/decisions/cpu-of-a-call.md)."""


class BadOffer(ValueError):
    """What the client offers cannot be answered. The message says why."""


_AUDIO = re.compile(r"^m=audio .*\r\n(?:c=.*\r\n)?", re.M)
"""The lines of an answer behind which those about sound stand."""


class PeerCall:
    """One of them, on one event loop.

    Args:
        socket: its events.
        serve: holds its conversation.
    """

    def __init__(self, config: ServeConfig, socket: ChannelSocket, serve: Serve) -> None:
        self.call_id = f"rtc_{secrets.token_hex(12)}"
        self.socket = socket
        self.sound = WebRtcSound()
        self._serve = serve
        order_packets()
        servers = [RTCIceServer(urls=list(config.ice_servers))] if config.ice_servers else []
        self._peer = RTCPeerConnection(RTCConfiguration(iceServers=servers))
        self._opened = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._grace: asyncio.TimerHandle | None = None
        self._peer.on("datachannel", self._on_channel)
        self._peer.on("track", self._on_track)
        self._peer.on("connectionstatechange", self._on_state)

    async def answer(self, offer: str) -> str:
        """The answer to the client's offer, both SDP.

        Raises:
            BadOffer: it cannot be answered.
        """
        if "m=audio" not in offer or "m=application" not in offer:
            raise BadOffer("The offer needs one audio track and a data channel.")
        try:
            await self._peer.setRemoteDescription(RTCSessionDescription(offer, "offer"))
            self._peer.addTrack(self.sound.track)
            await self._peer.setLocalDescription(await self._peer.createAnswer())
        except Exception as error:
            log.debug("an offer could not be answered", exc_info=error)
            raise BadOffer(f"The offer cannot be answered ({type(error).__name__}).") from error
        return asking_for_long_packets(self._peer.localDescription.sdp)

    async def run(self) -> None:
        """Its whole life, once it was answered."""
        opening = asyncio.ensure_future(self._opened.wait())
        over = asyncio.ensure_future(self.socket.gone.wait())
        patience = asyncio.get_running_loop().call_later(CONNECT_S, self._give_up)
        try:
            await asyncio.wait([opening, over], return_when=asyncio.FIRST_COMPLETED)
            patience.cancel()
            if self._opened.is_set() and not self.socket.gone.is_set():
                await self._serve(self.socket, self.sound)
        finally:
            patience.cancel()
            for waiting in (opening, over):
                waiting.cancel()
            await self.close()

    def hang_up(self) -> None:
        """It is over. Idempotent."""
        self.socket.end()

    async def close(self) -> None:
        """Close all of it. Idempotent."""
        self.hang_up()
        if self._grace is not None:
            self._grace.cancel()
        if self._peer.connectionState == "connected":
            await self.socket.say_goodbye(FAREWELL_S)
        await self._peer.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _give_up(self) -> None:
        if not self._opened.is_set():
            self.hang_up()

    def _on_channel(self, channel: RTCDataChannel) -> None:
        if channel.label != CHANNEL or self._opened.is_set():
            return
        self.socket.open(channel)
        self._opened.set()

    def _on_track(self, track: MediaStreamTrack) -> None:
        if track.kind == "audio":
            task = asyncio.ensure_future(self.sound.voice.listen(track))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _on_state(self) -> None:
        state = self._peer.connectionState
        if self._grace is not None:
            self._grace.cancel()
            self._grace = None
        if state in ("failed", "closed"):
            self.hang_up()
        elif state == "disconnected":
            self._grace = asyncio.get_running_loop().call_later(GRACE_S, self.hang_up)


def asking_for_long_packets(answer: str) -> str:
    """An answer that wants `PACKET_MS` of sound in a packet. Clients may send others."""
    return _AUDIO.sub(rf"\g<0>a=ptime:{PACKET_MS}\r\n", answer, count=1)
