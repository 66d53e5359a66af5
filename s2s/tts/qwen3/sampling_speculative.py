"""The codes of a frame in fewer passes: guess several with the model's own later heads, verify them
in one pass, keep what the model would have said.

The result has exactly the distribution of one code a pass, whatever the draft tokens are worth
(Leviathan et al., arXiv 2211.17192, with the predictor as its own draft). In greedy mode the codes
are the same ones. With no draft tokens this is the plain loop. Knows no backend.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from s2s.tts.qwen3.interfaces import Floats, Ids
from s2s.tts.qwen3.sampling import Draws, Sampling, draw, probabilities


class Passes(Protocol):
    """One frame of a code predictor in the making: hidden vector and first code are fed.

    Groups are counted from 0, which is the first that the predictor chooses.
    """

    groups: int
    """Codes to be chosen."""

    def start(self) -> Floats:
        """The first pass: float32 [width], from which group 0 is predicted."""
        ...

    def feed(self, group: int, codes: list[int]) -> Floats:
        """One pass over codes of ``group`` and the groups after it, appended to what was fed.

        Returns float32 [codes, width]; row i predicts group ``group + i + 1``.
        """
        ...

    def keep(self, codes: int) -> None:
        """Forget all but the first ``codes`` codes that were fed."""
        ...

    def logits(self, group: int, hidden: Floats) -> Floats:
        """float32 [B]: head ``group`` on a vector, whichever group that was meant to predict."""
        ...


def choose_codes(passes: Passes, draft_tokens: int, sampling: Sampling, draws: Draws) -> Ids:
    """The codes of one frame: int64 [groups].

    draft_tokens: how many codes are drafted for each pass, 0 for none. Each pass after the first
    gives between one and ``draft_tokens + 1`` codes.
    """
    hidden = passes.start()
    codes = [_choose(passes, 0, hidden, sampling, draws)]
    while (known := len(codes)) < passes.groups:
        count = min(draft_tokens, passes.groups - known)
        expected = [_distribution(passes, known + at, hidden, sampling) for at in range(count)]
        guessed = [_pick(wanted, sampling, draws) for wanted in expected]
        last = known + count == passes.groups  # nothing is predicted from the last guess
        rows = passes.feed(
            known - 1, [codes[-1], *guessed[: count - 1 if last and count else count]]
        )
        for at, guess in enumerate(guessed):
            wanted = _distribution(passes, known + at, rows[at], sampling)
            settled = _settle(guess, expected[at], wanted, sampling, draws)
            codes.append(settled)
            hidden = rows[at]
            if settled != guess:
                passes.keep(known + at)
                break
        else:
            if not last or not count:
                hidden = rows[count]
                codes.append(_choose(passes, known + count, hidden, sampling, draws))
    return np.array(codes, np.int64)


def _settle(guess: int, expected: Floats, wanted: Floats, sampling: Sampling, draws: Draws) -> int:
    """The guess, or another code: as a draw from ``wanted`` when ``guess`` is one from
    ``expected``. A rejected guess is never drawn again: what replaces it comes from where
    ``wanted`` is larger."""
    if sampling.greedy:
        return int(np.argmax(wanted))
    if draws.uniform() * expected[guess] < wanted[guess]:
        return guess
    rest = np.maximum(wanted - expected, 0)
    total = rest.sum()
    return draw(rest / total, draws) if total > 0 else guess  # zero by rounding alone


def _distribution(passes: Passes, group: int, hidden: Floats, sampling: Sampling) -> Floats:
    """What a code of ``group`` is drawn from; the bare logits in greedy mode."""
    logits = passes.logits(group, hidden)
    return logits if sampling.greedy else probabilities(logits, sampling)


def _pick(wanted: Floats, sampling: Sampling, draws: Draws) -> int:
    return int(np.argmax(wanted)) if sampling.greedy else draw(wanted, draws)


def _choose(passes: Passes, group: int, hidden: Floats, sampling: Sampling, draws: Draws) -> int:
    return _pick(_distribution(passes, group, hidden, sampling), sampling, draws)
