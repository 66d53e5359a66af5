"""The start of an utterance's sound: leading silence trimmed, the first samples faded in. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from s2s.tts.qwen3.interfaces import Floats


@dataclass(frozen=True, slots=True)
class StartTrim:
    """What is done to the start of the sound.

    Up to ``silent_frames`` leading frames quieter than ``silence_dbfs`` are decoded but not given
    out (the CustomVoice models begin with a frame of digital silence); the first samples given out
    fade in over ``fade_in_ms``, which keeps a cut from clicking.
    """

    silent_frames: int = 6
    silence_dbfs: float = -60.0
    fade_in_ms: float = 5.0


UNTOUCHED = StartTrim(silent_frames=0, fade_in_ms=0.0)
"""Every sample as the decoder gave it."""


class StartTrimmer:
    """Trims and fades the start of one utterance's sound."""

    def __init__(self, settings: StartTrim, sample_rate_hz: int, samples_per_frame: int) -> None:
        self._left = settings.silent_frames
        self._floor = 10 ** (settings.silence_dbfs / 20)
        self._fade = round(settings.fade_in_ms * sample_rate_hz / 1000)
        self._samples_per_frame = samples_per_frame
        self._started = False
        self.trimmed_frames = 0

    def trim(self, pcm: Floats) -> Floats:
        """What of a chunk, in whole frames, is to be heard: float32 [samples], possibly none."""
        if self._started:
            return pcm
        start = 0
        while self._left and start < pcm.size:
            frame = pcm[start : start + self._samples_per_frame]
            if np.sqrt(np.mean(frame * frame)) > self._floor:
                break
            start += self._samples_per_frame
            self._left -= 1
            self.trimmed_frames += 1
        if start >= pcm.size:
            return pcm[:0]
        self._started = True
        kept = pcm[start:].copy()
        ramp = np.arange(min(self._fade, kept.size), dtype=np.float32) / max(self._fade, 1)
        kept[: ramp.size] *= ramp
        return kept
