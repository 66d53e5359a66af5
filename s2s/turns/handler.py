"""The first stage: hears when the person speaks, pauses, goes on, and interrupts.

At every soft end the turn is sent on at once; whether it was the end decides only how long its
answer is held back. All deadlines are counted from the end of speech, so that the time the models
take is not added to them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from typing import Protocol

from s2s.audio import PIPELINE_HZ, Block
from s2s.config import TurnsConfig
from s2s.events import Heard, Notice, SpeechStarted, SpeechStopped
from s2s.handler import Handler
from s2s.messages import AudioIn, PartialTranscript, SessionEnd, Speech, SttInput, TurnId
from s2s.turns.endpoint import grace_ms
from s2s.turns.segmenter import (
    Closed,
    Onset,
    Phantom,
    Resumed,
    Segmenter,
    SegmenterEvent,
    SoftEnd,
    Split,
    Started,
)
from s2s.turns.state import SessionState

log = logging.getLogger(__name__)

TurnInput = AudioIn | PartialTranscript | SessionEnd


class Vad(Protocol):
    """Speech probability of consecutive windows."""

    def probability(self, block: Block) -> float: ...

    def reset(self) -> None: ...


class TurnEnd(Protocol):
    """Probability that a turn is complete, from its sound."""

    def probability(self, audio: Block) -> float: ...


class Floor(Protocol):
    """Who may speak: the turns stage asks whether the assistant is, and takes the floor from it."""

    @property
    def playing(self) -> bool: ...

    def interrupt(self) -> None:
        """Silence the assistant at once and make all its work stale."""
        ...


class TurnsHandler(Handler[TurnInput, SttInput]):
    """Turns microphone windows into turns."""

    name = "turns"

    def __init__(
        self,
        vad: Vad,
        end_of_turn: TurnEnd | None,
        floor: Floor,
        state: SessionState,
        config: TurnsConfig,
        *,
        session_id: str,
    ) -> None:
        self._vad = vad
        self._end_of_turn = end_of_turn
        self._floor = floor
        self._state = state
        self._turns = state.turns
        self._events = state.events
        self._clock = state.clock
        self._session_id = session_id
        self._config = config
        self._segmenter = Segmenter(config.segmenter)
        self._count = 0
        self._turn: TurnId | None = None
        self._text = ""
        self._probability: float | None = None
        self._soft_end_at_s: float | None = None
        self._next_partial_sample = 0
        self._last_frame_s: float | None = None
        self._sample_at_s = 0.0
        """Clock reading at sample 0 of the stream, by the newest window."""

    @property
    def quiet(self) -> bool:
        """Nobody is speaking."""
        return not self._segmenter.speaking

    # --- the stage -----------------------------------------------------------------------------

    def process(self, message: TurnInput) -> Iterable[SttInput]:
        match message:
            case AudioIn():
                return self._hear(message)
            case PartialTranscript():
                return self._read(message)
            case SessionEnd():
                return (message,)

    def failed(self, message: TurnInput | None, error: Exception) -> Iterable[SttInput]:
        self._events(Notice(f"Hearing failed: {error}. Starting to listen afresh."))
        self._forget_turn()
        self._segmenter.reset()
        self._vad.reset()
        return ()

    def deadline_s(self) -> float | None:
        if self._last_frame_s is None or not self._segmenter.speaking:
            return None
        return self._last_frame_s + self._config.stalled_input_ms / 1000

    def expired(self) -> Iterable[SttInput]:
        self._last_frame_s = None
        for event in self._segmenter.stalled():
            yield from self._on(event)

    def end_session(self) -> None:
        self._forget_turn()
        self._segmenter.reset()
        self._vad.reset()
        self._turns.reset()

    # --- hearing -------------------------------------------------------------------------------

    def _hear(self, message: AudioIn) -> Iterator[SttInput]:
        self._last_frame_s = self._clock.now()
        self._sample_at_s = message.captured_at_s - message.end_sample / PIPELINE_HZ
        self._close_if_over()
        probability = self._vad.probability(message.block)
        for event in self._segmenter.push(message.block, probability):
            yield from self._on(event)
        if self._wants_partial():
            yield self._speech(final=False)

    def _on(self, event: SegmenterEvent) -> Iterator[SttInput]:
        match event:
            case Onset():
                if self._turn is not None:
                    self._turns.begin_reopen(self._turn.turn_id)
            case Phantom():
                if self._turn is not None:
                    self._turns.cancel_reopen(self._turn.turn_id)
            case Started():
                self._start(event.onset_sample)
            case Resumed():
                self._resume(event.sample)
            case SoftEnd():
                yield from self._soft_end(event.end_sample)
            case Split():
                yield from self._split(event)
            case Closed():
                self._forget_turn()

    def _start(self, onset_sample: int) -> None:
        """A new turn. Whatever the assistant says or is about to say is interrupted."""
        self._floor.interrupt()
        self._count += 1
        self._turn = TurnId(f"{self._session_id}-{self._count}", 0)
        self._text = ""
        self._turns.observe(self._turn)
        self._partial_due(onset_sample)
        self._events(SpeechStarted(self._turn, self._at_s(onset_sample)))

    def _resume(self, sample: int) -> None:
        """The speaker goes on: the same turn if it was not answered yet, else a new one."""
        reopened = None if self._turn is None else self._turns.confirm_reopen(self._turn.turn_id)
        if reopened is None:
            self._segmenter.close()  # heard again as the start of the next turn
            self._forget_turn()
            return
        self._turn = reopened
        self._soft_end_at_s = None
        self._partial_due(sample)
        self._events(SpeechStarted(reopened, self._at_s(sample)))

    def _soft_end(self, end_sample: int) -> Iterator[SttInput]:
        """Send the turn on at once, then find out how long its answer is to be held back."""
        turn = self._turn
        if turn is None:
            return
        stopped_s = self._soft_end_at_s = self._at_s(end_sample)
        self._state.metrics.mark(turn, "speech_stopped", stopped_s)
        self._events(SpeechStopped(turn, stopped_s))
        audio = self._segmenter.audio()
        yield Speech(audio, turn, self._state.scope.generation, True, stopped_s)
        self._probability = None
        if self._end_of_turn is not None:
            self._probability = self._end_of_turn.probability(audio)
        self._set_grace()
        self._state.metrics.mark(turn, "endpoint", self._clock.now())

    def _set_grace(self) -> None:
        if self._turn is None or self._soft_end_at_s is None:
            return
        wait_ms = grace_ms(self._probability, self._text, self._config.grace)
        self._turns.set_grace(self._turn, self._soft_end_at_s + wait_ms / 1000)

    def _split(self, event: Split) -> Iterator[SttInput]:
        """The turn is longer than the maximum: answer what was said, go on as the next turn."""
        if self._turn is not None:
            cut_s = self._at_s(event.cut_sample)
            yield Speech(event.audio, self._turn, self._state.scope.generation, True, cut_s)
        self._count += 1
        self._turn = TurnId(f"{self._session_id}-{self._count}", 0)
        self._text = ""
        self._turns.observe(self._turn)

    def _close_if_over(self) -> None:
        """An answered turn cannot be re-opened; nor one that nobody answered for too long."""
        turn, soft_end_s = self._turn, self._soft_end_at_s
        if turn is None or soft_end_s is None:
            return
        waited_ms = 1000 * (self._clock.now() - soft_end_s)
        if (
            self._turns.is_committed(turn.turn_id)
            or waited_ms > self._config.unanswered_reopen_ms
        ):
            self._segmenter.close()
            self._forget_turn()

    def _forget_turn(self) -> None:
        self._turn = None
        self._soft_end_at_s = None

    # --- partial transcripts -------------------------------------------------------------------

    def _read(self, partial: PartialTranscript) -> Iterator[SttInput]:
        if self._turn == partial.turn:
            self._text = partial.text
            self._set_grace()
        self._events(Heard(partial.turn, partial.text, final=False))
        return iter(())

    def _wants_partial(self) -> bool:
        return (
            self._config.partial_interval_ms > 0
            and self._turn is not None
            and self._segmenter.speaking
            and self._segmenter.sample >= self._next_partial_sample
        )

    def _partial_due(self, from_sample: int) -> None:
        interval = self._config.partial_interval_ms * PIPELINE_HZ // 1000
        self._next_partial_sample = from_sample + interval

    def _speech(self, *, final: bool) -> Speech:
        assert self._turn is not None
        self._partial_due(self._segmenter.sample)
        return Speech(
            self._segmenter.audio(),
            self._turn,
            self._state.scope.generation,
            final,
            self._at_s(self._segmenter.sample),
        )

    def _at_s(self, sample: int) -> float:
        """When `sample` of the stream was captured, on the session's clock."""
        return self._sample_at_s + sample / PIPELINE_HZ
