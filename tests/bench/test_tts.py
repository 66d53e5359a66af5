"""The benchmark of voices: its arguments, its sums, and one real run."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from s2s.bench import tts
from s2s.bench.synthesis import Arrivals


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (["--tts", "nobody"], "nobody"),
        (["--runs", "0"], "--runs and --threads must be at least 1"),
        (["--threads", "0"], "--runs and --threads must be at least 1"),
        (["--set", "voice"], "--set takes KEY=VALUE, got 'voice'"),
    ],
)
def test_wrong_arguments_are_refused(
    wrong: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        tts.parse(wrong)
    assert said in capsys.readouterr().err


def test_a_row_sums_up_all_runs() -> None:
    slow = Arrivals((0.2, 0.9), (0.5, 1.5))
    quick = Arrivals((0.1, 0.2), (0.5, 1.5))
    row = tts.row("Hello", [slow, quick])
    assert row.characters == 5
    assert row.audio_s == 2.0
    assert row.ttfa_p50_ms == pytest.approx(150)
    assert row.start_p50_ms == pytest.approx(250)
    assert row.gap_p95_ms == pytest.approx(670)
    assert row.rtf == pytest.approx(0.275)


@pytest.mark.models
def test_it_measures_the_embedded_voice_and_draws(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    picture = tmp_path / "chunks.png"
    arguments = ["x", "--runs", "1", "--text", "It is 5.", "--picture", str(picture)]
    monkeypatch.setattr(sys, "argv", arguments)
    tts.main()
    report = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert report["tts"] == "hibari"
    assert report["rows"][0]["characters"] == len("It is five.")
    assert 0 < report["rows"][0]["ttfa_p50_ms"] <= report["rows"][0]["start_p95_ms"]
    assert report["peak_memory_mb"] > 10
    assert picture.stat().st_size > 1000
