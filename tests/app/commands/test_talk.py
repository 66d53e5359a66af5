"""The command `talk`: what is called with what, and the flags that shut the microphone."""

from __future__ import annotations

from pathlib import Path

import pytest

from s2s.app import cli
from s2s.app.settings import settings
from s2s.app.talking import talk
from s2s.config import loader as config

pytestmark = pytest.mark.usefixtures("clean_environment")


def test_talk_is_what_happens_without_a_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    calls: list[tuple[config.Config, dict[str, object]]] = []

    def run_talk(made: config.Config, store: object, **options: object) -> int:
        calls.append((made, options))
        return 0

    monkeypatch.setattr(talk, "run_talk", run_talk)
    arguments = ["--input", "a.wav", "--output", "b.wav", "--fast", "--metrics", "m.jsonl"]
    assert cli.main([*arguments, "--session.language", "de", "--input-device", "Mic"]) == 0
    made, options = calls[0]
    assert options == {
        "input_file": Path("a.wav"),
        "output_file": Path("b.wav"),
        "fast": True,
        "metrics_file": Path("m.jsonl"),
        "typed": False,
    }
    assert made.session.language == "de"
    assert made.audio.input_device == "Mic"


def test_flags_of_talk_shut_the_microphone():
    def input_of(*flags: str) -> tuple[bool, bool, str | None]:
        options = cli.parse(flags)
        made = settings(options)
        given = made.session.turns.input
        return given.push_to_talk, given.muted, made.models.wake_word

    assert input_of() == (False, False, None)
    assert input_of("--push-to-talk") == (True, False, None)
    assert input_of("talk", "--muted", "--wake-word", "alexa") == (False, True, "alexa")
