"""Graphs to MNN's files: what the converter is told, and what of it can go wrong."""

from __future__ import annotations

import importlib.util
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from s2s.tts.qwen3.errors import MnnError
from s2s.tts.qwen3.mnn import converter
from s2s.tts.qwen3.mnn.converter import convert_graphs, converter_version
from s2s.tts.qwen3.mnn.quant import MNN_MIXES
from tests.tts.qwen3.mnn.fake_mnn import convert


def graph(folder: Path) -> list[Path]:
    path = folder / "part.onnx"
    path.write_bytes(b"graph")
    path.with_name("part.onnx.data").write_bytes(b"weights")
    return [path]


@pytest.mark.usefixtures("fake_mnn")
def test_files_appear_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[list[str]] = []

    def run(command: Sequence[object], **more: object) -> subprocess.CompletedProcess[str]:
        said.append([str(word) for word in command])
        return convert(command, **more)

    monkeypatch.setattr(subprocess, "run", run)
    convert_graphs(tmp_path, MNN_MIXES["mnn-4"], graph)
    found = {path.name for path in tmp_path.iterdir()}
    assert found == {"part.mnn", "part.mnn.weight", "part.onnx.data"}  # the last is the fake's own
    words = " ".join(said[0])
    assert "--saveExternalData --weightQuantBits 4 --weightQuantBlock 64" in words
    assert "MNN.tools" not in words
    assert "mnnconvert" in words


@pytest.mark.usefixtures("fake_mnn")
@pytest.mark.parametrize("made", [0, 1])
def test_a_converter_that_fails_says_why(
    made: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(command: Sequence[object], **_: object) -> subprocess.CompletedProcess[str]:
        said = "Start\nThese Op Not Support: ONNX::Loop"
        return subprocess.CompletedProcess([], made, said, "stopped\n")

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(MnnError, match=rf"part.onnx: .* with {made}: .*ONNX::Loop / stopped"):
        convert_graphs(tmp_path, MNN_MIXES["mnn-f32"], graph)
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("fake_mnn")
def test_a_converter_that_hangs_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(command: Sequence[object], **_: object) -> subprocess.CompletedProcess[str]:
        raise subprocess.TimeoutExpired("python", 3)

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(MnnError, match=r"does not run: .*timed out"):
        convert_graphs(tmp_path, MNN_MIXES["mnn-f32"], graph)


def test_without_mnn_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MnnError, match=r"pip install 's2s\[mnn\]'"):
        convert_graphs(tmp_path, MNN_MIXES["mnn-f32"], graph)


def test_the_version_is_of_the_installed_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(name: str) -> str:
        raise converter.PackageNotFoundError(name)

    monkeypatch.setattr(converter, "version", lambda name: f"{name} 9")
    assert converter_version() == "MNN 9"
    monkeypatch.setattr(converter, "version", gone)
    with pytest.raises(MnnError, match="pip install"):
        converter_version()
