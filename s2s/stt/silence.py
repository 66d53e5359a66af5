"""Whether audio can hold words at all. Pure; knows no model.

Whisper and Moonshine make words up when there is nothing to hear, so that is not asked of them.
"""

from __future__ import annotations

import numpy as np

from s2s.core.audio import PIPELINE_HZ, Block

MIN_SAMPLES = PIPELINE_HZ // 10
"""Shorter than any word."""
_FRAME_SAMPLES = PIPELINE_HZ * 3 // 100


def is_silent(audio: Block, level_db: float) -> bool:
    """`audio` float32 [samples at 16 kHz] is shorter than 0.1 s, or its loudest 30 ms, a constant
    offset aside, stay below `level_db` (dB of full scale)."""
    if len(audio) < MIN_SAMPLES:
        return True
    centred = audio - audio.mean()
    frames = len(centred) // _FRAME_SAMPLES
    power = np.square(centred[: frames * _FRAME_SAMPLES], dtype=np.float64)
    loudest = float(power.reshape(frames, _FRAME_SAMPLES).mean(axis=1).max())
    return loudest < 10.0 ** (level_db / 10.0)


def sound(audio: Block) -> Block:
    """`audio` with samples beyond full scale clipped, and those that are no numbers silent."""
    clean = np.nan_to_num(audio, nan=0.0, posinf=1.0, neginf=-1.0)
    return np.clip(clean, -1.0, 1.0).astype(np.float32, copy=False)
