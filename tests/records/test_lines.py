"""Every event is written as a line of JSON and read again, whatever its texts are."""

from __future__ import annotations

import dataclasses
import json
import typing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.events import Event, Heard, Notice, SpeechStarted, SpeechStopped
from s2s.core.messages import TurnId
from s2s.core.metrics import Timeline
from s2s.records.lines import (
    HIDDEN,
    Secrets,
    json_line,
    of_event,
    of_timeline,
    read_lines,
    to_event,
    to_timeline,
)

EVENTS = st.one_of([st.from_type(kind) for kind in typing.get_args(Event)])


@given(EVENTS)
def test_every_event_comes_back(event: Event) -> None:
    line = json_line(of_event(1.5, event), Secrets())
    assert line.count(b"\n") == 1
    found = to_event(json.loads(line))
    assert found is not None
    at_s, back = found
    assert at_s == 1.5
    assert repr(back) == repr(_as_json_has_it(event))


def _as_json_has_it(event: Event) -> Event:
    """Numbers that are none are not written, and times are rounded."""
    changes: dict[str, float | None] = {}
    for field in dataclasses.fields(event):
        value = getattr(event, field.name)
        if isinstance(value, float):
            finite = value - value == 0
            changes[field.name] = None if not finite else value
            if finite and isinstance(event, SpeechStarted | SpeechStopped):
                changes[field.name] = round(value, 6)
    return dataclasses.replace(event, **changes)


def test_times_count_from_the_beginning_of_the_record() -> None:
    event = SpeechStarted(TurnId("a", 0), 107.0)
    found = to_event(of_event(107.25, event, 100.0))
    assert found == (7.25, SpeechStarted(TurnId("a", 0), 7.0))


@given(st.text(min_size=4).filter(lambda text: len(text.strip()) >= 4), st.text(), st.text())
def test_a_secret_is_nowhere_in_a_line(secret: str, before: str, after: str) -> None:
    line = json_line(of_event(0, Notice(before + secret.strip() + after)), Secrets([secret]))
    read = json.loads(line.replace(HIDDEN.encode(), b""))
    assert secret.strip() not in read["text"] or secret.strip() in before + after


def test_a_short_text_is_no_secret() -> None:
    assert Secrets(["a", " ", ""]).hide("a cat") == "a cat"
    assert Secrets(["tokens"]).hide("three tokens") == f"three {HIDDEN}"


def test_what_was_cut_off_or_is_unknown_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    assert read_lines(path) == []
    whole = json_line(of_event(1.0, Notice("here")), Secrets())
    path.write_bytes(whole + b"[1]\n" + b"[" * 100_000 + b"\n\xff\xfe\n" + whole[:-9])
    assert [line["text"] for line in read_lines(path)] == ["here"]
    for line in ({}, {"event": "Later"}, {"event": "Notice", "time_s": 1}, {"event": "Heard"}):
        assert to_event(line) is None


def test_a_timeline_comes_back() -> None:
    timeline = Timeline(TurnId("a", 2), {"speech_stopped": 11.0, "first_played": 11.5})
    timeline.values["tts_rtf"] = 0.25
    line = json.loads(json_line(of_timeline(timeline, 10.0), Secrets()))
    back = to_timeline(line)
    assert back is not None
    assert back.turn == timeline.turn
    assert back.marks == {"speech_stopped": 1.0, "first_played": 1.5}
    assert back.latency_ms == pytest.approx(500)
    assert to_timeline({"turn": "a"}) is None
    taken = to_timeline({**line, "taken_back_s": 3.0, "marks": {"unknown": 1, "endpoint": "x"}})
    assert taken is not None
    assert (taken.taken_back_s, taken.marks) == (3.0, {})


def test_words_of_all_scripts_stay_readable() -> None:
    line = json_line(of_event(0.0, Heard(TurnId("a", 0), "日本 ñ \ud800", True)), Secrets())
    assert "日本 ñ" in line.decode("utf-8")
