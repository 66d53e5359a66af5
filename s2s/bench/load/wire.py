"""What the wire takes between a voice and its client: first sound, and silence after a decision.

    python -m s2s.bench.load.wire --rounds 20
    python -m s2s.bench.load.wire --rounds 20 --call

Conversations in real time, in this process, over the protocol and a real session; the models only
take time. In each round a question is answered at length, and somebody speaks over the answer.
Measured: from the first chunk that the voice made to the message with its first sound, and from the
decision to interrupt to the last message with sound of that answer. With `--call` it is packets of
a WebRTC call, paced by the server, in the place of messages. Prints a table and, last, one JSON
line.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np

from s2s.bench.conditions import Conditions
from s2s.bench.entry import run_measurement
from s2s.core.audio import Block, to_int16
from s2s.core.clock import SystemClock
from s2s.core.control import Answering, Hearing, SessionControl
from s2s.core.events import Event, EventSink, TurnBegan, to_all
from s2s.session.client.session import ClientSessions
from s2s.session.config import SessionConfig
from s2s.session.models import Models
from s2s.stt.base import Transcription
from s2s.testing.simulator import (
    SYNTH_HZ,
    EnergyVad,
    ModelCosts,
    ScriptedChat,
    ScriptedSynthesizer,
    ScriptedTranscriber,
    ScriptWords,
    tone,
)
from s2s.transport.client_transport import ClientTransport
from s2s.transport.realtime.connection import ConnectionRequest, RealtimeService
from s2s.transport.realtime.server_playback import ServerPlayback
from s2s.tts.base import AudioChunk

LONG = "This is a sentence of an answer that goes on for quite a while. " * 6
COSTS = ModelCosts(first_token_s=0.02, token_s=0.0, tts_rtf=0.3, tts_first_s=0.05)
LISTEN_S = 1.0
"""The answer is heard for so long before somebody speaks over it."""


@dataclass
class WireTimes:
    """When what happened, on one clock."""

    made_s: float | None = None
    """The voice made the first chunk of the answer."""
    decided_s: float | None = None
    sent_s: list[float] = field(default_factory=list[float])
    """Messages with sound of the answer."""


class _TimedVoice(ScriptedSynthesizer):
    """Notes when it made the first chunk."""

    times: WireTimes

    def synthesize(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        for chunk in super().synthesize(text, voice=voice, language=language, stop=stop):
            if self.times.made_s is None:
                self.times.made_s = time.perf_counter()
            yield chunk


class _Words(ScriptedTranscriber):
    """Hears "go on" in everything."""

    def transcribe(
        self,
        audio: object,
        *,
        language: str | None = None,
        earlier: Transcription | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Transcription:
        return Transcription("go on", "en")


class _Client:
    """Both ends of a socket without a network: what is sent is taken at once."""

    def __init__(self) -> None:
        self.incoming: asyncio.Queue[str | None] = asyncio.Queue()
        self.sounds = asyncio.Event()
        self.done = asyncio.Event()
        self.times = WireTimes()

    async def receive_text(self) -> str | None:
        return await self.incoming.get()

    async def send_text(self, text: str, /) -> None:
        if text.startswith('{"type":"response.output_audio.delta"'):
            self.times.sent_s.append(time.perf_counter())
            self.sounds.set()
        elif text.startswith('{"type":"response.done"'):
            self.done.set()

    async def close(self, code: int = 1000, reason: str = "") -> None:
        pass

    def say(self, kind: str, **fields: object) -> None:
        self.incoming.put_nowait(json.dumps({"type": kind, **fields}))


def service(client: _Client) -> RealtimeService:
    """The wire over a session whose decisions and voice are timed."""
    clock = SystemClock()
    voice = _TimedVoice(clock, COSTS)
    voice.times = client.times
    words = _Words(ScriptWords([]), clock, 0.0)
    models = Models(EnergyVad(), None, words, ScriptedChat(clock, COSTS, lambda _: LONG), voice)
    sessions = ClientSessions(models, SessionConfig())

    def note(event: Event) -> None:
        if isinstance(event, TurnBegan):
            client.times.decided_s = time.perf_counter()

    def open_session(
        transport: ClientTransport,
        events: EventSink,
        *,
        session_id: str,
        answering: Answering,
        hearing: Hearing,
        kept: object | None = None,
    ) -> SessionControl:
        return sessions(
            transport,
            to_all(note, events),
            session_id=session_id,
            answering=answering,
            hearing=hearing,
            kept=kept,
        )

    return RealtimeService(
        open_session, clock, SYNTH_HZ, instructions="Go on.", voice="aria", voices=frozenset()
    )


class _TimedCall:
    """The sound of a call without a network: packets are taken when they leave."""

    def __init__(self, client: _Client) -> None:
        from s2s.transport.webrtc.tracks import AnswerTrack

        self._client = client
        self._playback: ServerPlayback | None = None
        self._sounded = False
        self._track = AnswerTrack()

    def attach(self, playback: ServerPlayback, hear: Callable[[Block], bool]) -> None:
        self._playback = playback
        playback.on_sound = self._track.wake
        self._track.attach(self)

    @property
    def playing(self) -> bool:
        return self._playback is not None and self._playback.playing

    def frame(self) -> Block | None:
        """What leaves, which is noted."""
        frame = None if self._playback is None else self._playback.frame()
        self._sounded = self._sounded or frame is not None
        return frame

    async def take(self) -> None:
        """Take packets until it is cancelled."""
        while True:
            self._sounded = False
            await self._track.recv()
            if self._sounded:
                self._client.times.sent_s.append(time.perf_counter())
                self._client.sounds.set()


async def one_round(*, call: bool = False) -> WireTimes:
    """Ask, listen, speak over the answer; the connection is new each time."""
    client = _Client()
    sound = _TimedCall(client) if call else None
    request = ConnectionRequest(call=sound)
    life = asyncio.create_task(service(client).converse(client, request))
    taking = asyncio.create_task(sound.take()) if sound is not None else None
    detection = {"type": "server_vad", "create_response": False}
    audio = {"input": {"turn_detection": detection}}
    client.say("session.update", session={"type": "realtime", "audio": audio})
    client.say("response.create")
    await client.sounds.wait()
    silence = np.zeros(int(0.1 * SYNTH_HZ), dtype=np.float32)
    speech = tone(1.0)[: int(0.1 * SYNTH_HZ)]
    loop = asyncio.get_running_loop()
    next_s = loop.time()
    for index in range(int(LISTEN_S / 0.1) + 10):
        sound = silence if index < LISTEN_S / 0.1 else speech
        data = base64.b64encode(to_int16(sound).tobytes()).decode()
        client.say("input_audio_buffer.append", audio=data)
        next_s += 0.1
        due = loop.create_future()
        loop.call_at(next_s, due.set_result, None)
        await due
    await client.done.wait()
    client.incoming.put_nowait(None)
    await life
    if taking is not None:
        taking.cancel()
        await asyncio.gather(taking, return_exceptions=True)
    return client.times


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m s2s.bench.load.wire", description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--call", action="store_true", help="packets of a call, not messages")
    options = parser.parse_args(argv)
    rounds: int = options.rounds
    first: list[float] = []
    late: list[float] = []
    for _ in range(rounds):
        times = asyncio.run(one_round(call=options.call))
        assert times.made_s is not None
        assert times.decided_s is not None
        first.append(1000 * (times.sent_s[0] - times.made_s))
        late.append(1000 * max(0.0, times.sent_s[-1] - times.decided_s))
    rows = {"first sound behind its chunk": first, "last sound behind a decision": late}
    print(f"{'ms, of ' + str(rounds) + ' rounds':32} {'median':>8} {'most':>8}")
    for name, values in rows.items():
        print(f"{name:32} {np.median(values):8.1f} {max(values):8.1f}")
    figures = {name: [round(value, 2) for value in values] for name, values in rows.items()}
    print(json.dumps({"ms": figures, "conditions": asdict(Conditions.here())}))
    return 0


if __name__ == "__main__":
    sys.exit(run_measurement(main))
