"""Folders that nobody else can write."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from s2s.system import own_folder
from s2s.system.own_folder import NotOwnError, make_own

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no modes of folders")


def mode(folder: Path) -> int:
    return stat.S_IMODE(folder.stat().st_mode)


def test_it_is_made_for_its_user_alone(tmp_path: Path) -> None:
    make_own(tmp_path / "a" / "kernels")
    assert mode(tmp_path / "a" / "kernels") == 0o700
    make_own(tmp_path / "a" / "kernels")


def test_one_that_others_could_only_read_is_closed(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    make_own(tmp_path)
    assert mode(tmp_path) == 0o700


@pytest.mark.parametrize("bits", [0o775, 0o707, 0o1777])
def test_one_that_others_could_write_is_refused_as_it_is(bits: int, tmp_path: Path) -> None:
    folder = tmp_path / "kernels"
    folder.mkdir()
    folder.chmod(bits)
    with pytest.raises(NotOwnError, match=f"other users can write into it .mode {bits:04o}"):
        make_own(folder)
    assert mode(folder) == bits


def test_one_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = tmp_path.stat().st_uid
    monkeypatch.setattr(own_folder.os, "geteuid", lambda: owner + 1)
    with pytest.raises(NotOwnError, match=f"the user with the number {owner}.*S2S_HOME"):
        make_own(tmp_path)
