"""A client of the Realtime protocol in simulated time: real wire and session, scripted models."""

from __future__ import annotations

import base64
import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block, from_int16, to_int16
from s2s.core.events import Event
from s2s.core.untyped import is_object
from s2s.testing.client_simulator import ClientSimulation
from s2s.testing.simulator import SYNTH_HZ, Said
from s2s.transport.client_playback import ClientSound
from s2s.transport.realtime.meaning import answering_of, hearing_of
from s2s.transport.realtime.protocol import RealtimeProtocol
from s2s.transport.realtime.send_queue import SendQueue
from s2s.transport.realtime.session_object import SessionDefaults, SessionObject

WireEvent = Mapping[str, object]

MESSAGE_S = 0.096
"""A client sends about a tenth of a second at once."""


def as_sent(said: Said) -> Said:
    """The same as 16-bit samples: scripted models know their words by the samples."""
    return replace(said, audio=from_int16(to_int16(said.audio)))


@dataclass
class WireSimulation(ClientSimulation):
    """A client, the protocol, and a session. Use it within `connected`."""

    received: list[tuple[float, WireEvent]] = field(default_factory=list[tuple[float, WireEvent]])
    """When, and what the client was told."""
    texts: list[str] = field(default_factory=list[str])
    """The same, as it was sent."""

    @contextmanager
    def connected(self, update: Mapping[str, object] | None = None) -> Generator[WireSimulation]:
        """The connection, from `session.created` to its end.

        Args:
            update: the session of a first `session.update`; sound is 16 kHz both ways.
        """
        self.object = SessionObject(
            "sess_a", SessionDefaults("s2s", "aria", "Be brief."), expires_at=2_000_000_000
        )
        self.answering, self.hearing = answering_of(self.object), hearing_of(self.object)
        self._queue = SendQueue("0", on_sent=lambda n: self.transport.sent(n))
        self.protocol = RealtimeProtocol(self.object, self._queue, SYNTH_HZ)
        with self.running():
            self.protocol.begin(self.session, self.transport)
            audio = {"input": {"format": {"type": "audio/pcm", "rate": PIPELINE_HZ}}}
            session: dict[str, object] = {"type": "realtime", "audio": audio}
            self.tell("session.update", session=session)
            if update is not None:
                self.tell("session.update", session={"type": "realtime", **update})
            yield self
            self.read()

    def tell(self, kind: str, **fields: object) -> Sequence[WireEvent]:
        """Send an event; returns what has come since."""
        self.protocol.client_text(json.dumps({"type": kind, **fields}))
        return self.read()

    def speak(self, audio: Block) -> Iterator[WireEvent]:
        """Send float32 [samples] at 16 kHz in real time; yields what comes meanwhile, at once.

        What is missing to a window's border is silence.
        """
        missing = -len(audio) % BLOCK_SAMPLES
        data = to_int16(np.concatenate([audio, np.zeros(missing, dtype=np.float32)]))
        step = int(MESSAGE_S * PIPELINE_HZ) // BLOCK_SAMPLES * BLOCK_SAMPLES
        for start in range(0, len(data), step):
            message = data[start : start + step]
            self.clock.wait_until(self.clock.now() + len(message) / PIPELINE_HZ)
            sound = base64.b64encode(message.tobytes()).decode()
            yield from self.tell("input_audio_buffer.append", audio=sound)

    def listen(self, seconds: float) -> Iterator[WireEvent]:
        """Say nothing, into an open microphone."""
        yield from self.speak(np.zeros(round(seconds * PIPELINE_HZ), dtype=np.float32))

    def read(self) -> list[WireEvent]:
        """What has come since the last call."""
        self.protocol.catch_up()
        events: list[WireEvent] = []
        while (text := self._queue.take()) is not None:
            self._queue.was_sent(text)
            self.texts.append(text.text)
            value: object = json.loads(text.text)
            assert is_object(value)
            events.append(value)
            self.received.append((self.clock.now(), value))
        return events

    def kinds(self) -> list[str]:
        """The types of all that was received."""
        return [str(event["type"]) for _, event in self.received]

    def _note(self, event: Event) -> None:
        super()._note(event)
        self.protocol.session_event(event)

    def _on_sound(self, sound: ClientSound) -> None:
        super()._on_sound(sound)
        self.protocol.session_sound(sound.response, sound.block, sound.text)
