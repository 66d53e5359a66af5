"""Lines that are typed while one talks: turns like those that are said."""

from __future__ import annotations

from s2s.core.events import Interruption
from s2s.session.session import Session
from s2s.turns.orders.input_gate import InputConfig
from tests.scenarios.conversations import QUESTION, done, heard, prompts, said_after, statuses
from tests.scenarios.test_orders import Press, held

OPEN = InputConfig()


def types(text: str) -> Press:
    return (2.0, lambda session: session.type_line(text))


def test_a_typed_line_is_answered_like_what_is_said() -> None:
    simulation = held([said_after(4.0, "never mind", 0.1)], [types("what is for lunch")], OPEN)
    assert heard(simulation)[0] == "what is for lunch"
    assert statuses(simulation) == ["completed"]
    assert prompts(simulation)[0] == ("user", "what is for lunch")
    assert simulation.chat.prompts[-1][-1].content == "what is for lunch"
    [timeline] = [t for t in simulation.session.metrics.finished() if t.turn.turn_id == "typed-1"]
    assert timeline.latency_ms is not None


def test_a_typed_line_interrupts_the_answer_that_is_given() -> None:
    def later(session: Session) -> None:
        session.type_line("stop that and sing")

    simulation = held([QUESTION], [(4.5, later)], OPEN)
    assert statuses(simulation) == ["cancelled", "completed"]
    assert heard(simulation) == [QUESTION.text, "stop that and sing"]
    assert not [e for _, e in simulation.events if isinstance(e, Interruption)]
    first = done(simulation)[0]
    history = prompts(simulation)
    assert history[1] == ("assistant", first.played.strip()), "what was heard of it"
    assert history[2] == ("user", "stop that and sing")


def test_a_muted_microphone_hears_what_is_typed() -> None:
    simulation = held([QUESTION], [types("hello there")], InputConfig(muted=True))
    assert heard(simulation) == ["hello there"]


def test_two_lines_are_two_turns_and_the_first_is_not_answered() -> None:
    def both(session: Session) -> None:
        session.type_line("first of them")
        session.type_line("second of them")

    simulation = held([said_after(6.0, "x", 0.1)], [(1.0, both)], OPEN)
    assert heard(simulation)[-1] == "second of them"
    assert statuses(simulation).count("completed") == 1
