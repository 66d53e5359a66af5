"""Piper voices found on disk, and published names that become addresses."""

import json
import shutil
from pathlib import Path

import pytest

from s2s.app.voices.piper_voices import add_voice, installed_voices, published_address
from s2s.models.store import StoreError
from s2s.tts.vits import prepare_voice
from tests.support.vits import VOICES


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(VOICES, tmp_path / "voices")
    return tmp_path / "voices"


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
