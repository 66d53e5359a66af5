"""Clients of others, each in an environment of its own that is made from the package index.

An environment is made once and kept in the cache of the models, by name and version: what it takes
to make them all is minutes.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from s2s.core.audio import read_wav, resample, write_wav
from s2s.models.store import home

HERE = Path(__file__).parents[1] / "clients"
SPOKEN = Path(__file__).parents[1] / "data" / "something.wav"
CLIENT_HZ = 24_000
MAKING_S = 900
RUNNING_S = 300


@dataclass(frozen=True, slots=True)
class OtherClient:
    """A client, and the programs of tests/clients that use it."""

    name: str
    packages: Sequence[str]
    """As pip or npm take them."""
    driver: str
    """Holds conversations with it."""
    parser: str = ""
    """Reads a server's events with its models."""

    @property
    def on_node(self) -> bool:
        return self.driver.endswith(".mjs")


def environment(client: OtherClient) -> Path:
    """The folder of its environment, made where it is missing."""
    mark = "_".join(client.packages).replace("/", "-").replace(">", "").replace("<", "")
    folder = home() / "test-clients" / f"{client.name}-{mark}"
    if not (folder / "whole").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        _make(client, folder)
        (folder / "whole").touch()
    return folder


def _make(client: OtherClient, folder: Path) -> None:
    if client.on_node:
        (folder / "package.json").write_text('{"private": true}', encoding="utf-8")
        _run(["npm", "install", "--no-audit", "--no-fund", *client.packages], folder, MAKING_S)
        return
    _run([sys.executable, "-m", "venv", folder / "venv"], folder, MAKING_S)
    pip = [_python(folder), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _run([*pip, *client.packages], folder, MAKING_S)


def run_client(client: OtherClient, program: str, *arguments: str | Path) -> Mapping[str, object]:
    """What a program of tests/clients printed: its last line, a JSON object."""
    folder = environment(client)
    run = ["node"] if client.on_node else [_python(folder), "-W", "ignore"]
    printed = _run([*run, HERE / program, *arguments], folder, RUNNING_S)
    value: object = json.loads(printed.strip().splitlines()[-1])
    assert isinstance(value, dict), printed
    return value


def question(folder: Path) -> Path:
    """A recording of a question at the rate that clients send."""
    sound, rate_hz = read_wav(SPOKEN)
    path = folder / "question.wav"
    write_wav(path, resample(sound, rate_hz, CLIENT_HZ), CLIENT_HZ)
    return path


def _python(folder: Path) -> Path:
    programs = "Scripts" if os.name == "nt" else "bin"
    return folder / "venv" / programs / "python"


def _run(command: Sequence[str | Path], folder: Path, limit_s: float) -> str:
    """What a program printed that has to succeed."""
    given = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command, cwd=folder, env=given, capture_output=True, text=True, timeout=limit_s
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return done.stdout
