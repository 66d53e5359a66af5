"""What the doctor found, for people and for programs: the shape of the JSON is fixed here."""

from __future__ import annotations

import json

import pytest

from s2s import __version__
from s2s.app.doctor.report import AREAS, SCHEMA, Finding, about, as_object, told

FOUND = [
    Finding("ok", "all is well", area="machine"),
    Finding("warning", "slow", "be patient", "speed", {"real_time_factor": 1.5, "stage": "tts"}),
]


def test_people_read_a_line_each_and_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(FOUND, as_json=False) == 0
    assert capsys.readouterr().out == "ok   all is well\n!    slow\n       -> be patient\n"
    assert told([*FOUND, Finding("failure", "broken")], as_json=False) == 1


def test_programs_read_one_object_of_a_shape_that_stays(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert told(FOUND, as_json=True) == 0
    assert json.loads(capsys.readouterr().out) == {
        "schema": 1,
        "version": __version__,
        "works": True,
        "findings": [
            {"area": "machine", "state": "ok", "what": "all is well", "remedy": "", "values": {}},
            {
                "area": "speed",
                "state": "warning",
                "what": "slow",
                "remedy": "be patient",
                "values": {"real_time_factor": 1.5, "stage": "tts"},
            },
        ],
    }
    assert SCHEMA == 1, "a change of names or meanings is a new number"
    assert as_object([Finding("failure", "x")])["works"] is False


def test_an_area_is_given_where_none_is_said() -> None:
    found = list(about("llm", [Finding("ok", "x"), Finding("ok", "y", area="tts")]))
    assert [each.area for each in found] == ["llm", "tts"]
    assert len(set(AREAS)) == len(AREAS)
