"""The start of an utterance's sound: leading silence withheld, the first samples faded in. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from s2s.tts.qwen3.interfaces import Floats


@dataclass(frozen=True, slots=True)
class Edges:
    """What is done to the start of the sound.

    Up to ``silent_frames`` leading frames quieter than ``silence_dbfs`` are decoded but not given
    out (the CustomVoice models begin with a frame of digital silence); the first samples given out
    fade in over ``fade_in_ms``, which keeps a cut from clicking.
    """

    silent_frames: int = 6
    silence_dbfs: float = -60.0
    fade_in_ms: float = 5.0


UNTOUCHED = Edges(silent_frames=0, fade_in_ms=0.0)
"""Every sample as the decoder gave it."""


class Onset:
    """Shapes the start of one utterance's sound."""

    def __init__(self, edges: Edges, sample_rate_hz: int) -> None:
        self._left = edges.silent_frames
        self._floor = 10 ** (edges.silence_dbfs / 20)
        self._fade = round(edges.fade_in_ms * sample_rate_hz / 1000)
        self._started = False
        self.withheld_frames = 0

    def shape(self, pcm: Floats, samples_per_frame: int) -> Floats:
        """What of a chunk is to be heard: float32 [samples], whole frames, possibly none."""
        if self._started:
            return pcm
        start = 0
        while self._left and start < pcm.size:
            frame = pcm[start : start + samples_per_frame]
            if np.sqrt(np.mean(frame * frame)) > self._floor:
                break
            start += samples_per_frame
            self._left -= 1
            self.withheld_frames += 1
        if start >= pcm.size:
            return pcm[:0]
        self._started = True
        kept = pcm[start:].copy()
        ramp = np.arange(min(self._fade, kept.size), dtype=np.float32) / max(self._fade, 1)
        kept[: ramp.size] *= ramp
        return kept
