"""Reads a record again, also one that was cut off by a crash."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from s2s.core.audio import PIPELINE_HZ, Block, from_int16
from s2s.core.events import Event
from s2s.core.metrics import Timeline
from s2s.core.untyped import is_mapping
from s2s.records import files
from s2s.records.files import CHANNELS, HEADER_BYTES, RecordError
from s2s.records.lines import read_lines, to_event, to_timeline
from s2s.records.story import Story, told
from s2s.records.tape import Samples

FRAME_BYTES = 2 * CHANNELS
_AT_ONCE = 1 << 20
"""Samples of each voice that are read at once."""


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """What a folder holds."""

    folder: Path
    about: Mapping[str, object]
    """What `session.json` says: `kind`, `began`, `program`, ..."""
    events: list[tuple[float, Event]]
    timelines: list[Timeline]

    @property
    def story(self) -> Story:
        return told(self.events, self.timelines)

    @property
    def samples(self) -> int:
        """Of each voice, at 16 kHz: what is there, whatever the header says."""
        return sound_samples(self.folder / files.SOUND)

    @property
    def duration_s(self) -> float:
        ends_s = [at_s for at_s, _ in self.events[-1:]]
        return max([self.samples / PIPELINE_HZ, *ends_s])

    def sound(self) -> Iterator[Samples]:
        """Both voices in pieces: int16 [samples, 2], the person left."""
        return sound_pieces(self.folder / files.SOUND)

    def person(self) -> Block:
        """What the person said: float32 [samples] at 16 kHz, as the session heard it."""
        pieces = [from_int16(piece[:, 0]) for piece in self.sound()]
        return np.concatenate([np.zeros(0, dtype=np.float32), *pieces])

    def calls(self) -> list[dict[str, object]]:
        """What the models were asked and gave, in the order in which the calls ended."""
        return read_lines(self.folder / files.CALLS)


def read_record(folder: Path) -> SessionRecord:
    """
    Raises:
        RecordError: `folder` is no record, or one of a later version.
    """
    path = folder / files.SESSION
    try:
        about: object = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise RecordError(
            f"{folder}: is no record: there is no {files.SESSION} in it. Give a folder that "
            "--record made, such as RECORDS/2026-11-30_22-05-07-123_talk."
        ) from error
    except (OSError, ValueError) as error:
        raise RecordError(f"{path}: cannot be read ({error}).") from error
    if not is_mapping(about) or about.get("format") != 1:
        made = about.get("format") if is_mapping(about) else about
        raise RecordError(f"{path}: is of format {made!r}; this version reads 1. Update s2s.")
    events = [to_event(line) for line in read_lines(folder / files.EVENTS)]
    timelines = [to_timeline(line) for line in read_lines(folder / files.TIMELINES)]
    return SessionRecord(
        folder,
        about,
        [event for event in events if event is not None],
        [timeline for timeline in timelines if timeline is not None],
    )


def sound_samples(path: Path) -> int:
    """Samples of each voice in the sound of a record; 0 where there is none."""
    try:
        return max(0, path.stat().st_size - HEADER_BYTES) // FRAME_BYTES
    except FileNotFoundError:
        return 0


def sound_pieces(path: Path) -> Iterator[Samples]:
    """The sound of a record in pieces, int16 [samples, 2]."""
    if not sound_samples(path):
        return
    with path.open("rb") as file:
        file.seek(HEADER_BYTES)
        while data := file.read(_AT_ONCE * FRAME_BYTES):
            whole = len(data) - len(data) % FRAME_BYTES
            piece = np.frombuffer(data[:whole], dtype="<i2")
            yield piece.reshape(-1, CHANNELS).astype(np.int16)
