"""The main command on files, with scripted models: whatever the file, a clear end."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile
from rich.console import Console

import s2s.app.talking.talk
from s2s.app.talking.talk import GivenFiles, opened_transport, run_talk
from s2s.app.talking.typed_transport import TypedTransport
from s2s.app.talking.view import View
from s2s.config.schema import Config
from s2s.core.audio import AudioError, read_wav
from s2s.core.clock import ManualClock
from s2s.models.store import Store
from s2s.session.models import Models
from s2s.stt.base import Transcription
from s2s.testing.simulator import (
    EnergyVad,
    ModelCosts,
    ScriptedChat,
    ScriptedSynthesizer,
    ScriptedTranscriber,
    tone,
)
from s2s.transport.base import DeviceError
from s2s.transport.local import LocalTransport

FREE = ModelCosts(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


class Hears:
    """Hears the same words in anything."""

    def transcribe(self, audio: np.ndarray, **options: object) -> Transcription:
        return Transcription("hello there", "en")

    warm = ScriptedTranscriber.warm
    close = ScriptedTranscriber.close


@pytest.fixture(autouse=True)
def scripted_models(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = ManualClock()
    models = Models(
        EnergyVad(),
        None,
        Hears(),
        ScriptedChat(clock, FREE, lambda _: "Hello, this is [b]the answer[/b]."),
        ScriptedSynthesizer(clock, FREE),
    )
    monkeypatch.setattr(s2s.app.talking.talk, "load_models", lambda config, store, notice: models)


def talk(path: Path, output: Path | None = None, **options: object) -> int:
    return run_talk(Config(), Store(), input_file=path, output_file=output, fast=True)


def write(path: Path, samples: np.ndarray, rate: int = 16_000, subtype: str = "PCM_16") -> Path:
    soundfile.write(path, samples, rate, subtype=subtype)
    return path


@pytest.mark.parametrize(
    ("rate", "channels", "subtype"),
    [(16_000, 1, "PCM_16"), (8_000, 1, "PCM_16"), (44_100, 2, "PCM_16"), (48_000, 1, "PCM_24")],
)
def test_speech_in_any_usual_file_is_answered_into_the_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rate: int, channels: int, subtype: str
) -> None:
    speech = np.concatenate([np.zeros(8000), tone(1.2), np.zeros(8000)])
    samples = np.repeat(speech[:: 16_000 // rate] if rate < 16_000 else speech, 1)
    if rate > 16_000:
        samples = np.interp(
            np.arange(0, len(speech), 16_000 / rate), np.arange(len(speech)), speech
        )
    path = write(tmp_path / "in.wav", np.repeat(samples[:, None], channels, axis=1), rate, subtype)
    assert talk(path, tmp_path / "out.wav") == 0
    shown = capsys.readouterr().out
    assert "hello there" in shown
    assert "[b]the answer[/b]" in shown, "what a model says is never taken for markup"
    out, _ = read_wav(tmp_path / "out.wav")
    assert np.abs(out).max() > 0.02


@pytest.mark.parametrize(
    "samples",
    [
        np.zeros(32_000),
        np.array([0.5]),
        np.full(8_000, 1.0) * np.where(np.arange(8_000) < 800, 1, 0),
    ],
    ids=["silence", "one sample", "a click at full scale"],
)
def test_a_file_without_speech_ends_well_and_says_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], samples: np.ndarray
) -> None:
    assert talk(write(tmp_path / "in.wav", samples), tmp_path / "out.wav") == 0
    assert "s2s  " not in capsys.readouterr().out
    assert not read_wav(tmp_path / "out.wav")[0].any() or len(samples) < 32_000


def test_clipped_speech_is_speech(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    samples = np.clip(40 * np.concatenate([tone(1.5), np.zeros(8000)]), -1, 1)
    assert talk(write(tmp_path / "in.wav", samples)) == 0
    assert "hello there" in capsys.readouterr().out


def test_ten_minutes_are_many_turns_and_no_turn_is_endless(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sentence = np.concatenate([tone(2.0), np.zeros(16_000 * 8)])
    samples = np.tile(sentence, 60)
    assert len(samples) == 600 * 16_000
    assert talk(write(tmp_path / "in.wav", samples)) == 0
    assert capsys.readouterr().out.count("you  hello there") == 60


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("none/out.wav", "there is no folder"),
        ("out.aac", r"\.aac is an unknown format"),
        (".", "is a folder"),
        ("in.wav/out.wav", "cannot be written"),
    ],
)
def test_an_output_that_cannot_be_is_refused_before_the_conversation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: str, said: str
) -> None:
    loaded: list[object] = []
    monkeypatch.setattr(s2s.app.talking.talk, "load_models", lambda *_: loaded.append(1))
    path = write(tmp_path / "in.wav", tone(1.2))
    with pytest.raises(AudioError, match=said):
        talk(path, tmp_path / output)
    with pytest.raises(AudioError, match="there is no folder"):
        run_talk(
            Config(), Store(), input_file=path, fast=True, metrics_file=tmp_path / "none" / "m.json"
        )
    assert not loaded


@pytest.mark.parametrize("suffix", [".flac", ".ogg", ".mp3"])
def test_the_conversation_is_written_in_the_format_of_its_name(tmp_path: Path, suffix: str) -> None:
    speech = np.concatenate([tone(1.2), np.zeros(8000)])
    assert talk(write(tmp_path / "in.wav", speech), tmp_path / f"out{suffix}") == 0
    assert soundfile.info(tmp_path / f"out{suffix}").channels == 2


def test_quiet_and_opposite_channels_are_answered_with_a_hint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    speech = 0.002 * np.concatenate([np.zeros(8000), tone(1.2), np.zeros(8000)])
    assert talk(write(tmp_path / "in.wav", np.stack([speech, -speech], 1))) == 0
    shown = capsys.readouterr().out
    assert "hello there" in shown
    assert "in.wav is quiet: speech comes at -" in shown


def typed(monkeypatch: pytest.MonkeyPatch, lines: str, **options: object) -> int:
    monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
    return run_talk(Config(), Store(), typed=True, fast=True, **options)


def test_lines_of_a_pipe_are_answered_one_after_the_other_into_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert typed(monkeypatch, "what is it\n\nand now\n", output_file=tmp_path / "out.wav") == 0
    shown = capsys.readouterr().out
    lines = [line for line in shown.splitlines() if line.startswith(("you  ", "s2s  "))]
    assert lines == [
        "you  what is it",
        "s2s  Hello, this is [b]the answer[/b].",
        "you  and now",
        "s2s  Hello, this is [b]the answer[/b].",
    ]
    sound, _ = read_wav(tmp_path / "out.wav")
    assert np.abs(sound).max() > 0.02


def test_without_lines_it_ends_well(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert typed(monkeypatch, "", output_file=tmp_path / "out.wav") == 0
    assert "s2s  " not in capsys.readouterr().out


def test_a_machine_without_a_microphone_takes_what_is_typed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(*_: object) -> LocalTransport:
        raise DeviceError("there is no microphone")

    monkeypatch.setattr(s2s.app.talking.talk, "LocalTransport", missing)
    monkeypatch.setattr(s2s.app.talking.talk, "usable", lambda: True)
    shown = io.StringIO()
    opened = opened_transport(Config(), GivenFiles(), ManualClock(), View(Console(file=shown)))
    assert isinstance(opened.transport, TypedTransport)
    assert opened.typed is not None
    assert "Type instead" in shown.getvalue()


def test_a_file_is_not_written_of_what_a_keyboard_types(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(s2s.app.talking.talk, "usable", lambda: True)
    shown = io.StringIO()
    given = GivenFiles(output_file=tmp_path / "o.wav", typed=True)
    opened = opened_transport(Config(), given, ManualClock(), View(Console(file=shown, width=200)))
    assert isinstance(opened.transport, TypedTransport)
    assert opened.output_file is None
    assert "o.wav is not written" in shown.getvalue()
