"""What this program has made is looked through before a library trusts it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from s2s.system.intact import SEAL, damaged, is_sealed, seal

_HEAD = 4 << 20


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a").write_bytes(bytes(range(256)) * 4)
    (tmp_path / "b").write_bytes(b"")
    seal(tmp_path)
    return tmp_path


def test_what_was_sealed_is_whole(folder: Path) -> None:
    assert is_sealed(folder)
    assert damaged(folder) is None


@given(at=st.integers(0, 1023), bit=st.integers(0, 7))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_any_flipped_bit_is_found(folder: Path, at: int, bit: int) -> None:
    whole = (folder / "a").read_bytes()
    (folder / "a").write_bytes(whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1 :])
    assert damaged(folder) == "a"
    (folder / "a").write_bytes(whole)
    assert damaged(folder) is None


@pytest.mark.parametrize("at", [0, _HEAD - 1, -1, -(1 << 20)])
def test_head_and_tail_of_a_large_file_count_whole(at: int, tmp_path: Path) -> None:
    content = bytearray(_HEAD * 3)
    (tmp_path / "large").write_bytes(content)
    seal(tmp_path, ["large"])
    content[at] = 1
    (tmp_path / "large").write_bytes(content)
    assert damaged(tmp_path) == "large"


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"a": 1}', '{"../a": "x"}', "[" * 100_000])
def test_a_damaged_list_is_damage(content: str, folder: Path) -> None:
    (folder / SEAL).write_text(content)
    assert damaged(folder) is not None


def test_a_missing_file_and_a_missing_list_are_damage(folder: Path) -> None:
    (folder / "b").unlink()
    assert damaged(folder) == "b"
    (folder / SEAL).unlink()
    assert damaged(folder) == SEAL
    assert not is_sealed(folder)
