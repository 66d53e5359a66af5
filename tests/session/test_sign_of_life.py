"""When a sign of life is due."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from s2s.core.clock import ManualClock
from s2s.core.messages import ResponseId
from s2s.llm.first_words import AwaitedAnswer, FirstWords
from s2s.session.sign_of_life import LEAST_S, SOON_S, SignOfLifeClock, due_at_s

RESPONSE = ResponseId("t1", 0, 0, "response-1")
SECONDS = st.floats(0.0, 20.0)


def awaited(stopped_at_s: float = 0.0, asked_at_s: float = 0.2) -> AwaitedAnswer:
    return AwaitedAnswer(RESPONSE, None, stopped_at_s, asked_at_s)


def test_it_is_due_after_the_end_of_speech_but_the_model_has_its_least() -> None:
    assert due_at_s(awaited(), 1.0, None) == 1.0
    assert due_at_s(awaited(asked_at_s=3.0), 1.0, None) == 3.0 + LEAST_S


def test_first_words_that_are_expected_soon_are_waited_for() -> None:
    assert due_at_s(awaited(), 1.0, 0.1) == 1.0, "they are late already"
    assert due_at_s(awaited(), 1.0, 1.2) == 0.2 + 1.2 + SOON_S
    assert due_at_s(awaited(), 1.0, 5.0) == 1.0, "they are far"


@given(SECONDS, SECONDS, st.floats(0.1, 5.0), st.none() | SECONDS)
def test_no_sign_comes_shortly_before_the_first_words_as_they_are_expected(
    stopped_at_s: float, waited_s: float, after_s: float, usual_s: float | None
) -> None:
    answer = awaited(stopped_at_s, stopped_at_s + waited_s)
    due_s = due_at_s(answer, after_s, usual_s)
    assert due_s >= stopped_at_s + after_s
    assert due_s >= answer.asked_at_s + LEAST_S
    if usual_s is not None:
        expected_s = answer.asked_at_s + usual_s
        assert not due_s <= expected_s <= due_s + SOON_S


def test_it_is_due_once_a_turn_however_often_it_is_asked_anew() -> None:
    clock = ManualClock()
    words = FirstWords(clock)
    signs = SignOfLifeClock(1.0)
    assert signs.due(50.0, words) is None
    words.ask(RESPONSE, "en", 0.0)
    assert signs.due(0.9, words) is None
    assert signs.due(1.0, words) == words.awaited
    assert signs.due(1.1, words) is None
    words.ask(ResponseId("t1", 1, 0, "response-2"), "en", 3.0)
    assert signs.due(9.0, words) is None
    words.ask(ResponseId("t2", 0, 0, "response-3"), "en", 8.0)
    assert signs.due(9.0, words) == words.awaited
