"""What the voices commands report: good voices pass, broken ones fail, names become addresses."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from s2s.models.store import StoreError
from s2s.tts.vits import verify as verify_module
from s2s.tts.vits.graph.file import read_model, tensor, write_model
from s2s.tts.vits.verify import (
    Verdict,
    add_voice,
    installed_voices,
    prepare_voice,
    published_address,
    verify_voice,
)

DATA = Path(__file__).parents[2] / "data" / "vits"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(DATA, tmp_path / "voices")
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
    assert verdict.whole_error is not None
    assert verdict.whole_error <= 1e-5


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


def test_a_lossy_split_fails(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify_module, "_pieces_error", lambda *_: 2e-4)
    verdict = verify_voice(folder / "steady.onnx")
    assert not verdict.lossless
    assert not verdict.passed


@pytest.mark.parametrize(
    ("frames", "original", "kept"), [(100, 100, True), (101, 100, True), (97, 100, False)]
)
def test_a_drift_of_one_percent_is_allowed(frames: int, original: int, kept: bool) -> None:
    verdict = Verdict(Path("x"), "", "", 1, 1, 0.0, None, frames, original)
    assert verdict.prosody_kept is kept


def test_voices_are_prepared_and_listed(folder: Path) -> None:
    (folder / "plain.onnx.json").write_text(
        json.dumps({"phoneme_id_map": {"a": [1]}, "language": {"family": "de"}})
    )
    (folder / "pair" / "pair.json").write_text(json.dumps({"phoneme_id_map": {"a": [1]}}))
    before = {voice.path.name: voice for voice in installed_voices([folder])}
    assert set(before) >= {"plain.onnx", "encoder.onnx"}
    assert before["plain.onnx"].language == "de"
    assert not before["plain.onnx"].split
    split = prepare_voice(folder / "plain.onnx")
    assert prepare_voice(folder / "pair").cut == "latent"
    after = {voice.path.name: voice for voice in installed_voices([folder])}
    assert set(after) == set(before)
    assert after["plain.onnx"].split
    assert prepare_voice(folder / "plain.onnx", anew=True) == split


def test_published_names() -> None:
    address = "hf://rhasspy/piper-voices/en/en_US/joe/medium/en_US-joe-medium.onnx"
    assert published_address("piper:en_US-joe-medium") == address
    assert published_address("en_US-joe-medium") == address
    assert published_address("piper:de_DE-eva_k-x_low").endswith(
        "/de_DE/eva_k/x_low/de_DE-eva_k-x_low.onnx"
    )


@pytest.mark.parametrize("name", ["piper:joe", "en_US-joe", "../../etc/passwd", "en_US-joe-huge"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(StoreError, match="a Piper voice is named"):
        published_address(name)


class FakeStore:
    """Remembers what was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def path(self, name: str) -> Path:
        self.asked.append(name)
        return Path("/voices") / name.rsplit("/", 1)[1]


def test_a_voice_is_added_with_its_config() -> None:
    store = FakeStore()
    path = add_voice("piper:en_US-joe-medium", store)  # type: ignore[arg-type]
    assert path == Path("/voices/en_US-joe-medium.onnx")
    assert [name.rsplit("/", 1)[1] for name in store.asked] == [
        "en_US-joe-medium.onnx.json",
        "en_US-joe-medium.onnx",
    ]
