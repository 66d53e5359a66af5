"""Turning logits into codes, exactly as the official package does.

Knows nothing about models. The order is that of the generation loop of transformers 4.57 with the
arguments qwen-tts 0.1.1 passes: repetition penalty over the set of first codes so far, end of
speech held back for the first frames, suppressed ids, then temperature, top-k, top-p, one draw.

The draw is the one of ``torch.multinomial``: the id with the largest ``probability / e``, e
exponentially distributed with mean one and independent for every id. That is the Gumbel-max rule
(-log e is Gumbel noise), so a backend may draw inside its graph with the noise as an input, and
the official package's random numbers can be replayed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from s2s.core.arrays import Floats

_SMALLEST = np.float32(np.finfo(np.float32).tiny)


class Draws(Protocol):
    """Where random numbers come from; every one that sampling uses is asked for here."""

    def exponential(self, n: int) -> Floats:
        """float32 [n], independent, exponentially distributed with mean one."""
        ...

    def uniform(self) -> float:
        """One number from [0, 1)."""
        ...


class SeededDraws:
    """Draws from a seed: the same seed gives the same numbers on every machine. Streams of one
    seed are independent, so that a predictor that draws more often leaves the talker alone."""

    def __init__(self, seed: int, stream: int = 0) -> None:
        self._random = np.random.Generator(np.random.PCG64([seed, stream]))

    def exponential(self, n: int) -> Floats:
        """float32 [n], mean one."""
        return self._random.standard_exponential(n, dtype=np.float32)

    def uniform(self) -> float:
        """One number from [0, 1)."""
        return float(self._random.random())


@dataclass(frozen=True, slots=True)
class Sampling:
    """How one code is chosen. The defaults are the official ones, for the talker and for the
    predictor alike.

    ``temperature`` above 0; ``top_k`` 0 keeps all; ``top_p`` in (0, 1], 1 keeps all.
    """

    greedy: bool = False
    temperature: float = 0.9
    top_k: int = 50
    top_p: float = 1.0

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise ValueError(f"temperature is {self.temperature}; it must be above 0")
        if self.top_k < 0:
            raise ValueError(f"top_k is {self.top_k}; it must be 0 (keep all) or more")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p is {self.top_p}; it must be above 0 and at most 1")


def probabilities(logits: Floats, sampling: Sampling) -> Floats:
    """The distribution that is drawn from: temperature, top-k (ties with the k-th survive), top-p,
    softmax. ``sampling.greedy`` plays no part here.

    logits: float32 [ids], -inf for what may not be chosen; returns float32 [ids], summing to one.
    """
    scores = logits / np.float32(sampling.temperature)
    if 0 < sampling.top_k < scores.size:
        kth = np.partition(scores, scores.size - sampling.top_k)[scores.size - sampling.top_k]
        scores[scores < kth] = -np.inf
    if sampling.top_p < 1:
        ascending = np.argsort(scores, kind="stable")
        cumulative = np.cumsum(_softmax(scores[ascending]), dtype=np.float32)
        drop = cumulative <= np.float32(1 - sampling.top_p)
        drop[-1] = False
        scores[ascending[drop]] = -np.inf
    return _softmax(scores)


def choose(logits: Floats, sampling: Sampling, draws: Draws) -> int:
    """One id. Greedy asks ``draws`` for nothing; sampling asks for one exponential an id.

    logits: float32 [ids], at least one finite.
    """
    if sampling.greedy:
        return int(np.argmax(logits))
    return draw(probabilities(logits, sampling), draws)


def draw(target: Floats, draws: Draws) -> int:
    """One id from a distribution: float32 [ids], summing to one. Asks for one exponential an id."""
    noise = np.maximum(draws.exponential(target.size), _SMALLEST)
    return int(np.divide(target, noise, out=noise).argmax())


@dataclass(slots=True)
class FirstCodes:
    """Chooses the first code of every frame of one utterance, or the end of speech.

    Remembers which ids were chosen, for the repetition penalty, and how many. Of the ids from
    ``codes`` on only ``eos`` can be chosen.
    """

    codes: int
    eos: int
    sampling: Sampling = field(default_factory=Sampling)
    repetition_penalty: float = 1.05
    min_new_tokens: int = 2
    _seen: set[int] = field(default_factory=set)
    _count: int = 0

    def choose(self, logits: Floats, draws: Draws) -> int:
        """The next id. logits: float32 [V], as the talker gave them; they are not changed."""
        chosen = choose(self.processed(logits), self.sampling, draws)
        self.follow(chosen)
        return chosen

    def follow(self, chosen: int) -> None:
        """An id was chosen elsewhere: it counts as if it were chosen here."""
        self._seen.add(chosen)
        self._count += 1

    def processed(self, logits: Floats) -> Floats:
        """float32 [V]: the logits after penalty, minimum length and suppression, before
        temperature."""
        scores = logits.astype(np.float32, copy=True)
        if self._seen and self.repetition_penalty != 1:
            seen = np.fromiter(self._seen, np.int64)
            penalty = np.float32(self.repetition_penalty)
            was = scores[seen]
            scores[seen] = np.where(was < 0, was * penalty, was / penalty)
        end = scores[self.eos]
        scores[self.codes :] = -np.inf
        if self._count >= self.min_new_tokens:
            scores[self.eos] = end
        return scores


def _softmax(scores: Floats) -> Floats:
    exponentials = np.exp(scores - scores.max())
    return exponentials / exponentials.sum()
