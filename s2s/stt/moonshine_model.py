"""Moonshine's encoder and decoder, and greedy decoding from as much of a draft as still holds.

Knows tokens, not text: what they spell and whether they were spoken is in `moonshine.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from s2s.core.arrays import Floats
from s2s.core.audio import Block
from s2s.stt.repetition import repeated_tail

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

START, END = 1, 2
"""Token ids of the tokenizer's beginning and end of a sentence."""
_LAYERS, _HEADS, _HEAD_DIM = 6, 8, 36
"""Moonshine tiny, as published (Useful Sensors)."""
_IN_DOUBT_LOGITS = 0.5
"""The int8 decoder scales a whole pass at once, so logits shift a little with a token's company:
behind tokens that were evaluated in one pass, the lead of the best token by at most 0.49 (169
tokens measured). A smaller lead is decided afresh:
docs/decisions/moonshine-verified-not-trusted.md."""

Logits = Floats


class MoonshineModel:
    """Encoder and decoder with the decoder's cache made explicit."""

    def __init__(self, encoder: InferenceSession, decoder: InferenceSession) -> None:
        self._encoder = encoder
        self._decoder = decoder
        kinds = [
            f"{layer}.{side}.{part}"
            for layer in range(_LAYERS)
            for side in ("decoder", "encoder")
            for part in ("key", "value")
        ]
        self._past_names = [f"past_key_values.{kind}" for kind in kinds]
        self._output_names = ["logits", *(f"present.{kind}" for kind in kinds)]
        self._grows = [".decoder." in name for name in self._past_names]

    def encode(self, audio: Block) -> Floats:
        """float32 [samples] to hidden states float32 [1, frames, 288]."""
        inputs = {"input_values": audio[None], "attention_mask": _ones(len(audio))}
        return np.asarray(self._encoder.run(None, inputs)[0])

    def begin(
        self, hidden: Floats, samples: int, tokens: Sequence[int]
    ) -> tuple[Logits, DecoderState]:
        """Decode `tokens` in one pass: logits float32 [tokens, vocabulary], and the state after."""
        empty = np.zeros((1, _HEADS, 0, _HEAD_DIM), dtype=np.float32)
        state = DecoderState(hidden, samples, [empty] * len(self._past_names))
        logits, present = self._run(state, tokens, cached=False)
        state.past = present
        return logits, state

    def step(self, state: DecoderState, token: int) -> Logits:
        """Append one token to the cache; logits float32 [vocabulary] of what follows it."""
        logits, present = self._run(state, [token], cached=True)
        # The decoder returns empty encoder keys on cached steps: the first ones stay.
        state.past = [
            new if grows else old
            for new, old, grows in zip(present, state.past, self._grows, strict=True)
        ]
        return logits[0]

    def cut(self, state: DecoderState, tokens: int) -> None:
        """Keep the first `tokens` tokens in the cache."""
        state.past = [
            np.ascontiguousarray(tensor[:, :, :tokens]) if grows else tensor
            for tensor, grows in zip(state.past, self._grows, strict=True)
        ]

    def _run(
        self, state: DecoderState, tokens: Sequence[int], *, cached: bool
    ) -> tuple[Logits, list[Floats]]:
        inputs: dict[str, npt.NDArray[np.generic]] = {}
        inputs.update(zip(self._past_names, state.past, strict=True))
        inputs["input_ids"] = np.array([tokens], dtype=np.int64)
        inputs["encoder_hidden_states"] = state.hidden
        # The decoder strides this mask by 384 itself: it has the length of the audio.
        inputs["encoder_attention_mask"] = _ones(state.samples)
        inputs["use_cache_branch"] = np.array([cached])
        logits, *present = self._decoder.run(self._output_names, inputs)
        return np.asarray(logits)[0], [np.asarray(tensor) for tensor in present]


@dataclass(slots=True)
class DecoderState:
    """What the decoder remembers of one window."""

    hidden: Floats
    samples: int
    past: list[Floats]


