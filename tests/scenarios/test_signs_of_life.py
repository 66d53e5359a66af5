"""An answer that takes long to start: a sign of life is heard, once, and is no part of anything."""

from __future__ import annotations

from dataclasses import replace

import pytest

from s2s.core.events import AnswerText
from s2s.session.config import SessionConfig
from s2s.testing.simulator import ModelCosts, Said, Simulation, tone
from tests.scenarios.conversations import (
    QUESTION,
    QUESTION_ENDS_S,
    audible_s,
    done,
    prompts,
    said_after,
    statuses,
)

ANSWER = "It is noon by the clock in the hall."
SLOW = ModelCosts(first_token_s=3.0)


def answer(_question: str) -> str:
    return ANSWER


def held(costs: ModelCosts = SLOW, *said: Said, **settings: object) -> Simulation:
    config = SessionConfig(**settings)  # pyright: ignore[reportArgumentType]
    return Simulation(said or [QUESTION], answer=answer, costs=costs, config=config).run()


def spans(simulation: Simulation) -> list[tuple[float, float]]:
    """(begin, end) of each stretch in which something is heard, by gaps of more than 0.25 s."""
    found: list[tuple[float, float]] = []
    for at_s in audible_s(simulation):
        if found and at_s - found[-1][1] < 0.25:
            found[-1] = (found[-1][0], at_s)
        else:
            found.append((at_s, at_s))
    return found


def test_two_tones_are_heard_after_a_second_and_then_the_answer() -> None:
    simulation = held()
    sign, spoken = spans(simulation)
    assert 1.0 <= sign[0] - QUESTION_ENDS_S < 1.3
    assert sign[1] - sign[0] < 0.3
    assert spoken[0] - QUESTION_ENDS_S > 3.0
    assert statuses(simulation) == ["completed"]
    assert done(simulation)[0].played == ANSWER
    assert prompts(simulation) == [("user", QUESTION.text), ("assistant", ANSWER)]


def test_words_are_no_part_of_the_answer_and_of_what_is_remembered() -> None:
    simulation = held(sign_of_life="words")
    assert len(spans(simulation)) == 2
    told = "".join(e.text for _, e in simulation.events if isinstance(e, AnswerText))
    assert told == ANSWER
    assert done(simulation)[0].played == ANSWER
    assert prompts(simulation) == [("user", QUESTION.text), ("assistant", ANSWER)]


@pytest.mark.parametrize("costs", [ModelCosts(), ModelCosts(first_token_s=0.7)])
def test_an_answer_that_starts_soon_needs_none(costs: ModelCosts) -> None:
    assert len(spans(held(costs))) == 1


def test_off_is_off_and_the_time_is_a_setting() -> None:
    assert len(spans(held(sign_of_life="off"))) == 1
    sign, _ = spans(held(sign_of_life_after_s=2.0))
    assert 2.0 <= sign[0] - QUESTION_ENDS_S < 2.3
    with pytest.raises(ValueError, match="sign_of_life_after_s must be positive"):
        SessionConfig(sign_of_life_after_s=0.0)


def test_it_is_given_once_however_long_the_answer_takes() -> None:
    assert len(spans(held(replace(SLOW, first_token_s=9.0)))) == 2


def test_first_words_that_are_about_to_come_are_waited_for() -> None:
    """Of a model that always takes 1.3 s the first answer has a sign, and no later one."""
    second = Said(tone(1.5, hz=140.0), "and what day is it")
    costs = ModelCosts(first_token_s=1.3)
    simulation = held(costs, QUESTION, second, replace(second, audio=tone(1.5, hz=120.0)))
    assert len(done(simulation)) == 3
    assert len(spans(simulation)) == 4


def test_who_goes_on_hears_none() -> None:
    """The person speaks again before the second is over: that answer is not owed any more."""
    more = said_after(0.75, "in London", 1.0)
    simulation = held(SLOW, QUESTION, more)
    signs = [begin for begin, end in spans(simulation) if end - begin < 0.3]
    assert len(signs) == 1
    assert signs[0] > QUESTION_ENDS_S + 0.75 + 1.0


def test_an_interruption_silences_it() -> None:
    """The person begins while "One moment." is said: the answer is to the new words alone."""
    other = said_after(1.15, "stop that and tell me the day", 1.6)
    simulation = held(SLOW, QUESTION, other, sign_of_life="words")
    texts = [text for role, text in prompts(simulation) if role == "assistant"]
    assert texts == [ANSWER]
    assert "One moment" not in str(simulation.trace())


def test_an_answer_without_words_is_still_told_after_a_sign() -> None:
    simulation = Simulation([QUESTION], answer=lambda _: "<think>What now?</think>", costs=SLOW)
    assert len(spans(simulation.run())) == 2, "the sign, and a sentence in place of the answer"
