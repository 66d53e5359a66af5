"""The container file, read: what it installs is what the wheel needs, and its commands exist.

There is no container engine where tests run; an image is built by hand (docs/install.md).
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from s2s.app.cli import parse
from s2s.config import registry
from s2s.config.schema import Config
from s2s.models.store import Store

ROOT = Path(__file__).parents[1]
LINES = (ROOT / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def told(instruction: str) -> list[str]:
    """What stands after each of an instruction's names, without runs of spaces."""
    found = (line for line in LINES if line.startswith(f"{instruction} "))
    return [re.sub(r" +", " ", line.removeprefix(instruction)).strip() for line in found]


def test_each_python_is_one_that_the_wheel_takes() -> None:
    builds, runs = (re.findall(r"python:(\d+)\.(\d+)", each) for each in told("FROM"))
    least = re.findall(r"(\d+)\.(\d+)", PROJECT["requires-python"])
    assert builds == runs
    assert tuple(map(int, runs[0])) >= tuple(map(int, least[0]))


def test_the_wheel_is_built_from_all_that_it_is_made_of() -> None:
    """What is not copied is nothing that goes into it."""
    left_out = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert told("COPY")[0] == ". /checkout"
    parts = {"s2s", "configs", "README.md", "pyproject.toml", "LICENSE"}
    assert not parts & {each.split("/")[0] for each in left_out}
    assert all((ROOT / each).exists() for each in parts)


def test_its_extra_is_all_that_the_default_profile_needs() -> None:
    [extra] = re.findall(r"s2s\[([\w,-]+)\]", " ".join(told("RUN")))
    assert extra in PROJECT["optional-dependencies"]
    config = Config()
    for stage, chosen in (("stt", config.stt), ("llm", config.llm), ("tts", config.tts)):
        assert registry.find(stage, chosen.backend).extra in ("", extra)


def test_sound_has_its_libraries() -> None:
    """The `sounddevice` wheel for Linux has no PortAudio in it."""
    [installed] = [line for line in told("RUN") if "apt-get install" in line]
    assert {"libportaudio2", "libasound2-plugins"} <= set(installed.split())


def test_its_models_are_fetched_by_who_starts_it() -> None:
    at = {line: number for number, line in enumerate(LINES)}
    assert at["USER s2s"] < at["RUN s2s models pull embedded"] < at['ENTRYPOINT ["s2s"]']


@pytest.mark.parametrize("line", [line for line in told("RUN") if line.startswith("s2s ")])
def test_a_command_of_its_own_exists(line: str) -> None:
    options = parse(line.split()[1:])
    assert options.command == "models"
    assert Store().select(options.names)
    assert "s2s" in PROJECT["scripts"]
