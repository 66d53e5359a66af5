"""What is noted of a call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from s2s.core.clock import ManualClock
from s2s.records.call_notes import CallNotes


def test_a_call_is_noted_with_its_time_in_the_record_and_what_it_took() -> None:
    clock, noted = ManualClock(), list[Mapping[str, Any]]()
    notes = CallNotes(clock, -2.0, noted.append)
    clock.wait_until(0.5)
    notes.note("speak", "key", 0.25, text="Yes.")
    assert noted == [{"at_s": 2.25, "call": "speak", "key": "key", "took_s": 0.25, "text": "Yes."}]


def test_a_call_that_fails_is_noted_and_fails() -> None:
    noted: list[Mapping[str, Any]] = []
    notes = CallNotes(ManualClock(), 0.0, noted.append)
    with pytest.raises(ValueError, match="no such"), notes.failing("answer", "key", 0.0):
        raise ValueError("no such word")
    assert [(note["call"], note["error"]) for note in noted] == [("answer", "no such word")]


def test_the_tokens_of_a_text_are_noted_once() -> None:
    noted: list[Mapping[str, Any]] = []
    notes = CallNotes(ManualClock(), 0.0, noted.append)
    for text in ("one", "two", "one"):
        notes.counted(text, 1)
    assert len(noted) == 2
