"""What differs between a conversation as it was and as it is held again."""

from __future__ import annotations

from s2s.core.events import (
    Event,
    Heard,
    Interruption,
    NothingHeard,
    ResponseDone,
    SpeechDropped,
    SpeechStarted,
    StopHeard,
    TakenBack,
)
from s2s.core.messages import ResponseId, TurnId
from s2s.core.metrics import Timeline
from s2s.records.replay.differences import as_html, as_text, decisions, paired, rows, summary
from s2s.records.story import GivenAnswer, SaidTurn, Story


def story(session: str, *turns: tuple[float, str, str, float]) -> Story:
    """Turns with when they began, their words, what was played, and seconds to that."""
    found = Story()
    for number, (at_s, words, played, after_s) in enumerate(turns):
        turn = TurnId(f"{session}-{number}", 0)
        found.turns.append(SaidTurn(turn.turn_id, [(at_s, at_s + 1)], words))
        marks = {
            "speech_stopped": at_s + 1,
            "endpoint": at_s + 1.1,
            "first_played": at_s + 1 + after_s,
        }
        timeline = Timeline(turn, marks)  # type: ignore[arg-type]
        response = ResponseId(turn.turn_id, 0, 0, None)
        found.answers.append(
            GivenAnswer(response, at_s + 2, at_s + 3, played, played, "completed", "", timeline)
        )
    return found


THEN = story("a", (1.0, "what is it", "Noon.", 0.5), (9.0, "and now", "Night.", 0.7))
NOW = story(
    "b",
    (1.3, "what is it", "Noon.", 0.4),
    (4.0, "it", "What?", 0.4),
    (9.0, "an owl", "Night.", 0.8),
)


def test_turns_that_begin_together_are_one() -> None:
    pairs = [(p.then and p.then.text, p.now and p.now.text) for p in paired(THEN, NOW)]
    assert pairs == [("what is it", "what is it"), (None, "it"), ("and now", "an owl")]
    assert [round(p.began_s, 1) for p in paired(NOW, THEN)] == [1.3, 4.0, 9.0]


def test_each_turn_is_told_as_it_was_and_as_it_is() -> None:
    same, new, other = rows(THEN, NOW)
    assert not same.differs
    assert same.first_sound_ms == ("500 ms", "400 ms")
    assert same.over_ms == ("100 ms", "100 ms")
    assert new.outcome == ("no turn", "completed: What?")
    assert other.words == ("and now", "an owl")
    assert as_text([same, new, other]) == [
        "0:04.0  then  –  [no turn]",
        "        now   it  [completed: What?]",
        "0:09.0  then  and now  [completed: Night.]",
        "        now   an owl  [completed: Night.]",
    ]


def test_the_whole_in_numbers() -> None:
    found = {name: (then, now) for name, then, now in summary(THEN, NOW)}
    assert found["turns"] == ("2", "3")
    assert found["first sound after, median"] == ("600 ms", "400 ms")
    assert summary(Story(), Story())[-1][1] == "–"


def test_as_a_section_of_a_page() -> None:
    html = as_html(THEN, NOW, {"session.language": (None, "<de>")}, same=False)
    assert "Not every decision is the same." in html
    assert "&lt;de&gt;" in html
    assert "an owl" in html
    assert "400 ms" in html
    assert "nothing: the settings of the record" in as_html(THEN, THEN, {}, same=True)


def test_decisions_are_compared_without_times_and_numbers() -> None:
    def events(session: str, at_s: float) -> list[tuple[float, Event]]:
        turn = TurnId(f"{session}-1", 0)
        response = ResponseId(f"{session}-1", 0, 0, None)
        told: list[Event] = [
            SpeechStarted(turn, at_s), Heard(turn, "wha", False), Heard(turn, "what", True),
            NothingHeard(turn), StopHeard(turn, "stop"), SpeechDropped(turn, "hey", "another"),
            TakenBack(response, "It"), Interruption("cancel", round(at_s), "words"),
            ResponseDone(response, "cancelled", "It is"),
        ]  # fmt: skip
        return [(at_s, event) for event in told]

    assert decisions(events("a", 1.0)) == decisions(events("b", 2.0)) == [
        "heard: what", "nothing heard", "stop: stop", "dropped: hey (another)", "taken back: It",
        "interruption: cancel (words)", "answer cancelled: It is",
    ]  # fmt: skip
