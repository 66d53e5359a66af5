"""Chooses the next token of an answer from a model's logits. Pure; knows no model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Logits = NDArray[np.float32]

LIKELIEST = 40
"""Only so many tokens are ever drawn from: what llama.cpp does by default."""
LEAST = 0.05
"""Nor any with less than this share of the likeliest one's probability."""
RECENT = 64
"""Tokens that a repeat penalty looks back at."""


@dataclass(frozen=True, slots=True)
class TokenSampling:
    """How tokens are drawn. Meanings as in `s2s.llm.llama.LlamaConfig`."""

    temperature: float
    top_p: float
    repeat_penalty: float

    def choose(self, logits: Logits, recent: Sequence[int], random: np.random.Generator) -> int:
        """The next token.

        Args:
            logits: float32 [vocabulary]; not changed.
            recent: tokens so far, the last ones at the end.
        """
        if self.repeat_penalty != 1.0:
            logits = self._penalised(logits, recent)
        if self.temperature <= 0:
            return int(logits.argmax())
        count = min(LIKELIEST, len(logits))
        ids = np.argpartition(logits, -count)[-count:]
        ids = ids[np.argsort(-logits[ids], kind="stable")]
        plain = _softmax(logits[ids].astype(np.float64))
        kept = plain >= LEAST * plain[0]
        # The first token that takes the sum over top_p is still in.
        kept &= np.cumsum(plain) - plain < max(self.top_p, plain[0])
        chances = _softmax(logits[ids[kept]].astype(np.float64) / self.temperature)
        return int(random.choice(ids[kept], p=chances))

    def _penalised(self, logits: Logits, recent: Sequence[int]) -> Logits:
        logits = logits.copy()
        seen = np.unique(np.asarray(recent[-RECENT:], np.int64))
        found = logits[seen]
        logits[seen] = np.where(found > 0, found / self.repeat_penalty, found * self.repeat_penalty)
        return logits


def log_share(logits: Logits, token: int) -> float:
    """Natural logarithm of the probability of `token`; logits: float32 [vocabulary]."""
    wide = logits.astype(np.float64)
    most = float(wide.max())
    return float(wide[token]) - most - float(np.log(np.exp(wide - most).sum()))


def _softmax(values: NDArray[np.float64]) -> NDArray[np.float64]:
    exponents = np.exp(values - values.max())
    return exponents / exponents.sum()
