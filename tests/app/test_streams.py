"""Any locale, any redirection, any path: what is shown is whole, or has `?` for a sign it lacks."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from s2s.app import cli
from s2s.app.streams import forgiving_streams
from s2s.app.talking.view import View
from s2s.app.terminal import print_table
from s2s.core.events import AnswerText, Heard, Interruption, Notice, ResponseDone
from s2s.core.messages import ResponseId, TurnId
from s2s.tts.base import Capabilities
from tests.support.patience import PROGRAM_S
from tests.support.recordings import DATA

ENCODINGS = ["ascii", "cp1252", "cp437", "cp932", "iso8859-15", "utf-8", "utf-16", "koi8-r"]
TEXTS = [
    "plain words",
    "Grüße, ça va 😀 très bien — “so”…",
    "東京は晴れです。",
    "half a pair \udcf0 here",
    "[bold]markup[/bold] [/] [old] :smile:",
    "/home/[me]/voices/[1]/x.onnx",
    "nul \x00 and bell \x07 and escape \x1b[31m",
    "العربية हिन्दी",
]


class Streams:
    """Standard output and error of one encoding, as strict as Python makes them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
        self.encoding = encoding
        self._raw: list[io.BytesIO] = []
        self._streams: list[io.TextIOWrapper] = []
        for name in ("stdout", "stderr"):
            self._raw.append(io.BytesIO())
            stream = io.TextIOWrapper(self._raw[-1], encoding=encoding, errors="strict")
            self._streams.append(stream)
            monkeypatch.setattr(sys, name, stream)

    def shown(self) -> str:
        for stream in self._streams:
            stream.flush()
        return "".join(raw.getvalue().decode(self.encoding) for raw in self._raw)

    def of(self, text: str) -> str:
        """`text` as this encoding can show it."""
        return text.encode(self.encoding, errors="replace").decode(self.encoding)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("text", TEXTS)
def test_what_is_said_is_shown_in_any_encoding(
    encoding: str, text: str, monkeypatch: pytest.MonkeyPatch
):
    streams = Streams(monkeypatch, encoding)
    forgiving_streams()
    view = View(Console(highlight=False))
    turn = TurnId("t", 0)
    response = ResponseId("t", 0, 0, "r")
    view(Heard(turn, text, final=False))
    view(Heard(turn, text, final=True))
    view(AnswerText(response, text))
    view(Interruption("cancel", 0, text))
    view(ResponseDone(response, "failed", "", text))
    view(Notice(text))
    shown = streams.shown()
    printable = "".join(each for each in text if each >= " ")
    if printable == text:
        assert shown.count(streams.of(text)) >= 4
    print_table(("name", "what"), [(text, "x")])
    assert len(streams.shown()) > len(shown)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("text", TEXTS)
def test_an_error_is_shown_in_any_encoding(
    encoding: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    streams = Streams(monkeypatch, encoding)
    name = text.replace("\x00", "")
    assert cli.main(["transcribe", str(tmp_path / name)]) == 1
    assert "no such file" in streams.shown()


@pytest.mark.parametrize("arguments", [["config"], ["models", "list"], ["say", "--help"]])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_command_that_prints_does_so(
    encoding: str, arguments: list[str], monkeypatch: pytest.MonkeyPatch
):
    streams = Streams(monkeypatch, encoding)
    try:
        code = cli.main(arguments)
    except SystemExit as ended:
        code = ended.code
    assert code == 0
    assert streams.shown()


@pytest.mark.parametrize(
    "path", ["/a/[old] voices/x.onnx", "/a/[/]/b", "/[red]/[b]x[/b]", "C:\\[x]\\:cat:", "/a" * 120]
)
def test_a_path_is_shown_whole(path: str, capsys: pytest.CaptureFixture[str]):
    print_table(("use it with", "kind"), [(f"--tts.model {path}", "piper")])
    view = View(Console(highlight=False))
    view.notice(f"Wrote {path}: you on the left.")
    shown = capsys.readouterr().out
    assert f"--tts.model {path}" in shown
    assert f"Wrote {path}: you" in shown


@pytest.mark.parametrize("variable", ["", "hibari", "none"])
def test_an_empty_log_level_is_none(
    variable: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setenv("S2S_LOG_LEVEL", variable)
    monkeypatch.setattr("s2s.app.commands.devices.run", lambda _: 0)
    assert cli.main(["devices"]) == 0
    assert ("is none of" in caplog.text) == (variable != "")


@pytest.mark.models
@pytest.mark.parametrize(
    "environment",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "cp1252"},
    ],
    ids=["the C locale", "cp1252"],
)
def test_a_conversation_is_held_in_any_locale(environment: dict[str, str]):
    command = [sys.executable, "-m", "s2s", "--input", str(DATA / "something.wav"), "--fast"]
    result = subprocess.run(
        command, env=os.environ | environment, capture_output=True, timeout=PROGRAM_S
    )
    assert result.returncode == 0, result.stderr
    assert b"you  Go somewhere and do something." in result.stdout
    assert b"s2s  " in result.stdout
    assert b"codec" not in result.stderr


def test_a_folder_of_that_name_does_not_hide_the_program(tmp_path: Path):
    """An install of before needs `pip install --no-deps --editable .` once to pass."""
    (tmp_path / "s2s").mkdir()
    command = [sys.executable, "-m", "s2s", "--version"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (result.returncode, result.stdout.split()[:1]) == (0, ["s2s"]), result.stderr


def test_text_is_piped_into_say_in_any_encoding(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    from s2s.app.commands import say
    from s2s.config import registry

    said: list[str] = []

    class Voice:
        capabilities = Capabilities(16_000, True, ("en",))

        def synthesize(self, text: str, **_: object):
            said.append(text)
            return iter(())

        def close(self) -> None: ...

    monkeypatch.setattr(registry, "create_synthesizer", lambda *_: Voice())
    monkeypatch.setattr(say, "portaudio", lambda: None)
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le"):
        piped = io.TextIOWrapper(io.BytesIO("Grüezi there.\n".encode(encoding)), encoding="ascii")
        monkeypatch.setattr(sys, "stdin", piped)
        cli.main(["say", "-", "-o", os.devnull])
    assert [text.strip() for text in said] == ["Grüezi there."] * 4
