"""The playback buffer: between the sender and whatever plays. It belongs to the transport.

A device callback pulls samples from it and never waits; the sender writes and waits while it is
full. It knows which text each sample belongs to, so it is the one place that knows what was heard:
docs/decisions/history-from-the-loudspeaker.md.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Literal, Protocol

import numpy as np

from s2s.core.audio import Block
from s2s.core.clock import Clock
from s2s.core.messages import ResponseId

DUCK_GAIN = 10 ** (-12 / 20)
"""-12 dB: quiet enough to talk over, loud enough to go on from."""

RAMP_MS = 20.0
"""Gain changes take this long, so that they do not click."""


@dataclass(frozen=True, slots=True)
class Played:
    """What happened to a response at the loudspeaker, on the sample clock."""

    response: ResponseId
    what: Literal["started", "finished", "cut"]
    text: str
    """The part of the answer that was played until then."""
    at_s: float


class PlaybackMode(Enum):
    """What playback does with its samples."""

    NORMAL = "normal"
    DUCKED = "ducked"
    PAUSED = "paused"
    """Silent, nothing is consumed; goes on at the very sample."""


class PlaybackTap(Protocol):
    """Takes what is played, beside the loudspeaker; none of its calls waits."""

    def played(self, block: Block, rate_hz: int, at_s: float) -> None:
        """Take float32 [samples at rate_hz] that are heard from `at_s` on, by the session's clock;
        the block is the caller's again afterwards."""
        ...

    def silenced(self, at_s: float) -> None:
        """What was taken is not heard from `at_s` on."""
        ...


@dataclass(slots=True)
class _Mark:
    """A position in the stream of samples, and what is true once it has been played."""

    at_sample: int
    response: ResponseId
    text: str
    ends: bool = False