@dataclass(slots=True)
class Hypothesis:
    """What the decoder wrote, and how sure it was."""

    tokens: list[int] = field(default_factory=list)
    log_probs: list[float] = field(default_factory=list)
    """Natural logarithm of each token's probability, the end token's included."""

    def add(self, token: int, logits: Logits) -> bool:
        """Append `token`, chosen from `logits` [vocabulary]; False when nothing follows it."""
        top = float(logits.max())
        self.log_probs.append(
            float(logits[token]) - top - float(np.log(np.exp(logits - top).sum()))
        )
        if token == END:
            return False
        self.tokens.append(token)
        drop = repeated_tail(self.tokens)
        if drop:
            del self.tokens[-drop:]
        return not drop

    @property
    def mean_log_prob(self) -> float:
        return sum(self.log_probs) / len(self.log_probs) if self.log_probs else 0.0


def decode(
    model: MoonshineModel, audio: Block, limit: int, draft: Sequence[int], stop: Callable[[], bool]
) -> Hypothesis:
    """Write down one window greedily, starting from as much of `draft` as the model confirms.

    Args:
        model: the model.
        audio: float32 [samples], at least 0.1 s.
        limit: most tokens to write.
        draft: tokens that may be the beginning of the result, fewer than `limit`.
        stop: asked before each pass; when true, what is written so far is the result.
    """
    hidden = model.encode(audio)
    if stop():
        return Hypothesis()
    if draft:
        words = _decode(model, hidden, len(audio), limit, draft, stop)
        if words is not None:
            return words
    words = _decode(model, hidden, len(audio), limit, (), stop)
    assert words is not None
    return words


def _decode(
    model: MoonshineModel,
    hidden: Floats,
    samples: int,
    limit: int,
    draft: Sequence[int],
    stop: Callable[[], bool],
) -> Hypothesis | None:
    """As `decode`; None when, with a draft, a choice was too close to be sure of it."""
    words = Hypothesis()
    logits, state = model.begin(hidden, samples, [START, *draft])
    kept = confirmed(logits, draft)
    if kept < len(draft):
        model.cut(state, kept + 1)
    for token, row in zip(draft[:kept], logits, strict=False):
        if not words.add(token, row):
            return words
    row = logits[kept]
    while True:
        token = int(row.argmax())
        if draft and lead(row, token) < _IN_DOUBT_LOGITS:
            return None
        if not words.add(token, row) or len(words.tokens) >= limit or stop():
            return words
        row = model.step(state, token)


def log_prob(model: MoonshineModel, audio: Block, tokens: Sequence[int]) -> float:
    """Natural logarithm of the probability that the model writes `tokens`, and then ends.

    Args:
        model: the model.
        audio: float32 [samples], at least 0.1 s.
        tokens: a whole text, without start and end.
    """
    written = [*tokens, END]
    logits, _ = model.begin(model.encode(audio), len(audio), [START, *tokens])
    top = logits.max(axis=-1, keepdims=True)
    logs = logits - top - np.log(np.exp(logits - top).sum(axis=-1, keepdims=True))
    return float(logs[np.arange(len(written)), written].sum())


def confirmed(logits: Logits, draft: Sequence[int]) -> int:
    """How many tokens of `draft`, from its beginning, the model would have written itself.

    Args:
        logits: float32 [at least the draft's tokens, vocabulary]; row i predicts `draft[i]`.
        draft: the tokens in question.
    """
    for index, token in enumerate(draft):
        if int(logits[index].argmax()) != token:
            return index
    return len(draft)


def lead(row: Logits, token: int) -> float:
    """By how much `token` leads every other in `row` float32 [vocabulary]; negative behind."""
    rival = max(row[:token].max(initial=-np.inf), row[token + 1 :].max(initial=-np.inf))
    return float(row[token] - rival)


def _ones(samples: int) -> npt.NDArray[np.int64]:
    return np.ones((1, samples), dtype=np.int64)
