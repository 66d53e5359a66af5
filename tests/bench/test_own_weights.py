"""`bench voice` and `bench recorded`: the sums, and what is asked of whom."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from s2s.app import cli
from s2s.core.audio import write_wav
from s2s.tts import qwen3

pytestmark = pytest.mark.usefixtures("clean_environment", "backends")


def test_prompts_are_spoken_and_heard_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prompts = tmp_path / "prompts.txt"
    prompts.write_text("one two three\nfour\n")
    keep = tmp_path / "kept"
    assert cli.main(["bench", "voice", "--prompts", str(prompts), "--keep", str(keep)]) == 0
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert [row["text"] for row in found["rows"]] == ["one two three", "four"]
    assert found["audio_s"] == pytest.approx(0.4)
    assert found["wer"] > 0.9  # the ear only counts samples
    assert found["like"] is None
    assert len(list(keep.glob("*.wav"))) == 2


def test_a_recording_is_compared_only_with_a_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_wav(tmp_path / "me.wav", np.zeros(24_000, np.float32), 24_000)
    assert cli.main(["bench", "voice", "--like", str(tmp_path / "me.wav")]) == 1
    assert "--like needs a speaker encoder" in capsys.readouterr().err


def test_speakers_are_compared_by_the_models_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    encoder = SimpleNamespace(embed=lambda pcm: np.array([1.0, 0.0], np.float32))
    monkeypatch.setattr(qwen3, "open_speaker_encoder", lambda *_: encoder)
    write_wav(tmp_path / "me.wav", np.zeros(24_000, np.float32), 24_000)
    prompts = tmp_path / "prompts.txt"
    prompts.write_text("one two three\n")
    like = ["--like", str(tmp_path / "me.wav"), "--base", "0.6b-base"]
    assert cli.main(["bench", "voice", "--prompts", str(prompts), *like]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["like"] == 1.0
