"""Rows of a manifest for files that are here: right, readable, recorded in a list of one's own."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest
import yaml

from s2s.models.manifest import HubPart, ManifestError, read_manifest
from s2s.models.rows import (
    SMALLEST_MEMBER_BYTES,
    file_row,
    record,
    wheel_entry,
    wheel_name,
    wheel_rows,
    written,
)
from s2s.models.store import Store

CONTENT = b"w" * SMALLEST_MEMBER_BYTES
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "model.gguf"
    path.write_bytes(CONTENT)
    return path


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    path = tmp_path / "some_voice-1.2-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("some_voice/data/voice.onnx", CONTENT)
        archive.writestr("some_voice/data/voice.json", b"{}")
    return path


def test_a_file_has_its_size_and_hash(file: Path):
    row = file_row(file)["model.gguf"]
    assert (row["bytes"], row["sha256"]) == (len(CONTENT), DIGEST)
    assert row["sources"] == [{"path": str(file)}]
    part = HubPart("owner/repo", "sub/model.gguf", "v1")
    assert file_row(file, part)["model.gguf"]["sources"] == [
        {"hub": "owner/repo", "file": "sub/model.gguf", "revision": "v1"}
    ]
    read = yaml.safe_load(written(file_row(file)))
    assert read == file_row(file)


def test_the_large_members_of_a_wheel_or_the_one_that_is_named(wheel: Path):
    rows = wheel_rows(wheel)
    assert list(rows) == ["voice.onnx"]
    assert rows["voice.onnx"]["sha256"] == DIGEST
    assert rows["voice.onnx"]["sources"] == [
        {"wheel": "some-voice", "member": "some_voice/data/voice.onnx"}
    ]
    assert list(wheel_rows(wheel, "some_voice/data/voice.json")) == ["voice.json"]
    with pytest.raises(ManifestError, match="has no member other"):
        wheel_rows(wheel, "other")
    wheel.write_bytes(b"no archive")
    with pytest.raises(ManifestError, match="cannot be read as a wheel"):
        wheel_rows(wheel)


def test_what_is_recorded_is_a_model_of_the_store(tmp_path: Path, file: Path, wheel: Path):
    own = tmp_path / "home" / "models.yaml"
    record(own, "mine", file_row(file), "MIT", {})
    wheels = {wheel_name(wheel): wheel_entry(wheel)}
    record(own, "voice", wheel_rows(wheel), "CC0", wheels)
    record(own, "mine", file_row(file), "Apache-2.0", {})
    models = read_manifest(own)
    assert (models["mine"].licence, models["voice"].licence) == ("Apache-2.0", "CC0")
    assert wheels["some-voice"]["requirement"] == "some-voice==1.2"
    assert Store(own.parent).path("mine").read_bytes() == CONTENT
    with pytest.raises(ManifestError, match="the built-in list has that name"):
        record(own, "smollm2-135m", file_row(file), "MIT", {})


def test_a_list_that_cannot_be_read_is_not_written_over(tmp_path: Path, file: Path):
    own = tmp_path / "models.yaml"
    own.write_text("models: [", encoding="utf-8")
    with pytest.raises(ManifestError):
        record(own, "mine", file_row(file), "MIT", {})
    assert own.read_text(encoding="utf-8") == "models: ["
