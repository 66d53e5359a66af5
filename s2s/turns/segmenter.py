"""Where turns begin, pause and end: a pure state machine on the sample clock.

It is given windows and their speech probability, and tells what happened. It knows no model, no
clock and no thread, and it decides only about sound: whether a pause is the end of what the person
wants to say is decided in `endpoint.py`, and `close` tells it.

    quiet --Onset--> candidate --Started--> speaking --ProvisionalEnd--> paused --Onset--> returning
      ^                  |                  ^  |   ^                       ^                |   |
      +----FalseStart----+                  +--+   |                       +---FalseStart---+   |
                                            Split  +----------------Resumed---------------------+

A paused turn is still open: speech that comes back continues it. `close` (or a pause longer than
`max_pause_ms`, `TurnClosed`) makes the next speech a new turn.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import Enum, auto

import numpy as np

from s2s.core.audio import PIPELINE_HZ, Block, empty
from s2s.core.setting import setting
from s2s.turns.speech_events import (
    FalseStart,
    Onset,
    ProvisionalEnd,
    Resumed,
    SegmenterEvent,
    Started,
    TurnClosed,
    TurnCut,
    TurnWithdrawn,
)


@dataclass(frozen=True, slots=True)
class SegmenterConfig:
    """When sound becomes a turn. The defaults are for Silero VAD."""

    threshold: float = setting(0.6, "Speech probability above which speech begins.")
    hysteresis: float = setting(0.15, "Speech goes on down to `threshold - hysteresis`.")
    pre_roll_ms: int = setting(
        500, "Audio kept from before the first window of speech: soft first phonemes survive."
    )
    min_speech_ms: int = setting(384, "Active speech before a new turn starts.")
    min_continue_ms: int = setting(192, "Active speech before an open turn goes on after a pause.")
    sure_probability: float = setting(
        0.85,
        "Speech with at least this mean probability needs only half of the minimum, counted "
        'when it ends: "yes" and "no" are shorter than `min_speech_ms`. Above 1: never.',
    )
    min_silence_ms: int = setting(64, "Silence after which speech has provisionally ended.")
    max_turn_ms: int = setting(30_000, "A longer turn is split at its quietest point.")
    max_pause_ms: int = setting(
        10_000, "An open turn that was not closed ends by itself after this much silence."
    )

    def __post_init__(self) -> None:
        if not 0.0 < self.threshold - self.hysteresis <= self.threshold <= 1.0:
            raise ValueError(
                f"need 0 < threshold - hysteresis <= threshold <= 1, got threshold "
                f"{self.threshold} and hysteresis {self.hysteresis}"
            )
        shortest = min(self.min_speech_ms, self.min_continue_ms, self.min_silence_ms)
        if shortest <= 0 or self.pre_roll_ms < 0:
            raise ValueError(f"durations must be positive: {self}")
        if self.max_turn_ms < 2 * (self.min_speech_ms + self.pre_roll_ms):
            raise ValueError(
                f"max_turn_ms {self.max_turn_ms} is too short for turns of {self.min_speech_ms} ms "
                f"with {self.pre_roll_ms} ms of pre-roll: give at least twice their sum"
            )
        if self.max_pause_ms < self.min_silence_ms:
            raise ValueError(
                f"max_pause_ms {self.max_pause_ms} is below min_silence_ms {self.min_silence_ms}"
            )


class _State(Enum):
    QUIET = auto()
    """No turn is open."""
    CANDIDATE = auto()
    """Maybe a new turn begins."""
    SPEAKING = auto()
    PAUSED = auto()
    """The open turn has provisionally ended."""
    RETURNING = auto()
    """Maybe the paused turn goes on."""


@dataclass(frozen=True, slots=True)
class _Window:
    """A block that was heard."""

    start: int
    block: Block
    power: float

    @property
    def end(self) -> int:
        return self.start + len(self.block)


class Segmenter:
    """Cuts one stream into turns and holds the audio of the open one. Not thread-safe."""

    def __init__(self, config: SegmenterConfig | None = None, *, first_sample: int = 0) -> None:
        """Wait for the first turn; the first block begins at `first_sample`."""
        self.config = config or SegmenterConfig()
        self._sample = first_sample
        self.reset()

    def reset(self) -> None:
        """Forget the turn and the audio, keep the clock."""
        self._state = _State.QUIET
        self._windows: deque[_Window] = deque()
        self._floor = self._sample
        """Audio before it belongs to a turn that is over."""
        self._start = self._sample
        """First sample of the open turn, or of the candidate with its pre-roll."""
        self._begin_stretch(self._sample)
        self._end = self._sample
        """One past the last speech of the last provisional end."""

    @property
    def sample(self) -> int:
        """One past the last sample that was heard."""
        return self._sample

    @property
    def open(self) -> bool:
        """A turn has started and is not closed."""
        return self._state in (_State.SPEAKING, _State.PAUSED, _State.RETURNING)

    @property
    def speaking(self) -> bool:
        """The open turn is being spoken: no provisional end since it started or resumed."""
        return self._state is _State.SPEAKING

    @property
    def onset_sample(self) -> int:
        """Where the stretch of speech began that is heard, or was heard last."""
        return self._onset

    @property
    def paused(self) -> bool:
        """The open turn has provisionally ended, and nothing like speech came since."""
        return self._state is _State.PAUSED

    @property
    def start_sample(self) -> int:
        """First sample of what `audio` gives; `sample` when it is quiet."""
        return self._sample if self._state is _State.QUIET else self._start

    @property
    def silent_samples(self) -> int:
        """Silence since the last window of speech."""
        return self._sample - self._last_active

    @property
    def active_samples(self) -> int:
        """Active speech since the last `Onset`: pauses not counted."""
        return self._active

    @property
    def speech_probability(self) -> float:
        """Mean probability of the active speech since the last `Onset`; 0 before the first."""
        return self._probability_sum / self._active if self._active else 0.0

    def audio(self, end_sample: int | None = None) -> Block:
        """The open turn, or what may become one, with its pre-roll and inner silences.

        Args:
            end_sample: where to stop, in samples of the session; None for all that was heard.

        Returns:
            float32 [samples]; empty when it is quiet.
        """
        return empty() if self._state is _State.QUIET else self._slice(self._start, end_sample)

    def push(self, block: Block, probability: float) -> list[SegmenterEvent]:
        """Hear the next `block`, float32 [samples], with its speech probability in [0, 1]."""
        if len(block) == 0:
            return []
        power = float(np.dot(block, block)) / len(block)
        window = _Window(self._sample, block.copy(), power)
        self._windows.append(window)
        self._sample = window.end
        speaking = self._state not in (_State.QUIET, _State.PAUSED)
        bar = self.config.threshold - self.config.hysteresis if speaking else self.config.threshold
        speech = probability >= bar
        events = self._hear_speech(window, probability) if speech else self._hear_silence()
        longest = self._samples(self.config.max_pause_ms)
        if self._state is _State.PAUSED and self._sample - self._end >= longest:
            self.close()
            events.append(TurnClosed(self._sample))
        if self._state is _State.QUIET:
            self._forget_before(self._sample - self._samples(self.config.pre_roll_ms))
        return events

    def rewind(self, sample: int) -> list[Block]:
        """Forget the turn and what was heard from `sample` on. Its blocks, float32 [512], silent
        before `sample`, come next; they are returned as far as they are kept (the pre-roll)."""
        again = [window for window in self._windows if window.end > sample]
        if again:
            self._sample = again[0].start
            again[0].block[: max(0, sample - self._sample)] = 0.0
        self.reset()
        return [window.block for window in again]

    def stalled(self) -> list[SegmenterEvent]:
        """No more frames come: whatever is being spoken ends here."""
        return self._end_speech()

    def close(self) -> None:
        """The open turn is over, up to its last provisional end: the next speech is a new turn.

        Speech that came after that end is not lost: it is heard again as the beginning of the next
        turn. Without a provisional end all that was heard belongs to the turn.
        """
        match self._state:
            case _State.QUIET | _State.CANDIDATE:
                return
            case _State.PAUSED:
                self._state = _State.QUIET
            case _State.RETURNING:
                self._state = _State.CANDIDATE
            case _State.SPEAKING if self._end <= self._start:
                self._state, self._end = _State.QUIET, self._sample
            case _State.SPEAKING:
                self._state = _State.CANDIDATE
        self._floor = self._end
        self._start = self._with_pre_roll(self._onset)
        self._forget_before(self._start)

    def withdraw(self, sample: int) -> list[SegmenterEvent]:
        """What was heard since `sample` was nobody's speech who matters: it is silence now.

        The open turn ends provisionally where it was before; where nothing is left, there is none.
        """
        if self._state in (_State.QUIET, _State.PAUSED):
            return []
        heard, self._last_active = self.audio(), min(self._last_active, sample)
        for window in self._windows:
            if window.start >= sample:
                window.block[:] = 0.0
        if self._state is _State.CANDIDATE:
            self._state = _State.QUIET
            return [FalseStart(sample)]
        if self._state is _State.RETURNING:
            self._state = _State.PAUSED
            return [FalseStart(sample)]
        if sample > self._onset + self._samples(self.config.min_continue_ms):
            self._end = sample
        elif self._end <= self._start:
            self._state, self._floor = _State.QUIET, self._sample
            return [TurnWithdrawn(heard)]
        self._state, self._last_active = _State.PAUSED, self._end
        return [ProvisionalEnd(self._end)]

    # --- speech -----------------------------------------------------------------------------

    def _hear_speech(self, window: _Window, probability: float) -> list[SegmenterEvent]:
        events: list[SegmenterEvent] = []
        if self._state in (_State.QUIET, _State.PAUSED):
            self._begin_stretch(window.start)
            events.append(Onset(window.start))
            if self._state is _State.QUIET:
                self._state = _State.CANDIDATE
                self._start = self._with_pre_roll(window.start)
            else:
                self._state = _State.RETURNING
        self._active += len(window.block)
        self._probability_sum += probability * len(window.block)
        self._last_active = window.end
        if self._active >= self._needed():
            events += self._accept()
        longest = self._samples(self.config.max_turn_ms)
        if self._state is _State.SPEAKING and self._sample - self._start > longest:
            events.append(self._split())
        return events

    def _hear_silence(self) -> list[SegmenterEvent]:
        silence = self._sample - self._last_active
        if silence < self._samples(self.config.min_silence_ms):
            return []
        return self._end_speech()

    def _end_speech(self) -> list[SegmenterEvent]:
        """The stretch of speech is over: too short, or a provisional end."""
        if self._state in (_State.QUIET, _State.PAUSED):
            return []
        events: list[SegmenterEvent] = []
        if self._state is not _State.SPEAKING:
            if not self._is_speech():
                opened = self._state is _State.RETURNING
                self._state = _State.PAUSED if opened else _State.QUIET
                return [FalseStart(self._last_active)]
            events += self._accept()
        self._state = _State.PAUSED
        self._end = self._last_active
        return [*events, ProvisionalEnd(self._end)]

    def _is_speech(self) -> bool:
        """The stretch that ends now was long enough, or half as long and surely speech."""
        sure = self.speech_probability >= self.config.sure_probability
        return self._active >= self._needed() or (sure and 2 * self._active >= self._needed())

    def _accept(self) -> list[SegmenterEvent]:
        match self._state:
            case _State.CANDIDATE:
                self._state = _State.SPEAKING
                self._end = self._start
                return [Started(self._start, self._onset)]
            case _State.RETURNING:
                self._state = _State.SPEAKING
                return [Resumed(self._onset)]
            case _:
                return []

    # --- length -----------------------------------------------------------------------------

    def _split(self) -> TurnCut:
        """Cut the open turn in the middle of the quietest window of its second half."""
        half = cut = self._start + self._samples(self.config.max_turn_ms) // 2
        powers = np.array([window.power for window in self._windows])
        around = np.convolve(np.pad(powers, 1, mode="edge"), [1.0, 2.0, 1.0], mode="valid")
        quietest = np.inf
        for window, power in zip(list(self._windows)[:-1], around[:-1], strict=True):
            if window.start >= half and power <= quietest:
                quietest, cut = power, window.start + len(window.block) // 2
        finished = TurnCut(cut, self._slice(self._start, cut))
        self._start = self._floor = self._end = cut
        self._forget_before(cut)
        return finished

    # --- audio ------------------------------------------------------------------------------

    def _samples(self, duration_ms: int) -> int:
        return duration_ms * PIPELINE_HZ // 1000

    def _needed(self) -> int:
        """Active samples that make speech of what is heard now."""
        returning = self._state is _State.RETURNING
        return self._samples(
            self.config.min_continue_ms if returning else self.config.min_speech_ms
        )

    def _begin_stretch(self, onset: int) -> None:
        self._onset = onset
        self._active = 0
        self._probability_sum = 0.0
        self._last_active = onset

    def _with_pre_roll(self, onset: int) -> int:
        first = self._windows[0].start if self._windows else self._sample
        return max(onset - self._samples(self.config.pre_roll_ms), self._floor, first)

    def _slice(self, start: int, end: int | None) -> Block:
        """Audio from `start` to `end` (None: all), in samples of the session."""
        if not self._windows:
            return empty()
        first = self._windows[0].start
        end = self._sample if end is None else end
        joined = np.concatenate([window.block for window in self._windows])
        return joined[max(start - first, 0) : max(end - first, 0)].copy()

    def _forget_before(self, sample: int) -> None:
        while self._windows and self._windows[0].end <= sample:
            self._windows.popleft()