class Playback:
    """A bounded buffer of samples with marks. Safe from any thread.

    Counts samples from the start of the session: written, and played.
    """

    def __init__(self, clock: Clock, rate_hz: int, *, capacity_s: float = 2.0) -> None:
        if rate_hz < 1 or capacity_s <= 0:
            raise ValueError(f"needs a positive rate and capacity, got {rate_hz}, {capacity_s}")
        self.rate_hz = rate_hz
        self.tap: PlaybackTap | None = None
        self.underruns = 0
        self._clock = clock
        self._changed = clock.condition()
        self._ring = np.zeros(int(capacity_s * rate_hz), dtype=np.float32)
        self._written = 0
        self._played = 0
        self._marks: deque[_Mark] = deque()
        self._reports: deque[Played] = deque()
        self._current: ResponseId | None = None
        self._heard = ""
        self._gain = 1.0
        self._output = PlaybackMode.NORMAL
        self._cue = np.zeros(0, dtype=np.float32)
        self._closed = False

    @property
    def capacity_samples(self) -> int:
        return len(self._ring)

    @property
    def waiting_samples(self) -> int:
        """Samples written and not yet played."""
        return self._written - self._played

    @property
    def played_samples(self) -> int:
        """Samples of answers that were played since the session began."""
        return self._played

    @property
    def playing(self) -> bool:
        """Samples are leaving, or could if it were not paused, or a response has not ended yet."""
        with self._changed:
            return self._current is not None or bool(self._marks)

    @property
    def heard_text(self) -> str:
        """The part of the newest answer that was played until now."""
        return self._heard

    @property
    def output(self) -> PlaybackMode:
        return self._output

    @property
    def silent(self) -> bool:
        """Whether a sample pulled now would be zero because nothing is there or it is paused."""
        return self._output is PlaybackMode.PAUSED or self.waiting_samples == 0

    # --- the sender's side ---------------------------------------------------------------------

    def write(
        self, block: Block, response: ResponseId, text: str, *, stale: Callable[[], bool]
    ) -> bool:
        """Append samples, waiting while the buffer is full.

        Args:
            block: float32 [samples] at `rate_hz`, no longer than the capacity.
            response: whose sound it is.
            text: the answer's text that is spoken once the block has been played.
            stale: ends the wait; looked at under the buffer's lock, so that nothing stale is
                written after `clear`.

        Returns:
            False when it was stale or the buffer is closed: nothing was written.
        """
        if len(block) > len(self._ring):
            raise ValueError(f"a block of {len(block)} samples exceeds the buffer")
        with self._changed:
            while len(block) > len(self._ring) - (self._written - self._played):
                if stale() or self._closed:
                    return False
                self._changed.wait()
            if stale() or self._closed:
                return False
            start = self._written % len(self._ring)
            first = min(len(block), len(self._ring) - start)
            self._ring[start : start + first] = block[:first]
            self._ring[: len(block) - first] = block[first:]
            self._written += len(block)
            self._marks.append(_Mark(self._written, response, text))
            self._changed.notify_all()
            return True

    def finish(self, response: ResponseId) -> bool:
        """No more samples of `response` will come; False when none ever came."""
        with self._changed:
            ours = [mark for mark in self._marks if mark.response == response]
            if ours:
                ours[-1].ends = True
            elif self._current == response:
                self._report("finished")
                self._current = None
            else:
                return False
            return True

    def cue(self, sound: Block) -> None:
        """Play a short sound, float32 [samples] at `rate_hz`, now and over whatever plays. It is no
        answer: nothing counts it, nothing waits for it, and an interruption lets it end."""
        with self._changed:
            self._cue = sound
            self._changed.notify_all()

    # --- the player's side ---------------------------------------------------------------------

    def pull(self, out: Block) -> int:
        """Fill `out` float32 [samples] with what is to be played, zeros where there is nothing.

        Never waits for samples. Returns how many were the answer's own.
        """
        with self._changed:
            waiting = self._written - self._played
            taken = 0 if self._output is PlaybackMode.PAUSED else min(len(out), waiting)
            start = self._played % len(self._ring)
            first = min(taken, len(self._ring) - start)
            out[:first] = self._ring[start : start + first]
            out[first:taken] = self._ring[: taken - first]
            out[taken:] = 0.0
            self._apply_gain(out)
            self._mix_cue(out)
            if self.tap is not None:
                self.tap.played(out, self.rate_hz, self._clock.now())
            if taken:
                self._advance(taken)
                self._changed.notify_all()
            if (
                taken < len(out)
                and self._current is not None
                and self._output is PlaybackMode.NORMAL
            ):
                self.underruns += 1
            return taken

    def wait_for_sound(self, until_s: float) -> bool:
        """Wait until samples are there to be played; False when the clock reads `until_s` first."""
        with self._changed:
            while self._written == self._played and not len(self._cue):
                remaining_s = until_s - self._clock.now()
                if remaining_s <= 0:
                    return False
                self._changed.wait(remaining_s)
            return True

    def reports(self) -> list[Played]:
        """What happened since the last call, in order."""
        with self._changed:
            reports = list(self._reports)
            self._reports.clear()
            return reports

    # --- interruption --------------------------------------------------------------------------

    def set_output(self, output: PlaybackMode) -> None:
        """Duck, pause, or go on at the very sample."""
        with self._changed:
            self._output = output

    def clear(self) -> None:
        """Drop every waiting sample: silence from the next pull on. Cut responses are reported."""
        with self._changed:
            responses = [] if self._current is None else [self._current]
            for mark in self._marks:
                if mark.response not in responses:
                    responses.append(mark.response)
            for response in responses:
                if response != self._current:
                    self._current, self._heard = response, ""
                self._report("cut")
            self._current, self._heard = None, ""
            self._marks.clear()
            self._played = self._written
            self._output = PlaybackMode.NORMAL
            self._changed.notify_all()

    def drop(self, unwanted: Callable[[ResponseId], bool]) -> None:
        """Drop the waiting samples of the newest responses, as far back as they are `unwanted`:
        silence from the next pull on where one of them plays. Those are reported as cut."""
        with self._changed:
            cut: list[ResponseId] = []
            while self._marks and unwanted(self._marks[-1].response):
                mark = self._marks.pop()
                if mark.response not in cut:
                    cut.append(mark.response)
            if not self._marks and self._current is not None and unwanted(self._current):
                self._report("cut")
                cut = [response for response in cut if response != self._current]
                self._current, self._heard = None, ""
            self._reports += [Played(each, "cut", "", self._clock.now()) for each in cut]
            self._written = self._marks[-1].at_sample if self._marks else self._played
            self._changed.notify_all()

    def close(self) -> None:
        """It will not be played any further: writers give up."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    # --- inside --------------------------------------------------------------------------------

    def _advance(self, taken: int) -> None:
        if self._marks and self._marks[0].response != self._current:
            self._current, self._heard = self._marks[0].response, ""
            self._report("started")
        self._played += taken
        while self._marks and self._marks[0].at_sample <= self._played:
            mark = self._marks.popleft()
            if mark.response != self._current:
                self._current, self._heard = mark.response, ""
                self._report("started")
            self._heard = mark.text
            if mark.ends:
                self._report("finished")
                self._current = None

    def _mix_cue(self, out: Block) -> None:
        count = min(len(out), len(self._cue))
        if count:
            np.clip(out[:count] + self._cue[:count], -1.0, 1.0, out=out[:count])
            self._cue = self._cue[count:]

    def _report(self, what: Literal["started", "finished", "cut"]) -> None:
        assert self._current is not None
        self._reports.append(Played(self._current, what, self._heard, self._clock.now()))

    def _apply_gain(self, out: Block) -> None:
        target = DUCK_GAIN if self._output is PlaybackMode.DUCKED else 1.0
        if self._gain == target:
            if target != 1.0:
                out *= np.float32(target)
            return
        step = 1.0 / (RAMP_MS / 1000 * self.rate_hz)
        limit = np.minimum if target > self._gain else np.maximum
        sign = 1.0 if target > self._gain else -1.0
        ramp = limit(self._gain + sign * step * np.arange(1, len(out) + 1), target)
        out *= ramp.astype(np.float32)
        self._gain = float(ramp[-1])
