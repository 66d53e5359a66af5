"""A session's record: both voices on one clock, every event, and nothing that is secret."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from s2s.config.schema import Config
from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, from_int16, resample, to_int16
from s2s.core.clock import ManualClock
from s2s.core.events import Heard, MicrophoneState, Notice, ResponseDone
from s2s.core.messages import AudioIn
from s2s.records import files
from s2s.records.folder import read_record
from s2s.records.lines import read_lines
from s2s.records.recorder import RecordPlan, SessionRecorder
from s2s.records.replay.held import over_echo
from s2s.session.models import Models
from s2s.testing.simulator import (
    EnergyVad,
    ModelCosts,
    Said,
    ScriptedChat,
    ScriptedSynthesizer,
    ScriptedTranscriber,
    ScriptWords,
    Simulation,
    tone,
)
from tests.support.records import recorded


def models(clock: ManualClock) -> Models:
    costs = ModelCosts()
    return Models(
        EnergyVad(),
        None,
        ScriptedTranscriber(ScriptWords(()), clock, 0.0),
        ScriptedChat(clock, costs, str),
        ScriptedSynthesizer(clock, costs),
    )


def opened(
    parent: Path, told: Callable[[str], None] = pytest.fail, secrets: tuple[str, ...] = ()
) -> tuple[SessionRecorder, ManualClock]:
    clock = ManualClock()
    recording = RecordPlan(parent, "talk", Config(), secrets)
    return SessionRecorder(recording, models(clock), clock, told), clock


def window(level: float, clock: ManualClock, number: int) -> AudioIn:
    clock.wait_until((number + 1) * BLOCK_SAMPLES / PIPELINE_HZ)
    block = np.full(BLOCK_SAMPLES, level, dtype=np.float32)
    return AudioIn(block, (number + 1) * BLOCK_SAMPLES, clock.now())


def test_both_voices_are_recorded_as_they_were_heard(held: tuple[Path, Simulation]) -> None:
    folder, simulation = held
    record = read_record(folder)
    both = np.concatenate(list(record.sound()))
    person = to_int16(simulation.transport.person())
    assert np.array_equal(both[: len(person), 0], person), "to the last bit"
    played = resample(simulation.transport.assistant(), 24_000, PIPELINE_HZ)
    length = min(len(played), len(both))
    recorded_voice = from_int16(both[:length, 1].astype(np.int16))
    assert np.abs(recorded_voice).max() > 0.05
    error = recorded_voice - played[:length]
    assert np.sqrt(np.mean(error**2)) < 0.02 * np.sqrt(np.mean(played**2)), "on the same clock"


def test_the_session_hears_what_is_recorded(tmp_path: Path) -> None:
    recorder, clock = opened(tmp_path)
    given = window(0.123456789, clock, 0)
    heard = recorder.heard(given)
    recorder.close()
    recorder.wait()
    person = read_record(recorder.folder).person()
    assert np.array_equal(heard.block, person)
    assert not np.array_equal(given.block, person)
    assert replace(heard, block=given.block) == given


def test_every_event_is_there_with_its_time(held: tuple[Path, Simulation]) -> None:
    folder, simulation = held
    assert read_record(folder).events == simulation.events
    statuses = [e.status for _, e in simulation.events if isinstance(e, ResponseDone)]
    assert "cancelled" in statuses
    assert "completed" in statuses


def test_the_timeline_of_each_answer_is_there(held: tuple[Path, Simulation]) -> None:
    folder, simulation = held
    expected = [*simulation.metrics.finished(), *simulation.metrics.starts_taken_back()]
    found = read_record(folder).timelines
    assert {t.turn for t in found} == {t.turn for t in expected}
    by_turn = {t.turn: t for t in found}
    for timeline in expected:
        assert by_turn[timeline.turn].since_speech_ms() == timeline.since_speech_ms()


def test_recording_changes_no_decision(held: tuple[Path, Simulation]) -> None:
    _, simulation = held
    alone = Simulation(simulation.said, answer=simulation.answer)
    assert [type(e) for _, e in simulation.events] == [type(e) for _, e in alone.run().events]


def test_what_is_said_into_a_muted_microphone_is_not_recorded(tmp_path: Path) -> None:
    recorder, clock = opened(tmp_path)
    states = {2: "muted", 5: "open", 8: "asleep", 10: "awake", 12: "waiting", 14: "talking"}
    for number in range(16):
        if number in states:
            recorder.on_event(MicrophoneState(states[number]))  # type: ignore[arg-type]
        recorder.heard(window(0.5, clock, number))
    recorder.close()
    recorder.wait()
    rows = read_record(recorder.folder).person().reshape(-1, BLOCK_SAMPLES)
    silent = [number for number, row in enumerate(rows) if not row.any()]
    assert silent == [2, 3, 4, 8, 9, 12, 13]


def test_what_was_captured_while_it_was_muted_is_not_recorded_later(tmp_path: Path) -> None:
    recorder, clock = opened(tmp_path)
    recorder.on_event(MicrophoneState("muted"))
    late = window(0.5, clock, 0)
    clock.wait_until(0.2)
    recorder.on_event(MicrophoneState("open"))
    recorder.heard(late)
    recorder.close()
    recorder.wait()
    assert not read_record(recorder.folder).person().any()


def test_no_secret_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("S2S_API_KEY", "key-of-this-server")
    recorder, _ = opened(tmp_path, secrets=("given-on-the-command-line",))
    recorder.on_event(Notice('401 for "key-of-this-server" and given-on-the-command-line'))
    recorder.close()
    recorder.wait()
    for path in recorder.folder.iterdir():
        assert b"key-of-this-server" not in path.read_bytes()
        assert b"given-on-the" not in path.read_bytes()
    assert "401" in str(read_lines(recorder.folder / files.EVENTS))


def test_a_full_disk_is_told_and_the_conversation_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    written = files.write_whole

    def full(file: object, data: bytes) -> None:
        if len(data) == files.HEADER_BYTES or b'"event"' in data:
            raise OSError(28, "No space left on device")
        written(file, data)  # type: ignore[arg-type]

    monkeypatch.setattr(files, "write_whole", full)
    short = Simulation([Said(tone(1.0), "hello you")])
    _, simulation = recorded(tmp_path, short, told=told.append)
    assert len(told) == 1
    assert "No space left" in told[0]
    assert [e.text for _, e in simulation.events if isinstance(e, Heard) and e.final]


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
def test_a_killed_program_loses_at_most_the_last_second(tmp_path: Path) -> None:
    """Eight seconds are heard; then the program is gone, between two instructions."""
    program = """
