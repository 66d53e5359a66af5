"""The file that programs in C open: what stands where, and the sum over it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.tts.qwen3.native.library import INTERFACE
from s2s.tts.qwen3.native.packed_file import ALIGNMENT, FileSection, Put, checksum, write_packed
from tests.tts.qwen3.native.packed_files import entries, sealed


def summed(content: bytes) -> int:
    """The checksum as packed_file.h words it."""
    padded = content + b"\0" * (-len(content) % 8)
    words = (int.from_bytes(padded[at : at + 8], "little") for at in range(0, len(padded), 8))
    return sum((2 * at + 1) * word for at, word in enumerate(words)) % 2**64


@given(st.binary(max_size=200))
def test_the_checksum_is_the_one_that_is_written_down(content: bytes) -> None:
    assert checksum(np.frombuffer(content, np.uint8)) == summed(content)


def test_any_word_that_changes_changes_it() -> None:
    content = bytearray(range(64))
    before = summed(bytes(content))
    for at in range(64):
        content[at] ^= 1
        assert checksum(np.frombuffer(bytes(content), np.uint8)) != before
        content[at] ^= 1


def test_sections_are_where_the_table_says(tmp_path: Path) -> None:
    def pieces(put: Put) -> None:
        put(np.arange(3, dtype=np.uint8))
        put(np.arange(11, dtype=np.int32))
        put(np.ones((2, 3), np.uint8))

    path = tmp_path / "folder" / "file"
    sections = [FileSection.of("one", np.array([1.5, 2], np.float32)), FileSection("two", pieces)]
    write_packed(path, [*sections, FileSection.of("nothing", np.zeros(0, np.int32))])
    content = path.read_bytes()
    assert content[:16] == b"s2sqwen3" + b"\1\0\0\0\3\0\0\0"
    assert int.from_bytes(content[32:36], "little") == INTERFACE
    one, two, nothing = entries(content)
    assert (one.name, two.name, nothing.name) == ("one", "two", "nothing")
    assert content[one.offset :][: one.size] == np.array([1.5, 2], np.float32).tobytes()
    raw = bytes(range(3)) + np.arange(11, dtype=np.int32).tobytes() + b"\1" * 6
    assert content[two.offset :][: two.size] == raw
    assert two.offset % ALIGNMENT == 0
    assert nothing.size == 0
    assert sealed(bytearray(content)) == content  # every checksum is what it is to be
    assert [file.name for file in path.parent.iterdir()] == ["file"]


def test_what_fails_leaves_nothing_behind_and_the_old_file_as_it_was(tmp_path: Path) -> None:
    def fails(put: Put) -> None:
        put(np.zeros(3, np.uint8))
        raise OSError("the disk is full")

    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(OSError, match="full"):
        write_packed(path, [FileSection("one", fails)])
    assert [file.read_bytes() for file in tmp_path.iterdir()] == [b"old"]
