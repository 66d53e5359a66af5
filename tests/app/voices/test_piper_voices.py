"""Piper voices found on disk, and published names that become addresses."""

import json
import shutil
import tarfile
from pathlib import Path

import pytest

from s2s.app.voices.piper_voices import add_voice, installed_voices, published_address, unpack_voice
from s2s.models.store import Store, StoreError
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


def archive(tmp_path: Path, names: dict[str, Path]) -> Path:
    path = tmp_path / "en_US-lessac+RT-medium.tar.gz"
    with tarfile.open(path, "w") as pack:  # not compressed, as they are published
        for name, source in names.items():
            pack.add(source, arcname=name)
    return path


def test_a_voice_cut_by_its_publisher_is_fetched_by_name(tmp_path: Path) -> None:
    """A local hub folder as the hub client leaves it, the archive, and the voice that comes out."""
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"phoneme_id_map": {"a": [1]}, "streaming": True}))
    files = {
        "encoder.onnx": VOICES / "pair" / "encoder.onnx",
        "decoder.onnx": VOICES / "pair" / "decoder.onnx",
        "en_US-lessac+RT-medium.json": config,
        "../../../evil.onnx": config,
    }
    made = archive(tmp_path, files)
    store = Store(tmp_path / "store", manifest={})
    folder = store.folder("hub") / "datasets--mush42--piper-rt@main"
    folder.mkdir()
    shutil.copy(made, folder)
    encoder = add_voice("piper:en_US-lessac+RT-medium", store)
    assert encoder.parent.name == "en_US-lessac+RT-medium"
    assert sorted(path.name for path in encoder.parent.iterdir()) == [
        "decoder.onnx",
        "encoder.onnx",
        "encoder.onnx.json",
    ]
    assert prepare_voice(encoder).cut == "latent"
    assert [voice.path for voice in installed_voices([store.root])] == [encoder]


def test_an_archive_that_is_no_voice(tmp_path: Path) -> None:
    made = archive(tmp_path, {"encoder.onnx": VOICES / "pair" / "encoder.onnx"})
    with pytest.raises(StoreError, match=r"no decoder\.onnx, encoder\.onnx\.json"):
        unpack_voice(made, tmp_path / "out")
    made.write_bytes(b"no archive")
    with pytest.raises(StoreError, match="not the archive of a voice"):
        unpack_voice(made, tmp_path / "out")
