"""A WebRTC client made of aiortc, against a server of this process."""

from __future__ import annotations

import asyncio
import fractions
import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager

import httpx2
import numpy as np
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError, MediaStreamTrack
from av import AudioFrame

from s2s.core.audio import Block, to_int16
from s2s.core.untyped import is_mapping

WAIT_S = 60.0
HZ = 48_000
FRAME = 960
Rewrite = Callable[[str], str]


class Said(MediaStreamTrack):
    """A microphone: what it is given, and silence before and behind."""

    kind = "audio"

    def __init__(self) -> None:
        super().__init__()
        self._sound = np.zeros(0, np.float32)
        self._number = 0
        self._start_s: float | None = None

    def say(self, sound: Block) -> None:
        """float32 [samples] at 48 kHz, from now on."""
        self._sound = np.concatenate([self._sound, sound])

    async def recv(self) -> AudioFrame:
        if self.readyState != "live":
            raise MediaStreamError
        loop = asyncio.get_running_loop()
        self._start_s = self._start_s or loop.time()
        due = loop.create_future()
        at_s = self._start_s + self._number * FRAME / HZ
        timer = loop.call_at(at_s, lambda: due.done() or due.set_result(None))
        try:
            await due
        finally:
            timer.cancel()
        now, self._sound = self._sound[:FRAME], self._sound[FRAME:]
        samples = np.concatenate([now, np.zeros(FRAME - len(now), np.float32)])
        frame = AudioFrame.from_ndarray(to_int16(samples).reshape(1, -1), "s16", "mono")
        frame.sample_rate, frame.pts = HZ, self._number * FRAME
        frame.time_base = fractions.Fraction(1, HZ)
        self._number += 1
        return frame


class Caller:
    """One client in a call."""

    def __init__(self) -> None:
        self.microphone = Said()
        self.peer = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self.peer.addTrack(self.microphone)
        self.channel = self.peer.createDataChannel("oai-events")
        self.events: list[dict[str, object]] = []
        self.heard: list[tuple[float, float]] = []
        """When each frame came, and how loud it is."""
        self.closed = asyncio.Event()
        self.location = ""
        self._came = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self.channel.on("message", self._message)
        self.channel.on("close", self._close)
        self.peer.on("track", self._track)

    def _message(self, text: str) -> None:
        event: object = json.loads(text)
        assert is_mapping(event)
        self.events.append(dict(event))
        self._came.set()

    def _close(self) -> None:
        self.closed.set()
        self._came.set()

    def _track(self, track: MediaStreamTrack) -> None:
        self._tasks.append(asyncio.ensure_future(self._listen(track)))

    async def _listen(self, track: MediaStreamTrack) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                frame: object = await track.recv()  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
            except MediaStreamError:
                return
            assert isinstance(frame, AudioFrame)
            level = float(np.abs(frame.to_ndarray().astype(np.float32)).max()) / 32_768
            self.heard.append((loop.time(), level))
            self._came.set()

    def send(self, **event: object) -> None:
        self.channel.send(json.dumps(event))

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until something has come that makes it true."""

        async def met() -> None:
            while not condition():
                self._came.clear()
                await self._came.wait()

        await asyncio.wait_for(met(), WAIT_S)

    async def event(self, kind: str, count: int = 1) -> dict[str, object]:
        """The `count`th event of that type."""
        await self.until(lambda: len(self.of(kind)) >= count)
        return self.of(kind)[count - 1]

    def of(self, kind: str) -> list[dict[str, object]]:
        return [event for event in self.events if event["type"] == kind]

    @property
    def kinds(self) -> list[str]:
        return [str(event["type"]) for event in self.events]

    async def close(self) -> None:
        await self.peer.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def called(
    port: int,
    session: Mapping[str, object] | None = None,
    rewrites: tuple[Rewrite, Rewrite] | None = None,
    resume: str | None = None,
) -> AsyncGenerator[Caller]:
    """A call to the server on that port, once it is open.

    Args:
        session: what the call begins with; None: the offer is sent alone.
        rewrites: of the offer and of its answer on their way.
        resume: the token of a client that comes back.
    """
    caller = Caller()
    try:
        await caller.peer.setLocalDescription(await caller.peer.createOffer())
        offer = caller.peer.localDescription.sdp
        answer = await ask(port, rewrites[0](offer) if rewrites else offer, session, resume)
        assert answer.status_code == 201, answer.text
        caller.location = answer.headers["location"]
        sdp = rewrites[1](answer.text) if rewrites else answer.text
        await caller.peer.setRemoteDescription(RTCSessionDescription(sdp, "answer"))
        await caller.event("session.created")
        yield caller
    finally:
        await caller.close()


async def ask(
    port: int,
    offer: str,
    session: Mapping[str, object] | None = None,
    resume: str | None = None,
) -> httpx2.Response:
    """Send an offer."""
    url = f"http://127.0.0.1:{port}/v1/realtime/calls"
    headers = {} if resume is None else {"X-S2S-Resume": resume}
    async with httpx2.AsyncClient(headers=headers) as client:
        if session is None:
            kind = {"Content-Type": "application/sdp"}
            return await client.post(url, content=offer, headers=kind)
        parts = {
            "sdp": (None, offer, "application/sdp"),
            "session": (None, json.dumps(session), "application/json"),
        }
        return await client.post(url, files=parts)
