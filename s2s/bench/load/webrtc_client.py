"""A call to a server over WebRTC, from the client's end: a microphone in a quiet room, and one who
can ask for answers."""

from __future__ import annotations

import asyncio
import fractions
import json
import re
import urllib.request
from typing import TYPE_CHECKING

from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamTrack

if TYPE_CHECKING:
    from av import Packet
    from av.stream import Stream

_TURN = {"type": "response.create"}
CALL_HZ = 48_000
QUIET_ROOM = b"\xf8\xff\xfe"
"""20 ms of silence as Opus; two of them are a packet of 40 ms with another first byte."""
_PTIME = re.compile(r"^a=ptime:(\d+)", re.M)


class QuietMicrophone(MediaStreamTrack):
    """Sends silence, in packets as long as the server asks for. As browsers do it, which code all
    that is heard."""

    kind = "audio"

    def __init__(self) -> None:
        super().__init__()
        self.packet_ms = 20
        self._samples = 0
        self._begun_s: float | None = None

    async def recv(self) -> Packet[Stream]:
        """The next packet, when it is its time."""
        from av import Packet

        loop = asyncio.get_running_loop()
        self._begun_s = self._begun_s or loop.time()
        due = loop.create_future()
        loop.call_at(self._begun_s + self._samples / CALL_HZ, due.set_result, None)
        await due
        double = b"\xf9" + 2 * QUIET_ROOM[1:]
        packet = Packet(double if self.packet_ms == 40 else QUIET_ROOM)
        packet.pts, packet.time_base = self._samples, fractions.Fraction(1, CALL_HZ)
        self._samples += CALL_HZ * (40 if self.packet_ms == 40 else 20) // 1000
        return packet


class ServedCall:
    """One call, from the client's end."""

    def __init__(self) -> None:
        self._peer = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self._microphone = QuietMicrophone()
        self._peer.addTrack(self._microphone)
        self._channel = self._peer.createDataChannel("oai-events")
        self._begun = asyncio.Event()
        self._channel.on("message", self._told)
        self._peer.on("track", self._hear)
        self._hearing: list[asyncio.Task[None]] = []

    async def begin(self, port: int) -> None:
        """Call the server, and wait until its session is there."""
        await self._peer.setLocalDescription(await self._peer.createOffer())
        offer = self._peer.localDescription.sdp.encode()
        url = f"http://127.0.0.1:{port}/v1/realtime/calls"
        request = urllib.request.Request(url, offer, {"Content-Type": "application/sdp"})

        def ask() -> str:
            with urllib.request.urlopen(request) as answer:
                return answer.read().decode()

        answer = await asyncio.to_thread(ask)
        asked = _PTIME.search(answer)
        self._microphone.packet_ms = 20 if asked is None else int(asked[1])
        await self._peer.setRemoteDescription(RTCSessionDescription(answer, "answer"))
        await self._begun.wait()

    def ask(self) -> None:
        """Have it answer."""
        self._channel.send(json.dumps(_TURN))

    async def end(self) -> None:
        """Hang up."""
        await self._peer.close()
        for task in self._hearing:
            task.cancel()
        await asyncio.gather(*self._hearing, return_exceptions=True)

    def _told(self, text: str) -> None:
        if json.loads(text)["type"] == "session.created":
            self._begun.set()

    def _hear(self, track: MediaStreamTrack) -> None:
        self._hearing.append(asyncio.ensure_future(_drain(track)))


async def _drain(track: MediaStreamTrack) -> None:
    while True:
        await track.recv()  # pyright: ignore[reportUnknownMemberType]
