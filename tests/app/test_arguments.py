"""Texts that look like flags, and settings as flags."""

from __future__ import annotations

import pytest

from s2s.app import cli
from s2s.app.arguments import settings_as_flags

TEXTS = [
    *("-face", "-5", "-5 degrees", "- one\n- two", "--", "-", "---", "-o", "-only", "-hello there"),
    *(
        "--nonsense",
        "--Wait... what?",
        "-o nly.txt",
        "-x=y",
        "-1.5e3",
        "-éa",
        "-h!",
        "—ja",
    ),
    *("--voice is a flag", "--set. Go.", "say", "talk", "plain words", "-"),
]
FLAGS = [[], ["-o", "x.wav"], ["--voice", "-x", "--output=y.wav"], ["--tts.voice", "-z", "-ox.wav"]]


@pytest.mark.parametrize("flags", FLAGS, ids=" ".join)
@pytest.mark.parametrize("text", [text for text in TEXTS if text not in ("--", "-o")])
@pytest.mark.parametrize("first", [True, False])
def test_any_text_can_be_said(text: str, flags: list[str], first: bool):
    arguments = ["say", text, *flags] if first else ["say", *flags, text]
    options = cli.parse(arguments)
    assert options.text == text
    assert str(options.output) == {"": "None", "--voice": "y.wav"}.get(
        flags[0] if flags and flags[0] == "--voice" else "" if not flags else "-", "x.wav"
    )


@pytest.mark.parametrize("text", TEXTS)
def test_behind_two_hyphens_everything_is_text(text: str):
    options = cli.parse(["say", "-o", "x.wav", "--", text])
    assert (options.text, str(options.output)) == (text, "x.wav")


def test_help_is_help_and_a_shortened_flag_a_flag(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        cli.main(["say", "--help"])
    assert ended.value.code == 0
    assert "usage: s2s say" in capsys.readouterr().out
    options = cli.parse(["say", "--voic", "x", "hello"])
    assert (options.text, options.voice) == ("hello", "x")


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (["--a.b", "c"], ["--set", "a.b=c"]),
        (["--a.b=c=d"], ["--set", "a.b=c=d"]),
        (["--a.b.pt-BR", "x"], ["--set", "a.b.pt-BR=x"]),
        (["--a", "b.c"], ["--a", "b.c"]),
        (["--Wait... what"], ["--Wait... what"]),
        (["--.5"], ["--.5"]),
        (["--", "--a.b"], ["--", "--a.b"]),
        (["--a.b"], ["--set", "a.b="]),
    ],
)
def test_settings_are_flags(given: list[str], wanted: list[str]):
    assert settings_as_flags(given) == wanted
