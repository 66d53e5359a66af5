"""A record is read as far as it came, and what is none is told."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from s2s.records import files
from s2s.records.files import RecordError, wav_header
from s2s.records.folder import read_record, sound_pieces, sound_samples


def test_a_record_that_was_cut_off_anywhere_is_read(own_record: Path) -> None:
    folder = own_record
    whole = read_record(folder)
    for name in (files.SOUND, files.EVENTS, files.TIMELINES, files.CALLS):
        data = (folder / name).read_bytes()
        for share in (0.7, 0.3, 0.0):
            (folder / name).write_bytes(data[: int(len(data) * share) + (1 if share else 0)])
            record = read_record(folder)
            assert record.samples <= whole.samples
            assert len(record.story.turns) <= len(whole.story.turns)
            assert len(record.person()) == record.samples
        (folder / name).unlink()
        assert read_record(folder).duration_s <= whole.duration_s
    assert read_record(folder).calls() == []


def test_sound_comes_in_pieces_whatever_the_header_says(tmp_path: Path) -> None:
    path = tmp_path / "x.wav"
    samples = np.arange(4000, dtype="<i2").reshape(-1, 2)
    path.write_bytes(wav_header(8) + samples.tobytes() + b"x")
    assert sound_samples(path) == 2000
    assert np.array_equal(np.concatenate(list(sound_pieces(path))), samples)
    assert sound_samples(tmp_path / "none.wav") == 0
    assert list(sound_pieces(tmp_path / "none.wav")) == []


def test_what_is_no_record_is_told(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="--record made"):
        read_record(tmp_path)
    (tmp_path / files.SESSION).write_text("{")
    with pytest.raises(RecordError, match="cannot be read"):
        read_record(tmp_path)
    (tmp_path / files.SESSION).write_text(json.dumps({"format": 9}))
    with pytest.raises(RecordError, match="format 9"):
        read_record(tmp_path)
