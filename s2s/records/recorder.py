"""Writes a session's record while it goes on: sound, events, timelines, calls, settings.

It is given to a session's ends (`s2s.transport.output.SoundTap`), to its events, its metrics and
its models, and never makes any of them wait: docs/decisions/records.md.
"""

from __future__ import annotations

import json
import math
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from s2s import __version__
from s2s.config.schema import Config
from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block, from_int16, to_int16
from s2s.core.clock import Clock, ManualClock
from s2s.core.events import Event, MicrophoneState
from s2s.core.messages import AudioIn
from s2s.core.metrics import Timeline
from s2s.records import files, settings
from s2s.records.call_notes import CallNotes
from s2s.records.files import GrowingFiles, new_folder
from s2s.records.lines import Secrets, json_line, of_event, of_timeline
from s2s.records.tape import Tape
from s2s.records.watched import watched
from s2s.session.models import Models
from s2s.stt.base import StreamingTranscriber
from s2s.tts.speak import takes_words

FORMAT = 1
"""Of the folder; a later one says so."""
HELD_BACK_S = 0.4
"""Sound is written when it is so old: the assistant's may still come until then."""
AHEAD_S = 60.0
"""A client may send a recording faster than it lasts: of so much it is waited what is answered."""
SHUT = ("muted", "asleep", "waiting")
"""States of the microphone in which nothing of it is recorded."""


@dataclass(frozen=True, slots=True)
class _Sound:
    """What the assistant says, or, without a block, that it is silent from then on."""

    at_s: float
    block: Block | None = None
    rate_hz: int = PIPELINE_HZ


@dataclass(frozen=True, slots=True)
class RecordPlan:
    """What a session's record is begun with."""

    parent: Path
    """The folder of all records."""
    kind: str
    """What talks: `talk` or `serve`."""
    config: Config
    secrets: tuple[str, ...] = ()
    """Texts besides those of the settings and the environment that are not written."""


