"""Conversations of this program that are recorded, where `record.folder` says so."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from s2s.app.keeping.kept import RECORDS, note_place
from s2s.config.schema import Config
from s2s.core.clock import Clock
from s2s.core.metrics import Metrics
from s2s.models.store import home
from s2s.records.ends import SessionEnds, recorded_ends
from s2s.records.files import REPORT, RecordError
from s2s.records.recorder import RecordPlan, SessionRecorder
from s2s.transport.playback import Playback

log = logging.getLogger(__name__)


@contextmanager
def recorded(
    ends: SessionEnds,
    playback: Playback,
    config: Config,
    clock: Clock,
    metrics: Metrics,
    told: Callable[[str], None],
) -> Generator[SessionEnds]:
    """The same ends, recorded as long as it is open; as they are where nothing is to be recorded.

    Args:
        playback: that of the transport.
        told: takes what the person is to know; any thread.

    Raises:
        RecordError: the record cannot be begun.
    """
    if config.record.folder is None:
        yield ends
        return
    recorder = SessionRecorder(
        RecordPlan(config.record.folder, "talk", config), ends.models, clock, told, write_report
    )
    told(f"Recording both voices and every word in {recorder.folder}")
    metrics.tell(recorder.on_timeline)
    try:
        yield recorded_ends(ends, playback, recorder)
    finally:
        recorder.close()
        recorder.wait()
        report = recorder.folder / REPORT
        if report.is_file():
            told(f"Recorded: {report}")


def check_recordable(config: Config) -> None:
    """See that records can be made, before the work; from then on `erase` knows of them.

    Raises:
        RecordError: the folder is none, or may not be written to.
    """
    parent = config.record.folder
    if parent is None:
        return
    note_place(home(), RECORDS, parent)
    if not parent.exists():
        return
    if not parent.is_dir():
        raise RecordError(f"{parent}: is no folder. Name one with --record.")
    if not os.access(parent, os.W_OK):
        raise RecordError(f"{parent}: may not be written to. Name another folder with --record.")


def write_report(folder: Path) -> None:
    """Write the page of a record; what goes wrong is logged, as nobody waits for it."""
    from s2s.records.report.page import write_page

    try:
        write_page(folder)
    except Exception:
        log.exception("%s: its report could not be written", folder)
