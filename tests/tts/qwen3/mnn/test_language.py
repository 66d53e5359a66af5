"""Talker and predictor on MNN against the official package and the reference backend, on tiny
models of all five kinds: `language_qwen3_mnn.py`, in MNN itself. What needs no MNN is held here on
one that stands in for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.tts.qwen3.checkpoint.record import RECORD_FILE
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.convert import convert
from s2s.tts.qwen3.errors import MnnError
from s2s.tts.qwen3.mnn.language import SLOTS, MnnModel, load
from s2s.tts.qwen3.reference import ReferencePredictor, ReferenceTalker
from s2s.tts.qwen3.sampling import Sampling, SeededDraws
from tests.support.other_voices import check_voice
from tests.support.qwen3_golden import GOLDEN
from tests.tts.qwen3.mnn.in_mnn import in_mnn

TOLERANCES = {"mnn-8": (0.002, 0.7), "mnn-4-32": (0.11, 0.7), "mnn-4": (0.11, 0.7)}
"""The largest mean Kullback-Leibler divergence of the first code, and the least share of the
predictor's codes (which has eight bits beside 4) that are those of float32: about twice what was
measured on these random weights, which exaggerate it. MNN rounds activations to eight bits too."""

CHECKS = {
    "pieces", "threads that end", "width", "no room", "cannot go back", "results stay", "closed",
    "max_positions", "closed frame",
}  # fmt: skip


def exact_checks() -> set[str]:
    """Names of what has to hold: 52 frames of 16 codes, logits within 1e-3, for every case."""
    names = set(CHECKS)
    for kind, cases in GOLDEN["cases"].items():
        greedy = [case["name"] for case in cases if case.get("record") == "greedy"]
        names |= {
            f"{kind} {case} {what}" for case in greedy for what in ("logits", "codes", "drafted")
        }
        names.add(f"{kind} predictor")
    for kind in ("0.6b-base", "1.7b-base"):
        names |= {
            f"{kind} draws {how}" for how in ("of the likeliest", "of all codes", "pass by pass")
        }
    return names


@pytest.mark.mnn
@pytest.mark.timeout(2400)
def test_it_computes_what_the_official_package_does(tmp_path: Path) -> None:
    told = check_voice(in_mnn("language"), tmp_path)
    figures = {f"{name} {what}" for name in TOLERANCES for what in ("divergence", "same codes")}
    opened = {name: told[f"{name} opened"] for name in TOLERANCES}
    apart = figures | {f"{name} opened" for name in TOLERANCES}
    held = {name: value for name, value in told.items() if name not in apart}
    assert held == dict.fromkeys(exact_checks(), True)
    assert opened == {"mnn-8": "mnn-8 mnn-8", "mnn-4-32": "mnn-4-32 mnn-8", "mnn-4": "mnn-4 mnn-8"}
    for name, (most, least) in TOLERANCES.items():
        divergence, same = told[f"{name} divergence"], told[f"{name} same codes"]
        assert isinstance(divergence, float)
        assert isinstance(same, float)
        assert 0 <= divergence <= most, name
        assert same >= least, name


@pytest.fixture
def model(fake_mnn: object, tiny_qwen3: Callable[[str], Path], tmp_path: Path) -> MnnModel:
    """The kind whose talker is wider than its predictor."""
    folder = convert(tiny_qwen3("1.7b-base"), "mnn-f32", converted=tmp_path)
    return load(folder, read_spec(folder))


def test_a_cache_grows_and_goes_back(model: MnnModel, tiny_qwen3: Callable[[str], Path]) -> None:
    """Whatever a session does to what it was given (the one here makes it worthless)."""
    talker, spec = model.language.talker, model.language.spec
    rows = np.random.default_rng(2).standard_normal(
        (SLOTS + 9, spec.talker.hidden), dtype=np.float32
    )
    state = talker.new_state(SLOTS + 10)
    talker.prefill(state, rows[:20])
    assert state.slots == SLOTS
    talker.prefill(state, rows[20:30] * 2)
    talker.rewind(state, 20)
    talker.prefill(state, rows[20:-1])
    out = talker.step(state, rows[-1])
    assert state.slots == SLOTS + 10
    reference = ReferenceTalker(spec, Checkpoint(tiny_qwen3("1.7b-base")))
    expected = reference.prefill(reference.new_state(len(rows)), rows)
    finite = np.isfinite(out.logits)
    assert finite.sum() == spec.codes + 1
    np.testing.assert_allclose(out.logits[finite], expected.logits[finite], atol=1e-3)
    with pytest.raises(ValueError, match="no room for 2 more"):
        talker.prefill(state, rows[:2])
    with pytest.raises(ValueError, match="cannot go back"):
        talker.rewind(state, 400)
    state.close()
    state.close()
    with pytest.raises(ValueError, match="closed"):
        talker.step(state, rows[0])
    with pytest.raises(ValueError, match="max_positions is 0"):
        talker.new_state(0)


def test_a_frame_is_the_references(model: MnnModel, tiny_qwen3: Callable[[str], Path]) -> None:
    predictor, spec = model.language.predictor, model.language.spec
    reference = ReferencePredictor(spec, Checkpoint(tiny_qwen3("1.7b-base")))
    hidden = np.random.default_rng(5).standard_normal((3, spec.talker.hidden), dtype=np.float32)
    mine, theirs = SeededDraws(1), SeededDraws(1)
    state, other = predictor.new_state(), reference.new_state()
    for sampling in (Sampling(greedy=True), Sampling(temperature=0.9, top_k=20, top_p=0.8)):
        for code0, row in enumerate(hidden):
            codes = predictor.frame(state, row, code0, sampling, mine)
            expected = reference.frame(other, row, code0, sampling, theirs)
            np.testing.assert_array_equal(codes, expected)
    assert state.forward_passes == 6 * spec.groups
    state.close()
    with pytest.raises(ValueError, match="closed"):
        predictor.frame(state, hidden[0], 0, Sampling(), mine)


@pytest.mark.usefixtures("fake_mnn")
def test_files_of_another_version_are_refused(
    tiny_qwen3: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = convert(tiny_qwen3("0.6b-base"), "mnn-f32", converted=tmp_path)
    spec, file = read_spec(folder), folder / RECORD_FILE
    record = json.loads(file.read_text())
    file.write_text(json.dumps(record | {"source": "another"}))
    with pytest.raises(MnnError, match="different checkpoints"):
        load(folder, spec)
    file.write_text(json.dumps(record | {"graphs": 99}))
    with pytest.raises(MnnError, match="another version of this program"):
        load(folder, spec)
