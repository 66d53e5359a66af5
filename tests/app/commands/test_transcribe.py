"""Transcribing files: one at a time, whatever is among them, and only what is speech."""

from __future__ import annotations

import itertools
import json
import os
import threading
from pathlib import Path

import numpy as np
import pytest

from s2s.app import cli
from s2s.app.commands import transcribe
from s2s.config import registry
from s2s.core.audio import read_wav, write_sound, write_wav
from s2s.models.store import Store
from s2s.stt.base import SttError, TimedWord, Transcription
from s2s.testing.simulator import EnergyVad, tone
from s2s.turns.speech_regions import speech_regions
from s2s.turns.vad import SileroVad
from tests.support.patience import PATIENCE_S
from tests.support.recordings import DATA


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("S2S_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


class Ear:
    """Hears how many seconds it is given; fails on what is as loud as it gets."""

    made = 0
    closed = 0

    def __init__(self) -> None:
        type(self).made += 1

    def transcribe(self, audio: np.ndarray, **_: object) -> Transcription:
        if np.abs(audio).max() > 0.9:
            raise SttError("the server fell over")
        return Transcription(f"{len(audio) / 16_000:.1f} s")

    def close(self) -> None:
        type(self).closed += 1


@pytest.fixture
def ear(monkeypatch: pytest.MonkeyPatch) -> type[Ear]:
    Ear.made = Ear.closed = 0
    monkeypatch.setattr(registry, "create_transcriber", lambda *_: Ear())
    monkeypatch.setattr(transcribe, "open_vad", lambda *_: EnergyVad())
    return Ear


def speech(seconds: float) -> np.ndarray:
    return tone(seconds).astype(np.float32)


def _good(path: Path) -> Path:
    write_wav(path, speech(1.0), 16_000)
    return path


def _bad(path: Path, kind: str) -> Path:
    match kind:
        case "empty":
            path.write_bytes(b"")
        case "text":
            path.write_text("not sound", encoding="utf-8")
        case "folder":
            path.mkdir()
        case "no samples":
            write_wav(path, np.zeros(0, dtype=np.float32), 16_000)
        case "not transcribed":
            write_wav(path, np.clip(speech(1.0) * 100, -1, 1), 16_000)
        case _:  # missing
            pass
    return path


BAD = ["empty", "text", "folder", "no samples", "not transcribed", "missing"]
BATCHES = [
    batch
    for length in (1, 2, 3)
    for batch in itertools.product(["good", *BAD], repeat=length)
    if length < 3 or (batch.count("good") == 1)
]


@pytest.mark.parametrize("batch", BATCHES, ids="+".join)
def test_a_bad_file_does_not_end_the_batch(
    batch: tuple[str, ...], tmp_path: Path, ear: type[Ear], capsys: pytest.CaptureFixture[str]
):
    files: list[Path] = []
    for index, kind in enumerate(batch):
        path = tmp_path / f"{index} [{kind}].wav"
        files.append(_good(path) if kind == "good" else _bad(path, kind))
    assert cli.main(["transcribe", *map(str, files)]) == (0 if set(batch) == {"good"} else 1)
    shown = capsys.readouterr()
    assert shown.out.splitlines() == ["1.0 s"] * batch.count("good")
    told = shown.err.splitlines()
    bad = [file for file, kind in zip(files, batch, strict=True) if kind != "good"]
    assert len(told) == len(bad)
    for line, file in zip(told, bad, strict=True):
        assert line.startswith(f"s2s: {file}: ")
    assert ear.made == ear.closed <= 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no named pipes in folders")
def test_each_file_is_written_down_before_the_next_is_read(
    tmp_path: Path, ear: type[Ear], monkeypatch: pytest.MonkeyPatch
):
    """The second file is a pipe into which nothing comes before the first was printed."""
    data = _good(tmp_path / "a.wav").read_bytes()
    os.mkfifo(tmp_path / "b.wav")
    printed = threading.Event()

    def write() -> None:
        if printed.wait(PATIENCE_S):
            (tmp_path / "b.wav").write_bytes(data)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    monkeypatch.setattr("builtins.print", lambda *_, **__: printed.set())
    assert cli.main(["transcribe", "a.wav", "b.wav"]) == 0
    writer.join()


def test_what_could_not_be_opened_is_said_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    _good(tmp_path / "a.wav")
    assert cli.main(["transcribe", "a.wav", "a.wav", "--stt", "none"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


class TimingEar(Ear):
    """Hears two words at their times."""

    def transcribe_words(self, audio: np.ndarray, **_: object) -> Transcription:
        words = (TimedWord("Déjà", 0.125, 0.25), TimedWord("vu.", 0.5, 0.75))
        return Transcription("Déjà vu.", "fr", words=words)


def test_times_are_told_in_each_form(
    tmp_path: Path, ear: type[Ear], capsys: pytest.CaptureFixture[str]
):
    """Of a recogniser that tells none they are shared out, and that is said."""
    _good(tmp_path / "a.wav")

    def shown(*flags: str) -> str:
        assert cli.main(["transcribe", "a.wav", *flags]) == 0
        return capsys.readouterr().out

    assert shown("--format", "srt").startswith("1\n00:00:00,000 --> 00:00:01,")
    assert shown("--format", "vtt").startswith("WEBVTT\n\n00:00:00.000 --> 00:00:01.")
    told = json.loads(shown("--format", "json"))
    assert (told["file"], told["text"], told["duration"]) == ("a.wav", "1.0 s", 1.0)
    assert len(told["segments"]) == 1
    assert "words" not in told
    assert cli.main(["transcribe", "a.wav", "--words"]) == 0
    out, err = capsys.readouterr()
    rows = [line.split("\t") for line in out.splitlines()]
    assert [row[2] for row in rows] == ["1.0", "s"]
    assert float(rows[0][1]) == float(rows[1][0])
    assert "moonshine does not tell when a word is said" in err


def test_each_word_has_the_time_that_the_recogniser_tells(
    tmp_path: Path,
    ear: type[Ear],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setattr(registry, "create_transcriber", lambda *_: TimingEar())
    _good(tmp_path / "a.wav")
    assert cli.main(["transcribe", "a.wav", "a.wav", "--words", "--format", "json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    for line in out.splitlines():
        told = json.loads(line)
        assert told["language"] == "fr"
        assert told["words"] == [
            {"word": "Déjà", "start": 0.125, "end": 0.25},
            {"word": "vu.", "start": 0.5, "end": 0.75},
        ]
    assert "Déjà" in out, "as it is written"
    assert cli.main(["transcribe", "a.wav", "--words", "--format", "srt"]) == 0
    assert capsys.readouterr().out.startswith("1\n00:00:00,125 --> 00:00:00,250\nDéjà\n\n2\n")
    assert cli.main(["transcribe", "a.wav", "--words"]) == 0
    assert capsys.readouterr().out == "0.125\t0.250\tDéjà\n0.500\t0.750\tvu.\n"


def test_subtitles_are_of_one_file(
    tmp_path: Path, ear: type[Ear], capsys: pytest.CaptureFixture[str]
):
    _good(tmp_path / "a.wav")
    assert cli.main(["transcribe", "a.wav", "a.wav", "--format", "vtt"]) == 2
    assert "--format vtt is of one file, got 2" in capsys.readouterr().err
    assert ear.made == 0


@pytest.mark.models
def test_the_words_are_heard_however_a_file_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.delenv("S2S_HOME")
    plain = read_wav(DATA / "librivox_0930.wav")[0]
    quiet = plain / np.abs(plain).max() * 10 ** (-49 / 20)
    silent, faint = np.zeros_like(plain), quiet * 0.5
    files = {
        "plain.wav": plain,
        "antiphase.wav": np.stack([plain, -plain], 1),
        "right.flac": np.stack([silent, plain], 1),
        "center.wav": np.stack([silent, silent, plain, silent, faint, silent], 1),
        "quiet.wav": quiet,
        "quiet_antiphase.wav": np.stack([quiet, -quiet], 1),
        "fainter.wav": faint,
        "long.mp3": np.concatenate([np.zeros(16_000 * 5), plain, np.zeros(16_000 * 5)]),
    }
    for name, samples in files.items():
        write_sound(tmp_path / name, samples.astype(np.float32), 16_000)
    assert cli.main(["transcribe", *files]) == 0
    shown = capsys.readouterr()
    assert set(shown.out.splitlines()) == {"He might even have been made amiable himself."}
    for name in ("quiet.wav", "quiet_antiphase.wav", "fainter.wav"):
        assert f"note: {name}: speech comes at -" in shown.err
    assert shown.err.count("note:") == 3


def _music() -> dict[str, np.ndarray]:
    t = np.arange(16_000 * 4) / 16_000
    chord = np.asarray(sum(np.sin(2 * np.pi * hz * t) for hz in (261.6, 329.6, 392.0))) / 6
    notes = []
    for step in (0, 4, 7, 12, 7, 4, 0, -5):
        n = t[:8000]
        tones = [np.sin(2 * np.pi * 220 * 2 ** (step / 12) * h * n) / h for h in (1, 2, 3, 4)]
        notes.append(0.2 * np.exp(-4 * n) * sum(tones))
    return {
        "chord": chord,
        "swelling chord": chord * (0.6 + 0.4 * np.sin(2 * np.pi * 2 * t)),
        "quiet chord": chord * 0.002,
        "melody": np.concatenate(notes),
        "sweep": 0.3 * np.sin(2 * np.pi * (100 * t + 200 * t * t)),
        "beats": 0.8 * np.exp(-30 * (t % 0.5)) * np.sin(2 * np.pi * 60 * t),
        "siren": 0.3 * np.sin(2 * np.pi * 700 * t + 60 * np.sin(2 * np.pi * 0.5 * t)),
        "organ": sum(np.sin(2 * np.pi * 130.8 * h * t) / h for h in range(1, 9)) / 5,
    }


@pytest.mark.models
@pytest.mark.parametrize("kind", _music())
def test_music_is_no_words(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.delenv("S2S_HOME")
    write_wav(tmp_path / "music.wav", _music()[kind].astype(np.float32), 16_000)
    assert cli.main(["transcribe", "music.wav"]) == 0
    shown = capsys.readouterr()
    assert shown.out == "\n"
    assert "note: music.wav: no speech in it" in shown.err


@pytest.mark.models
def test_noise_is_no_speech(wordless: dict[str, np.ndarray], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("S2S_HOME")
    vad = SileroVad(Store().path("silero-vad"))
    for kind, audio in wordless.items():
        clean = np.nan_to_num(audio)
        assert speech_regions(clean, vad.open()) == [], kind


@pytest.mark.usefixtures("backends", "clean_environment")
def test_transcribe_resamples_and_prints_a_line_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    files = []
    for rate_hz in (8_000, 16_000, 44_100):
        files.append(tmp_path / f"{rate_hz}.wav")
        write_wav(files[-1], np.zeros(rate_hz, dtype=np.float32), rate_hz)
    assert cli.main(["transcribe", *map(str, files)]) == 0
    assert capsys.readouterr().out.split() == ["16000", "samples"] * 3