class SessionRecorder:
    """The record of one session. Safe from any thread.

    Args:
        recording: what is recorded, and where.
        models: of the session.
        clock: the session's.
        told: takes what the person should know, such as a full disk; must not wait.
        at_end: called with the folder when all is written, in the thread that writes.
    """

    def __init__(
        self,
        recording: RecordPlan,
        models: Models,
        clock: Clock,
        told: Callable[[str], None],
        at_end: Callable[[Path], None] = lambda _: None,
    ) -> None:
        config = recording.config
        self.folder = new_folder(recording.parent, recording.kind)
        self._clock = clock
        self._begin_s = clock.now()
        self._secrets = Secrets(settings.secrets_of(config, *recording.secrets))
        self._lock = threading.Lock()
        self._tape = Tape()
        self._played: deque[_Sound] = deque()
        self._shut = False
        self._counts_from_s = -math.inf
        """What was captured until then is not recorded: the microphone was shut."""
        self._files = GrowingFiles(self.folder, told, lambda: at_end(self.folder))
        self._files.add(files.SETTINGS, settings.written(config))
        self._files.add(files.SESSION, self._about(recording.kind, models))
        self.models = watched(models, CallNotes(clock, self._begin_s, self._on_call))
        """The models that the session is to use: what they are asked is noted."""

    # --- sound (`SoundTap`) ----------------------------------------------------------------------

    def heard(self, window: AudioIn) -> AudioIn:
        """Record a window; returns it as it was recorded, for the session to hear: rounded to 16
        bits, so that the record is what was heard, to the last bit."""
        samples = to_int16(window.block)
        ends_at = self._position(window.captured_at_s)
        with self._lock:
            counts = not self._shut and window.captured_at_s > self._counts_from_s
            at = self._tape.person(samples if counts else np.zeros_like(samples), ends_at)
            self._write_until(self._clock.now())
        if window.over_echo_db < math.inf:
            echo = {"window": at // BLOCK_SAMPLES, "over_echo_db": round(window.over_echo_db, 2)}
            self._add(files.ECHO, echo)
        return replace(window, block=from_int16(samples))

    def played(self, block: Block, rate_hz: int, at_s: float) -> None:
        """Record float32 [samples] that are heard from `at_s` on. Called where a sound card may not
        be kept waiting: it is only put down."""
        self._played.append(_Sound(at_s, block.copy(), rate_hz))

    def silenced(self, at_s: float) -> None:
        """What was to be heard after `at_s` never is."""
        self._played.append(_Sound(at_s))

    # --- what is told ----------------------------------------------------------------------------

    def on_event(self, event: Event) -> None:
        """Record what the session tells (`EventSink`)."""
        now_s = self._clock.now()
        if isinstance(event, MicrophoneState):
            with self._lock:
                shut = event.state in SHUT
                if shut != self._shut:
                    self._shut, self._counts_from_s = shut, now_s
        self._add(files.EVENTS, of_event(now_s, event, self._begin_s))
        with self._lock:
            self._write_until(now_s)

    def on_timeline(self, timeline: Timeline) -> None:
        """Record where the time of an answer went."""
        self._add(files.TIMELINES, of_timeline(timeline, self._begin_s))

    @property
    def over(self) -> bool:
        """All is written."""
        return self._files.over

    def close(self) -> None:
        """The session is over: write the rest. Idempotent; does not wait for the disk."""
        now_s = self._clock.now()
        with self._lock:
            self._drain()
            self._files.add(
                files.SOUND, self._tape.take_rest(self._position(now_s)).astype("<i2").tobytes()
            )
        self._files.end()

    def after_written(self, do: Callable[[], None]) -> None:
        """Call `do` when all is on the disk that was given to it so far; it must not wait."""
        self._files.after(do)

    def wait(self) -> None:
        """Wait until all is written, after `close`."""
        self._files.wait()

    # --- inside ----------------------------------------------------------------------------------

    def _on_call(self, call: Mapping[str, object]) -> None:
        self._add(files.CALLS, call)

    def _add(self, name: str, line: Mapping[str, object]) -> None:
        if not self._files.failed:
            self._files.add(name, json_line(line, self._secrets))

    def _position(self, at_s: float) -> int:
        return round((at_s - self._begin_s) * PIPELINE_HZ)

    def _drain(self) -> None:
        """Lay what the assistant said; the lock is held."""
        while self._played:
            sound = self._played.popleft()
            at = max(0, self._position(sound.at_s))
            if sound.block is None:
                self._tape.silence(at)
            else:
                self._tape.assistant(sound.block, sound.rate_hz, at)

    def _write_until(self, now_s: float) -> None:
        """Have written what does not change any more; the lock is held."""
        self._drain()
        settled = self._position(now_s - HELD_BACK_S)
        both = self._tape.take(max(settled, self._tape.ahead() - round(AHEAD_S * PIPELINE_HZ)))
        if len(both):
            self._files.add(files.SOUND, both.astype("<i2").tobytes())

    def _about(self, kind: str, models: Models) -> bytes:
        voice, transcriber = models.synthesizer.capabilities, models.transcriber
        about = {
            "format": FORMAT,
            "program": __version__,
            "kind": kind,
            "began": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "rate_hz": PIPELINE_HZ,
            "simulated": isinstance(self._clock, ManualClock),
            "has_end_of_turn": models.end_of_turn is not None,
            "has_own_voice": models.own_voice is not None,
            "reads_ahead": models.chat.reads_ahead,
            "tts_rtf": models.tts_rtf,
            "takes_words": takes_words(models.synthesizer, models.tts_rtf),
            "stt_interval_ms": transcriber.interval_ms
            if isinstance(transcriber, StreamingTranscriber)
            else None,
            "voice": asdict(voice),
        }
        return json.dumps(about, indent=1).encode() + b"\n"
