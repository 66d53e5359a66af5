"""What turns a prompt into codes: the parts of the language model, whatever computes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from s2s.tts.qwen3.checkpoint.spec import Spec
from s2s.tts.qwen3.interfaces import CodePredictor, Embeddings, PredictorState, State, Talker

T = TypeVar("T", bound=State)
P = TypeVar("P", bound=PredictorState)


@dataclass(frozen=True, slots=True)
class LanguageModel(Generic[T, P]):
    """The parts that turn a prompt into codes."""

    spec: Spec
    embeddings: Embeddings
    talker: Talker[T]
    predictor: CodePredictor[P]
