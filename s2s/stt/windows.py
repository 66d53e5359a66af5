"""Where to cut a long recording for a model with a short memory. Pure; knows no model."""

from __future__ import annotations

import numpy as np

from s2s.core.audio import PIPELINE_HZ, Block

_FRAME_SAMPLES = PIPELINE_HZ // 50
_SMOOTH_FRAMES = 10


def quiet_windows(audio: Block, window_samples: int) -> list[slice]:
    """Cut `audio` float32 [samples at 16 kHz] into windows of at most `window_samples`.

    Each window but the last ends at the quietest 200 ms of its second half. A cut depends on the
    samples before the window's longest possible end alone, so it stays where it is when the
    recording grows. The slices cover the audio without gap or overlap; none for no audio.

    Raises:
        ValueError: `window_samples` is shorter than one second.
    """
    if window_samples < PIPELINE_HZ:
        raise ValueError(f"window_samples must be at least {PIPELINE_HZ}, got {window_samples}")
    windows: list[slice] = []
    start = 0
    while len(audio) - start > window_samples:
        first = start + window_samples // 2
        end = first + _quietest(audio[first : start + window_samples])
        windows.append(slice(start, end))
        start = end
    if start < len(audio):
        windows.append(slice(start, len(audio)))
    return windows


def _quietest(audio: Block) -> int:
    """Sample in the middle of the quietest 200 ms of `audio` float32 [at least half a second]."""
    frames = len(audio) // _FRAME_SAMPLES
    power = np.square(audio[: frames * _FRAME_SAMPLES], dtype=np.float64)
    energy = power.reshape(frames, _FRAME_SAMPLES).sum(axis=1)
    smooth = np.convolve(energy, np.ones(_SMOOTH_FRAMES), mode="valid")
    return (int(np.argmin(smooth)) + _SMOOTH_FRAMES // 2) * _FRAME_SAMPLES
