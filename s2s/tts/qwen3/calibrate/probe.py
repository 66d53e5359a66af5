"""What each backend needs for a frame on this machine, on the checkpoint that will be spoken with.

Few layers of zeros, which were measured here once, fit the processor's cache and cannot tell 22 ms
from 41: docs/decisions/qwen3-measuring.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import median
from time import perf_counter

import numpy as np

from s2s.tts.qwen3.codec.decoder import CheckpointDecoder
from s2s.tts.qwen3.engine.language_model import LanguageModel, P, T
from s2s.tts.qwen3.sampling import Sampling, SeededDraws

_PROMPT = 16
_FRAMES = 6
_HOPELESS = 2.0
"""What takes so many times as long as the fastest in the first round is not tried again."""
_DECODED = 4
_CALLS = 3


def language_ms(language: LanguageModel[T, P], frames: int = _FRAMES) -> float:
    """What talker and predictor need for a frame, in milliseconds: the median of some."""
    spec = language.spec
    random = np.random.Generator(np.random.PCG64(0))
    vectors = random.standard_normal((_PROMPT, spec.talker.hidden), np.float32)
    talker = language.talker.new_state(_PROMPT + frames)
    predictor = language.predictor.new_state()
    sampling, draws = Sampling(), SeededDraws(0)
    try:
        hidden = language.talker.prefill(talker, vectors).hidden

        def frame() -> None:
            language.predictor.frame(predictor, hidden, 0, sampling, draws)
            language.talker.step(talker, vectors[0])

        return median(_ms(frame) for _ in range(frames))
    finally:
        talker.close()
        predictor.close()


def decoded_ms(decoder: CheckpointDecoder) -> float:
    """What a frame of sound costs, a few frames a call, in milliseconds: the median of some."""
    random = np.random.Generator(np.random.PCG64(0))
    codes = random.integers(0, decoder.codebook_size, (_DECODED, decoder.code_groups))
    state = decoder.new_state()
    try:
        return median(_ms(lambda: decoder.decode(state, codes)) for _ in range(_CALLS)) / _DECODED
    finally:
        state.close()


def in_turn(
    measures: Mapping[str, Callable[[], float]], rounds: int
) -> dict[str, tuple[float, ...]]:
    """Each measure so often, in turn with the others, after one round that does not count: the
    first is slower than all that follow. One that is hopeless there keeps that round's time."""
    first = {name: round(measure(), 3) for name, measure in measures.items()}
    fastest = min(first.values(), default=0.0)
    slow = {name: (took,) for name, took in first.items() if took > _HOPELESS * fastest}
    found: dict[str, tuple[float, ...]] = {name: slow.get(name, ()) for name in measures}
    for _ in range(rounds):
        for name, measure in measures.items():
            if name not in slow:
                found[name] += (round(measure(), 3),)
    return found


def _ms(work: Callable[[], object]) -> float:
    started = perf_counter()
    work()
    return 1000 * (perf_counter() - started)
