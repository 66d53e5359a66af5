"""What a session at this machine is made between, and the same recorded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from s2s.core.events import EventSink, to_all
from s2s.core.messages import AudioIn
from s2s.records.recorder import SessionRecorder
from s2s.session.models import Models
from s2s.transport.base import Transport
from s2s.transport.output import SoundOutput, SoundTap
from s2s.transport.playback import Playback


@dataclass(frozen=True, slots=True)
class SessionEnds:
    """What a session at this machine is made between."""

    models: Models
    transport: Transport
    events: EventSink


def recorded_ends(ends: SessionEnds, playback: Playback, recorder: SessionRecorder) -> SessionEnds:
    """The same ends, recorded. `playback`: that of the transport. The models are the recorder's."""
    return SessionEnds(
        recorder.models,
        RecordedTransport(ends.transport, playback, recorder),
        to_all(ends.events, recorder.on_event),
    )


class RecordedTransport:
    """`Transport`: another one, and what it hears and plays goes to a tap as well."""

    def __init__(self, inner: Transport, playback: Playback, tap: SoundTap) -> None:
        """`playback`: that of `inner`."""
        self._inner = inner
        self._tap = tap
        playback.tap = tap

    @property
    def playback(self) -> SoundOutput:
        return self._inner.playback

    @property
    def half_duplex(self) -> bool:
        return self._inner.half_duplex

    @property
    def can_take_back(self) -> bool:
        return self._inner.can_take_back

    def own_voice_heard(self) -> None:
        self._inner.own_voice_heard()

    def run(self, heard: Callable[[AudioIn], None], tick: Callable[[], bool]) -> None:
        self._inner.run(lambda window: heard(self._tap.heard(window)), tick)

    def stop(self) -> None:
        self._inner.stop()
