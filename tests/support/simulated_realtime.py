"""A Realtime server in simulated time: what a client sends is answered at once, by loudness."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable

import numpy as np

from s2s.core.audio import Block, from_int16, rms_db, to_int16
from s2s.core.channel import Channel, Closed
from s2s.core.clock import ManualClock
from s2s.core.events import Event
from s2s.core.metrics import Metrics
from s2s.testing.simulator import tone
from s2s.transport.playback import Playback
from s2s.transport.remote.address import LinkError, LinkLost
from s2s.transport.remote.client import RemoteClient
from s2s.transport.remote.loudspeaker import WIRE_HZ
from s2s.transport.remote.wishes import RemoteWishes
from s2s.transport.wav import Line, Script, WavTransport

Json = dict[str, object]
PAUSE_S = 0.5


def answer_sound(seconds: float) -> Block:
    """float32 [samples] at 24 kHz, none of them zero."""
    at_s = (np.arange(int(seconds * WIRE_HZ)) + 0.5) / WIRE_HZ
    return (0.1 + 0.05 * np.sin(2 * np.pi * 200.0 * at_s)).astype(np.float32)


def delta_of(block: Block) -> str:
    return base64.b64encode(to_int16(block).astype("<i2").tobytes()).decode()


class SimulatedSocket:
    """One socket of `SimulatedServer`."""

    def __init__(self, server: SimulatedServer) -> None:
        self._server = server
        self.to_client: Channel[str] = Channel(100_000, clock=server.clock)
        self.closed_for: LinkError | None = None

    def send(self, text: str) -> None:
        if self.to_client.closed:
            raise LinkLost("the server has gone")
        self._server.on_send(text)
        self._server.takes(self, json.loads(text))

    def receive(self) -> str:
        try:
            return self.to_client.get()
        except Closed as error:
            raise self.closed_for or LinkLost("the server has gone") from error

    def close(self) -> None:
        self.to_client.close()


class SimulatedServer:
    """Hears by loudness, and answers each turn with `answer_s` of sound, all of it at once."""

    def __init__(self, clock: ManualClock, *, answer_s: float = 1.0) -> None:
        self.clock = clock
        self.answer_s = answer_s
        self.received: list[tuple[float, Json]] = []
        self.session = "sess_1"
        self.greeting = "session.created"
        self.refusals: list[LinkError] = []
        """What the next tries to connect come to."""
        self.tries: list[float] = []
        self.sockets: list[SimulatedSocket] = []
        self.on_send: Callable[[str], None] = lambda _text: None
        """Called, on the client's thread, before an event of its own is taken."""
        self.words = "what time is it"
        self._numbers = 0
        self._finds_turns = True
        self._speech = ""
        self._quiet = 0

    def connect(self) -> SimulatedSocket:
        self.tries.append(self.clock.now())
        if self.refusals:
            raise self.refusals.pop(0)
        socket = SimulatedSocket(self)
        self.sockets.append(socket)
        self.tell(self.greeting, session={"id": self.session})
        return socket

    def of(self, kind: str) -> list[Json]:
        return [event for _, event in self.received if event["type"] == kind]

    def heard(self) -> Block:
        """All that was sent of the microphone: float32 [samples] at 24 kHz."""
        sent = [
            base64.b64decode(str(each["audio"])) for each in self.of("input_audio_buffer.append")
        ]
        return from_int16(np.frombuffer(b"".join(sent), dtype="<i2"))

    def tell(self, kind: str, **fields: object) -> None:
        self.sockets[-1].to_client.put(json.dumps({"type": kind, "event_id": "event_1", **fields}))

    def tell_text(self, text: str) -> None:
        self.sockets[-1].to_client.put(text)

    def drop(self, error: LinkError | None = None) -> None:
        self.sockets[-1].closed_for = error
        self.sockets[-1].to_client.close()

    def takes(self, socket: SimulatedSocket, event: Json) -> None:
        self.received.append((self.clock.now(), event))
        if event["type"] == "session.update":
            self._finds_turns = '"turn_detection": null' not in json.dumps(event)
        elif event["type"] == "input_audio_buffer.append" and self._finds_turns:
            self._hear(from_int16(np.frombuffer(base64.b64decode(str(event["audio"])), "<i2")))
        elif event["type"] == "response.create":
            self.answer()

    def _hear(self, block: Block) -> None:
        loud = rms_db(block) > -40.0
        if loud and not self._speech:
            self._numbers += 1
            self._speech = f"item_{self._numbers}"
            self.tell("input_audio_buffer.speech_started", audio_start_ms=0, item_id=self._speech)
        self._quiet = 0 if loud else self._quiet + len(block)
        if self._speech and self._quiet > PAUSE_S * WIRE_HZ:
            item, self._speech = self._speech, ""
            self.tell("input_audio_buffer.speech_stopped", audio_end_ms=0, item_id=item)
            self.tell("input_audio_buffer.committed", item_id=item, previous_item_id=None)
            kind = "conversation.item.input_audio_transcription"
            first, _, rest = self.words.partition(" ")
            self.tell(f"{kind}.delta", item_id=item, content_index=0, delta=f"{first} ")
            self.tell(f"{kind}.completed", item_id=item, content_index=0, transcript=self.words)
            if rest:
                self.answer()

    def answer(self, *, status: str = "completed", whole: bool = True) -> str:
        """One response of two sentences; `whole`: with its end."""
        self._numbers += 1
        response, item = f"resp_{self._numbers}", f"item_{self._numbers}"
        self.tell("response.created", response={"id": response, "status": "in_progress"})
        of = {"response_id": response, "output_index": 0}
        message = {"id": item, "type": "message", "role": "assistant"}
        self.tell("response.output_item.added", **of, item=message)
        part = {**of, "item_id": item, "content_index": 0}
        sound = answer_sound(self.answer_s)
        middle = len(sound) // 2
        for text, half in (("It is noon. ", sound[:middle]), ("Quite late", sound[middle:])):
            self.tell("response.output_audio_transcript.delta", **part, delta=text)
            for at in range(0, len(half), WIRE_HZ // 10):
                piece = half[at : at + WIRE_HZ // 10]
                self.tell("response.output_audio.delta", **part, delta=delta_of(piece))
        if whole:
            self.tell("response.output_audio.done", **part)
            self.tell("response.output_audio_transcript.done", **part)
            self.tell("response.output_item.done", **of, item=message)
            self.tell("response.done", response={"id": response, "status": status})
        return response


class RemoteTalk:
    """A conversation of a scripted person with a simulated server."""

    def __init__(
        self,
        lines: list[Line],
        *,
        wishes: RemoteWishes | None = None,
        answer_s: float = 1.0,
        half_duplex: bool = False,
        playback_hz: int = WIRE_HZ,
    ) -> None:
        self.clock = ManualClock()
        self.server = SimulatedServer(self.clock, answer_s=answer_s)
        self.events: list[Event] = []
        playback = Playback(self.clock, playback_hz)
        kind = _OneAtATime if half_duplex else WavTransport
        self.transport = kind(Script(lines, end_quiet_s=2.0), playback, self.clock)
        self.metrics = Metrics()
        self.client = RemoteClient(
            self.transport,
            self.server.connect,
            wishes or RemoteWishes(),
            events=self.events.append,
            clock=self.clock,
            metrics=self.metrics,
        )

    def at(self, second: float, does: Callable[[], object]) -> None:
        """Do something at a time of the conversation."""

        def wait() -> None:
            self.clock.wait_until(second)
            does()

        self.clock.start(wait, "s2s-test")

    def run(self) -> RemoteTalk:
        self.client.connect()
        self.client.run()
        return self

    def of(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]


class _OneAtATime(WavTransport):
    @property
    def half_duplex(self) -> bool:
        return True


def says(seconds: float, *, after_s: float = 0.0) -> Line:
    """Speech that begins at once, behind so much silence."""
    silence = np.zeros(int(16_000 * after_s), dtype=np.float32)
    return Line(np.concatenate([silence, tone(seconds)]), None)
