"""Reports of histories that hold what nobody heard, and of sessions that spoil each other."""

from __future__ import annotations

from s2s.core.clock import ManualClock
from s2s.core.events import ResponseStarted
from s2s.core.messages import TurnId
from s2s.core.speculation import SpeculativeTurns
from s2s.testing.simulator import CHARS_PER_S, Said, Simulation, tone, with_pauses
from tests.scenarios.conversations import (
    LONG_ANSWER,
    QUESTION,
    audible_s,
    done,
    heard,
    long_answer,
    prompts,
    said_after,
    started_s,
    statuses,
)

OVER = said_after(3.0, "no tell me about london instead", 1.5)


def test_the_history_holds_only_what_was_played() -> None:
    """pipecat#2791, #5426, #3627: the context holds text that was never spoken, or lacks some."""
    simulation = Simulation([QUESTION, OVER], answer=long_answer).run()
    cancelled = done(simulation)[0]
    assert prompts(simulation)[1] == ("assistant", cancelled.played.strip())
    begin_s = started_s(simulation)
    sounding_s = len([at for at in audible_s(simulation) if begin_s <= at < 6.0]) / 100
    assert len(cancelled.played) <= sounding_s * CHARS_PER_S + 1
    assert len(cancelled.played) >= (sounding_s - 0.6) * CHARS_PER_S, "at most a word is missing"


def test_a_completed_answer_is_remembered_whole() -> None:
    """pipecat#2791: nor does an answer lose words that were spoken."""
    simulation = Simulation([QUESTION], answer=long_answer).run()
    assert prompts(simulation)[1] == ("assistant", LONG_ANSWER)


def test_an_interrupted_answer_is_kept_up_to_the_last_word() -> None:
    """livekit/agents#2201, openai-agents-js#523: it stays whole on an interrupt, or is deleted."""
    simulation = Simulation([QUESTION, OVER], answer=long_answer).run()
    kept = prompts(simulation)[1][1]
    assert 0 < len(kept) < len(LONG_ANSWER)
    assert LONG_ANSWER.startswith(kept)
    assert LONG_ANSWER[len(kept)] in " .", "cut between words"


def test_a_reopened_turn_is_one_message() -> None:
    """hf/speech-to-speech#487: a turn with pauses appears as several messages of the person."""
    words = "turn the lights on in the kitchen please"
    paused = with_pauses(Said(tone(3.0), words), (0.3, 0.8), (0.7, 1.2))
    simulation = Simulation([paused]).run()
    assert heard(simulation) == [words]
    assert [content for role, content in prompts(simulation) if role == "user"] == [words]
    assert statuses(simulation) == ["completed"]


def test_a_second_session_is_not_silenced_by_the_first() -> None:
    """hf/speech-to-speech PR#391: late work of the old session marks the new turn 1 as over."""
    first, second = (Simulation([QUESTION]).run() for _ in "ab")
    assert statuses(second) == ["completed"]
    turns = [
        {e.response.turn_id for _, e in each.events if isinstance(e, ResponseStarted)}
        for each in (first, second)
    ]
    assert turns[0].isdisjoint(turns[1])


def test_a_commit_from_before_a_reset_changes_nothing() -> None:
    """hf/speech-to-speech PR#391: what was forgotten is stale for ever."""
    turns = SpeculativeTurns(ManualClock())
    old, new = TurnId("s1-1", 0), TurnId("s1-2", 0)
    turns.observe(old)
    turns.reset()
    turns.observe(new)
    assert not turns.commit(old)
    assert not turns.is_committed(new.turn_id)
    assert turns.begin_reopen(new.turn_id)
