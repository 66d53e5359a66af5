"""The clients of the load benchmark, in a process of their own.

    python -m s2s.bench.load.clients --port 8765 --sessions 200 --talking 20 --seconds 30

Each session sends 100 ms of sound every 100 ms; those that talk say something, wait for the answer
and speak again. Prints one JSON line: how long each answer took, and what went wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import sys
import time
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from s2s.bench.entry import run_measurement
from s2s.core.audio import PIPELINE_HZ, Resampler
from s2s.core.untyped import is_object

MESSAGE_S = 0.1
RATE_HZ = 24_000
TALK_MESSAGES = 12
"""How long somebody talks: 1.2 s."""
PAUSE_MESSAGES = 20
"""Between an answer, which is made in no time, and the next words: it would be heard."""
HURRY = 3
"""Who hurries says and waits a third of that, so that a minute with few has enough answers."""
ROOM_LEVEL = 0.001
"""A microphone in a quiet room, of full scale: zeros would be easier on a server than people are.
"""
SILENCE_MS = 200
STAGGER_S = 0.37
"""Between the first words of two who talk: they do not all end at once."""


@dataclass(slots=True)
class LoadSeen:
    """What the clients saw."""

    latencies_ms: list[float] = field(default_factory=list)
    """From the message with which the turn ended, by the server's own account, to the first sound;
    what a resampler holds back comes with the next message."""
    turns: int = 0
    errors: list[str] = field(default_factory=list)


def _append(level: float) -> str:
    t = np.arange(int(RATE_HZ * MESSAGE_S)) / RATE_HZ
    room = ROOM_LEVEL * np.random.default_rng(0).standard_normal(len(t))
    sound = 32767 * (level * np.sin(2 * np.pi * 180 * t) + room)
    data = base64.b64encode(sound.astype("<i2").tobytes()).decode()
    return json.dumps({"type": "input_audio_buffer.append", "audio": data})


NOTHING = np.zeros(int(RATE_HZ * MESSAGE_S), np.float32)
SPEECH, SILENCE = _append(0.3), _append(0.0)

SETTINGS = {
    "type": "session.update",
    "session": {
        "type": "realtime",
        "audio": {
            "input": {
                "turn_detection": {
                    "type": "server_vad",
                    "silence_duration_ms": SILENCE_MS,
                    "interrupt_response": False,
                }
            }
        },
    },
}


class LoadClient:
    """One session."""

    def __init__(
        self, observed: LoadSeen, number: int, talks: bool, *, hurries: bool = False
    ) -> None:
        self._observed = observed
        self._talk = TALK_MESSAGES // HURRY if hurries else TALK_MESSAGES
        self._pause = PAUSE_MESSAGES // HURRY if hurries else PAUSE_MESSAGES
        self._talks = talks
        self._number = number
        self._sent_s: list[float] = []
        """When each message of sound was sent."""
        self._resampler = Resampler(RATE_HZ, PIPELINE_HZ)
        self._heard: list[int] = []
        """Samples that the server has for its models with each message."""
        self._ended_s: float | None = None
        self._to_say = 0

    async def run(self, url: str, seconds: float, connected: asyncio.Event) -> None:
        """Connect, wait until all have, and send for so long."""
        from websockets.asyncio.client import connect

        async with connect(url, max_size=None, compression=None) as socket:
            await socket.recv()
            await socket.send(json.dumps(SETTINGS))
            await socket.recv()
            reading = asyncio.create_task(self._read(socket))
            connected.set()
            start_s = time.perf_counter()
            if self._talks:
                self._to_say = -int((1.0 + self._number * STAGGER_S) / MESSAGE_S)
            for message in range(int(seconds / MESSAGE_S)):
                due_s = start_s + message * MESSAGE_S
                await asyncio.sleep(max(0.0, due_s - time.perf_counter()))
                await socket.send(self._next())
                self._sent_s.append(time.perf_counter())
                if self._talks:
                    new = self._resampler.push(NOTHING)
                    self._heard.append(len(new) + (self._heard[-1] if self._heard else 0))
            reading.cancel()

    def _next(self) -> str:
        if not self._talks:
            return SILENCE
        if self._to_say < 0:  # not yet
            self._to_say += 1
            if self._to_say == 0:
                self._to_say = self._talk
            return SILENCE
        if self._to_say > 0:
            self._to_say -= 1
            return SPEECH
        return SILENCE

    async def _read(self, socket: object) -> None:
        from websockets.asyncio.client import ClientConnection

        assert isinstance(socket, ClientConnection)
        async for text in socket:
            now_s = time.perf_counter()
            event: object = json.loads(text)
            if is_object(event):
                self._note(event, now_s)

    def _note(self, event: dict[str, object], now_s: float) -> None:
        match event.get("type"):
            case "input_audio_buffer.speech_stopped":
                end_ms = event["audio_end_ms"]
                assert isinstance(end_ms, int)
                message = bisect_left(self._heard, end_ms * PIPELINE_HZ // 1000)
                self._ended_s = self._sent_s[min(message, len(self._sent_s) - 1)]
            case "response.output_audio.delta" if self._ended_s is not None:
                self._observed.latencies_ms.append(1000 * (now_s - self._ended_s))
                self._ended_s = None
            case "response.done":
                self._observed.turns += 1
                self._to_say = -self._pause
            case "error":
                self._observed.errors.append(json.dumps(event.get("error"))[:200])
            case _:
                pass


async def attend(
    port: int, sessions: int, talking: int, seconds: float, *, hurries: bool = False
) -> LoadSeen:
    """Hold so many sessions for so long."""
    observed = LoadSeen()
    url = f"ws://127.0.0.1:{port}/v1/realtime?model=load"
    running: list[asyncio.Task[None]] = []
    for number in range(sessions):
        connected = asyncio.Event()
        client = LoadClient(observed, number, number < talking, hurries=hurries)
        task = asyncio.create_task(client.run(url, seconds, connected))
        running.append(task)
        waits = asyncio.create_task(connected.wait())
        await asyncio.wait([task, waits], return_when=asyncio.FIRST_COMPLETED)
        waits.cancel()
    for ended in await asyncio.gather(*running, return_exceptions=True):
        if isinstance(ended, BaseException):
            observed.errors.append(f"{type(ended).__name__}: {ended}"[:200])
    return observed


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the clients and print what they saw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--sessions", type=int, default=10)
    parser.add_argument("--talking", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--hurry", action="store_true", help="speak shortly, and again soon")
    options = parser.parse_args(arguments)
    attended = attend(
        options.port, options.sessions, options.talking, options.seconds, hurries=options.hurry
    )
    observed = asyncio.run(attended)
    told = {
        "latencies_ms": observed.latencies_ms,
        "turns": observed.turns,
        "errors": observed.errors,
    }
    print(json.dumps(told))
    return 0


if __name__ == "__main__":
    sys.exit(run_measurement(main))
