"""The questions of the benchmark, and when a call is right."""

from __future__ import annotations

import pytest

from s2s.bench.calling.questions import OTHERS, TWENTY, Question, is_right, meaning
from s2s.llm.calling.choosing import ChosenCall


def test_twenty_are_twenty_and_a_third_wants_no_tool() -> None:
    assert len(TWENTY) == 20
    assert sum(not each.tool for each in TWENTY) == 6
    assert len({each.said for each in (*TWENTY, *OTHERS)}) == len(TWENTY) + len(OTHERS)


@pytest.mark.parametrize(
    ("name", "arguments", "means"),
    [
        ("set_timer", '{"duration": "an hour and a half"}', "5400"),
        ("set_timer", '{"duration": "a while"}', "?"),
        ("calculate", '{"expression": "2 to the power of 10"}', "1024"),
        ("calculate", '{"expression": "ten"}', "10"),
        ("calculate", '{"expression": "x y"}', "?"),
        ("current_time", '{"place": "London"}', "Europe/London"),
        ("current_time", '{"place": "it"}', "?"),
        ("current_time", "{}", ""),
        ("cancel_timer", "{}", ""),
    ],
)
def test_what_a_call_means(name: str, arguments: str, means: str) -> None:
    assert meaning(ChosenCall(name, arguments)) == means


def test_a_call_is_right_when_it_means_what_is_meant() -> None:
    wanted = Question("Five minutes.", "set_timer", "300")
    assert is_right(wanted, ChosenCall("set_timer", '{"duration": "5 minutes"}'))
    assert not is_right(wanted, ChosenCall("set_timer", '{"duration": "6 minutes"}'))
    assert not is_right(wanted, ChosenCall("calculate", "{}"))
    assert not is_right(wanted, None)
    assert is_right(Question("Hello."), None)
    assert not is_right(Question("Hello."), ChosenCall("current_time", "{}"))
