"""The first stage: hears when the person speaks, pauses, goes on, and interrupts.

At every soft end the turn is sent on at once; whether it was the end decides only how long its
answer is held back. All deadlines are counted from the end of speech, so that the time the models
take is not added to them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ
from s2s.core.events import Heard, Notice, SpeechStarted, SpeechStopped
from s2s.core.handler import Handler
from s2s.core.messages import AudioIn, PartialTranscript, SessionEnd, Speech, SttInput, TurnId
from s2s.core.setting import made_setting, setting
from s2s.core.state import SessionState
from s2s.turns.base import Floor, TurnEnd, Vad
from s2s.turns.endpoint import GraceConfig, grace_ms
from s2s.turns.interruption import InterruptionConfig
from s2s.turns.overlap import Overlap
from s2s.turns.segmenter import (
    Closed,
    Onset,
    Phantom,
    Resumed,
    Segmenter,
    SegmenterConfig,
    SegmenterEvent,
    SoftEnd,
    Split,
    Started,
)

log = logging.getLogger(__name__)

OVERLAP_PARTIAL_MS = 192
"""Speech over a reply is written down this often: twice before its words decide, at the latest
half a second after it began."""
TRANSCRIPT_WAIT_MS = 10_000
"""What was said over a reply is waited for this long, however slow the recogniser is."""

TurnInput = AudioIn | PartialTranscript | SessionEnd


@dataclass(frozen=True, slots=True)
class TurnsConfig:
    """When the person's turn begins and ends."""

    segmenter: SegmenterConfig = made_setting(SegmenterConfig, "Speech from sound.")
    grace: GraceConfig = made_setting(
        GraceConfig, "How long a pause may last before the turn is over."
    )
    unanswered_reopen_ms: int = setting(
        7000,
        "Speech that comes back within this time, while nothing was answered yet, reopens the"
        " turn.",
    )
    stalled_input_ms: int = setting(
        1000, "A turn whose audio stops coming (muted, unplugged) ends after this time."
    )
    interruption: InterruptionConfig = made_setting(
        InterruptionConfig, "What speech does while the assistant speaks."
    )
    partial_interval_ms: int = setting(
        500, "What is being said is written down this often; 0: only when it is complete."
    )

    def __post_init__(self) -> None:
        if self.partial_interval_ms < 0:
            raise ValueError(f"need partial_interval_ms >= 0, got {self.partial_interval_ms}")
        if self.unanswered_reopen_ms < 0 or self.stalled_input_ms <= 0:
            raise ValueError(
                f"need unanswered_reopen_ms >= 0 and stalled_input_ms > 0, got "
                f"{self.unanswered_reopen_ms} and {self.stalled_input_ms}"
            )


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
        language: str | None = None,
    ) -> None:
        self._vad = vad
        self._end_of_turn = end_of_turn
        self._floor = floor
        self._state = state
        self._turns = state.turns
        self._events = state.events
        self._clock = state.clock
        self._session_id = session_id
        self._language = language
        self._config = config
        self._segmenter = Segmenter(config.segmenter)
        self._overlap = Overlap(config.interruption, floor, state.events)
        self._count = 0
        self._turn: TurnId | None = None
        self._text = ""
        self._probability: float | None = None
        self._soft_end: int | None = None
        """One past the last sample of speech, while the turn is paused."""
        self._silent_at = 0
        """Where the last first window of silence ended."""
        self._next_partial_sample = 0
        self._sent_samples = 0
        """Samples of the turn that were last sent to be written down."""
        self._read_samples = 0
        """Samples of the turn that its last transcript is of."""
        self._last_frame_s: float | None = None
        self._stream_start_s = 0.0
        """Clock reading at sample 0 of the stream, by the newest window."""

    @property
    def quiet(self) -> bool:
        """Nobody is speaking, and no interruption is being decided."""
        return not self._segmenter.speaking and not self._overlap.undecided

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
        self._listen_afresh()
        return ()

    def deadline_s(self) -> float | None:
        if self._last_frame_s is None or self.quiet:
            return None
        return self._last_frame_s + self._config.stalled_input_ms / 1000

    def expired(self) -> Iterable[SttInput]:
        self._last_frame_s = None
        for event in self._segmenter.stalled():
            yield from self._on(event)
        self._overlap.stalled(self._segmenter.sample)

    def end_session(self) -> None:
        self._listen_afresh()
        self._turns.reset()

    def _listen_afresh(self) -> None:
        self._forget_turn()
        self._segmenter.reset()
        self._vad.reset()

    # --- hearing -------------------------------------------------------------------------------

    def _hear(self, message: AudioIn) -> Iterator[SttInput]:
        self._last_frame_s = self._clock.now()
        self._stream_start_s = message.captured_at_s - message.end_sample / PIPELINE_HZ
        self._close_if_over()
        block = np.zeros_like(message.block) if self._overlap.deaf else message.block
        probability = self._vad.probability(block)
        for event in self._segmenter.push(block, probability):
            yield from self._on(event)
        segmenter = self._segmenter
        active_ms = 1000 * segmenter.active_samples / PIPELINE_HZ
        self._overlap.window(segmenter.sample, active_ms, segmenter.speech_probability)
        if self._falls_silent():
            yield self._speech()
            self._judge()
        elif self._wants_partial():
            yield self._speech()

    def _on(self, event: SegmenterEvent) -> Iterator[SttInput]:
        match event:
            case Onset():
                self._onset(event.sample)
            case Phantom():
                if self._turn is not None:
                    self._turns.cancel_reopen(self._turn.turn_id)
                self._overlap.ended(event.sample)
            case Started():
                self._start(event.onset_sample)
            case Resumed():
                self._resume(event.sample)
            case SoftEnd():
                self._overlap.ended(event.end_sample)
                self._soft_end = event.end_sample
                yield from self._end_softly()
            case Split():
                yield from self._split(event)
            case Closed():
                self._forget_turn()

    def _onset(self, sample: int) -> None:
        if self._turn is not None and not self._overlap.open:
            self._turns.begin_reopen(self._turn.turn_id)
        self._overlap.onset(sample)
        if self._overlap.open:
            self._partial_due(sample, OVERLAP_PARTIAL_MS)

    def _start(self, onset_sample: int) -> None:
        """A new turn. It interrupts whatever is still being made, unless it is over a reply."""
        if not self._overlap.open:
            self._floor.interrupt()
        turn = self._turn = self._turn or self._new_turn()
        self._soft_end = None
        if not self._overlap.open:
            self._partial_due(onset_sample, self._config.partial_interval_ms)
        self._events(SpeechStarted(turn, self._at_s(onset_sample)))

    def _new_turn(self) -> TurnId:
        self._count += 1
        turn = TurnId(f"{self._session_id}-{self._count}", 0)
        self._text = ""
        self._sent_samples = self._read_samples = 0
        self._turns.observe(turn)
        return turn

    def _resume(self, sample: int) -> None:
        """The speaker goes on: the same turn if it was not answered yet, else a new one."""
        self._soft_end = None
        if self._overlap.open:
            return
        reopened = None if self._turn is None else self._turns.confirm_reopen(self._turn.turn_id)
        if reopened is None:
            self._segmenter.close()  # heard again as the start of the next turn
            self._forget_turn()
            return
        self._turn = reopened
        self._partial_due(sample, self._config.partial_interval_ms)
        self._events(SpeechStarted(reopened, self._at_s(sample)))

    def _end_softly(self) -> Iterator[SttInput]:
        """Send the turn on at once, then find out how long its answer is to be held back."""
        turn, end = self._turn, self._soft_end
        if turn is None or end is None:
            return
        stopped_s = self._at_s(end)
        self._events(SpeechStopped(turn, stopped_s))
        if self._overlap.open:
            yield self._speech()
            return
        self._state.metrics.mark(turn, "speech_stopped", stopped_s)
        judged = self._silent_at > end
        heard = self._segmenter.audio(self._silent_at if judged else None)
        yield Speech(heard, turn, self._state.scope.generation, True, stopped_s)
        if not judged:
            self._judge()
        self._set_grace()
        self._state.metrics.mark(turn, "endpoint", self._clock.now())

    def _judge(self) -> None:
        """Ask the end-of-turn model, at the first window of silence: the answer is there when the
        second one makes it a soft end, and the language model has the machine to itself."""
        self._probability = None
        if self._end_of_turn is not None:
            heard = [self._segmenter.audio()]
            if self._segmenter.speaking:  # as it will be at the soft end: the model was tuned there
                heard.append(np.zeros(BLOCK_SAMPLES, dtype=np.float32))
            self._probability = self._end_of_turn.probability(np.concatenate(heard))

    def _set_grace(self) -> None:
        if self._turn is not None and self._soft_end is not None:
            wait_ms = grace_ms(self._probability, self._text, self._config.grace, self._language)
            self._turns.set_grace(self._turn, self._at_s(self._soft_end) + wait_ms / 1000)

    def _split(self, event: Split) -> Iterator[SttInput]:
        """The turn is longer than the maximum: answer what was said, go on as the next turn."""
        if self._turn is not None and not self._overlap.open:
            cut_s = self._at_s(event.cut_sample)
            self._turns.set_grace(self._turn, cut_s)
            yield Speech(event.audio, self._turn, self._state.scope.generation, True, cut_s)
        self._turn = self._new_turn()

    def _close_if_over(self) -> None:
        """An answered turn cannot be re-opened; nor one that nobody answered for too long."""
        if self._turn is None or self._soft_end is None:
            return
        waited_ms = 1000 * (self._segmenter.sample - self._soft_end) / PIPELINE_HZ
        if self._overlap.open:
            written = self._read_samples >= self._sent_samples
            limit_ms = self._config.interruption.late_ms if written else TRANSCRIPT_WAIT_MS
            over = waited_ms > limit_ms and not self._overlap.undecided
        else:
            committed = self._turns.is_committed(self._turn.turn_id)
            over = committed or waited_ms > self._config.unanswered_reopen_ms
        if over:
            self._segmenter.close()
            self._forget_turn()

    def _forget_turn(self) -> None:
        self._turn = None
        self._soft_end = None
        self._overlap.close()

    # --- partial transcripts -------------------------------------------------------------------

    def _read(self, partial: PartialTranscript) -> Iterator[SttInput]:
        if self._turn != partial.turn:
            return
        self._text = partial.text
        self._read_samples = partial.audio_samples
        over = self._soft_end is not None and self._read_samples >= self._sent_samples
        stable = None if over else partial.stable
        if not self._overlap.open:
            self._set_grace()
        elif self._overlap.words(self._segmenter.sample, partial.text, stable=stable):
            yield from self._promote()
            return
        self._events(Heard(partial.turn, partial.text, final=False))

    def _promote(self) -> Iterator[SttInput]:
        """What was said over a reply is a turn after all."""
        self._partial_due(self._segmenter.sample, self._config.partial_interval_ms)
        if self._soft_end is not None:
            yield from self._end_softly()

    def _wants_partial(self) -> bool:
        due = self._segmenter.sample >= self._next_partial_sample
        if self._overlap.open:
            if due and self._turn is None and len(self._segmenter.audio()):
                self._turn = self._new_turn()
            return due and self._turn is not None and self._soft_end is None
        speaking = self._turn is not None and self._segmenter.speaking
        return due and speaking and self._config.partial_interval_ms > 0

    def _falls_silent(self) -> bool:
        """The first window of silence: this may be all that is said. What is heard up to here is
        written down at once; if it is the soft end, its transcript is ready a window earlier."""
        segmenter = self._segmenter
        silent = segmenter.speaking and 0 < segmenter.silent_samples <= BLOCK_SAMPLES
        if not silent or self._turn is None or self._overlap.open:
            return False
        self._silent_at = segmenter.sample
        return True

    def _partial_due(self, from_sample: int, after_ms: int) -> None:
        self._next_partial_sample = from_sample + after_ms * PIPELINE_HZ // 1000

    def _speech(self) -> Speech:
        """A partial: all that is heard so far."""
        assert self._turn is not None
        overlap = self._overlap.open
        interval_ms = OVERLAP_PARTIAL_MS if overlap else self._config.partial_interval_ms
        self._partial_due(self._segmenter.sample, interval_ms)
        audio = self._segmenter.audio()
        self._sent_samples = len(audio)
        return Speech(
            audio,
            self._turn,
            self._state.scope.generation,
            False,
            self._at_s(self._segmenter.sample),
        )

    def _at_s(self, sample: int) -> float:
        """When `sample` of the stream was captured, on the session's clock."""
        return self._stream_start_s + sample / PIPELINE_HZ
