"""A record's folder and its files: never overwritten, its owner's alone, whole at every moment."""

from __future__ import annotations

import errno
import os
import stat
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from s2s.core.audio import read_wav
from s2s.records import files
from s2s.records.files import GrowingFiles, RecordError, new_folder, wav_header

AT = datetime(2026, 11, 30, 22, 5, 7, 123_456, UTC)


def test_names_sort_by_time_and_no_folder_is_used_twice(tmp_path: Path) -> None:
    parent = tmp_path / "a" / "records"
    moments = [AT + timedelta(milliseconds=97 * number) for number in range(30)]
    made = [new_folder(parent, "talk", moment).name for moment in moments]
    assert made == sorted(made)
    assert made[0] == "2026-11-30_22-05-07-123_talk"
    assert new_folder(parent, "talk", AT).name == "2026-11-30_22-05-07-123_talk-2"
    assert new_folder(parent, "talk").name > made[-1] or datetime.now(UTC) < moments[-1]


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_only_its_owner_reads_it(tmp_path: Path) -> None:
    folder = new_folder(tmp_path / "records", "talk", AT)
    for each in (folder, folder.parent):
        assert stat.S_IMODE(each.stat().st_mode) == 0o700
    growing = GrowingFiles(folder, pytest.fail)
    growing.add("events.jsonl", b"{}\n")
    growing.end()
    growing.wait()
    assert stat.S_IMODE((folder / "events.jsonl").stat().st_mode) == 0o600


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordError, match="--record"):
        new_folder(tmp_path / "file" / "records", "talk", AT)


def test_the_header_is_that_of_any_wav_file(tmp_path: Path) -> None:
    samples = np.arange(2000, dtype="<i2").reshape(-1, 2)
    path = tmp_path / "x.wav"
    path.write_bytes(wav_header(samples.nbytes) + samples.tobytes())
    import soundfile

    read, rate_hz = soundfile.read(path, dtype="int16")
    assert rate_hz == 16_000
    assert np.array_equal(read, samples)
    assert len(wav_header(1 << 40)) == files.HEADER_BYTES, "18 hours are not too many"


def test_the_sound_can_be_read_after_every_piece(tmp_path: Path) -> None:
    """As after a crash: nothing is closed, and what was written is there."""
    growing = GrowingFiles(tmp_path, pytest.fail)
    lengths: list[int] = []
    for number in range(3):
        growing.add(files.SOUND, np.full((1600, 2), number + 1, dtype="<i2").tobytes())
        written = threading.Event()
        growing.after(written.set)
        written.wait()
        lengths.append(len(read_wav(tmp_path / files.SOUND)[0]))
    assert lengths == [1600, 3200, 4800]
    growing.end()
    growing.wait()
    assert growing.over


def test_a_full_disk_is_told_once_and_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    ended = threading.Event()
    growing = GrowingFiles(tmp_path, told.append, ended.set)
    growing.add("a", b"before")
    written = threading.Event()
    growing.after(written.set)
    written.wait()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, "write_whole", full)
    for _ in range(5):
        growing.add("a", b"after")
    growing.end()
    growing.wait()
    assert ended.is_set()
    assert growing.failed
    assert len(told) == 1
    assert "No space left on device" in told[0]
    assert "goes on" in told[0]
    assert (tmp_path / "a").read_bytes() == b"before"


def test_a_disk_that_does_not_keep_up_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(files, "MOST_WAITING_BYTES", 10)
    growing = GrowingFiles(tmp_path, told.append)
    growing.add("a", b"x" * 11)
    growing.add("a", b"y")
    growing.end()
    growing.wait()
    assert len(told) == 1
    assert "keep up" in told[0]


def test_no_file_is_written_over(tmp_path: Path) -> None:
    told: list[str] = []
    (tmp_path / "a").write_text("there before")
    growing = GrowingFiles(tmp_path, told.append)
    growing.add("a", b"x")
    growing.end()
    growing.wait()
    assert len(told) == 1
    assert (tmp_path / "a").read_text() == "there before"
