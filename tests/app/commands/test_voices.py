"""The command `voices`: what there is, and what becomes of a voice that is added or checked."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from s2s.app import cli
from s2s.app.commands import voices
from s2s.core.audio import write_wav
from s2s.models import store
from s2s.tts import qwen3, vits
from s2s.tts.vits import Comparison

pytestmark = pytest.mark.usefixtures("clean_environment")

REAL_HOME = store.home()


def test_there_is_no_voice_on_a_new_machine(capsys: pytest.CaptureFixture[str]):
    assert cli.main(["voices", "list"]) == 0
    shown = capsys.readouterr().out
    assert "--tts hibari --voice heart" in shown
    assert "voices add piper:en_US-joe-medium" in shown


@pytest.mark.models("piper-joe")
def test_a_piper_voice_is_listed_cut_and_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    source = store.Store(REAL_HOME).path("piper-joe")
    folder = tmp_path / "home" / "models" / "joe"
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("*.split-*"))
    monkeypatch.setenv("S2S_HOME", str(tmp_path / "home"))
    voice = str(folder / "en_US-joe-medium.onnx")
    assert cli.main(["voices", "split", voice]) == 0
    assert "decodes in" in capsys.readouterr().out
    assert cli.main(["voices", "verify", voice]) == 0
    assert capsys.readouterr().out.count("pass  ") == 3
    assert cli.main(["voices", "list"]) == 0
    assert f"--tts piper --tts.model {voice}" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["", "Every word of it."])
def test_a_voice_is_made_from_a_recording(
    text: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    asked: list[tuple[str, int, str]] = []

    def enrol(name: str, pcm: np.ndarray, words: str, **_: object) -> SimpleNamespace:
        asked.append((name, len(pcm), words))
        return SimpleNamespace(path=tmp_path / "me.voice.npz", warnings=("it is short",))

    monkeypatch.setattr(qwen3, "enrol_voice", enrol)
    write_wav(tmp_path / "me.wav", np.zeros(16_000, np.float32), 16_000)
    shelf = store.Store(tmp_path)
    assert voices.voices_enrol(shelf, "me", tmp_path / "me.wav", text, "0.6b-base") == 0
    assert asked == [("me", qwen3.VOICE_RATE_HZ, text)]
    shown = capsys.readouterr()
    assert "me.voice.npz" in shown.out
    assert "--voice 'me'" in shown.out
    assert ("timbre alone" in shown.out) == (not text)
    assert "me.wav: it is short" in shown.err


ROUNDING = Comparison(1e-7, 1e-5)


@pytest.mark.parametrize(
    ("pieces", "frames", "original", "passed"),
    [
        (ROUNDING, 100, 100, True),
        (Comparison(2e-4, 1e-5), 100, 100, False),
        (ROUNDING, 100, 110, False),
        (ROUNDING, 100, None, True),
    ],
)
def test_a_check_fails_where_anything_is_lost(
    pieces: Comparison,
    frames: int,
    original: int | None,
    passed: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
):
    verdict = vits.Verification(
        tmp_path / "x.onnx",
        "before the flow",
        "steps",
        9,
        256,
        pieces,
        None,
        True,
        frames,
        original,
    )
    monkeypatch.setattr(vits, "verify_voice", lambda *_, **__: verdict)
    (tmp_path / "x.onnx").touch()
    shelf = store.Store(tmp_path)
    assert voices.voices_verify(shelf, str(tmp_path / "x.onnx"), None) == (0 if passed else 1)
    shown = capsys.readouterr().out
    assert ("FAIL" in shown) == (not passed)
    assert ("--original" in shown) == (original is None)
