"""What is said unasked."""

from __future__ import annotations

from s2s.core.messages import (
    Announcement,
    AssistantText,
    EndOfResponse,
    ResponseId,
    SignOfLife,
    TtsInput,
)
from s2s.llm.apologies import NO_ANSWER
from s2s.llm.calling.announcing import TIMER_IS_UP, announced
from s2s.llm.plan import AnswerPlan

RESPONSE = ResponseId("bell1", 0, 0, "bell1")


def test_it_rings_says_it_and_ends() -> None:
    out = list(announced(Announcement("pasta", RESPONSE), AnswerPlan(()), "The timer is up.", "en"))
    assert [type(each) for each in out] == [SignOfLife, AssistantText, TtsInput, EndOfResponse]
    assert isinstance(out[0], SignOfLife)
    assert out[0].kind == "ring"
    assert isinstance(out[1], AssistantText)
    assert out[1].text == "The timer is up. Pasta!"


def test_where_nothing_is_spoken_it_is_shown_alone() -> None:
    plan = AnswerPlan((), spoken=False)
    out = list(announced(Announcement("", RESPONSE), plan, "The timer is up.", "en"))
    assert out == [
        AssistantText("The timer is up.", RESPONSE, spoken=False),
        EndOfResponse(RESPONSE, language="en", spoken=False),
    ]


def test_it_is_said_in_every_language_that_failures_are_told_in() -> None:
    assert set(TIMER_IS_UP) == set(NO_ANSWER)
