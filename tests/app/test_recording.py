"""Conversations of the program that are recorded."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from s2s.app import recording
from s2s.app.recording import check_recordable, recorded, write_report
from s2s.config.schema import Config, RecordConfig
from s2s.core.clock import ManualClock
from s2s.core.events import Event, Notice
from s2s.core.messages import TurnId
from s2s.core.metrics import Metrics
from s2s.records import files
from s2s.records.ends import SessionEnds
from s2s.records.files import RecordError
from s2s.records.folder import read_record
from s2s.session.models import Models
from s2s.testing.simulator import (
    EnergyVad,
    ModelCosts,
    ScriptedChat,
    ScriptedSynthesizer,
    ScriptedTranscriber,
    ScriptWords,
)
from s2s.transport.playback import Playback
from s2s.transport.wav import Script, WavTransport


def ends(clock: ManualClock, told: list[Event]) -> tuple[SessionEnds, Playback]:
    costs = ModelCosts()
    models = Models(
        EnergyVad(),
        None,
        ScriptedTranscriber(ScriptWords(()), clock, 0.0),
        ScriptedChat(clock, costs, str),
        ScriptedSynthesizer(clock, costs),
    )
    playback = Playback(clock, 24_000)
    return SessionEnds(models, WavTransport(Script([]), playback, clock), told.append), playback


def to(folder: Path | None) -> Config:
    return replace(Config(), record=RecordConfig(folder))


def test_nothing_is_recorded_unasked() -> None:
    clock = ManualClock()
    given, playback = ends(clock, [])
    with recorded(given, playback, to(None), clock, Metrics(), pytest.fail) as made:
        assert made is given
    assert playback.tap is None


def test_a_conversation_is_recorded_and_told_so(tmp_path: Path) -> None:
    clock, events, told, metrics = ManualClock(), list[Event](), list[str](), Metrics()
    given, playback = ends(clock, events)
    with recorded(given, playback, to(tmp_path / "r"), clock, metrics, told.append) as made:
        made.events(Notice("hello"))
        metrics.mark(TurnId("a", 0), "speech_stopped", 1.0)
        metrics.finish(TurnId("a", 0))
    (folder,) = (tmp_path / "r").iterdir()
    record = read_record(folder)
    assert [event for _, event in record.events] == events == [Notice("hello")]
    assert [timeline.turn for timeline in record.timelines] == [TurnId("a", 0)]
    assert (folder / files.REPORT).is_file()
    assert "both voices and every word" in told[0]
    assert told[1] == f"Recorded: {folder / files.REPORT}"


def test_a_folder_that_cannot_be_is_told_before_the_work(tmp_path: Path) -> None:
    check_recordable(to(None))
    check_recordable(to(tmp_path / "not there yet"))
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordError, match="is no folder"):
        check_recordable(to(tmp_path / "file"))


def test_a_folder_of_others_is_told_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Not by its permissions: root may write anywhere, and Windows has others.
    monkeypatch.setattr(recording.os, "access", lambda path, mode: mode != os.W_OK)
    with pytest.raises(RecordError, match="may not be written to"):
        check_recordable(to(tmp_path))


def test_a_report_that_cannot_be_written_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    recording.write_report(tmp_path)
    assert "its report could not be written" in caplog.text
    assert write_report is recording.write_report
