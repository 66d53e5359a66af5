"""Audio as this project holds it: float32 mono blocks in [-1, 1].

Everything else is converted at the edge. Knows nothing about devices, models or time.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Block = npt.NDArray[np.float32]
"""Mono samples, float32 [samples], nominally within [-1, 1]."""

PIPELINE_HZ = 16_000
"""Rate of everything between the microphone and the transcript, in Hz."""

BLOCK_SAMPLES = 512
"""Samples in one block at any rate; at 16 kHz 32 ms, which is also Silero VAD's window."""

_INT16_SCALE = 32768.0


class AudioError(ValueError):
    """Audio that cannot be used. The message names the file or value and what to do."""


def empty() -> Block:
    """A block without samples."""
    return np.zeros(0, dtype=np.float32)


def to_int16(block: Block) -> npt.NDArray[np.int16]:
    """Convert float32 [samples] to int16 [samples], clipped at full scale."""
    scaled = np.rint(np.asarray(block, dtype=np.float32) * _INT16_SCALE)
    return np.clip(scaled, -32768, 32767).astype(np.int16)


def from_int16(samples: npt.NDArray[np.int16]) -> Block:
    """Convert int16 [samples] to float32 [samples]; exact inverse of `to_int16`."""
    return samples.astype(np.float32) / np.float32(_INT16_SCALE)


def to_mono(samples: npt.NDArray[np.float32]) -> Block:
    """Mix float32 [samples] or [samples, channels] down to float32 [samples] by the mean."""
    if samples.ndim == 1:
        return np.ascontiguousarray(samples, dtype=np.float32)
    return np.ascontiguousarray(samples.mean(axis=1), dtype=np.float32)


def rms_db(block: Block) -> float:
    """Level of `block` in dB relative to full scale; -inf for silence or no samples."""
    if len(block) == 0:
        return float("-inf")
    power = float(np.mean(np.square(block, dtype=np.float64)))
    return 10.0 * float(np.log10(power)) if power > 0.0 else float("-inf")


class Framer:
    """Cuts a stream of blocks into frames of one size. Any split gives the same frames."""

    def __init__(self, frame_samples: int) -> None:
        if frame_samples < 1:
            raise ValueError(f"frame_samples must be at least 1, got {frame_samples}")
        self._frame_samples = frame_samples
        self._rest = empty()

    @property
    def pending_samples(self) -> int:
        """Samples that wait for the rest of their frame."""
        return len(self._rest)

    def push(self, block: Block) -> Iterator[Block]:
        """Add `block` float32 [samples] and yield each complete frame float32 [frame_samples]."""
        joined = np.concatenate([self._rest, block]) if len(self._rest) else block
        whole = len(joined) - len(joined) % self._frame_samples
        self._rest = joined[whole:].copy()
        for start in range(0, whole, self._frame_samples):
            yield joined[start : start + self._frame_samples]

    def flush(self) -> Iterator[Block]:
        """Yield the last, incomplete frame padded with zeros, if there is one; start afresh."""
        if len(self._rest):
            frame = np.zeros(self._frame_samples, dtype=np.float32)
            frame[: len(self._rest)] = self._rest
            self._rest = empty()
            yield frame


class Resampler:
    """Changes the rate of a stream. Stateful: any split into blocks gives the same samples.

    Equal rates pass through untouched. Filter: soxr "HQ", band-limited sinc.
    """

    def __init__(self, in_hz: int, out_hz: int) -> None:
        if in_hz < 1 or out_hz < 1:
            raise ValueError(f"rates must be positive, got {in_hz} and {out_hz} Hz")
        self.in_hz = in_hz
        self.out_hz = out_hz
        self.reset()

    def reset(self) -> None:
        """Forget the stream so far."""
        self._stream = None
        if self.in_hz != self.out_hz:
            import soxr

            self._stream = soxr.ResampleStream(
                self.in_hz, self.out_hz, 1, dtype="float32", quality="HQ"
            )

    def push(self, block: Block) -> Block:
        """Resample `block` float32 [samples at in_hz]; returns what is ready, at out_hz."""
        if self._stream is None:
            return block
        if len(block) == 0:
            return empty()
        return np.asarray(self._stream.resample_chunk(block), dtype=np.float32)

    def flush(self) -> Block:
        """The samples still inside the filter; the next push starts a new stream."""
        if self._stream is None:
            return empty()
        tail = np.asarray(self._stream.resample_chunk(empty(), last=True), dtype=np.float32)
        self.reset()
        return tail


def resample(samples: Block, in_hz: int, out_hz: int) -> Block:
    """Resample a whole recording float32 [samples at in_hz] to float32 [samples at out_hz]."""
    resampler = Resampler(in_hz, out_hz)
    return np.concatenate([resampler.push(samples), resampler.flush()])
