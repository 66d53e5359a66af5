"""Talker and predictor on the compiled kernel, on tiny models.

The kernel rounds what it multiplies to 8 bits, so its logits are near the official ones, not equal:
how near is bounded here. What must be equal is: the same numbers for any split into calls, any
number of threads, any number of draft tokens.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from s2s.tts.qwen3.checkpoint.gguf_layout import PREDICTOR, TABLES, TALKER
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.errors import GGUFError, KernelError
from s2s.tts.qwen3.native.language import NativeModel, load, open_talker
from s2s.tts.qwen3.native.transformer import ThreadPool
from s2s.tts.qwen3.sampling import Sampling, SeededDraws
from tests.support.qwen3_golden import GOLDEN, arrays

GREEDY = Sampling(greedy=True)
BOUND = {"q8_0": 0.02, "q6_k": 0.05, "q5_k_m": 0.1, "q4_k_m": 0.2}
"""Relative error of logits, as for ggml."""

Open = Callable[..., NativeModel]


@pytest.fixture(scope="module")
def model_of(converted_qwen3: Callable[[str, str], Path], kernel_cache: Path) -> Open:
    @lru_cache
    def open_model(kind: str, quant: str, threads: int = 1, draft_tokens: int = 0) -> NativeModel:
        folder = converted_qwen3(kind, quant)
        return load(
            folder, read_spec(folder), threads, cache=kernel_cache, draft_tokens=draft_tokens
        )

    return open_model


def greedy_case(kind: str) -> str:
    return next(c["name"] for c in GOLDEN["cases"][kind] if c.get("record") == "greedy")


def distance(got: Any, want: Any) -> float:
    known = np.isfinite(got)
    return float(np.linalg.norm(got[known] - want[known]) / np.linalg.norm(want[known]))


@pytest.mark.parametrize("kind", GOLDEN["cases"])
def test_logits_and_hidden_stay_near_the_official_ones(kind: str, model_of: Open) -> None:
    """Prefill and fifty steps in q8_0, fed with the official codes."""
    language, known = model_of(kind, "q8_0").language, arrays(kind)
    case = greedy_case(kind)
    embeds, codes = known[f"{case}/embeds"], known[f"{case}/codes"].astype(np.int64)
    trailing, pad = known[f"{case}/trailing"], known[f"{case}/pad"]
    logits = known[f"{case}/logits"]
    state = language.talker.new_state(len(embeds) + len(logits))
    out = language.talker.prefill(state, embeds)
    expected = [known[f"{case}/first_logits"], *logits]
    for frame, wanted in enumerate(expected):
        assert distance(out.logits[: wanted.size], wanted) < BOUND["q8_0"]
        assert np.isfinite(out.logits[: language.spec.codes]).all()
        assert np.isfinite(out.logits[language.spec.ids.eos])
        if frame % 5 == 0:
            assert distance(out.hidden, known[f"{case}/hidden"][frame // 5]) < BOUND["q8_0"]
        if frame < len(logits):
            text = trailing[frame] if frame < len(trailing) else pad
            vector = language.embeddings.frames(codes[frame][None])[0]
            out = language.talker.step(state, vector + text)
    state.close()


@pytest.mark.ggml
@pytest.mark.parametrize("quant", ["q6_k", "q5_k_m", "q4_k_m"])
def test_coarser_quants_stay_near(quant: str, model_of: Open) -> None:
    kind = "0.6b-customvoice"
    model, known, case = model_of(kind, quant), arrays(kind), greedy_case(kind)
    embeds = known[f"{case}/embeds"]
    out = model.language.talker.prefill(model.language.talker.new_state(len(embeds)), embeds)
    want = known[f"{case}/first_logits"]
    assert 0 < distance(out.logits[: want.size], want) < BOUND[quant]
    assert (model.quant, model.predictor_quant) == (quant, "q8_0")


@pytest.mark.parametrize("kind", GOLDEN["cases"])
def test_first_predictor_codes_are_the_official_ones(kind: str, model_of: Open) -> None:
    """Until rounding tips one over: these random logits lie close together."""
    predictor, known = model_of(kind, "q8_0").language.predictor, arrays(kind)
    state = predictor.new_state()
    agree = [
        int(predictor.frame(state, hidden, int(code0), GREEDY, SeededDraws(0))[0]) == expected[0]
        for hidden, code0, expected in zip(
            known["predictor/hidden"],
            known["predictor/code0"],
            known["predictor/codes"],
            strict=True,
        )
    ]
    assert np.mean(agree) >= 0.75


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("quant", ["q8_0", pytest.param("q4_k_m", marks=pytest.mark.ggml)])
def test_a_prompt_gives_the_bits_of_its_positions_one_by_one(
    quant: str, threads: int, model_of: Open
) -> None:
    """Whether a few rows are multiplied or many, in however many threads."""
    one = model_of("0.6b-base", quant).language.talker
    many = model_of("0.6b-base", quant, threads).language.talker
    width = model_of("0.6b-base", quant).language.spec.talker.hidden
    vectors = np.random.default_rng(5).standard_normal((41, width), dtype=np.float32)
    singly = one.new_state(41)
    steps = [one.step(singly, vector) for vector in vectors]
    for count in (2, 7, 8, 9, 16, 31, 32, 33, 40, 41):
        out = many.prefill(many.new_state(41), vectors[:count])
        np.testing.assert_array_equal(out.hidden, steps[count - 1].hidden)
        np.testing.assert_array_equal(out.logits, steps[count - 1].logits)


def test_any_split_gives_the_same_bits(model_of: Open) -> None:
    language = model_of("0.6b-base", "q8_0").language
    width = language.spec.talker.hidden
    vectors = np.random.default_rng(3).standard_normal((150, width), dtype=np.float32)
    talker = language.talker
    whole, pieces = talker.new_state(150), talker.new_state(150)
    expected = talker.prefill(whole, vectors)
    talker.prefill(pieces, vectors[:7])
    talker.prefill(pieces, vectors[7:90] * 2)
    talker.rewind(pieces, 7)
    talker.prefill(pieces, vectors[7:149])
    out = talker.step(pieces, vectors[149])
    np.testing.assert_array_equal(out.logits, expected.logits)
    np.testing.assert_array_equal(out.hidden, expected.hidden)


@pytest.mark.parametrize("threads", [2, 3])
def test_any_number_of_threads_gives_the_same_codes(threads: int, model_of: Open) -> None:
    hidden = arrays("1.7b-base")["predictor/hidden"]
    one, more = (model_of("1.7b-base", "q8_0", n).language.predictor for n in (1, threads))
    states = one.new_state(), more.new_state()
    for at, vector in enumerate(hidden):
        codes = [
            predictor.frame(state, vector, at, Sampling(), SeededDraws(at))
            for predictor, state in zip((one, more), states, strict=True)
        ]
        np.testing.assert_array_equal(codes[0], codes[1])


@pytest.mark.parametrize("draft_tokens", [1, 2, 4])
def test_draft_tokens_change_no_greedy_code(draft_tokens: int, model_of: Open) -> None:
    hidden = arrays("0.6b-base")["predictor/hidden"]
    plain, drafting = (
        model_of("0.6b-base", "q8_0", 1, n).language.predictor for n in (0, draft_tokens)
    )
    states = plain.new_state(), drafting.new_state()
    for at, vector in enumerate(hidden):
        np.testing.assert_array_equal(
            plain.frame(states[0], vector, at, GREEDY, SeededDraws(0)),
            drafting.frame(states[1], vector, at, GREEDY, SeededDraws(0)),
        )
    assert states[0].forward_passes == 15 * len(hidden)


def test_states_are_independent(model_of: Open) -> None:
    language = model_of("0.6b-base", "q8_0").language
    talker, width = language.talker, language.spec.talker.hidden
    vectors = np.random.default_rng(4).standard_normal((2, 5, width), dtype=np.float32)
    alone = [talker.prefill(talker.new_state(8), part).logits for part in vectors]
    left, right = talker.new_state(8), talker.new_state(8)
    for at in range(4):
        talker.step(left, vectors[0, at])
        talker.step(right, vectors[1, at])
    outs = talker.step(left, vectors[0, 4]), talker.step(right, vectors[1, 4])
    np.testing.assert_array_equal(outs[0].logits, alone[0])
    np.testing.assert_array_equal(outs[1].logits, alone[1])


def test_a_full_or_closed_state_says_so(model_of: Open) -> None:
    language = model_of("0.6b-base", "q8_0").language
    talker, width = language.talker, language.spec.talker.hidden
    state = talker.new_state(3)
    vectors = np.ones((3, width), np.float32)
    with pytest.raises(ValueError, match="wanted"):
        talker.prefill(state, vectors[:, :-1])
    talker.prefill(state, vectors)
    with pytest.raises(ValueError, match="holds 3 positions, 4 were asked for"):
        talker.step(state, vectors[0])
    with pytest.raises(ValueError, match="not 4"):
        talker.rewind(state, 4)
    state.close()
    state.close()
    with pytest.raises(ValueError, match="closed"):
        talker.step(state, vectors[0])
    with pytest.raises(ValueError, match="holds nothing"):
        talker.new_state(0)


def test_a_finer_conversion_is_refused(
    converted_qwen3: Callable[[str, str], Path], kernel_cache: Path
) -> None:
    folder = converted_qwen3("0.6b-base", "f32")
    with pytest.raises(KernelError, match="8 bits at most; take q8_0, or the ggml backend"):
        load(folder, read_spec(folder), 1, cache=kernel_cache)


@pytest.mark.parametrize("name", [TALKER, PREDICTOR, TABLES])
def test_a_damaged_folder_says_what_is_wrong(
    name: str, converted_qwen3: Callable[[str, str], Path], kernel_cache: Path, tmp_path: Path
) -> None:
    folder = converted_qwen3("0.6b-base", "q8_0")
    spec = read_spec(folder)
    for file in (TALKER, PREDICTOR, TABLES):
        (tmp_path / file).write_bytes((folder / file).read_bytes())
    (tmp_path / name).write_bytes((folder / name).read_bytes()[:-1000])
    with pytest.raises(GGUFError, match=f"{name}: truncated"):
        load(tmp_path, spec, 1, cache=kernel_cache)
    (tmp_path / name).unlink()
    with pytest.raises(GGUFError, match=f"{name} is missing"):
        load(tmp_path, spec, 1, cache=kernel_cache)
    other = converted_qwen3("0.6b-customvoice", "q8_0")
    (tmp_path / name).write_bytes((other / name).read_bytes())
    with pytest.raises(GGUFError, match="different checkpoints"):
        load(tmp_path, spec, 1, cache=kernel_cache)


def test_another_models_config_is_refused(
    converted_qwen3: Callable[[str, str], Path], kernel_cache: Path
) -> None:
    other = read_spec(converted_qwen3("1.7b-base", "q8_0"))
    with pytest.raises(GGUFError):
        load(converted_qwen3("0.6b-base", "q8_0"), other, 1, cache=kernel_cache)


def test_threads_are_changed_while_it_computes(
    converted_qwen3: Callable[[str, str], Path], kernel_cache: Path
) -> None:
    """A pool that nobody else holds any more lives until the pass on it has ended."""
    folder = converted_qwen3("0.6b-base", "q8_0")
    talker, _ = open_talker(folder, read_spec(folder), ThreadPool(kernel_cache, 2))
    inputs = np.ones((9, read_spec(folder).talker.hidden), np.float32)

    def compute() -> list[float]:
        return talker.prefill(talker.new_state(9), inputs).logits.tolist()

    expected = compute()
    with ThreadPoolExecutor(1) as beside:
        computed = beside.submit(lambda: [compute() for _ in range(40)])
        for change in range(40):
            talker.use(ThreadPool(kernel_cache, 1 + change % 3))
        assert computed.result() == [expected] * 40
