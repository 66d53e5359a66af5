"""`talk --url` as one calls it, against a scripted server: real sockets, recordings for sound."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pytest

from s2s.app.cli import main
from s2s.core.audio import read_wav, write_wav
from tests.support.fake_realtime import FakeRealtime

SPEECH = Path(__file__).parents[2] / "data" / "something.wav"


def test_a_recording_is_answered_into_the_output(
    fake_realtime: FakeRealtime, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.wav"
    given = ["--url", fake_realtime.address, "--input", str(SPEECH), "--output", str(out)]
    code = main(["talk", *given, "--voice", "ben", "--language", "de"])
    shown = capsys.readouterr()
    assert (code, shown.err) == (0, "")
    assert "you  what time is it" in shown.out
    assert "s2s  It is noon by the clock." in shown.out
    assert "ms after you stopped" in shown.out
    assert f"127.0.0.1:{fake_realtime.port}" in shown.out
    stereo, rate = read_wav(out)
    assert len(stereo) > 3 * rate
    session = fake_realtime.wait_for("session.update")["session"]
    assert isinstance(session, dict)
    assert session["audio"]["output"]["voice"] == "ben"
    assert session["audio"]["input"]["transcription"]["language"] == "de"
    assert np.abs(stereo).max() > 0.05


@pytest.mark.parametrize("wrong", ["gone", "key", "full", "address", "no server"])
def test_what_is_wrong_is_one_line_that_says_what_to_do(
    fake_realtime: FakeRealtime,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    wrong: str,
) -> None:
    monkeypatch.delenv("S2S_API_KEY", raising=False)
    url, words = fake_realtime.address, ""
    match wrong:
        case "gone":
            fake_realtime.stop()
            words = "start a server there with `python -m s2s serve`"
        case "key":
            fake_realtime.script.key = "right"
            words = "S2S_API_KEY"
        case "full":
            fake_realtime.script.full = True
            words = "no free place"
        case "address":
            url, words = "ftp://kitchen", "ws://host:8765"
        case _:
            url = f"ws://127.0.0.1:{fake_realtime.port}/index.html"
            words = "no Realtime server"
    code = main(["talk", "--url", url, "--input", str(SPEECH)])
    if wrong == "gone":
        fake_realtime.start()
    shown = capsys.readouterr().err
    assert code == 1
    assert shown.startswith("s2s: ")
    assert shown.count("\n") == 1
    assert words in shown


def test_the_key_comes_from_the_environment(
    fake_realtime: FakeRealtime, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake_realtime.script.key = "right"
    monkeypatch.setenv("S2S_API_KEY", "right")
    silence = tmp_path / "silence.wav"
    write_wav(silence, np.zeros(8000, dtype=np.float32), 16_000)
    given = [
        "--url",
        fake_realtime.address,
        "--input",
        str(silence),
        "--output",
        str(tmp_path / "o.wav"),
    ]
    assert main(["talk", *given]) == 0


def test_typed_lines_are_answered_by_the_server(
    fake_realtime: FakeRealtime,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("what time is it\n"))
    out = tmp_path / "out.wav"
    given = ["--url", fake_realtime.address, "--type", "--output", str(out)]
    assert main(["talk", *given]) == 0
    shown = capsys.readouterr().out
    assert "hears typed lines" in shown
    assert "you  what time is it" in shown
    assert "s2s  It is noon by the clock." in shown
    item = fake_realtime.wait_for("conversation.item.create")["item"]
    assert isinstance(item, dict)
    assert item["content"] == [{"type": "input_text", "text": "what time is it"}]
    assert np.abs(read_wav(out)[0]).max() > 0.05
