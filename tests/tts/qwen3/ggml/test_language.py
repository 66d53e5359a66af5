"""Talker, predictor and tables on llama.cpp against the official package, on tiny models.

Golden values: tests/support/make_golden_qwen3.py with qwen-tts 0.1.1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from s2s.system.llama_cpp import installed
from s2s.tts.qwen3.checkpoint.gguf_layout import PREDICTOR, TABLES, TALKER
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.engine.language_model import LanguageModel
from s2s.tts.qwen3.errors import GGUFError
from s2s.tts.qwen3.ggml.language import GgmlModel, GgmlPredictorState, GgmlTalkerState, load
from s2s.tts.qwen3.sampling import FirstCodes, Sampling, SeededDraws
from s2s.tts.qwen3.text.prompt import PromptBuilder, Request
from s2s.tts.qwen3.text.tokenizer import Tokenizer
from tests.support.qwen3_golden import FRAMES, GOLDEN, STEPS, arrays, greedy_cases, text_vector

pytestmark = [
    pytest.mark.ggml,
    pytest.mark.skipif(not installed(), reason="no llama.cpp library: pip install xllamacpp"),
]

GREEDY = Sampling(greedy=True)

Language = LanguageModel[GgmlTalkerState, GgmlPredictorState]


@pytest.fixture(scope="module")
def model_of(converted_qwen3: Callable[[str, str], Path]) -> Callable[[str, str], GgmlModel]:
    @lru_cache
    def open_model(kind: str, quant: str) -> GgmlModel:
        folder = converted_qwen3(kind, quant)
        return load(folder, read_spec(folder), threads=1)

    return open_model


@greedy_cases()
def test_logits_and_hidden_follow_the_official_ones(
    kind: str, case: str, model_of: Callable[[str, str], GgmlModel]
) -> None:
    """Prefill and fifty steps in f32, fed with the official codes."""
    language, known = model_of(kind, "f32").language, arrays(kind)
    embeds, codes = known[f"{case}/embeds"], known[f"{case}/codes"].astype(np.int64)
    logits, hidden = known[f"{case}/logits"], known[f"{case}/hidden"]
    state = language.talker.new_state(len(embeds) + STEPS)
    out = language.talker.prefill(state, embeds)
    np.testing.assert_allclose(out.logits, known[f"{case}/first_logits"], atol=1e-3, rtol=0)
    np.testing.assert_allclose(out.hidden, hidden[0], atol=1e-3, rtol=0)
    assert len(logits) == STEPS
    for frame, expected in enumerate(logits):
        vector = language.embeddings.frames(codes[frame][None])[0]
        out = language.talker.step(state, vector + text_vector(known, case, frame))
        np.testing.assert_allclose(out.logits[: expected.size], expected, atol=1e-3, rtol=0)
        if (frame + 1) % 5 == 0:
            np.testing.assert_allclose(out.hidden, hidden[(frame + 1) // 5], atol=1e-3, rtol=0)
    state.close()


@greedy_cases()
def test_greedy_frames_are_the_official_ones(
    kind: str, case: str, model_of: Callable[[str, str], GgmlModel]
) -> None:
    """52 frames of 16 codes with repetition penalty, from the official prompt."""
    language, known = model_of(kind, "f32").language, arrays(kind)
    spec, embeds = language.spec, known[f"{case}/embeds"]
    first = FirstCodes(spec.codes, spec.ids.eos, GREEDY, min_new_tokens=FRAMES + 1)
    talker = language.talker.new_state(len(embeds) + FRAMES)
    predictor = language.predictor.new_state()
    out = language.talker.prefill(talker, embeds)
    spoken: list[list[int]] = []
    for frame in range(FRAMES):
        code0 = first.choose(out.logits, SeededDraws(0))
        rest = language.predictor.frame(predictor, out.hidden, code0, GREEDY, SeededDraws(0))
        spoken.append([code0, *rest.tolist()])
        vector = language.embeddings.frames(np.array([spoken[-1]]))[0]
        out = language.talker.step(talker, vector + text_vector(known, case, frame))
    assert spoken == known[f"{case}/codes"].tolist()


@pytest.mark.parametrize("kind", GOLDEN["cases"])
def test_predictor_frames_are_the_official_ones(
    kind: str, model_of: Callable[[str, str], GgmlModel]
) -> None:
    predictor, known = model_of(kind, "f32").language.predictor, arrays(kind)
    state = predictor.new_state()
    for hidden, code0, expected in zip(
        known["predictor/hidden"],
        known["predictor/code0"],
        known["predictor/codes"],
        strict=True,
    ):
        codes = predictor.frame(state, hidden, int(code0), GREEDY, SeededDraws(0))
        assert codes.tolist() == expected.tolist()


def test_prompt_from_the_folded_tables_is_the_official_one(
    converted_qwen3: Callable[[str, str], Path], model_of: Callable[[str, str], GgmlModel]
) -> None:
    kind = "1.7b-customvoice"
    case = next(case for case in GOLDEN["cases"][kind] if case["name"] == "instruct")
    language = model_of(kind, "f32").language
    prompts = PromptBuilder(
        language.spec, Tokenizer.load(converted_qwen3(kind, "f32")), language.embeddings
    )
    prompt = prompts.build(
        Request(
            text=case["text"],
            language=case["language"],
            speaker=case.get("speaker"),
            instruction=case.get("instruct"),
            streaming=not case["non_streaming"],
        )
    )
    expected = arrays(kind)[f"{case['name']}/embeds"]
    np.testing.assert_allclose(prompt.embeddings, expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("quant", ["bf16", "q8_0", "q6_k", "q5_k_m", "q4_k_m"])
def test_quantised_logits_stay_near(quant: str, model_of: Callable[[str, str], GgmlModel]) -> None:
    """The better the quant, the nearer; each within its bound, measured on these weights."""
    bound = {"bf16": 0.02, "q8_0": 0.02, "q6_k": 0.05, "q5_k_m": 0.1, "q4_k_m": 0.2}[quant]
    kind, case = "0.6b-customvoice", greedy_case("0.6b-customvoice")
    model, known = model_of(kind, quant), arrays(kind)
    embeds = known[f"{case}/embeds"]
    state = model.language.talker.new_state(len(embeds))
    got, want = (
        model.language.talker.prefill(state, embeds).logits,
        known[f"{case}/first_logits"],
    )
    error = np.linalg.norm(got - want) / np.linalg.norm(want)
    assert 0 < error < bound
    assert model.quant == quant
    assert model.predictor_quant == ("bf16" if quant == "bf16" else "q8_0")


def greedy_case(kind: str) -> str:
    return next(c["name"] for c in GOLDEN["cases"][kind] if c.get("record") == "greedy")


def test_prefill_in_pieces_and_rewinding_change_nothing(
    model_of: Callable[[str, str], GgmlModel],
) -> None:
    talker = model_of("0.6b-base", "f32").language.talker
    vectors = np.random.default_rng(3).standard_normal((150, talker.width), dtype=np.float32)
    whole, pieces = talker.new_state(150), talker.new_state(150)
    expected = talker.prefill(whole, vectors)
    talker.prefill(pieces, vectors[:7])
    talker.prefill(pieces, vectors[7:90] * 2)
    talker.rewind(pieces, 7)
    talker.prefill(pieces, vectors[7:149])
    out = talker.step(pieces, vectors[149])
    np.testing.assert_allclose(out.logits, expected.logits, atol=1e-3, rtol=0)
    np.testing.assert_allclose(out.hidden, expected.hidden, atol=1e-3, rtol=0)


def test_states_are_independent(model_of: Callable[[str, str], GgmlModel]) -> None:
    talker = model_of("0.6b-base", "f32").language.talker
    vectors = np.random.default_rng(4).standard_normal((2, 5, talker.width), dtype=np.float32)
    alone = [talker.prefill(talker.new_state(8), part).logits for part in vectors]
    left, right = talker.new_state(8), talker.new_state(8)
    for at in range(5):
        outs = talker.step(left, vectors[0, at]), talker.step(right, vectors[1, at])
    np.testing.assert_allclose(outs[0].logits, alone[0], atol=1e-4, rtol=0)
    np.testing.assert_allclose(outs[1].logits, alone[1], atol=1e-4, rtol=0)


def test_a_full_or_closed_state_says_so(model_of: Callable[[str, str], GgmlModel]) -> None:
    talker = model_of("0.6b-base", "f32").language.talker
    state = talker.new_state(3)
    vectors = np.ones((3, talker.width), np.float32)
    with pytest.raises(ValueError, match="wanted"):
        talker.prefill(state, vectors[:, :-1])
    talker.prefill(state, vectors)
    with pytest.raises(ValueError, match="no room"):
        talker.step(state, vectors[0])
    with pytest.raises(ValueError, match="cannot go back"):
        talker.rewind(state, 4)
    state.close()
    state.close()
    with pytest.raises(ValueError, match="closed"):
        talker.step(state, vectors[0])
    with pytest.raises(ValueError, match="max_positions"):
        talker.new_state(0)


def test_an_id_outside_a_table_is_an_error(model_of: Callable[[str, str], GgmlModel]) -> None:
    language = model_of("0.6b-base", "f32").language
    with pytest.raises(IndexError):
        language.embeddings.text(np.array([language.spec.text_vocabulary]))
    with pytest.raises(IndexError):
        language.embeddings.codec(np.array([-1]))


@pytest.mark.parametrize("name", [TALKER, PREDICTOR, TABLES])
def test_a_damaged_folder_says_what_is_wrong(
    name: str, converted_qwen3: Callable[[str, str], Path], tmp_path: Path
) -> None:
    folder = converted_qwen3("0.6b-base", "q8_0")
    spec = read_spec(folder)
    for file in (TALKER, PREDICTOR, TABLES):
        (tmp_path / file).write_bytes((folder / file).read_bytes())
    (tmp_path / name).write_bytes((folder / name).read_bytes()[:-1000])
    with pytest.raises(GGUFError, match=f"{name}: truncated"):
        load(tmp_path, spec, threads=1)
    (tmp_path / name).unlink()
    with pytest.raises(GGUFError, match=f"{name} is missing"):
        load(tmp_path, spec, threads=1)
    other = converted_qwen3("0.6b-customvoice", "q8_0")
    (tmp_path / name).write_bytes((other / name).read_bytes())
    with pytest.raises(GGUFError, match="different checkpoints"):
        load(tmp_path, spec, threads=1)


def test_another_models_config_is_refused(converted_qwen3: Callable[[str, str], Path]) -> None:
    other = read_spec(converted_qwen3("1.7b-base", "f32"))
    with pytest.raises(GGUFError):
        load(converted_qwen3("0.6b-base", "f32"), other, threads=1)
