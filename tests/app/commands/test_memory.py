"""The command `memory`."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

import s2s.app.talking.talk
from s2s.app import cli
from s2s.app.memory import default_folder
from s2s.app.settings import settings
from s2s.llm.memory.folder import MemoryFolder
from tests.app.test_memory import models

pytestmark = pytest.mark.usefixtures("clean_environment")


def texts() -> list[str]:
    return [note.text for note in MemoryFolder(default_folder()).notes()]


def test_it_is_shown_added_to_and_erased(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["memory"]) == 0
    assert "nothing is remembered" in capsys.readouterr().out
    for text in ("My cat is called Mia", "I drink tea", "I live in Rome"):
        assert cli.main(["memory", "add", text]) == 0
    capsys.readouterr()
    assert cli.main(["memory", "list"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "  1  I live in Rome  (remembered.md)"
    assert shown[-1].startswith(f"in {default_folder()}")
    assert cli.main(["memory", "rm", "2", "cat"]) == 0
    assert texts() == ["I live in Rome"]
    assert cli.main(["memory", "rm", "--all"]) == 0
    assert texts() == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rm"], "or --all"),
        (["rm", "7"], "there is no note 7"),
        (["rm", "dog"], "no note is about “dog”"),
    ],
)
def test_what_is_not_there_cannot_be_forgotten(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    MemoryFolder(default_folder()).remember("My cat is called Mia")
    assert cli.main(["memory", *arguments]) == 1
    assert said in capsys.readouterr().err
    assert len(texts()) == 1


def test_a_folder_of_ones_own_is_named_before_or_behind_the_action(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    assert cli.main(["memory", "add", "x", "--folder", str(folder)]) == 0
    assert cli.main(["memory", "list", "--memory.folder", str(folder)]) == 0
    assert [note.text for note in MemoryFolder(folder).notes()] == ["x"]
    assert texts() == []


def test_talk_remembers_only_when_it_is_told_to() -> None:
    assert settings(cli.parse([])).memory.folder is None
    assert settings(cli.parse(["--memory"])).memory.folder == default_folder()
    assert settings(cli.parse(["--memory", "mine"])).memory.folder == Path("mine")


def test_a_typed_conversation_remembers_recalls_and_forgets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(s2s.app.talking.talk, "load_models", lambda *_: models())
    out = str(tmp_path / "out.wav")

    def talk(*lines: str) -> str:
        monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(lines)))
        assert cli.main(["--type", "--memory", "--output", out, "--fast"]) == 0
        shown = capsys.readouterr().out.splitlines()
        return " ".join(line[5:] for line in shown if line.startswith("s2s  "))

    assert talk("Remember that my cat is called Mia.") == "I will remember: my cat is called Mia."
    assert talk("What do you remember?", "Forget about my cat.", "What do you remember?") == (
        "You asked me to remember: My cat is called Mia. "
        "I have forgotten: My cat is called Mia. I remember nothing."
    )
