"""Where two backends part: their tensors side by side, in the order they are computed.

Both are fed the same vectors and the same codes, so that a difference is the backend's own. Only
the last position of a tensor is kept: it depends on all others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from s2s.tts.qwen3.engine.language_model import LanguageModel
from s2s.tts.qwen3.interfaces import Floats, Ids, PredictorState, State
from s2s.tts.qwen3.sampling import Sampling, SeededDraws
from s2s.tts.qwen3.text.prompt import Prompt

T = TypeVar("T", bound=State)
P = TypeVar("P", bound=PredictorState)

_GREEDY = Sampling(greedy=True)


@dataclass(slots=True)
class TensorRecording:
    """Tensors by the moment and name, in order. Give it to a backend as its ``Trace``."""

    moment: str = ""
    tensors: dict[str, Floats] = field(default_factory=dict)
    _passes: dict[str, int] = field(default_factory=dict)

    def __call__(self, name: str, value: Floats) -> None:
        """Keep the last row of float32 [n, width]."""
        self.keep(name, value[-1])

    def keep(self, name: str, value: Floats) -> None:
        """Keep a vector under the moment, its name and how often that came before."""
        key = f"{self.moment} {name}"
        count = self._passes[key] = self._passes.get(key, 0) + 1
        self.tensors[key if count == 1 else f"{key} (pass {count})"] = value.astype(np.float32)


def record(
    model: LanguageModel[T, P], recording: TensorRecording, prompt: Prompt, codes: Ids
) -> None:
    """Run a model over a prompt and given frames of codes, int64 [frames, G].

    ``recording`` must be the trace the model was opened with, to see its layers; what the ports
    give is kept in any case.
    """
    talker = model.talker.new_state(len(prompt.embeddings) + len(codes))
    predictor = model.predictor.new_state()
    try:
        recording.moment = "prompt"
        recording.keep("embeddings", model.embeddings.text(np.arange(4)).ravel())
        out = model.talker.prefill(talker, prompt.embeddings)
        for frame, whole in enumerate(codes):
            recording.keep("talker hidden", out.hidden)
            recording.keep("talker logits", out.logits)
            recording.moment = f"frame {frame}"
            rest = model.predictor.frame(
                predictor, out.hidden, int(whole[0]), _GREEDY, SeededDraws(0)
            )
            recording.keep("predictor codes", rest.astype(np.float32))
            vector = model.embeddings.frames(whole[None])[0]
            recording.keep("frame vector", vector)
            out = model.talker.step(talker, vector + prompt.text_vector(frame))
    finally:
        talker.close()
        predictor.close()


@dataclass(frozen=True, slots=True)
class Difference:
    """One tensor in both recordings: the largest absolute difference, and that over the root mean
    square of the first."""

    name: str
    absolute: float
    relative: float


def differences(one: TensorRecording, other: TensorRecording) -> Iterator[Difference]:
    """Every tensor that both have, in the first's order."""
    for name, value in one.tensors.items():
        theirs = other.tensors.get(name)
        if theirs is None or theirs.shape != value.shape:
            continue
        known = np.isfinite(value) & np.isfinite(theirs)
        absolute = float(np.abs(value[known] - theirs[known]).max(initial=0))
        size = float(np.sqrt(np.mean(np.square(value[known])))) if known.any() else 0.0
        yield Difference(name, absolute, absolute / size if size else absolute)


def first_divergence(
    one: TensorRecording, other: TensorRecording, tolerance: float
) -> Difference | None:
    """The first tensor whose relative difference is above ``tolerance``; None when all agree.

    Raises ValueError when the recordings have nothing in common.
    """
    found = list(differences(one, other))
    if not found:
        raise ValueError("the two recordings have no tensor in common")
    return next((each for each in found if each.relative > tolerance), None)
