"""What a voice is like, as a vector: the network CAM++ (docs/decisions/only-my-voice.md)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from s2s.core.arrays import Floats
from s2s.core.audio import PIPELINE_HZ, Block
from s2s.models.torch_file import TorchFileError, read_floats
from s2s.system.onnx import onnx_session
from s2s.turns.speaker.campplus import INPUT, MAX_FRAMES, OUTPUT, campplus_graph
from s2s.turns.speaker.filter_bank import HOP_SAMPLES, WINDOW_SAMPLES, filter_bank

if TYPE_CHECKING:
    import onnxruntime

LOOK_SAMPLES = (MAX_FRAMES - 1) * HOP_SAMPLES + WINDOW_SAMPLES
"""The network hears two seconds at a time; longer speech is the mean of such looks."""
_SHORTEST = 1e-12


class SpeakerEmbedder:
    """Speech to a vector of length 1. Thread-safe: it keeps no state."""

    def __init__(
        self, model: str | Path | onnxruntime.InferenceSession, name: str, *, threads: int = 1
    ) -> None:
        """Load `model`.

        Args:
            model: path of the checkpoint, or a session to share.
            name: what vectors of it are called by: those of two models cannot be compared.
            threads: threads of a new session.

        Raises:
            TorchFileError: the checkpoint is of another network.
        """
        if isinstance(model, (str, Path)):
            model = onnx_session(_graph_of(Path(model)), threads=threads)
        self.name = name
        self._session = model

    def embed(self, audio: Block) -> Floats:
        """The vector of the voice in `audio`, float32 [samples] at 16 kHz, without silence: float32
        [192], of length 1."""
        return unit(self.looks(audio).mean(axis=0))

    def looks(self, audio: Block) -> Floats:
        """Vectors of length 1 of two seconds each, half of them shared with the next: float32
        [looks, 192] of float32 [samples] at 16 kHz. What is left at the end is heard in one more
        that ends with it."""
        last = max(0, len(audio) - LOOK_SAMPLES)
        starts = sorted({*range(0, last, PIPELINE_HZ), last})
        heard = [filter_bank(audio[start : start + LOOK_SAMPLES]) for start in starts]
        features = np.stack([each - each.mean(axis=0) for each in heard])
        return unit(np.asarray(self._session.run([OUTPUT], {INPUT: features})[0]))


def unit(vectors: Floats) -> Floats:
    """`vectors`, float32 [..., dimensions], at length 1."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return (vectors / (length + _SHORTEST)).astype(np.float32)


def _graph_of(checkpoint: Path) -> bytes:
    try:
        return campplus_graph(read_floats(checkpoint))
    except KeyError as error:
        raise TorchFileError(f"{checkpoint}: is no CAM++ checkpoint (no {error})") from error
