"""The codes of a frame in fewer forward passes, by speculative sampling: draft several codes with
the model's own later heads, verify them in one forward pass, keep what the model would have said.

The result has exactly the distribution of one code a pass, whatever the draft tokens are worth
(Leviathan et al., arXiv 2211.17192, with the predictor as its own draft model). In greedy mode the
codes are the same ones. With no draft tokens this is the plain loop. Knows no backend.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from s2s.tts.qwen3.interfaces import Floats, Ids
from s2s.tts.qwen3.sampling import Draws, Sampling, draw, probabilities


class ForwardPasses(Protocol):
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
        """Drop all but the first ``codes`` codes that were fed."""
        ...

    def logits(self, group: int, hidden: Floats) -> Floats:
        """float32 [codebook]: head ``group`` on a vector, whichever group that was meant to
        predict."""
        ...


class Verify(Protocol):
    """Accepts a draft token or replaces it."""

    def __call__(
        self, draft: int, proposal: Floats, target: Floats, sampling: Sampling, draws: Draws
    ) -> int:
        """``draft``, or the code in its place.

        proposal: float32 [codebook], what the draft token was drawn from. target: float32
        [codebook], what the code has to be drawn from. Both are bare logits in greedy mode.
        """
        ...


def accept_or_resample(
    draft: int, proposal: Floats, target: Floats, sampling: Sampling, draws: Draws
) -> int:
    """The draft token, or another code: a draw from ``target`` when ``draft`` is one from
    ``proposal``. A rejected code is never drawn again: what replaces it comes from where ``target``
    is larger."""
    if sampling.greedy:
        return int(np.argmax(target))
    if draws.uniform() * proposal[draft] < target[draft]:
        return draft
    rest = np.maximum(target - proposal, 0)
    total = rest.sum()
    return draw(rest / total, draws) if total > 0 else draft  # zero by rounding alone


class AcceptAtRate:
    """For benchmarks of random weights, whose draft tokens are accepted as no trained model's are:
    accepts each with a given probability, independent of the others.

    Nothing else changes: every row is computed, every head multiplied and every distribution drawn
    from as otherwise, so the time is that of a model with this acceptance rate. The codes mean
    nothing.
    """

    def __init__(self, rate: float, seed: int = 0) -> None:
        self._rate = rate
        self._random = np.random.Generator(np.random.PCG64(seed))

    def __call__(
        self, draft: int, proposal: Floats, target: Floats, sampling: Sampling, draws: Draws
    ) -> int:
        """As ``Verify``."""
        code = accept_or_resample(draft, proposal, target, sampling, draws)
        if self._random.random() < self._rate:
            return draft
        return code if code != draft else (draft + 1) % len(target)


def choose_codes(
    passes: ForwardPasses,
    draft_tokens: int,
    sampling: Sampling,
    draws: Draws,
    verify: Verify = accept_or_resample,
) -> Ids:
    """The codes of one frame: int64 [groups].

    draft_tokens: how many codes are drafted for each pass, 0 for none. Each pass after the first
    gives between one and ``draft_tokens + 1`` codes. verify: a benchmark may take another one.
    """
    hidden = passes.start()
    codes = [_choose(passes, 0, hidden, sampling, draws)]
    while (known := len(codes)) < passes.groups:
        count = min(draft_tokens, passes.groups - known)
        proposals = [_distribution(passes, known + at, hidden, sampling) for at in range(count)]
        drafts = [_pick(proposal, sampling, draws) for proposal in proposals]
        last = known + count == passes.groups  # nothing is predicted from the last draft token
        rows = passes.feed(
            known - 1, [codes[-1], *drafts[: count - 1 if last and count else count]]
        )
        for at, draft in enumerate(drafts):
            target = _distribution(passes, known + at, rows[at], sampling)
            code = verify(draft, proposals[at], target, sampling, draws)
            codes.append(code)
            hidden = rows[at]
            if code != draft:
                passes.keep(known + at)
                break
        else:
            if not last or not count:
                hidden = rows[count]
                codes.append(_choose(passes, known + count, hidden, sampling, draws))
    return np.array(codes, np.int64)


def _distribution(passes: ForwardPasses, group: int, hidden: Floats, sampling: Sampling) -> Floats:
    """What a code of ``group`` is drawn from; the bare logits in greedy mode."""
    logits = passes.logits(group, hidden)
    return logits if sampling.greedy else probabilities(logits, sampling)


def _pick(target: Floats, sampling: Sampling, draws: Draws) -> int:
    return int(np.argmax(target)) if sampling.greedy else draw(target, draws)


def _choose(
    passes: ForwardPasses, group: int, hidden: Floats, sampling: Sampling, draws: Draws
) -> int:
    return _pick(_distribution(passes, group, hidden, sampling), sampling, draws)
