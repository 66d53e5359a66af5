"""What is waited for, and how long it usually takes."""

from __future__ import annotations

from s2s.core.clock import ManualClock
from s2s.core.messages import ResponseId
from s2s.llm.first_words import REMEMBERED, AwaitedAnswer, FirstWords

RESPONSE = ResponseId("t1", 0, 0, "response-1")


def test_an_answer_is_awaited_until_its_first_words_come() -> None:
    clock = ManualClock()
    words = FirstWords(clock)
    assert (words.awaited, words.usual_s) == (None, None)
    words.ask(RESPONSE, "de", -0.5)
    assert words.awaited == AwaitedAnswer(RESPONSE, "de", -0.5, 0.0)
    clock.wait_until(2.0)
    words.came()
    assert (words.awaited, words.usual_s) == (None, 2.0)
    clock.wait_until(9.0)
    words.came()
    assert words.usual_s == 2.0, "the first words count, not the later ones"


def test_the_usual_wait_is_that_of_the_last_ones_and_an_end_is_none() -> None:
    clock = ManualClock()
    words = FirstWords(clock)
    for wait_s in [100.0] + [1.0] * REMEMBERED:
        words.ask(RESPONSE, None, 0.0)
        clock.wait_until(clock.now() + wait_s)
        words.came()
    assert words.usual_s == 1.0
    words.ask(RESPONSE, None, 0.0)
    words.end()
    assert (words.awaited, words.usual_s) == (None, 1.0)
