"""Talker and predictor on ExecuTorch: on programs in numpy always, and against the official package
in ExecuTorch itself, on tiny models of all five kinds (`language_qwen3_executorch.py`)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.checkpoint.spec import Spec, read_spec
from s2s.tts.qwen3.checkpoint.tables import CodeVectors, open_tables
from s2s.tts.qwen3.executorch.language import ExecutorchPredictor, ExecutorchTalker
from s2s.tts.qwen3.executorch.transformer import MOST_ROOM
from s2s.tts.qwen3.interfaces import Floats
from s2s.tts.qwen3.reference import ReferencePredictor, ReferenceTalker
from s2s.tts.qwen3.sampling import Sampling, SeededDraws
from tests.support.other_voices import check_voice
from tests.support.qwen3_golden import GOLDEN
from tests.tts.qwen3.executorch.in_executorch import in_executorch
from tests.tts.qwen3.executorch.plain_program import PlainStack

KIND, PROJECTED = "0.6b-base", "1.7b-base"
TOLERANCES = {"et-8": (0.002, 0.5), "et-4": (0.09, 0.5)}
"""The largest mean Kullback-Leibler divergence of the first code, and the least share of the
predictor's codes (which has eight bits beside 4) that are those of float32: random weights
exaggerate it, and activations have eight bits, too. About twice what was measured: 0.0010 and
0.045, and 0.69 of the codes."""
CHECKS = {
    "predictor", "pieces", "threads that end", "width", "no room", "cannot go back", "results stay",
    "closed", "max_positions", "closed frame",
    "draws of fifty", "draws of all codes", "draws of most",
}  # fmt: skip

Tiny = Callable[[str], Path]
Parts = tuple[Spec, Checkpoint]


@pytest.mark.executorch
@pytest.mark.timeout(2400)
@pytest.mark.parametrize("kind", GOLDEN["cases"])
def test_it_computes_what_the_official_package_does(kind: str, tmp_path: Path) -> None:
    """52 frames of 16 codes the same, logits within 1e-3, for every case."""
    folder = tmp_path / kind
    folder.mkdir()
    told = dict(check_voice(in_executorch("language"), folder))
    for quant, (most, least) in TOLERANCES.items() if kind == KIND else ():
        divergence, same = told.pop(f"{quant} divergence"), told.pop(f"{quant} same codes")
        assert isinstance(divergence, float)
        assert isinstance(same, float)
        assert 0 < divergence <= most, quant
        assert same >= least, quant
        assert told.pop(f"{quant} opened") == f"{quant} et-8"
    greedy = [case["name"] for case in GOLDEN["cases"][kind] if case.get("record") == "greedy"]
    cases = {f"{case} {what}" for case in greedy for what in ("logits", "codes", "drafted")}
    assert told == dict.fromkeys(CHECKS | cases, True)


@pytest.fixture
def parts(tiny_qwen3: Tiny) -> Parts:
    folder = tiny_qwen3(KIND)
    return read_spec(folder), Checkpoint(folder)


def vectors(count: int, spec: Spec) -> Floats:
    return np.random.default_rng(3).standard_normal((count, spec.talker.hidden), dtype=np.float32)


def test_a_prompt_is_fed_in_blocks_and_memory_grows(parts: Parts) -> None:
    spec, weights = parts
    program = PlainStack(weights, spec, talker=True)
    talker, rows = ExecutorchTalker(program, spec), vectors(150, spec)
    reference = ReferenceTalker(spec, weights)
    expected = reference.prefill(reference.new_state(150), rows)
    state = talker.new_state(150)
    talker.prefill(state, rows[:7])
    talker.prefill(state, rows[7:90] * 2)
    talker.rewind(state, 7)
    talker.prefill(state, rows[7:149])
    out = talker.step(state, rows[149])
    np.testing.assert_allclose(out.logits, expected.logits, atol=1e-3, rtol=0)
    np.testing.assert_allclose(out.hidden, expected.hidden, atol=1e-3, rtol=0)
    counts = [shapes[0][0] for name, shapes in program.asked if name == "layers"]
    assert counts == [7, 64, 19, 64, 64, 14, 1]
    rooms = [shapes[3][1] for name, shapes in program.asked if name == "layers"]
    assert rooms == [128] * 3 + [256] * 4
    assert state.forward_passes == 7


def test_states_are_their_own(parts: Parts) -> None:
    spec, weights = parts
    talker = ExecutorchTalker(PlainStack(weights, spec, talker=True), spec)
    rows = vectors(4, spec)
    alone = talker.prefill(talker.new_state(4), rows[:2])
    one, other = talker.new_state(4), talker.new_state(4)
    talker.step(one, rows[0])
    talker.step(other, rows[3])
    np.testing.assert_allclose(talker.step(one, rows[1]).logits, alone.logits, atol=1e-5, rtol=0)


def test_a_full_or_closed_state_says_so(parts: Parts) -> None:
    spec, weights = parts
    talker = ExecutorchTalker(PlainStack(weights, spec, talker=True), spec)
    state, rows = talker.new_state(3), vectors(3, spec)
    with pytest.raises(ValueError, match="wanted"):
        talker.prefill(state, rows[:, :-1])
    talker.prefill(state, rows)
    with pytest.raises(ValueError, match="no room for 4 positions, the state has 3"):
        talker.step(state, rows[0])
    with pytest.raises(ValueError, match="cannot go back"):
        talker.rewind(state, 4)
    state.close()
    state.close()
    with pytest.raises(ValueError, match="closed"):
        talker.step(state, rows[0])
    with pytest.raises(ValueError, match="max_positions is 0"):
        talker.new_state(0)
    with pytest.raises(ValueError, match=f"the program takes {MOST_ROOM}"):
        talker.new_state(MOST_ROOM + 1)


SAMPLINGS = (
    Sampling(greedy=True),
    Sampling(temperature=0.9, top_k=50),
    Sampling(temperature=0.9, top_k=50, top_p=0.9),
)


@pytest.mark.parametrize("kind", [KIND, PROJECTED])
def test_the_same_draws_give_the_references_codes(
    kind: str, tiny_qwen3: Tiny, converted_qwen3: Callable[[str, str], Path]
) -> None:
    spec, weights = read_spec(tiny_qwen3(kind)), Checkpoint(tiny_qwen3(kind))
    tables = CodeVectors(open_tables(converted_qwen3(kind, "f32")), spec)
    program = PlainStack(weights, spec, talker=False)
    predictor = ExecutorchPredictor(program, tables, spec)
    reference = ReferencePredictor(spec, weights)
    state, other = predictor.new_state(), reference.new_state()
    for sampling in SAMPLINGS:
        mine, theirs = SeededDraws(5), SeededDraws(5)
        for code0, hidden in enumerate(vectors(5, spec)):
            codes = predictor.frame(state, hidden, code0, sampling, mine)
            expected = reference.frame(other, hidden, code0, sampling, theirs)
            assert codes.tolist() == expected.tolist()
    assert state.forward_passes == 15 * 5 * len(SAMPLINGS)
    assert {name for name, _ in program.asked} >= {"layers", "head_0", "head_14"}
    assert ("projection" in {name for name, _ in program.asked}) == spec.projected
    state.close()
    with pytest.raises(ValueError, match="closed"):
        predictor.frame(state, vectors(1, spec)[0], 0, SAMPLINGS[0], SeededDraws(0))


def test_drafted_codes_are_the_same_in_fewer_passes(
    parts: Parts, converted_qwen3: Callable[[str, str], Path]
) -> None:
    spec, weights = parts
    tables = CodeVectors(open_tables(converted_qwen3(KIND, "f32")), spec)
    program = PlainStack(weights, spec, talker=False)
    plain = ExecutorchPredictor(program, tables, spec)
    drafting = ExecutorchPredictor(program, tables, spec, draft_tokens=2)
    hidden = vectors(1, spec)[0]
    states = plain.new_state(), drafting.new_state()
    codes = [
        each.frame(state, hidden, 3, SAMPLINGS[0], SeededDraws(0)).tolist()
        for each, state in zip((plain, drafting), states, strict=True)
    ]
    assert codes[0] == codes[1]
    drafting.accept_at_rate(1.0)
    drafting.frame(states[1], hidden, 3, SAMPLINGS[0], SeededDraws(0))
    assert states[1].forward_passes < 30
