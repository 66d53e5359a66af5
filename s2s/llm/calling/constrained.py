"""Which of several texts a model would most likely write next, if it could write nothing else.

At each place where the texts part, the probabilities of the tokens that go on are shared among
those alone. Pure; knows no model: it is asked for logits.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np

from s2s.llm.token_sampling import Logits

MOST_LOOKS = 48
"""Places looked at; from then on the likeliest continuation alone is followed."""

Tokens = tuple[int, ...]


class ConstrainedChoice:
    """Texts to choose from, as tokens.

    Raises:
        ValueError: there is none, or one is the beginning of another: then nothing would end it.
    """

    def __init__(self, options: Sequence[Sequence[int]]) -> None:
        self._options = [tuple(each) for each in options]
        if not self._options:
            raise ValueError("there is nothing to choose from")
        ordered = sorted(set(self._options))
        for one, other in itertools.pairwise(ordered):
            if other[: len(one)] == one:
                raise ValueError("one text is the beginning of another")

    def likeliest(self, logits: Callable[[Tokens], Logits | None]) -> tuple[int, float] | None:
        """The index of the likeliest text, and its probability among them.

        Args:
            logits: float32 [vocabulary] of the token behind these, which the texts begin with; None
                ends the choice, as None.
        """
        waiting: list[tuple[float, int, Tokens]] = [(0.0, 0, ())]
        looks = ties = 0
        while True:
            cost, _, begun = heapq.heappop(waiting)
            begun = self._until_parting(begun)
            if begun in self._options:
                return self._options.index(begun), math.exp(-cost)
            if looks >= MOST_LOOKS:
                waiting.clear()
            looks += 1
            following = sorted({each[len(begun)] for each in self._going_on(begun)})
            given = logits(begun)
            if given is None:
                return None
            for token, share in zip(following, _shares(given, following), strict=True):
                ties += 1
                heapq.heappush(waiting, (cost - math.log(share), ties, (*begun, token)))

    def _going_on(self, begun: Tokens) -> list[Tokens]:
        return [each for each in self._options if each[: len(begun)] == begun]

    def _until_parting(self, begun: Tokens) -> Tokens:
        """`begun` with the tokens behind it that all texts have that begin so."""
        left = self._going_on(begun)
        shortest = min(map(len, left))
        at = len(begun)
        while at < shortest and len({each[at] for each in left}) == 1:
            at += 1
        return left[0][:at]


def _shares(logits: Logits, tokens: Sequence[int]) -> list[float]:
    """Probabilities of `tokens`, as if there were no others."""
    found = logits[np.asarray(tokens, np.int64)].astype(np.float64)
    exponents = np.exp(found - found.max())
    return [float(each) for each in np.maximum(exponents / exponents.sum(), 1e-300)]
