"""Talker and predictor on ONNX Runtime against the official package and the reference backend, on
tiny models.

Golden values: tests/support/make_golden_qwen3.py with qwen-tts 0.1.1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.engine.language_model import LanguageModel
from s2s.tts.qwen3.onnx.language import OnnxCache, OnnxModel, load
from s2s.tts.qwen3.reference import ReferencePredictor, ReferenceTalker
from s2s.tts.qwen3.sampling import FirstCodes, Sampling, SeededDraws, probabilities
from tests.support.qwen3_golden import FRAMES, GOLDEN, STEPS, arrays, greedy_cases, text_vector

GREEDY = Sampling(greedy=True)


KIND, WIDE_KIND = "0.6b-base", "1.7b-base"


Language = LanguageModel[OnnxCache, OnnxCache]


FolderOf = Callable[[str, str], Path]


ModelOf = Callable[..., OnnxModel]


@pytest.fixture(scope="module")
def model_of(converted_qwen3: FolderOf) -> ModelOf:
    @lru_cache
    def open_model(kind: str, quant: str = "onnx-f32", draft_tokens: int = 0) -> OnnxModel:
        folder = converted_qwen3(kind, quant)
        return load(folder, read_spec(folder), 1, draft_tokens)

    return open_model


def vectors(count: int, language: Language, seed: int = 3) -> Any:
    width = language.spec.talker.hidden
    return np.random.default_rng(seed).standard_normal((count, width), dtype=np.float32)


@greedy_cases()
def test_logits_and_hidden_follow_the_official_ones(
    kind: str, case: str, model_of: ModelOf
) -> None:
    """Prefill and fifty steps, fed with the official codes."""
    language, known = model_of(kind).language, arrays(kind)
    embeds, codes = known[f"{case}/embeds"], known[f"{case}/codes"].astype(np.int64)
    logits, hidden = known[f"{case}/logits"], known[f"{case}/hidden"]
    sampled = [*range(language.spec.codes), language.spec.ids.eos]
    state = language.talker.new_state(len(embeds) + STEPS)
    out = language.talker.prefill(state, embeds)
    first = known[f"{case}/first_logits"]
    np.testing.assert_allclose(out.logits[sampled], first[sampled], atol=1e-3, rtol=0)
    np.testing.assert_allclose(out.hidden, hidden[0], atol=1e-3, rtol=0)
    assert np.isneginf(np.delete(out.logits, sampled)).all()
    assert len(logits) == STEPS
    for frame, expected in enumerate(logits):
        vector = language.embeddings.frames(codes[frame][None])[0]
        out = language.talker.step(state, vector + text_vector(known, case, frame))
        known_ids = [id for id in sampled if id < expected.size]
        np.testing.assert_allclose(out.logits[known_ids], expected[known_ids], atol=1e-3, rtol=0)
        if (frame + 1) % 5 == 0:
            np.testing.assert_allclose(out.hidden, hidden[(frame + 1) // 5], atol=1e-3, rtol=0)
    state.close()


@greedy_cases()
@pytest.mark.parametrize("draft_tokens", [0, 2])
def test_greedy_codes_are_the_official_ones(
    kind: str, case: str, draft_tokens: int, model_of: ModelOf
) -> None:
    """52 frames of 16 codes; with draft tokens in fewer passes at most as many."""
    language, known = model_of(kind, draft_tokens=draft_tokens).language, arrays(kind)
    spec, embeds = language.spec, known[f"{case}/embeds"]
    first = FirstCodes(codes=spec.codes, eos=spec.ids.eos, sampling=GREEDY, min_new_tokens=2**62)
    talker = language.talker.new_state(len(embeds) + FRAMES)
    predictor, draws = language.predictor.new_state(), SeededDraws(0)
    out = language.talker.prefill(talker, embeds)
    spoken: list[list[int]] = []
    for frame in range(FRAMES):
        code0 = first.choose(out.logits, draws)
        rest = language.predictor.frame(predictor, out.hidden, code0, GREEDY, draws)
        spoken.append([code0, *rest.tolist()])
        vector = language.embeddings.frames(np.array([spoken[-1]]))[0]
        out = language.talker.step(talker, vector + text_vector(known, case, frame))
    assert spoken == known[f"{case}/codes"].tolist()
    passes = FRAMES * (spec.groups - 1)
    assert (
        predictor.forward_passes == passes
        if not draft_tokens
        else predictor.forward_passes <= passes
    )


@pytest.mark.parametrize("kind", GOLDEN["cases"])
def test_predictor_frames_are_the_official_ones(kind: str, model_of: ModelOf) -> None:
    predictor, known = model_of(kind).language.predictor, arrays(kind)
    state = predictor.new_state()
    cases = (known[f"predictor/{name}"] for name in ("hidden", "code0", "codes"))
    for hidden, code0, expected in zip(*cases, strict=True):
        codes = predictor.frame(state, hidden, int(code0), GREEDY, SeededDraws(0))
        assert codes.tolist() == expected.tolist()


SAMPLINGS = {
    "in one run": Sampling(temperature=0.9, top_k=50),
    "in one run, of all codes": Sampling(temperature=1.3, top_k=0),
    "pass by pass": Sampling(temperature=0.9, top_k=50, top_p=0.9),
}


@pytest.mark.parametrize("sampling", SAMPLINGS.values(), ids=SAMPLINGS)
@pytest.mark.parametrize("kind", [KIND, WIDE_KIND])
def test_the_same_draws_give_the_reference_backends_codes(
    kind: str, sampling: Sampling, model_of: ModelOf, tiny_qwen3: Callable[[str], Path]
) -> None:
    language = model_of(kind).language
    reference = ReferencePredictor(language.spec, Checkpoint(tiny_qwen3(kind)))
    draws, same_draws = SeededDraws(5), SeededDraws(5)
    state, other = language.predictor.new_state(), reference.new_state()
    for code0, hidden in enumerate(vectors(20, language)):
        codes = language.predictor.frame(state, hidden, code0, sampling, draws)
        expected = reference.frame(other, hidden, code0, sampling, same_draws)
        assert codes.tolist() == expected.tolist()


@pytest.mark.parametrize(("threads", "spin"), [(1, False), (2, False), (2, True)])
def test_prefill_in_pieces_and_rewinding_change_nothing(
    threads: int, spin: bool, converted_qwen3: FolderOf, tiny_qwen3: Callable[[str], Path]
) -> None:
    """Pieces are appended to what is there already, as far as the cache reaches."""
    folder = converted_qwen3(KIND, "onnx-f32")
    language = load(folder, read_spec(folder), threads, spin=spin).language
    talker, rows = language.talker, vectors(150, language)
    reference = ReferenceTalker(language.spec, Checkpoint(tiny_qwen3(KIND)))
    expected = reference.prefill(reference.new_state(150), rows)
    pieces = talker.new_state(150)
    talker.prefill(pieces, rows[:7])
    talker.prefill(pieces, rows[7:90] * 2)
    talker.rewind(pieces, 7)
    talker.prefill(pieces, rows[7:149])
    out = talker.step(pieces, rows[149])
    np.testing.assert_allclose(out.hidden, expected.hidden, atol=1e-3, rtol=0)
    finite = np.isfinite(out.logits)
    np.testing.assert_allclose(out.logits[finite], expected.logits[finite], atol=1e-3, rtol=0)


def test_states_are_independent_and_results_stay(model_of: ModelOf) -> None:
    language = model_of(KIND).language
    talker, parts = language.talker, vectors(10, language, 4).reshape(2, 5, -1)
    alone = [talker.prefill(talker.new_state(8), part).logits for part in parts]
    left, right = talker.new_state(8), talker.new_state(8)
    for at in range(4):
        talker.step(left, parts[0, at])
        talker.step(right, parts[1, at])
    outs = talker.step(left, parts[0, 4]), talker.step(right, parts[1, 4])
    np.testing.assert_allclose(outs[0].logits, alone[0], atol=1e-4, rtol=0)
    np.testing.assert_allclose(outs[1].logits, alone[1], atol=1e-4, rtol=0)
    kept = outs[0].hidden.copy()
    talker.step(left, parts[1, 0])
    np.testing.assert_array_equal(outs[0].hidden, kept)


def test_a_full_or_closed_state_says_so(model_of: ModelOf) -> None:
    language = model_of(KIND).language
    talker, rows = language.talker, vectors(3, language)
    state = talker.new_state(3)
    with pytest.raises(ValueError, match="wanted"):
        talker.prefill(state, rows[:, :-1])
    talker.prefill(state, rows)
    with pytest.raises(ValueError, match="no room"):
        talker.step(state, rows[0])
    assert state.positions == 3
    with pytest.raises(ValueError, match="cannot go back"):
        talker.rewind(state, 4)
    state.close()
    state.close()
    with pytest.raises(ValueError, match="closed"):
        talker.step(state, rows[0])
    with pytest.raises(ValueError, match="max_positions"):
        talker.new_state(0)


@pytest.mark.parametrize(
    ("quant", "bound"), [("int8-32", 0.002), ("int8", 0.003), ("int4", 0.06), ("int4-128", 0.08)]
)
def test_quantised_distributions_stay_near(quant: str, bound: float, model_of: ModelOf) -> None:
    """Mean Kullback-Leibler divergence of the first code, each within its bound, measured on these
    random weights, which exaggerate it; never zero."""
    model, exact = model_of(KIND, quant), model_of(KIND).language
    rows = vectors(40, exact)
    states = exact.talker.new_state(40), model.language.talker.new_state(40)
    found = []
    for row in rows:
        want, got = (
            probabilities(each.talker.step(state, row).logits, Sampling(temperature=1, top_k=0))
            for each, state in zip((exact, model.language), states, strict=True)
        )
        kept = want > 0
        found.append(float((want[kept] * np.log(want[kept] / got[kept])).sum()))
    assert 0 < np.mean(found) < bound
    assert model.quant == quant
    assert model.predictor_quant == ("int8-32" if quant == "int8-32" else "int8")


def test_the_predictors_codes_survive_eight_bits(model_of: ModelOf) -> None:
    """On random weights codes are nearly even; one that differs takes the rest of its frame
    along."""
    exact, rough = model_of(KIND).language, model_of(KIND, "int8").language
    known, state = exact.predictor.new_state(), rough.predictor.new_state()
    same: list[float] = []
    for code0, hidden in enumerate(vectors(20, exact)):
        want = exact.predictor.frame(known, hidden, code0, GREEDY, SeededDraws(0))
        got = rough.predictor.frame(state, hidden, code0, GREEDY, SeededDraws(0))
        same.append(float(np.mean(want == got)))
    assert np.mean(same) > 0.6
