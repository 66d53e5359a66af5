"""Talker and predictor in graphs of fixed shapes against the official package and the reference
backend, on tiny models.

Golden values: tests/support/make_golden_qwen3.py with qwen-tts 0.1.1.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.checkpoint.spec import Spec, read_spec
from s2s.tts.qwen3.checkpoint.tables import TableEmbeddings, open_tables
from s2s.tts.qwen3.errors import OnnxError
from s2s.tts.qwen3.fixed import language as fixed
from s2s.tts.qwen3.fixed.providers import RuntimeProvider
from s2s.tts.qwen3.fixed.talker_graph import BLOCK
from s2s.tts.qwen3.fixed.weights import FIXED_F32
from s2s.tts.qwen3.reference import ReferencePredictor, ReferenceTalker
from s2s.tts.qwen3.sampling import FirstCodes, Sampling, SeededDraws
from tests.support.qwen3_golden import FRAMES, GOLDEN, STEPS, arrays, greedy_cases, text_vector

GREEDY = Sampling(greedy=True)
KIND, WIDE_KIND = "0.6b-base", "1.7b-base"
HERE = RuntimeProvider("cpu")


@dataclass(frozen=True)
class Opened:
    spec: Spec
    embeddings: TableEmbeddings
    talker: fixed.FixedTalker
    predictor: fixed.FixedPredictor


ModelOf = Callable[..., Opened]
FolderOf = Callable[[str, str], Path]


@pytest.fixture(scope="module")
def model_of(converted_qwen3: FolderOf) -> ModelOf:
    @lru_cache
    def opened(kind: str, draft_tokens: int = 0) -> Opened:
        folder = converted_qwen3(kind, FIXED_F32)
        spec = read_spec(folder)
        talker, part = fixed.open_talker(folder, spec, HERE, 1)
        predictor, other = fixed.open_predictor(folder, spec, HERE, 1, draft_tokens)
        assert (part.quant, part.graphs.remark) == (other.quant, other.graphs.remark)
        assert (part.quant, part.graphs.remark) == (FIXED_F32, "")
        embeddings = TableEmbeddings(open_tables(folder), spec)
        return Opened(spec, embeddings, talker, predictor)

    return opened


def vectors(count: int, model: Opened, seed: int = 3) -> Any:
    width = model.spec.talker.hidden
    return np.random.default_rng(seed).standard_normal((count, width), dtype=np.float32)


@greedy_cases()
def test_logits_and_codes_follow_the_official_ones(kind: str, case: str, model_of: ModelOf) -> None:
    """The prompt in blocks, 52 frames of 16 greedy codes, fed with what was spoken; logits and
    hidden vectors within 1e-3 all the way."""
    model, known = model_of(kind), arrays(kind)
    spec, embeds = model.spec, known[f"{case}/embeds"]
    logits, hidden = known[f"{case}/logits"], known[f"{case}/hidden"]
    sampled = [*range(spec.codes), spec.ids.eos]
    first = FirstCodes(codes=spec.codes, eos=spec.ids.eos, sampling=GREEDY, min_new_tokens=2**62)
    talker = model.talker.new_state(len(embeds) + FRAMES)
    predictor, draws = model.predictor.new_state(), SeededDraws(0)
    out = model.talker.prefill(talker, embeds)
    wanted = known[f"{case}/first_logits"]
    np.testing.assert_allclose(out.logits[sampled], wanted[sampled], atol=1e-3, rtol=0)
    np.testing.assert_allclose(out.hidden, hidden[0], atol=1e-3, rtol=0)
    assert np.isneginf(np.delete(out.logits, sampled)).all()
    assert len(logits) == STEPS
    spoken: list[list[int]] = []
    for frame in range(FRAMES):
        code0 = first.choose(out.logits, draws)
        rest = model.predictor.frame(predictor, out.hidden, code0, GREEDY, draws)
        spoken.append([code0, *rest.tolist()])
        vector = model.embeddings.frames(np.array([spoken[-1]]))[0]
        out = model.talker.step(talker, vector + text_vector(known, case, frame))
        if frame < STEPS:
            ids = [id for id in sampled if id < logits[frame].size]
            np.testing.assert_allclose(out.logits[ids], logits[frame][ids], atol=1e-3, rtol=0)
    assert spoken == known[f"{case}/codes"].tolist()
    assert predictor.forward_passes == FRAMES * (spec.groups - 1)
    talker.close()


@pytest.mark.parametrize("draft_tokens", [0, 2])
@pytest.mark.parametrize("kind", GOLDEN["cases"])
def test_predictor_frames_are_the_official_ones(
    kind: str, draft_tokens: int, model_of: ModelOf
) -> None:
    predictor, known = model_of(kind, draft_tokens).predictor, arrays(kind)
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
    model = model_of(kind)
    reference = ReferencePredictor(model.spec, Checkpoint(tiny_qwen3(kind)))
    draws, same_draws = SeededDraws(5), SeededDraws(5)
    state, other = model.predictor.new_state(), reference.new_state()
    for code0, hidden in enumerate(vectors(20, model)):
        codes = model.predictor.frame(state, hidden, code0, sampling, draws)
        expected = reference.frame(other, hidden, code0, sampling, same_draws)
        assert codes.tolist() == expected.tolist()


@pytest.mark.parametrize("room", [150, 700])
def test_prefill_in_pieces_and_rewinding_change_nothing(
    room: int, model_of: ModelOf, tiny_qwen3: Callable[[str], Path]
) -> None:
    """Blocks, rests of blocks and single positions, in caches of two sizes."""
    model = model_of(KIND)
    talker, rows = model.talker, vectors(150, model)
    reference = ReferenceTalker(model.spec, Checkpoint(tiny_qwen3(KIND)))
    expected = reference.prefill(reference.new_state(150), rows)
    pieces = talker.new_state(room)
    assert pieces.slots == (512 if room == 150 else 1024)
    talker.prefill(pieces, rows[:7])
    talker.prefill(pieces, rows[7:90] * 2)
    talker.rewind(pieces, 7)
    talker.prefill(pieces, rows[7 : 7 + BLOCK])
    talker.prefill(pieces, rows[7 + BLOCK : 149])
    out = talker.step(pieces, rows[149])
    np.testing.assert_allclose(out.hidden, expected.hidden, atol=1e-3, rtol=0)
    finite = np.isfinite(out.logits)
    np.testing.assert_allclose(out.logits[finite], expected.logits[finite], atol=1e-3, rtol=0)


def test_the_last_slot_is_used_and_no_more(model_of: ModelOf) -> None:
    model = model_of(KIND)
    rows = vectors(512, model)
    state = model.talker.new_state(512)
    model.talker.prefill(state, rows[:510])
    model.talker.step(state, rows[510])
    out = model.talker.step(state, rows[511])
    with pytest.raises(ValueError, match="no room for 1 more: 512 of 512 taken"):
        model.talker.step(state, rows[0])
    wide = model.talker.new_state(513)
    same = model.talker.prefill(wide, rows)
    np.testing.assert_allclose(out.hidden, same.hidden, atol=1e-3, rtol=0)


def test_states_are_independent_and_results_stay(model_of: ModelOf) -> None:
    model = model_of(KIND)
    talker, parts = model.talker, vectors(10, model, 4).reshape(2, 5, -1)
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
    model = model_of(KIND)
    talker, rows = model.talker, vectors(3, model)
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
    with pytest.raises(ValueError, match="5000 positions: graphs of fixed shapes have at most"):
        talker.new_state(5000)
    scratch = model.predictor.new_state()
    scratch.close()
    with pytest.raises(ValueError, match="closed"):
        model.predictor.frame(scratch, rows[0], 0, GREEDY, SeededDraws(0))


def test_a_folder_of_two_checkpoints_is_refused(converted_qwen3: FolderOf, tmp_path: Path) -> None:
    whole, folder = converted_qwen3(KIND, FIXED_F32), tmp_path / "copy"
    shutil.copytree(whole, folder)
    spec = read_spec(folder)
    shutil.copy(converted_qwen3("0.6b-customvoice", FIXED_F32) / "tables.gguf", folder)
    for opening in (fixed.open_talker, fixed.open_predictor):
        with pytest.raises(OnnxError, match="different checkpoints"):
            opening(folder, spec, HERE, 1)


def test_another_models_config_is_refused(converted_qwen3: FolderOf) -> None:
    folder = converted_qwen3(KIND, FIXED_F32)
    spec = read_spec(converted_qwen3(WIDE_KIND, FIXED_F32))
    for opening in (fixed.open_talker, fixed.open_predictor):
        with pytest.raises(OnnxError, match=r"config\.json is of another model"):
            opening(folder, spec, HERE, 1)
