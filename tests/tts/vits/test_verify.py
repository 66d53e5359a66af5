"""What `verify_voice` finds: good voices pass, broken ones fail."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from s2s.models.onnx_file import read_model, tensor, write_model
from s2s.tts.vits import verify as verify_module
from s2s.tts.vits.reference import Comparison
from s2s.tts.vits.verify import Verification, verify_voice
from tests.support.vits import VOICES


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(VOICES, tmp_path / "voices")
    return tmp_path / "voices"


@pytest.mark.parametrize("name", ["plain", "speakers", "coarse", "pooled"])
def test_a_good_voice_passes_both_checks(folder: Path, name: str) -> None:
    verdict = verify_voice(folder / f"{name}.onnx")
    assert verdict.passed
    assert verdict.lossless
    assert verdict.prosody_kept
    assert verdict.cut == "before the flow"
    assert verdict.decoding == ("windows" if name == "pooled" else "steps")
    assert verdict.frames == verdict.original_frames
    assert verdict.faithful
    assert verdict.whole is not None
    assert verdict.whole.error <= 1e-5


def test_a_pair_is_checked_against_its_original(folder: Path) -> None:
    alone = verify_voice(folder / "pair")
    assert alone.passed
    assert (alone.prosody_kept, alone.original_frames, alone.cut) == (None, None, "at the decoder")
    other = verify_voice(folder / "pair", original=folder / "coarse.onnx")
    assert other.lossless
    assert other.prosody_kept is False
    assert not other.passed


def test_a_drifted_rhythm_fails(folder: Path) -> None:
    """As if the pair's duration predictor had not survived its export."""
    path = folder / "pair" / "encoder.onnx"
    before = verify_voice(folder / "pair")
    model = read_model(path)
    stretch = next(
        name
        for name, weight in model.weights.items()
        if weight.dims == () and weight.item_type == 1 and weight.array() == 3.0
    )
    model.weights[stretch] = tensor(stretch, weight_of(3.3))
    path.write_bytes(write_model(model))
    after = verify_voice(folder / "pair")
    drifted = replace(after, original_frames=before.frames)
    assert after.frames > before.frames
    assert drifted.lossless
    assert not drifted.passed


def weight_of(value: float):
    import numpy as np

    return np.array(value, np.float32)


DIFFERENT = Comparison(2e-4, 1e-5)


def test_a_lossy_split_fails(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert verify_voice(folder / "steady.onnx").lossless  # and the cut is kept
    monkeypatch.setattr(verify_module.ReferenceSounds, "compare", lambda *_: DIFFERENT)
    verdict = verify_voice(folder / "steady.onnx")
    assert not verdict.lossless
    assert not verdict.passed


@pytest.mark.parametrize(
    ("frames", "original", "kept"), [(100, 100, True), (101, 100, True), (97, 100, False)]
)
def test_a_drift_of_one_percent_is_allowed(frames: int, original: int, kept: bool) -> None:
    verdict = Verification(
        Path("x"), "", "", 1, 1, Comparison(0.0, 1e-5), None, True, frames, original
    )
    assert verdict.prosody_kept is kept
