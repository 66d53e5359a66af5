"""Whether a pause is the end of what the person wants to say, and how long to wait for more.

Two kinds of evidence: `EndOfTurn` listens to the sound of the whole turn (smart-turn v3, an audio
model), and the partial transcript may end in a word that cannot be the last one. `grace_ms` joins
them into one duration, counted from the end of speech. Knows nothing about time or threads.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from s2s.audio import PIPELINE_HZ, Block
from s2s.runtime import onnx_session
from s2s.turns.unfinished import log_odds

if TYPE_CHECKING:
    import onnxruntime

# --- the sound of the turn -----------------------------------------------------------------------

MODEL_SECONDS = 8
"""How much of the turn the model hears: the last eight seconds, silence in front if shorter."""

_MODEL_SAMPLES = MODEL_SECONDS * PIPELINE_HZ
_FFT_SAMPLES = 400
_HOP_SAMPLES = 160
_FRAMES = _MODEL_SAMPLES // _HOP_SAMPLES
_MELS = 80
_POWER_FLOOR = 1e-10
_VARIANCE_FLOOR = 1e-7


class EndOfTurn:
    """Probability that a turn is complete, from its sound. Thread-safe: it keeps no state."""

    def __init__(
        self, model: str | Path | onnxruntime.InferenceSession, *, threads: int = 1
    ) -> None:
        """Listen with `model`.

        Args:
            model: path of a smart-turn v3 .onnx file, or a session to share.
            threads: threads of a new session.
        """
        if isinstance(model, (str, Path)):
            model = onnx_session(model, threads=threads)
        self.session = model

    def probability(self, audio: Block) -> float:
        """Probability in [0, 1] that the turn `audio`, float32 [samples] at 16 kHz, is complete.

        Give the whole turn with its inner silences, not only its last piece: intonation is heard
        against what came before.
        """
        features = log_mel(audio)[np.newaxis]
        output = self.session.run(["logits"], {"input_features": features})[0]
        return float(np.asarray(output).item())


def log_mel(audio: Block) -> npt.NDArray[np.float32]:
    """The model's input: Whisper's log-mel features of the last eight seconds.

    The recipe is Whisper's as Hugging Face's `WhisperFeatureExtractor` with `do_normalize`
    implements it: 25 ms Hann windows every 10 ms, 80 Slaney mel bands, log10, floor 8 below the
    maximum. Silence in front is the same in every frame, so only one of those is computed.

    Args:
        audio: float32 [samples] at 16 kHz.

    Returns:
        float32 [80, 800].
    """
    heard = audio[-_MODEL_SAMPLES:]
    silent_samples = _MODEL_SAMPLES - len(heard)
    whole = np.zeros(_MODEL_SAMPLES, dtype=np.float32)
    whole[silent_samples:] = heard
    whole = (whole - whole.mean()) / np.sqrt(whole.var() + np.float32(_VARIANCE_FLOOR))
    half = _FFT_SAMPLES // 2
    padded = np.pad(whole, half, mode="reflect")
    windows = np.lib.stride_tricks.sliding_window_view(padded, _FFT_SAMPLES)[::_HOP_SAMPLES]
    silent_frames = max(0, (silent_samples - half) // _HOP_SAMPLES)
    spectrum = np.fft.rfft(windows[silent_frames:_FRAMES] * _hann(), axis=-1)
    power = np.square(spectrum.real) + np.square(spectrum.imag)
    mel = np.empty((_MELS, _FRAMES), dtype=np.float64)
    mel[:, silent_frames:] = _mel_filters() @ power.T
    mel[:, :silent_frames] = mel[:, silent_frames : silent_frames + 1]
    logarithm = np.log10(np.maximum(mel, _POWER_FLOOR))
    logarithm = np.maximum(logarithm, logarithm.max() - 8.0)
    return ((logarithm + 4.0) / 4.0).astype(np.float32)


@functools.cache
def _hann() -> npt.NDArray[np.float64]:
    """Periodic Hann window, float64 [400]."""
    return 0.5 - 0.5 * np.cos(2.0 * np.pi * np.arange(_FFT_SAMPLES) / _FFT_SAMPLES)


@functools.cache
def _mel_filters() -> npt.NDArray[np.float64]:
    """Triangles of equal area on Slaney's mel scale, float64 [80, 201].

    Slaney, Auditory Toolbox (1998): linear to 1 kHz (15 mel), then 27 mel a factor of 6.4.
    """
    top_mel = 15.0 + 27.0 * np.log(PIPELINE_HZ / 2 / 1000.0) / np.log(6.4)
    mels = np.linspace(0.0, top_mel, _MELS + 2)
    edges_hz = np.where(mels < 15.0, mels * 200.0 / 3.0, 1000.0 * 6.4 ** ((mels - 15.0) / 27.0))
    bins_hz = np.linspace(0.0, PIPELINE_HZ / 2, _FFT_SAMPLES // 2 + 1)
    low, middle, high = edges_hz[:-2, None], edges_hz[1:-1, None], edges_hz[2:, None]
    rising = (bins_hz - low) / (middle - low)
    falling = (high - bins_hz) / (high - middle)
    return np.maximum(0.0, np.minimum(rising, falling)) * (2.0 / (high - low))


# --- how long to wait ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GraceConfig:
    """How long a pause must last before the turn is answered. All from the end of speech."""

    complete_ms: int = 100
    """When it is sure that the turn is over."""
    incomplete_ms: int = 2000
    """When it is sure that it is not."""
    silence_ms: int = 700
    """When there is no end-of-turn model: silence alone decides, and the text."""
    sure_complete: float = 0.95
    """Probability from which on `complete_ms` holds."""
    sure_incomplete: float = 0.05
    """Probability down to which `incomplete_ms` holds."""

    def __post_init__(self) -> None:
        if not 0 <= self.complete_ms <= self.silence_ms <= self.incomplete_ms:
            raise ValueError(
                "need 0 <= complete_ms <= silence_ms <= incomplete_ms, got "
                f"{self.complete_ms}, {self.silence_ms}, {self.incomplete_ms}"
            )
        if not 0.0 < self.sure_incomplete < self.sure_complete < 1.0:
            raise ValueError(
                "need 0 < sure_incomplete < sure_complete < 1, got "
                f"{self.sure_incomplete}, {self.sure_complete}"
            )


def grace_ms(
    probability: float | None,
    partial_text: str,
    config: GraceConfig,
    language: str | None = None,
) -> int:
    """Milliseconds to wait after the end of speech before the turn counts as complete.

    Continuous: the log-odds of "complete" (sound plus text) run linearly from one sure end to the
    other, the duration geometrically, so that every step doubles it alike.

    Args:
        probability: of `EndOfTurn`, in [0, 1]; None when there is no model.
        partial_text: the transcript so far; empty when there is none yet.
        config: the two ends and the way between.
        language: ISO 639-1 code of the text, None when unknown.

    Returns:
        between `complete_ms` and `incomplete_ms`; falls as `probability` rises.
    """
    low, high = _logit(config.sure_incomplete), _logit(config.sure_complete)
    if probability is None:
        sound = high - (high - low) * _position(config.silence_ms, config)
    else:
        sound = _logit(probability)
    odds = sound + log_odds(partial_text, language)
    doubt = min(max((high - odds) / (high - low), 0.0), 1.0)
    shortest = max(config.complete_ms, 1)
    return round(shortest * (config.incomplete_ms / shortest) ** doubt)


def _position(duration_ms: int, config: GraceConfig) -> float:
    """Where `duration_ms` lies between complete (0) and incomplete (1), geometrically."""
    shortest = max(config.complete_ms, 1)
    if config.incomplete_ms <= shortest:
        return 0.0
    return math.log(max(duration_ms, shortest) / shortest) / math.log(
        config.incomplete_ms / shortest
    )


def _logit(probability: float) -> float:
    bounded = min(max(probability, 1e-6), 1.0 - 1e-6)
    return math.log(bounded / (1.0 - bounded))
