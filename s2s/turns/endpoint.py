"""Whether a turn is complete, by its sound: smart-turn v3, an audio model.

One witness of three; `s2s.turns.grace` joins them. Knows nothing about time or threads. Why it is
asked so early: docs/decisions/everything-starts-at-the-first-silence.md.
"""

from __future__ import annotations

import functools
import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from s2s.core.audio import PIPELINE_HZ, Block
from s2s.core.audio.mel import slaney_filters
from s2s.system.onnx import onnx_session

if TYPE_CHECKING:
    import onnxruntime

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
    # Band by band, not as one matrix product: docs/decisions/blas-threads-spin.md.
    for band, (first, weights) in enumerate(_mel_bands()):
        mel[band, silent_frames:] = np.einsum(
            "tf,f->t", power[:, first : first + len(weights)], weights
        )
    mel[:, :silent_frames] = mel[:, silent_frames : silent_frames + 1]
    logarithm = np.log10(np.maximum(mel, _POWER_FLOOR))
    logarithm = np.maximum(logarithm, logarithm.max() - 8.0)
    return ((logarithm + 4.0) / 4.0).astype(np.float32)


def to_log_odds(probability: float) -> float:
    """A probability as log-odds, bounded: nothing is ever certain."""
    bounded = min(max(probability, 1e-4), 1.0 - 1e-4)
    return math.log(bounded / (1.0 - bounded))


@functools.cache
def _hann() -> npt.NDArray[np.float64]:
    """Periodic Hann window, float64 [400]."""
    return 0.5 - 0.5 * np.cos(2.0 * np.pi * np.arange(_FFT_SAMPLES) / _FFT_SAMPLES)


@functools.cache
def _mel_bands() -> list[tuple[int, npt.NDArray[np.float64]]]:
    """First bin and weights, float64 [bins], of each triangle.

    Not a matrix product: BLAS would wake threads for it that go on spinning, and take the second
    core from the speech-to-text model that runs at the same time.
    """
    bands: list[tuple[int, npt.NDArray[np.float64]]] = []
    for filter_row in slaney_filters(PIPELINE_HZ, _FFT_SAMPLES, _MELS):
        bins = np.flatnonzero(filter_row)
        first, last = int(bins[0]), int(bins[-1])
        bands.append((first, filter_row[first : last + 1]))
    return bands
