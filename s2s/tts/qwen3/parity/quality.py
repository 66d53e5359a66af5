"""How far one backend's numbers are from another's: what quantisation costs, before any ear.

Both models are fed the same codes, those the reference chooses, so that one early difference does
not make everything after it incomparable. On random weights the figures say whether the arithmetic
is right and how the quants rank; their size says nothing about trained weights, whose logits are
far more peaked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from s2s.tts.qwen3.engine.language_model import LanguageModel
from s2s.tts.qwen3.interfaces import Floats, Ids, PredictorState, State, TalkerOutput
from s2s.tts.qwen3.sampling import FirstCodes, Sampling, SeededDraws
from s2s.tts.qwen3.text.prompt import Prompt

A = TypeVar("A", bound=State)
B = TypeVar("B", bound=PredictorState)
C = TypeVar("C", bound=State)
D = TypeVar("D", bound=PredictorState)

_TOP = 5
_GREEDY = Sampling(greedy=True)


@dataclass(frozen=True, slots=True)
class Quality:
    """One candidate against the reference, over ``frames`` frames.

    kl: mean Kullback-Leibler divergence, in nats, of the candidate's distribution of the first
    code from the reference's (temperature one, over what can be sampled). top5: how many of the
    reference's five likeliest first codes are among the candidate's five. first: how often the
    likeliest agree. codes: of the predictor's code groups in order, how often the greedy code is
    the reference's, each model running freely within a frame from its own hidden vector.
    """

    name: str
    frames: int
    kl: float
    top5: float
    first: float
    codes: tuple[float, ...]

    @property
    def predictor(self) -> float:
        """Agreement over all of the predictor's groups."""
        return float(np.mean(self.codes))


def compare(
    name: str,
    reference: tuple[LanguageModel[A, B], Prompt],
    candidate: tuple[LanguageModel[C, D], Prompt],
    frames: int,
    seed: int = 0,
) -> Quality:
    """Compare two models of one checkpoint, each with the prompt built from its own tables.

    The reference speaks ``frames`` frames, sampled from ``seed``; the end of speech is passed
    over. Raises ValueError when the prompts differ in length.
    """
    positions = len(reference[1].embeddings)
    if positions != len(candidate[1].embeddings):
        raise ValueError("the two prompts are not of the same request")
    spec = reference[0].spec
    generation = spec.generation
    first = FirstCodes(
        codes=spec.codes,
        eos=spec.ids.eos,
        sampling=generation.talker,
        repetition_penalty=generation.repetition_penalty,
        min_new_tokens=frames + 1,
    )
    draws = SeededDraws(seed)
    kl: list[float] = []
    shared: list[float] = []
    likeliest: list[bool] = []
    agree = np.zeros(spec.groups - 1)
    with_end = [*range(spec.codes), spec.ids.eos]
    left, right = _Run(*reference, frames), _Run(*candidate, frames)
    try:
        for frame in range(frames):
            code0 = first.choose(left.out.logits, draws)
            one, other = left.out.logits[with_end], right.out.logits[with_end]
            kl.append(divergence(one, other))
            shared.append(top_overlap(one, other))
            likeliest.append(bool(np.argmax(one) == np.argmax(other)))
            codes = left.greedy(code0)
            agree += codes == right.greedy(code0)
            whole = np.concatenate([[code0], codes])
            left.step(whole, frame)
            right.step(whole, frame)
    finally:
        left.close()
        right.close()
    share = tuple(float(value) for value in agree / frames)
    return Quality(
        name,
        frames,
        float(np.mean(kl)),
        float(np.mean(shared)),
        float(np.mean(likeliest)),
        share,
    )


class _Run:
    """One model on its way through the common codes."""

    def __init__(self, model: LanguageModel[C, D], prompt: Prompt, frames: int) -> None:
        self._model = model
        self._prompt = prompt
        self._talker = model.talker.new_state(len(prompt.embeddings) + frames)
        self._predictor = model.predictor.new_state()
        self.out: TalkerOutput = model.talker.prefill(self._talker, prompt.embeddings)

    def greedy(self, code0: int) -> Ids:
        """The likeliest other codes of a frame that begins with ``code0``: int64 [G - 1]."""
        return self._model.predictor.frame(
            self._predictor, self.out.hidden, code0, _GREEDY, SeededDraws(0)
        )

    def step(self, codes: Ids, frame: int) -> None:
        """Feed the codes of a frame: int64 [G]."""
        vector = self._model.embeddings.frames(codes[None])[0] + self._prompt.text_vector(frame)
        self.out = self._model.talker.step(self._talker, vector)

    def close(self) -> None:
        self._talker.close()
        self._predictor.close()


def divergence(reference: Floats, candidate: Floats) -> float:
    """KL(reference || candidate) in nats of two distributions given as logits, float32 [n]."""
    one, other = _log_softmax(reference), _log_softmax(candidate)
    return float(np.sum(np.exp(one) * (one - other)))


def top_overlap(reference: Floats, candidate: Floats, top: int = _TOP) -> float:
    """The share of the ``top`` largest of one that are among the ``top`` largest of the other."""
    one, other = (np.argpartition(logits, -top)[-top:] for logits in (reference, candidate))
    return len(set(one.tolist()) & set(other.tolist())) / top


def quality_table(rows: Sequence[Quality]) -> str:
    """The comparison as aligned text, a row a candidate."""
    lines = [
        f"{'quant':<22} {'KL c0':>9} {'top-5':>7} {'top-1':>7} {'codes':>7} {'c1':>7} {'last':>7}"
    ]
    lines += [
        f"{row.name:<22} {row.kl:>9.5f} {row.top5:>7.1%} {row.first:>7.1%} "
        f"{row.predictor:>7.1%} {row.codes[0]:>7.1%} {row.codes[-1]:>7.1%}"
        for row in rows
    ]
    return "\n".join(lines)


def _log_softmax(logits: Floats) -> Floats:
    shifted = logits.astype(np.float64) - logits.max()
    return shifted - np.log(np.exp(shifted).sum())
