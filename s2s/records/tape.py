"""Two voices on one clock: the person left, the assistant right, as samples at 16 kHz.

Pure: knows positions and samples, no file, thread or device.
"""

from __future__ import annotations

from collections import deque

import numpy as np
import numpy.typing as npt

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block, Resampler, to_int16

Samples = npt.NDArray[np.int16]

LATE_SAMPLES = PIPELINE_HZ // 4
"""A microphone that is behind the clock by more has delivered nothing for a while: the rest is
silence. Less is a device that delivers in lumps."""
JUMP_SAMPLES = PIPELINE_HZ // 20
"""Sound that begins further from where the sound before it ended is no continuation of it."""
QUIET_SAMPLES = PIPELINE_HZ // 2
"""After so much silence the assistant's sound begins anew, by the clock: a sound card's own clock
drifts from ours, and is set right where nobody hears it."""


class VoiceTrack:
    """One voice: pieces at ascending positions that are not written yet."""

    def __init__(self) -> None:
        self._pieces: deque[tuple[int, Samples]] = deque()
        self.end = 0
        """Position behind the last sample."""

    def put(self, at: int, samples: Samples) -> None:
        """Lay int16 [samples] at a position, or behind what is there already."""
        at = max(at, self.end)
        if len(samples):
            self._pieces.append((at, samples))
            self.end = at + len(samples)

    def cut(self, at: int) -> None:
        """Nothing is heard from there on."""
        while self._pieces and self._pieces[-1][0] + len(self._pieces[-1][1]) > at:
            start, samples = self._pieces.pop()
            if start < at:
                self._pieces.append((start, samples[: at - start]))
        self.end = min(self.end, at)

    def take(self, start: int, until: int) -> Samples:
        """int16 [until - start], zeros where nothing was laid; it is gone from the track."""
        taken = np.zeros(until - start, dtype=np.int16)
        while self._pieces and self._pieces[0][0] < until:
            at, samples = self._pieces.popleft()
            count = min(len(samples), until - at)
            taken[at - start : at - start + count] = samples[:count]
            if count < len(samples):
                self._pieces.appendleft((at + count, samples[count:]))
        self.end = max(self.end, until)
        return taken


class Tape:
    """Both voices. Positions count samples at 16 kHz from the beginning of the record."""

    def __init__(self) -> None:
        self._person = VoiceTrack()
        self._assistant = VoiceTrack()
        self._stream: Resampler | None = None
        self._stream_end = 0.0
        """Where the assistant's next sample is expected, as far as it was given."""
        self._quiet = 0.0
        self.written = 0
        """Position up to which everything was taken."""

    def person(self, window: Samples, ends_at: int) -> int:
        """Lay a window, int16 [512], whose last sample was captured at `ends_at`; returns where it
        begins.

        Windows follow each other, whatever the clock says, unless there is a gap: then whole
        windows of silence are put in, so that every window begins at a multiple of 512.
        """
        behind = ends_at - len(window) - self._person.end
        if behind > LATE_SAMPLES or not self._person.end:
            behind = max(0, behind) // BLOCK_SAMPLES * BLOCK_SAMPLES
        else:
            behind = 0
        at = self._person.end + behind
        self._person.put(at, window)
        return at

    def assistant(self, block: Block, rate_hz: int, at: int) -> None:
        """Lay float32 [samples at rate_hz] that are heard from `at` on."""
        samples = len(block) * PIPELINE_HZ / rate_hz
        audible = bool(block.any())
        if self._stream is not None:
            apart = abs(at - self._stream_end) > JUMP_SAMPLES or self._stream.in_hz != rate_hz
            if apart or (not audible and self._quiet > QUIET_SAMPLES):
                self._end_stream()
        if self._stream is None:
            if not audible:
                return
            self._stream = Resampler(rate_hz, PIPELINE_HZ)
            self._assistant.end = max(self._assistant.end, at)
            self._stream_end = float(self._assistant.end)
        self._quiet = 0.0 if audible else self._quiet + samples
        self._stream_end += samples
        self._lay(self._stream.push(block))

    def silence(self, at: int) -> None:
        """The assistant is silent from `at` on: what was to be heard later never is."""
        self._end_stream()
        self._assistant.cut(max(at, self.written))

    def ahead(self) -> int:
        """How far the person was heard."""
        return self._person.end

    def take(self, until: int) -> Samples:
        """Everything up to `until`, in whole windows: int16 [samples, 2]. What comes later is laid
        behind it."""
        return self._take(max(self.written, until // BLOCK_SAMPLES * BLOCK_SAMPLES))

    def take_rest(self, now: int) -> Samples:
        """All that there is; what would have been heard after `now` never is."""
        self.silence(now)
        return self._take(max(self._person.end, self._assistant.end))

    def _take(self, until: int) -> Samples:
        both = np.stack(
            [self._person.take(self.written, until), self._assistant.take(self.written, until)],
            axis=1,
        )
        self.written = until
        return both

    def _end_stream(self) -> None:
        if self._stream is not None:
            self._lay(self._stream.flush())
            self._stream = None
        self._quiet = 0.0

    def _lay(self, block: Block) -> None:
        self._assistant.put(self._assistant.end, to_int16(block))
