"""Cutting a voice: found, checked, kept, made anew when damaged, refused when it can't be."""

from __future__ import annotations

import json
import logging
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.models.onnx_file import (
    FLOAT,
    Node,
    OnnxFile,
    ValueInfo,
    write_model,
)
from s2s.tts.vits import split as split_module
from s2s.tts.vits.check import TRIALS
from s2s.tts.vits.errors import CutError, VitsFileError
from s2s.tts.vits.split import Split, split_pair, split_voice
from tests.support.vits import VOICES


@pytest.fixture
def voice(tmp_path: Path) -> Callable[[str], Path]:
    """Gives a copy of a small voice in a folder of its own."""

    def copy(name: str) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        return Path(shutil.copy(VOICES / f"{name}.onnx", folder))

    return copy


@pytest.mark.parametrize(
    ("name", "cut", "hop", "channels", "context", "steps", "speakers"),
    [
        ("plain", "before_flow", 8, 16, 18, True, False),
        ("speakers", "before_flow", 12, 12, 22, True, True),
        ("coarse", "before_flow", 32, 12, 23, True, False),
        ("steady", "before_flow", 8, 16, 10, True, False),
        ("pooled", "before_flow", 8, 16, 32, False, False),
    ],
)
def test_every_kind_of_voice_is_cut(
    voice: Callable[[str], Path],
    name: str,
    cut: str,
    hop: int,
    channels: int,
    context: int,
    steps: bool,
    speakers: bool,
) -> None:
    split = split_voice(voice(name))
    assert (split.cut, split.hop, split.channels) == (cut, hop, channels)
    assert (split.context.left, split.context.right) == (context, context)
    assert (split.steps is not None, split.speakers) == (steps, speakers)
    assert split.error <= 1e-5


def test_what_was_cut_is_kept_and_found_again(
    voice: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = voice("plain")
    first = split_voice(model)
    assert first.folder.parent == model.parent
    monkeypatch.setattr(split_module, "cut_voice", forbidden)
    assert split_voice(model) == first


def forbidden(*_: object) -> None:
    raise AssertionError("cut again")


def test_another_model_of_the_same_name_is_cut_anew(voice: Callable[[str], Path]) -> None:
    model = voice("plain")
    first = split_voice(model)
    shutil.copy(VOICES / "coarse.onnx", model)
    assert split_voice(model).hop != first.hop


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "decoder.onnx").write_bytes(b"cut short"),
        lambda folder: (folder / "encoder.onnx").unlink(),
        lambda folder: (folder / "split.json").write_text("{"),
        lambda folder: (folder / "split.json").write_text("[]"),
        lambda folder: (folder / "split.json").write_text(json.dumps({"version": 0})),
    ],
)
def test_a_damaged_split_is_made_anew(
    voice: Callable[[str], Path], damage: Callable[[Path], object]
) -> None:
    model = voice("steady")
    first = split_voice(model)
    damage(first.folder)
    assert split_voice(model) == first
    assert (first.folder / "decoder.onnx").stat().st_size > 1000


def test_anew_replaces_what_is_kept(voice: Callable[[str], Path]) -> None:
    model = voice("steady")
    folder = split_voice(model).folder
    (folder / "extra").touch()
    assert split_voice(model, anew=True).folder == folder
    assert not (folder / "extra").exists()


def test_where_the_folder_cannot_be_written_the_cache_is_used(
    voice: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = voice("steady")
    real = split_module.tempfile.mkdtemp

    def refused_beside_the_model(prefix: str, dir: Path) -> str:
        if Path(dir) == model.parent:
            raise PermissionError(13, "read-only")
        return real(prefix=prefix, dir=dir)

    monkeypatch.setattr(split_module.tempfile, "mkdtemp", refused_beside_the_model)
    split = split_voice(model, cache=tmp_path / "cache")
    assert split.folder.parent == tmp_path / "cache"
    assert split_voice(model, cache=tmp_path / "cache") == split
    assert sorted(path.name for path in model.parent.iterdir()) == ["steady.onnx"]


def test_nowhere_to_write_says_so(
    voice: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(prefix: str, dir: Path) -> str:
        raise PermissionError(13, "read-only")

    monkeypatch.setattr(split_module.tempfile, "mkdtemp", refused)
    with pytest.raises(CutError, match="none of these folders can be written"):
        split_voice(voice("steady"), cache=tmp_path / "cache")


def test_several_at_once_agree_and_leave_nothing_behind(voice: Callable[[str], Path]) -> None:
    model = voice("steady")
    found: list[Split] = []
    threads = [
        threading.Thread(target=lambda: found.append(split_voice(model)), daemon=True)
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert all(split == found[0] for split in found)
    assert sorted(path.name for path in model.parent.iterdir()) == [
        "steady.onnx",
        found[0].folder.name,
    ]


def test_a_pair_is_adopted(tmp_path: Path) -> None:
    shutil.copytree(VOICES / "pair", tmp_path / "pair")
    split = split_pair(tmp_path / "pair/encoder.onnx", tmp_path / "pair/decoder.onnx")
    assert (split.cut, split.hop, split.context.left) == ("latent", 8, 10)
    assert split.steps is not None


def test_a_foreign_decoder_is_refused_with_the_reason(
    voice: Callable[[str], Path], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO), pytest.raises(CutError, match="not a HiFi-GAN"):
        split_voice(voice("foreign"))


def test_a_model_that_is_no_voice_is_refused(tmp_path: Path) -> None:
    model = OnnxFile(
        [Node("Relu", ("x",), ("y",))],
        {},
        [ValueInfo("x", FLOAT, (1, 3))],
        [ValueInfo("y", FLOAT, (1, 3))],
    )
    path = tmp_path / "relu.onnx"
    path.write_bytes(write_model(model))
    with pytest.raises(CutError, match=r"not a Piper/VITS voice: .*found x\[1, 3\]"):
        split_voice(path)


def test_a_truncated_voice_is_refused(voice: Callable[[str], Path]) -> None:
    model = voice("plain")
    model.write_bytes(model.read_bytes()[:-1000])
    with pytest.raises(VitsFileError, match="truncated"):
        split_voice(model)


def test_a_missing_voice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(VitsFileError, match="cannot be read"):
        split_voice(tmp_path / "none.onnx")


def test_a_cut_that_changes_the_voice_is_refused(
    voice: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    silence = [np.zeros(10, np.float32)] * len(TRIALS)
    monkeypatch.setattr(split_module, "parts_sounds", lambda *_: silence)
    with pytest.raises(CutError, match="differs from the whole graph by inf"):
        split_voice(voice("steady"))
