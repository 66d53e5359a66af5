"""Speculative sampling changes nothing but the number of passes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2s.system.llama_cpp import installed
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.convert import convert
from s2s.tts.qwen3.ggml.language import GgmlModel, load
from s2s.tts.qwen3.interfaces import Floats
from s2s.tts.qwen3.sampling import Sampling, SeededDraws, probabilities
from s2s.tts.qwen3.sampling_speculative import (
    choose_codes,
)

GREEDY = Sampling(greedy=True)
CODEBOOK, GROUPS = 3, 4
DATA = Path(__file__).parents[2] / "data" / "qwen3"


class Toy:
    """A predictor whose hidden vector names what was fed: heads look their logits up."""

    def __init__(
        self, seed: int, groups: int = GROUPS, codebook: int = CODEBOOK, peak: float = 1.0
    ) -> None:
        self.groups = groups
        self._seed, self._codebook, self._peak = seed, codebook, peak
        self._fed: list[int] = []
        self.passes = 0
        self.rows = 0

    def start(self) -> Floats:
        self._fed = []
        self.passes += 1
        return self._hidden()

    def feed(self, group: int, codes: list[int]) -> Floats:
        assert codes
        assert group == len(self._fed)
        assert group + len(codes) < self.groups  # the last code is never fed
        self.passes += 1
        self.rows += len(codes)
        rows = []
        for code in codes:
            self._fed.append(code)
            rows.append(self._hidden())
        return np.stack(rows)

    def keep(self, codes: int) -> None:
        assert codes <= len(self._fed)
        del self._fed[codes:]

    @lru_cache  # noqa: B019 - lives as long as the test
    def _logits(self, group: int, past: tuple[int, ...]) -> Floats:
        # Later heads share most of an earlier head's opinion, as a trained predictor's do.
        own = np.random.default_rng([self._seed, group, *past]).standard_normal(self._codebook)
        shared = np.random.default_rng([self._seed, group]).standard_normal(self._codebook)
        return (self._peak * (own + 2 * shared)).astype(np.float32)

    def logits(self, group: int, hidden: Floats) -> Floats:
        return self._logits(group, tuple(int(code) for code in hidden if code >= 0))

    def _hidden(self) -> Floats:
        past = self._fed + [-1] * (self.groups - len(self._fed))
        return np.array(past, np.float32)

    def joint(self, sampling: Sampling) -> dict[tuple[int, ...], float]:
        """The exact probability of every frame, one code after the other."""
        found = {}
        for codes in product(range(self._codebook), repeat=self.groups):
            p = 1.0
            for group, code in enumerate(codes):
                p *= float(probabilities(self._logits(group, codes[:group]), sampling)[code])
            found[codes] = p
        return found


class Sure(Toy):
    """Knows every code from the start."""

    def logits(self, group: int, hidden: Floats) -> Floats:
        return np.eye(self._codebook, dtype=np.float32)[group % self._codebook] * 30


@given(st.integers(0, 10_000), st.integers(0, 17), st.integers(1, 15), st.integers(2, 40))
@settings(max_examples=150)
def test_greedy_codes_are_the_same_with_any_number_of_draft_tokens(
    seed: int, draft_tokens: int, groups: int, codebook: int
) -> None:
    plain, ahead = (Toy(seed, groups, codebook) for _ in range(2))
    draws = SeededDraws(0)
    expected = choose_codes(plain, 0, GREEDY, draws)
    assert choose_codes(ahead, draft_tokens, GREEDY, draws).tolist() == expected.tolist()
    assert plain.passes == groups
    assert ahead.passes <= plain.passes


@pytest.mark.parametrize("sampling", [Sampling(), Sampling(temperature=1.3, top_k=2)])
@pytest.mark.parametrize("draft_tokens", [1, 2, 3])
def test_sampled_frames_have_the_plain_distribution(draft_tokens: int, sampling: Sampling) -> None:
    """A chi-square test of the joint distribution of all codes against the exact one."""
    toy, draws, count = Toy(5), SeededDraws(draft_tokens), 4000
    seen = Counter(
        tuple(choose_codes(toy, draft_tokens, sampling, draws).tolist()) for _ in range(count)
    )
    exact = toy.joint(sampling)
    assert sum(exact.values()) == pytest.approx(1, abs=1e-5)
    assert all(exact[codes] > 0 for codes in seen)
    # Rare frames are pooled, so that every cell expects at least five.
    common = [codes for codes, p in exact.items() if p * count >= 5]
    cells = [(seen[codes], exact[codes] * count) for codes in common]
    rest = count - sum(n for n, _ in cells), count - sum(e for _, e in cells)
    cells += [rest] if rest[1] >= 5 else []
    chi_square = sum((n - e) ** 2 / e for n, e in cells)
    freedom = len(cells) - 1
    assert freedom >= 4
    assert chi_square < freedom + 4 * np.sqrt(2 * freedom)
    assert toy.passes < count * GROUPS


def test_the_test_of_the_distribution_can_fail() -> None:
    """Keeping every draft token, as a wrong verification would, is noticed."""
    toy, draws, count = Toy(5), SeededDraws(1), 6000
    seen: Counter[int] = Counter()
    for _ in range(count):
        hidden = toy.start()
        first = int(
            np.argmax(probabilities(toy.logits(0, hidden), Sampling()) / draws.exponential(3))
        )
        draft = probabilities(toy.logits(1, hidden), Sampling())
        seen[first * 3 + int(np.argmax(draft / draws.exponential(3)))] += 1
    exact = Counter[int]()
    for codes, p in toy.joint(Sampling()).items():
        exact[codes[0] * 3 + codes[1]] += p  # type: ignore[assignment]
    chi_square = sum((seen[i] - exact[i] * count) ** 2 / (exact[i] * count) for i in range(9))
    assert chi_square > 8 + 4 * np.sqrt(2 * 8)


def test_an_agreeing_predictor_needs_few_passes() -> None:
    toy = Sure(1, groups=15, codebook=8)
    codes = choose_codes(toy, 2, Sampling(), SeededDraws(0))
    assert codes.tolist() == [group % 8 for group in range(15)]
    assert toy.passes == 1 + 5  # the first code, then three a pass, the last two without a bonus


@pytest.fixture(scope="module")
def model_of(
    tiny_qwen3: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[int], GgmlModel]:
    folder = convert(tiny_qwen3("1.7b-base"), "f32", converted=tmp_path_factory.mktemp("made"))

    def open_model(draft_tokens: int) -> GgmlModel:
        return load(folder, read_spec(folder), threads=1, draft_tokens=draft_tokens)

    return open_model


@pytest.mark.ggml
@pytest.mark.skipif(not installed(), reason="no llama.cpp library: pip install xllamacpp")
@pytest.mark.parametrize("draft_tokens", [1, 2, 4, 15])
def test_official_greedy_frames_come_out_of_draft_tokens_too(
    draft_tokens: int, model_of: Callable[[int], GgmlModel]
) -> None:
    known = np.load(DATA / "1.7b-base.npz")
    predictor = model_of(draft_tokens).language.predictor
    state = predictor.new_state()
    for hidden, code0, expected in zip(
        known["predictor/hidden"], known["predictor/code0"], known["predictor/codes"], strict=True
    ):
        codes = predictor.frame(state, hidden, int(code0), GREEDY, SeededDraws(0))
        assert codes.tolist() == expected.tolist()
    assert state.forward_passes <= 15 * len(known["predictor/code0"])