import sys, time, threading
from pathlib import Path
from tests.records.test_recorder import opened, window
recorder, clock = opened(Path(sys.argv[1]))
for number in range(250):
    recorder.heard(window(0.25, clock, number))
recorder.after_written(lambda: print("heard", flush=True))
threading.Event().wait()
"""
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "heard"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    record = read_record(next(tmp_path.iterdir()))
    assert 7.0 <= record.samples / PIPELINE_HZ <= 8.0
    assert np.all(record.person()[: 7 * PIPELINE_HZ] == 0.25)


def test_a_client_that_sends_faster_than_it_lasts_keeps_its_order(tmp_path: Path) -> None:
    recorder, clock = opened(tmp_path)
    for number in range(100):
        block = np.full(BLOCK_SAMPLES, (number + 1) / 200, dtype=np.float32)
        recorder.heard(AudioIn(block, (number + 1) * BLOCK_SAMPLES, clock.now()))
    recorder.close()
    recorder.wait()
    rows = read_record(recorder.folder).person().reshape(-1, BLOCK_SAMPLES)
    assert [round(200 * row[0]) for row in rows] == list(range(1, 101))


def test_no_thread_is_left_behind(tmp_path: Path) -> None:
    recorder, _ = opened(tmp_path)
    recorder.close()
    recorder.close()
    recorder.wait()
    assert recorder.over
    assert not [each for each in threading.enumerate() if each.name == "record"]


def test_what_is_kept_about_the_session(tmp_path: Path) -> None:
    folder, _ = recorded(tmp_path, Simulation([Said(tone(1.0), "hello you")]))
    about = json.loads((folder / files.SESSION).read_text())
    assert (about["format"], about["kind"], about["simulated"]) == (1, "talk", True)
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        [files.SOUND, files.EVENTS, files.TIMELINES, files.CALLS, files.SETTINGS, files.SESSION]
    )


def test_by_how_much_a_window_is_louder_than_its_echo_is_kept(tmp_path: Path) -> None:
    recorder, clock = opened(tmp_path)
    recorder.heard(window(0.5, clock, 0))
    recorder.heard(replace(window(0.5, clock, 1), over_echo_db=3.21875))
    recorder.close()
    recorder.wait()
    assert over_echo(read_record(recorder.folder)) == {1: 3.22}
