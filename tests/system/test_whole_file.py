"""A file is there whole or as it was."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from s2s.system.whole_file import write_whole


@pytest.mark.parametrize(("content", "read"), [("naïve\n", "naïve\n".encode()), (b"\0\1", b"\0\1")])
@pytest.mark.parametrize("durable", [False, True])
def test_it_holds_what_was_written_and_nothing_lies_beside_it(
    tmp_path: Path, content: str | bytes, read: bytes, durable: bool
) -> None:
    path = tmp_path / "notes.md"
    path.write_text("an earlier and longer file")
    write_whole(path, content, durable=durable)
    assert path.read_bytes() == read
    assert list(tmp_path.iterdir()) == [path]


def test_where_it_fails_the_earlier_file_is_there_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "notes.md"
    path.write_text("earlier")

    def full(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="no space left"):
        write_whole(path, "later", durable=True)
    assert path.read_text() == "earlier"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name == "nt", reason="modes are POSIX")
@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_who_may_read_it(tmp_path: Path, mode: int) -> None:
    write_whole(tmp_path / "own", "x", mode=mode)
    assert stat.S_IMODE((tmp_path / "own").stat().st_mode) == mode


def test_several_threads_may_write_it_at_once(tmp_path: Path) -> None:
    path, texts = tmp_path / "one", [letter * 100_000 for letter in "abcd"]
    threads = [threading.Thread(target=write_whole, args=(path, text)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_text() in texts
    assert list(tmp_path.iterdir()) == [path]
