"""What is wrong with a recording as the reference of a voice. Pure: samples in, sentences out.

Limits: the model's authors and users report 3 to 30 s as what clones well, and that clipping and
long silences are cloned too; the transcript must cover the whole recording (mlx-audio issue 921:
the model degenerates when it covers 6 of 10 s).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from s2s.tts.qwen3.errors import RecordingError
from s2s.tts.qwen3.interfaces import Floats

MIN_S, MAX_S = 3.0, 30.0

_SILENT_DB = -60.0
_FAINT_DB = -40.0
_FULL_SCALE = 0.99
_CLIPPED_RUN = 3
"""Samples in a row at full scale: a single one may be a peak that just fits."""
_CLIPPED_SHARE = 1e-4
_FRAME_S = 0.02
_BELOW_SPEECH_DB = 30.0
_SILENCE_SHARE = 0.5
_SLOWEST_LETTERS_A_S, _FASTEST_LETTERS_A_S = 2.0, 30.0


@dataclass(frozen=True, slots=True)
class Levels:
    """The loudness of a recording over time, in dB relative to full scale."""

    frames_db: npt.NDArray[np.float64]
    """Of each whole 20 ms, float64 [frames]."""
    speech_db: float
    """What the loud tenth of the frames reaches."""

    @property
    def silence_share(self) -> float:
        """Share of frames that are no speech: 30 dB below it."""
        return float(np.mean(self.frames_db < self.speech_db - _BELOW_SPEECH_DB))


def measure(pcm: Floats, rate_hz: int) -> Levels:
    """Levels of float32 [samples], which hold 20 ms or more."""
    size = int(_FRAME_S * rate_hz)
    frames = pcm[: len(pcm) // size * size].reshape(-1, size).astype(np.float64)
    power = np.maximum(np.square(frames).mean(axis=1), 1e-12)
    frames_db = 10.0 * np.log10(power)
    return Levels(frames_db, float(np.quantile(frames_db, 0.9)))


def check_reference(pcm: Floats, rate_hz: int, text: str = "") -> list[str]:
    """Reasons why a voice from this recording may disappoint, each a sentence; often none.

    text: transcript, or empty when there is none.
    Raises RecordingError for a recording without samples, of other than finite numbers, or silent.
    """
    if pcm.ndim != 1 or len(pcm) < _FRAME_S * rate_hz:
        raise RecordingError(
            f"the recording has {len(pcm) / rate_hz:.3f} s in one channel; "
            f"give {MIN_S:g} to {MAX_S:g} s of speech"
        )
    if not np.isfinite(pcm).all():
        raise RecordingError("the recording holds samples that are not finite numbers")
    levels = measure(pcm, rate_hz)
    if levels.speech_db < _SILENT_DB:
        raise RecordingError(
            f"the recording is silent (loudest {levels.speech_db:.0f} dB below full scale): "
            "is it the right file, and was the microphone on?"
        )
    seconds = len(pcm) / rate_hz
    found = [*_length(seconds), *_loudness(pcm, levels), *_silences(levels)]
    return found + _transcript(text, seconds)


def _length(seconds: float) -> list[str]:
    if seconds < MIN_S:
        return [f"it is only {seconds:.1f} s long: from {MIN_S:g} s on the voice is recognisable"]
    if seconds > MAX_S:
        return [
            f"it is {seconds:.0f} s long: beyond {MAX_S:g} s speech starts later and is less stable"
        ]
    return []


def _loudness(pcm: Floats, levels: Levels) -> list[str]:
    full = np.abs(pcm) >= _FULL_SCALE
    runs = np.convolve(full, np.ones(_CLIPPED_RUN), "valid") == _CLIPPED_RUN
    if runs.mean() > _CLIPPED_SHARE:
        share = 100.0 * float(full.mean())
        return [f"it is clipped ({share:.1f} % of it at full scale): the distortion is cloned too"]
    if levels.speech_db < _FAINT_DB:
        return [f"it is faint ({levels.speech_db:.0f} dB): noise will be part of the voice"]
    return []


def _silences(levels: Levels) -> list[str]:
    if levels.silence_share > _SILENCE_SHARE:
        return [f"{100 * levels.silence_share:.0f} % of it is silence: cut the pauses"]
    return []


def _transcript(text: str, seconds: float) -> list[str]:
    letters = sum(character.isalnum() for character in text)
    if not text.strip():
        return []
    # A Chinese or Japanese character stands for about three letters.
    wide = sum(ord(character) >= 0x2E80 for character in text if character.isalnum())
    rate = (letters + 2 * wide) / seconds
    if rate < _SLOWEST_LETTERS_A_S:
        return ["the transcript is short for it: it must hold every word that is said"]
    if rate > _FASTEST_LETTERS_A_S:
        return ["the transcript is long for it: it must hold only the words that are said"]
    return []
