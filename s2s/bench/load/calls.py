"""What calls cost a server: its processor time for each call, silent and while it answers.

    python -m s2s.bench.load.calls --calls 1 --seconds 15

A server in a process of its own, on models that take no time (`bench.load.served`), is called over
WebRTC from this one, whose own time is not counted. Measured: the server alone; calls that say and
hear nothing, while microphones send silence; calls that are asked again and again, so that an
answer is always played. Prints a table and, last, one JSON line.
"""

from __future__ import annotations

import argparse
import asyncio
import fractions
import json
import re
import subprocess
import sys
import urllib.request
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import psutil
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamTrack

from s2s.bench.conditions import Conditions
from s2s.bench.load.served import ANSWER_S

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


async def measured(port: int, server: psutil.Process, calls: int, seconds: float) -> list[float]:
    """Per cent of a core that the server takes: alone, with silent calls, with answering ones."""
    loop = asyncio.get_running_loop()

    async def share(ask: Sequence[ServedCall] = ()) -> float:
        before, began_s = sum(server.cpu_times()[:2]), loop.time()
        while (left_s := began_s + seconds - loop.time()) > 0:
            for each in ask:
                each.ask()
            due = loop.create_future()
            timer = loop.call_later(min(left_s, ANSWER_S), due.set_result, None)
            await due
            timer.cancel()
        return 100 * (sum(server.cpu_times()[:2]) - before) / (loop.time() - began_s)

    alone = await share()
    made = [ServedCall() for _ in range(calls)]
    try:
        for each in made:
            await each.begin(port)
        return [alone, await share(), await share(made)]
    finally:
        for each in made:
            await each.end()


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m s2s.bench.load.calls", description=__doc__)
    parser.add_argument("--calls", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=15.0)
    options = parser.parse_args(argv)
    command = [sys.executable, "-m", "s2s.bench.load.served", "--sessions", str(options.calls)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        try:
            port = int(server.stdout.readline())
            process = psutil.Process(server.pid)
            shares = asyncio.run(measured(port, process, options.calls, options.seconds))
        finally:
            server.stdin.close()
    rows = dict(zip(("server alone", "silent calls", "answering calls"), shares, strict=True))
    print(f"{'% of a core, ' + str(options.calls) + ' calls':24} {'server':>8} {'each call':>10}")
    for name, value in rows.items():
        each = (value - shares[0]) / options.calls
        print(f"{name:24} {value:8.2f} {each:10.2f}")
    figures = {name: round(value, 2) for name, value in rows.items()}
    told = {"calls": options.calls, "percent": figures, "conditions": asdict(Conditions.here())}
    print(json.dumps(told))
    return 0


if __name__ == "__main__":
    sys.exit(main())
