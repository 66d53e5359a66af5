"""Whether a pause is the end of what the person wants to say, and how long to wait for more.

Two kinds of evidence: `EndOfTurn` listens to the sound of the whole turn (smart-turn v3, an audio
model), and the partial transcript may end in a word that cannot be the last one. `grace_ms` joins
them into one duration, counted from the end of speech. Knows nothing about time or threads.
"""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from s2s.core.audio import PIPELINE_HZ, Block
from s2s.core.audio.mel import slaney_filters
from s2s.core.setting import setting
from s2s.system.onnx import onnx_session
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
    for band, (first, weights) in enumerate(_mel_bands()):
        mel[band, silent_frames:] = np.einsum(
            "tf,f->t", power[:, first : first + len(weights)], weights
        )
    mel[:, :silent_frames] = mel[:, silent_frames : silent_frames + 1]
    logarithm = np.log10(np.maximum(mel, _POWER_FLOOR))
    logarithm = np.maximum(logarithm, logarithm.max() - 8.0)
    return ((logarithm + 4.0) / 4.0).astype(np.float32)


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


# --- how long to wait ----------------------------------------------------------------------------

Curve = tuple[tuple[float, int], ...]
"""Points (log-odds that the turn is complete, milliseconds to wait), from doubtful to sure."""


@dataclass(frozen=True, slots=True)
class GraceConfig:
    """How long a pause must last before the turn is answered, from the end of speech."""

    curve: Curve = setting(
        ((-0.2, 2000), (1.8, 1500), (1.9, 240), (5.0, 235), (7.0, 100)),
        'Log-odds of "complete" (2 is 88 %) and the wait in ms; geometric in between. Sound '
        'alone reaches 4.5; a turn that is also a whole answer by its words ("yes") goes '
        "beyond. The default was chosen with scripts/benchmark_endpointing.py. The steep step"
        " is where human pauses are: most end within 1.5 s, so a turn that may go on is given"
        " that time or none.",
    )
    silence_ms: int = setting(
        700, "When there is no end-of-turn model. Each unit of log-odds by the text halves it."
    )
    bias: float = setting(
        0.0, "Added to the log-odds: above 0 answers sooner, below 0 waits longer."
    )

    def __post_init__(self) -> None:
        odds = [point[0] for point in self.curve]
        waits = [point[1] for point in self.curve]
        if len(odds) < 2 or any(a >= b for a, b in itertools.pairwise(odds)):
            raise ValueError(f"curve needs at least 2 points with rising log-odds, got {odds}")
        if waits[-1] < 0 or any(a < b for a, b in itertools.pairwise(waits)):
            raise ValueError(f"waits of the curve must not rise or be negative, got {waits} ms")
        if not waits[-1] <= self.silence_ms <= waits[0]:
            raise ValueError(
                f"silence_ms must lie between the waits of the curve, {waits[-1]} and {waits[0]} "
                f"ms, got {self.silence_ms}"
            )

    @property
    def complete_ms(self) -> int:
        """When it is sure that the turn is over."""
        return self.curve[-1][1]

    @property
    def incomplete_ms(self) -> int:
        """When it is sure that it is not."""
        return self.curve[0][1]


EAGERNESS: dict[str, GraceConfig] = {
    "low": GraceConfig(curve=((0.0, 2000), (2.0, 1500), (2.2, 320), (5.0, 300), (7.0, 150))),
    "medium": GraceConfig(),
    "high": GraceConfig(curve=((-3.0, 2000), (1.0, 500), (2.0, 220), (7.0, 100))),
}
"""Three manners, from the patient to the quick."""


def grace_ms(
    probability: float | None,
    partial_text: str,
    config: GraceConfig,
    language: str | None = None,
) -> int:
    """Milliseconds to wait after the end of speech before the turn counts as complete.

    The log-odds of "complete" by sound and by text add up, as for independent evidence.

    Args:
        probability: of `EndOfTurn`, in [0, 1]; None when there is no model.
        partial_text: the transcript so far; empty when there is none yet.
        config: how they become a wait.
        language: ISO 639-1 code of the text, None when unknown.

    Returns:
        between `complete_ms` and `incomplete_ms`; continuous, and falls as `probability` rises.
    """
    text = log_odds(partial_text, language) + config.bias
    if probability is None:
        wait = config.silence_ms * 2.0**-text
        return round(min(max(wait, config.complete_ms), config.incomplete_ms))
    bounded = min(max(probability, 1e-4), 1.0 - 1e-4)
    odds = [point[0] for point in config.curve]
    waits = [math.log(max(point[1], 1)) for point in config.curve]
    sound = math.log(bounded / (1.0 - bounded))
    return round(math.exp(float(np.interp(sound + text, odds, waits))))
