"""Two clocks: what a loudspeaker played, at the pace of the microphone.

Each device counts samples by its own crystal; after an hour they are tenths of a second apart. How
far is seen in the samples that wait between them: what one delivers too fast piles up. The stream
is read faster or slower by as much, in fractions of a sample, so that nothing jumps and a delay
that was learned stays true. Pure.
"""

from __future__ import annotations

import numpy as np

from s2s.core.audio import PIPELINE_HZ, Block

MAX_DRIFT = 2e-3
"""Of a pair of clocks; USB sound cards are within 200 ppm. More is a fault, and cut off."""
JUMP_SAMPLES = PIPELINE_HZ // 10
"""More that waits beyond the usual is no drift (a device stood still): it is dropped."""
JUMP_S = 1.5
"""It is dropped after this long: a reader that was late itself catches up sooner."""
_SMOOTH_S = 4.0
"""Callbacks come in bursts: the waiting samples are averaged over this long."""
_SETTLE_S = 20.0
"""An offset is taken back within about this time, by reading faster or slower."""
_UNSEEN_SAMPLES = 16
"""Less than a millisecond is left as it is, so that equal clocks pass to the bit."""
_LEARN_S = 30.0
"""The clocks' own difference is learned over this long."""
_TAPS = 24
"""Of the windowed sinc between samples, on each side 12: -60 dB below 7 kHz."""


class PacedStream:
    """A stream of one clock, read at the pace of another. Not thread-safe."""

    def __init__(self) -> None:
        self._samples = np.zeros(_TAPS, dtype=np.float32)
        self._position = float(_TAPS // 2)
        """Of the next sample to be read, in `_samples`."""
        self._usual: float | None = None
        """Samples that wait on average, as it was at the start."""
        self._waiting = 0.0
        self._held_back = 0.0
        self._drift = 0.0
        self._correction = 0.0
        self._read_s = 0.0
        self._jumped_s = 0.0

    @property
    def drift_ppm(self) -> float:
        """By how much the written clock runs faster than the reading one, as far as known."""
        return 1e6 * self._drift

    @property
    def waiting_samples(self) -> float:
        """Written and not yet read."""
        return len(self._samples) - _TAPS // 2 - self._position

    def write(self, block: Block, arrived: float | None = None) -> None:
        """Append float32 [samples] of the writer's clock. `arrived`, where it is known better: how
        many came, those that a resampler holds back included."""
        self._samples = np.concatenate([self._samples, block])
        self._held_back += (len(block) if arrived is None else arrived) - len(block)

    def read(self, count: int) -> Block:
        """The next float32 [count] of the reader's clock; zeros where nothing has come yet."""
        self._follow(count)
        rate = 1.0 + self._drift + self._correction
        available = int(max(0.0, self.waiting_samples) / rate)
        taken = min(count, available)
        out = np.zeros(count, dtype=np.float32)
        if taken:
            out[:taken] = self._between(self._position + rate * np.arange(taken))
            self._position += rate * taken
        spare = int(self._position) - _TAPS // 2
        if spare > 0:
            self._samples = self._samples[spare:]
            self._position -= spare
        return out

    def _follow(self, count: int) -> None:
        waiting = self.waiting_samples + self._held_back
        passed_s = count / PIPELINE_HZ
        self._read_s += passed_s
        if self._read_s <= _SMOOTH_S:
            self._waiting += (waiting - self._waiting) * passed_s / self._read_s
            self._drop(waiting - count - JUMP_SAMPLES)
            return
        if self._usual is None:
            self._usual = self._waiting
        jumped = abs(waiting - self._usual) > JUMP_SAMPLES
        self._jumped_s = self._jumped_s + passed_s if jumped else 0.0
        if self._jumped_s > JUMP_S:
            self._drop(waiting - self._usual)
            self._waiting = self._usual = min(waiting, self._usual)
            self._jumped_s = 0.0
        elif not jumped:
            self._waiting += (waiting - self._waiting) * passed_s / _SMOOTH_S
            off = self._waiting - self._usual
            off = 0.0 if abs(off) < _UNSEEN_SAMPLES else off
            correction = off / (_SETTLE_S * PIPELINE_HZ)
            self._correction = float(np.clip(correction, -MAX_DRIFT, MAX_DRIFT))
            drift = self._drift + self._correction * passed_s / _LEARN_S
            self._drift = float(np.clip(drift, -MAX_DRIFT, MAX_DRIFT))

    def _drop(self, samples: float) -> None:
        if samples > 0:
            self._position += int(samples)

    def _between(self, at: np.ndarray) -> Block:
        """The stream at positions float64 [samples], by a windowed sinc."""
        whole = np.floor(at).astype(np.int64)
        fraction = at - whole
        if not fraction.any():
            return self._samples[whole]
        offsets = np.arange(1 - _TAPS // 2, _TAPS // 2 + 1)
        apart = fraction[:, np.newaxis] - offsets
        weights = np.sinc(apart) * np.cos(np.pi * apart / (_TAPS + 1)) ** 2
        weights /= weights.sum(axis=1, keepdims=True)
        return np.sum(self._samples[whole[:, np.newaxis] + offsets] * weights, axis=1).astype(
            np.float32
        )
