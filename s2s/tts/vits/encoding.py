"""The half of a voice that runs once a sentence, and its result: the frames to be decoded.

Frames before the flow are made here from the phonemes' values: each phoneme's mean and deviation
repeated for its duration, and the noise. The noise is drawn frame by frame, so that it does not
depend on how the frames are cut into pieces, and a seed gives the same speech again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from s2s.core.arrays import Floats
from s2s.tts.vits.decoding import run
from s2s.tts.vits.errors import SpeechError
from s2s.tts.vits.graph.stepwise import Array
from s2s.tts.vits.parts import Cut

if TYPE_CHECKING:
    import onnxruntime

MAX_FRAMES = 200_000
"""About 40 minutes of speech; a voice that wants more for one sentence is damaged."""


@dataclass(frozen=True, slots=True)
class Scales:
    """How a voice speaks; the defaults are Piper's."""

    noise: float = 0.667
    """Variation of the sound."""
    length: float = 1.0
    """Slower above 1."""
    noise_w: float = 0.8
    """Variation of the rhythm."""

    def array(self) -> Floats:
        """float32 [3], as the graphs take it."""
        return np.array([self.noise, self.length, self.noise_w], np.float32)


@dataclass(frozen=True, slots=True)
class Encoded:
    """A sentence ready to be decoded."""

    total: int
    """Frames."""
    durations: npt.NDArray[np.int64] | None
    """Frames of each phoneme number, int64 [phonemes]; None when the cut hides them."""
    frames: TokenFrames | LatentFrames
    fixed: Mapping[str, Array]
    """Inputs of the decoder that are the same for all frames."""


class LatentFrames:
    """Frames that the encoder gave whole."""

    def __init__(self, latent: Floats) -> None:
        self._latent = latent

    def __call__(self, first: int, last: int) -> dict[str, Floats]:
        """The decoder's inputs for the frames [first, last)."""
        return {"latent": self._latent[:, :, first:last]}


class TokenFrames:
    """Frames made on demand from the phonemes' means, deviations and durations."""

    def __init__(
        self,
        mean: Floats,
        log_std: Floats,
        durations: npt.NDArray[np.int64],
        rng: np.random.Generator,
    ) -> None:
        self._mean = mean
        self._log_std = log_std
        self._token_of = np.repeat(np.arange(len(durations)), durations)
        self._rng = rng
        self._noise = np.zeros((0, mean.shape[1]), np.float32)

    def __call__(self, first: int, last: int) -> dict[str, Floats]:
        """The decoder's inputs for the frames [first, last)."""
        return {
            "mean": self._expanded(self._mean, first, last),
            "log_std": self._expanded(self._log_std, first, last),
            "noise": self._noise_until(last)[first:last].T[None],
        }

    def _expanded(self, values: Floats, first: int, last: int) -> Floats:
        tokens = self._token_of[first:last]
        if len(tokens):
            return values[:, :, tokens]
        # A sentence of no duration at all still is one frame, of zeros, as in the whole graph.
        return np.zeros((1, values.shape[1], last - first), np.float32)

    def _noise_until(self, last: int) -> Floats:
        missing = last - len(self._noise)
        if missing > 0:
            more = self._rng.standard_normal((missing, self._noise.shape[1]), np.float32)
            self._noise = np.concatenate([self._noise, more])
        return self._noise


def encode(
    session: onnxruntime.InferenceSession,
    cut: Cut,
    ids: npt.NDArray[np.int64],
    speaker: int,
    scales: Scales,
    rng: np.random.Generator,
) -> Encoded:
    """Run the encoder over one sentence.

    Args:
        session: the encoder of a cut voice.
        cut: where it was cut.
        ids: int64 [phonemes].
        speaker: number of the speaker; not used by voices that have one.
        scales: how to speak.
        rng: source of all noise.

    Raises:
        SpeechError: durations that are no durations.
    """
    names = {value.name for value in session.get_inputs()}
    feed: dict[str, Array] = {
        "ids": ids[None],
        "lengths": np.array([len(ids)], np.int64),
        "scales": scales.array(),
        "speaker": np.array([speaker], np.int64),
        "duration_noise": rng.standard_normal((1, 2, len(ids)), np.float32),
    }
    results = run(session, {name: value for name, value in feed.items() if name in names})
    outputs = dict(zip((value.name for value in session.get_outputs()), results, strict=True))
    fixed = {name: feed[name] for name in ("scales", "speaker")}
    if "speaker_embedding" in outputs:
        fixed["speaker_embedding"] = outputs["speaker_embedding"]
    if cut == "latent":
        latent = outputs["latent"]
        return Encoded(latent.shape[2], None, LatentFrames(latent), fixed)
    durations = _whole_frames(outputs["durations"])
    frames = TokenFrames(outputs["mean"], outputs["log_std"], durations, rng)
    return Encoded(max(1, int(durations.sum())), durations, frames, fixed)


def _whole_frames(durations: Floats) -> npt.NDArray[np.int64]:
    """float32 [1, 1, phonemes] -> int64 [phonemes]."""
    flat = durations.reshape(-1)
    if not np.isfinite(flat).all() or flat.min(initial=0.0) < 0.0 or flat.sum() > MAX_FRAMES:
        raise SpeechError(
            f"the voice wants durations between {flat.min():g} and {flat.max():g} frames, "
            f"{flat.sum():g} in all: it or its scales are damaged"
        )
    return flat.astype(np.int64)
