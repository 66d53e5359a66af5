"""A whole frame inside the kernel: codes and distribution of ``sampling_speculative``."""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.convert import convert
from s2s.tts.qwen3.interfaces import Floats
from s2s.tts.qwen3.native import library as kernel
from s2s.tts.qwen3.native.language import NativePredictor, load
from s2s.tts.qwen3.sampling import Sampling, SeededDraws, probabilities
from s2s.tts.qwen3.sampling_speculative import choose_codes

GREEDY = Sampling(greedy=True)


DRAWN = Sampling(temperature=1.0, top_k=2)


FRAMES = 3000


@pytest.fixture(scope="module")
def predictor(
    tiny_qwen3: Callable[[str], Path], kernel_cache: Path, tmp_path_factory: pytest.TempPathFactory
) -> NativePredictor:
    folder = convert(tiny_qwen3("1.7b-base"), "q8_0", converted=tmp_path_factory.mktemp("to"))
    found = load(folder, read_spec(folder), 1, cache=kernel_cache).language.predictor
    assert isinstance(found, NativePredictor)
    return found


@pytest.fixture(scope="module")
def lib(kernel_cache: Path) -> ctypes.CDLL:
    return kernel.load_kernel(kernel_cache)


class Passes:
    """``ForwardPasses`` made of single calls of the kernel."""

    def __init__(self, predictor: NativePredictor, hidden: Floats, code0: int) -> None:
        self.groups = 15
        self._of = predictor
        self._cache = predictor.transformer.new_cache(16)
        self._first = np.stack([predictor.project(hidden), predictor.vectors(0, code0)])

    def start(self) -> Floats:
        return self._of.transformer.forward(self._cache, self._first)[-1]

    def feed(self, group: int, codes: list[int]) -> Floats:
        rows = [self._of.vectors(group + 1 + at, code) for at, code in enumerate(codes)]
        return self._of.transformer.forward(self._cache, np.stack(rows))

    def keep(self, codes: int) -> None:
        self._cache.rewind(2 + codes)

    def logits(self, group: int, hidden: Floats) -> Floats:
        return self._of.matrices.product(f"head.{group}", hidden)


def hiddens(predictor: NativePredictor, count: int) -> Floats:
    width = 512
    return np.random.default_rng(0).standard_normal((count, width), dtype=np.float32)


@pytest.mark.parametrize("draft_tokens", [0, 1, 2, 3, 7, 9])
def test_greedy_codes_are_those_of_the_loop(draft_tokens: int, predictor: NativePredictor) -> None:
    predictor.draft_tokens = draft_tokens
    state = predictor.new_state()
    for at, hidden in enumerate(hiddens(predictor, 12)):
        expected = choose_codes(Passes(predictor, hidden, at), 0, GREEDY, SeededDraws(0))
        codes = predictor.frame(state, hidden, at, GREEDY, SeededDraws(0))
        np.testing.assert_array_equal(codes, expected)
    assert state.forward_passes <= 15 * 12


@pytest.mark.parametrize("draft_tokens", [0, 1, 2, 4])
def test_drawn_codes_have_the_distribution_of_the_loop(
    draft_tokens: int, predictor: NativePredictor
) -> None:
    """Chi-square over the first three codes together, two likely ids each: eight cells, seven
    degrees of freedom, so 24.3 is exceeded once in a thousand times."""
    hidden = hiddens(predictor, 1)[0]
    expected = joint(predictor, hidden)
    predictor.draft_tokens = draft_tokens
    state, draws = predictor.new_state(), SeededDraws(draft_tokens)
    seen = Counter(
        tuple(predictor.frame(state, hidden, 7, DRAWN, draws)[:3].tolist()) for _ in range(FRAMES)
    )
    assert set(seen) <= set(expected)
    chi_square = sum(
        (seen[codes] - FRAMES * p) ** 2 / (FRAMES * p) for codes, p in expected.items()
    )
    assert chi_square < 24.3


def joint(predictor: NativePredictor, hidden: Floats) -> dict[tuple[int, ...], float]:
    """What the first three codes must be drawn from, by trying all."""
    found: dict[tuple[int, ...], float] = {}
    passes = Passes(predictor, hidden, 7)
    first = probabilities(passes.logits(0, passes.start()), DRAWN)
    for one in np.flatnonzero(first):
        passes.keep(0)
        second = probabilities(passes.logits(1, passes.feed(0, [int(one)])[0]), DRAWN)
        for two in np.flatnonzero(second):
            passes.keep(1)
            third = probabilities(passes.logits(2, passes.feed(1, [int(two)])[0]), DRAWN)
            for three in np.flatnonzero(third):
                p = first[one] * second[two] * third[three]
                found[int(one), int(two), int(three)] = float(p)
    assert sum(found.values()) == pytest.approx(1, abs=1e-4)
    assert len(found) == 8
    return found


@given(
    seed=st.integers(0, 2**32),
    temperature=st.floats(0.2, 2),
    top_k=st.integers(0, 70),
    top_p=st.sampled_from([1.0, 0.9, 0.5, 0.1]),
    steps=st.booleans(),
)
def test_distributions_are_those_of_the_sampler(
    seed: int, temperature: float, top_k: int, top_p: float, steps: bool, lib: ctypes.CDLL
) -> None:
    """steps: logits that are often equal, which all survive a top-k that ends among them."""
    random = np.random.default_rng(seed)
    logits = (3 * random.standard_normal(64)).astype(np.float32)
    if steps:
        logits = np.round(logits)
    sampling = Sampling(temperature=temperature, top_k=top_k, top_p=top_p)
    expected = probabilities(logits, sampling)
    how = kernel.Sampling(0, top_k, temperature, top_p)
    got = np.empty_like(logits)
    scratch = np.empty(64, np.float32)
    lib.distribution(
        kernel.address(logits), 64, ctypes.byref(how), kernel.address(scratch), kernel.address(got)
    )
    assert got.sum() == pytest.approx(1, abs=1e-5)
    if steps and top_p < 1:
        # Of equal logits at the edge of top-p the sampler keeps some, the kernel all.
        assert set(np.flatnonzero(expected)) <= set(np.flatnonzero(got))
        return
    kept = (got > 0) == (expected > 0)
    edge = np.isclose(np.sort(expected).cumsum(), 1 - top_p, atol=1e-5).any()
    assert kept.all() or edge
    if kept.all():
        np.testing.assert_allclose(got, expected, atol=1e-5)


def test_the_same_draws_give_the_same_codes(predictor: NativePredictor) -> None:
    predictor.draft_tokens = 2
    hidden = hiddens(predictor, 1)[0]
    codes = [
        predictor.frame(predictor.new_state(), hidden, 7, Sampling(), SeededDraws(seed)).tolist()
        for seed in (1, 1, 2)
    ]
    assert codes[0] == codes[1]
    assert codes[0] != codes[2]


def test_a_closed_state_says_so(predictor: NativePredictor) -> None:
    state = predictor.new_state()
    state.close()
    with pytest.raises(ValueError, match="closed"):
        predictor.frame(state, hiddens(predictor, 1)[0], 7, GREEDY, SeededDraws(0))
