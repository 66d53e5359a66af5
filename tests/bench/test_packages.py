"""Recordings out of Debian packages: fetched once, and read at the pipeline's rate."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from s2s.bench import packages
from s2s.bench.packages import read_sound, unpacked
from s2s.core.audio import PIPELINE_HZ, write_wav


def test_packages_are_fetched_and_unpacked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[list[str]] = []

    def run(command: list[str], *, check: bool, cwd: str = "") -> None:
        assert check
        called.append(command)
        if command[0] == "apt-get":
            (Path(cwd) / "sounds.deb").touch()
        else:
            (tmp_path / "in" / "hello.g722").touch()

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(packages.subprocess, "run", run)
    for _ in range(2):
        assert unpacked(["sounds"], tmp_path / "in") == tmp_path / "in"
    assert [command[0] for command in called] == ["apt-get", "dpkg-deb"]
    assert called[0][-2:] == ["download", "sounds"]


def test_a_sound_file_is_read_at_the_pipelines_rate(tmp_path: Path) -> None:
    write_wav(tmp_path / "a.wav", np.zeros(8000, np.float32), 8000)
    assert len(read_sound(tmp_path / "a.wav")) == PIPELINE_HZ


def test_a_file_without_a_header_is_read(tmp_path: Path) -> None:
    """Half a second of silence in G.722: 64 kbit/s."""
    pytest.importorskip("av")
    (tmp_path / "a.g722").write_bytes(b"\xfa" * 4000)
    sound = read_sound(tmp_path / "a.g722")
    assert len(sound) == pytest.approx(PIPELINE_HZ / 2, abs=400)
    assert sound.dtype == np.float32
