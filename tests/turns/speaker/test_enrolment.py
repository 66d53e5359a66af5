"""The enrolled voice on disk: one file, its owner's alone, erased by deleting it."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from s2s.turns.speaker.embedder import unit
from s2s.turns.speaker.enrolment import (
    FILE,
    EnrolmentError,
    VoicePrint,
    enrolled_path,
    erase_enrolled,
    read_enrolled,
    write_enrolled,
)


def voice() -> VoicePrint:
    vector = np.random.default_rng(0).standard_normal((2, 192)).astype(np.float32)
    return VoicePrint(unit(vector), "an-embedder", 9.5)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    written = voice()
    path = write_enrolled(tmp_path, written)
    assert path == enrolled_path(tmp_path) == tmp_path / FILE
    read = read_enrolled(tmp_path)
    assert read is not None
    assert (read.model, read.speech_s) == (written.model, written.speech_s)
    np.testing.assert_allclose(read.vectors, written.vectors, atol=1e-6)
    assert [each.name for each in tmp_path.iterdir()] == [FILE]


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_it_is_its_owners_alone(tmp_path: Path) -> None:
    assert write_enrolled(tmp_path, voice()).stat().st_mode & 0o077 == 0


def test_it_is_erased(tmp_path: Path) -> None:
    assert not erase_enrolled(tmp_path)
    write_enrolled(tmp_path, voice())
    assert erase_enrolled(tmp_path)
    assert read_enrolled(tmp_path) is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"model": "m", "speech_s": 1, "vectors": [[1, 1]]}', "null"]
)
def test_a_damaged_file_says_what_to_do(tmp_path: Path, text: str) -> None:
    enrolled_path(tmp_path).write_text(text, encoding="utf-8")
    with pytest.raises(EnrolmentError, match="voices me"):
        read_enrolled(tmp_path)
