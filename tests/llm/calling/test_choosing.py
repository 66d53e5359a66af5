"""Calls chosen for a model that can write none."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.tooling import ToolHints
from s2s.llm.calling.choosing import (
    SURE,
    CallChooser,
    ChosenCall,
    content_words,
    fitting,
    is_cued,
    ordinary_prompt,
    spans,
    tool_prompt,
    values,
)
from s2s.tools.builtin import timers
from s2s.tools.tool import made_of, tool_of


def set_timer(duration: str, name: str = "") -> str:
    """Sets a timer. It rings.

    Args:
        duration: how long.
    """
    return duration + name


def dim(level: int, mood: Literal["warm", "cold"], slowly: bool) -> str:
    """Dims the lamps."""
    return f"{level} {mood} {slowly}"


def where(place: str = "") -> str:
    """Tells where something is."""
    return place


TIMER = made_of(
    set_timer,
    wish="set a timer",
    cues=(r"\btimer\b",),
    examples=(("Set a timer for ten minutes.", '{"duration": "ten minutes"}'),),
    written="duration",
).hints
DIM = made_of(dim, examples=(("Make the lamps darker.", "{}"),)).hints
WHERE = made_of(where, cues=("where",), written="place").hints


class Model:
    """Finds words as likely as a test says, chooses what it says, and remembers what it was asked.

    Args:
        likely: what a prompt holds -> how much likelier than ordinary talk the words are.
        answers: what is chosen, one after the other.
    """

    calls_tools = False

    def __init__(self, likely: dict[str, float] | None = None, *answers: str) -> None:
        self.likely = likely or {}
        self.answers = list(answers)
        self.weighed: list[str] = []
        self.prompts: list[str] = []
        self.options: list[list[str]] = []

    def log_probability(
        self, prompt: str, text: str, *, stop: Callable[[], bool] = lambda: False
    ) -> float | None:
        assert text.startswith(" ")
        assert text.endswith("\n")
        if stop():
            return None
        self.weighed.append(prompt)
        return -20.0 + sum(more for held, more in self.likely.items() if held in prompt)

    def choose(
        self, prompt: str, options: Sequence[str], *, stop: Callable[[], bool] = lambda: False
    ) -> tuple[int, float] | None:
        self.prompts.append(prompt)
        self.options.append(list(options))
        if stop() or not self.answers:
            return None
        return list(options).index(f" {self.answers.pop(0)}\n"), 0.9


def choose(model: Model, said: str, *tools: ToolHints, stop: bool = False) -> ChosenCall | None:
    return CallChooser(model).choose(said, tools or (TIMER, DIM, WHERE), lambda: stop)


def test_the_tool_and_then_its_arguments_are_chosen() -> None:
    model = Model({"set a timer": 5.0}, "five minutes")
    call = choose(model, "Please set a timer for five minutes.")
    assert call == ChosenCall("set_timer", '{"duration": "five minutes"}')
    assert model.weighed == [ordinary_prompt(), tool_prompt(TIMER)], "only what has a cue is asked"
    assert model.prompts[0].endswith("User: Please set a timer for five minutes.\nduration:")
    assert " five minutes\n" in model.options[0]


def test_of_several_tools_the_likeliest_is_chosen() -> None:
    model = Model({"set a timer": 5.0, "where something is": 7.0}, "")
    assert choose(model, "where is the timer") == ChosenCall("where", "{}")
    assert len(model.weighed) == 3


def test_without_a_cue_the_model_is_not_even_asked() -> None:
    model = Model()
    assert choose(model, "What is the capital of France?") is None
    assert model.weighed == []


@pytest.mark.parametrize("more", [-3.0, SURE - 0.1])
def test_no_call_where_the_words_are_as_likely_said_for_no_tool(more: float) -> None:
    assert choose(Model({"set a timer": more}), "How does a timer work?") is None


def test_a_choice_that_was_stopped_is_none() -> None:
    likely = {"set a timer": 5.0}
    assert choose(Model(likely, "five minutes"), "a timer", stop=True) is None
    assert choose(Model(likely), "a timer for five minutes") is None


def test_a_tool_is_asked_about_by_its_wish_and_examples() -> None:
    assert tool_prompt(TIMER) == (
        "Things people say to a voice assistant to set a timer:\n- Set a timer for ten minutes.\n-"
    )
    assert tool_prompt(WHERE).startswith(
        "Things people say to a voice assistant to have this done: Tells where something is.:"
    )


def test_of_what_an_argument_can_be_the_longest_pieces_are_offered() -> None:
    timer = tool_of(timers.set_timer)
    assert timer is not None
    options = fitting(
        timer.hints, "duration", spans("Start a timer for an hour and a half, please.")
    )
    assert options == ["for an hour and a half"]
    assert fitting(WHERE, "place", ["Rome", "in Rome"]) == ["Rome", "in Rome"], "all can be one"


def test_arguments_are_of_their_types() -> None:
    model = Model({"dims": 0.0, "Dims": 5.0}, "30", "cold", "true")
    call = choose(model, "Dim the lamps to 30 or 40, cold and slowly.")
    assert call is not None
    assert json.loads(call.arguments) == {"level": 30, "mood": "cold", "slowly": True}
    assert model.options[0] == [" 30\n", " 40\n"]
    assert model.options[1] == [" warm\n", " cold\n"]


def test_what_is_needed_and_not_said_makes_no_call() -> None:
    assert choose(Model({"Dims": 5.0}), "Dim the lamps.") is None


def test_an_argument_that_may_be_left_out() -> None:
    assert choose(Model({"where": 5.0}, ""), "where is it") == ChosenCall("where", "{}")
    said = choose(Model({"where": 5.0}, "Rome"), "where is Rome")
    assert said == ChosenCall("where", '{"place": "Rome"}')


def test_very_long_speech_asks_for_nothing() -> None:
    model = Model()
    assert choose(model, "timer " * 60) is None
    assert choose(model, "  ") is None
    assert model.weighed == []


def test_cues_by_default_are_the_words_of_name_and_examples() -> None:
    assert is_cued(DIM, "could you make it darker")
    assert is_cued(DIM, "the lamp is too bright") is False
    assert is_cued(DIM, "turn on the lamps")
    assert content_words("set_the_kitchen lights") == {"kitch", "light"}


def test_values_of_schemas() -> None:
    assert values({"type": "number"}, "from 1 to 2.5 or 1") == [1.0, 2.5]
    assert values({"type": "array"}, "one") == []
    assert values({"enum": [1, None]}, "") == [1, None]


@given(st.text(max_size=60))
def test_spans_are_pieces_of_what_was_said(said: str) -> None:
    found = spans(said)
    assert len(found) == len(set(found))
    assert all(each in said and each == each.strip() for each in found)


def test_it_is_warmed_with_what_is_always_the_same() -> None:
    model = Model()
    CallChooser(model).warm((TIMER,))
    assert model.weighed == [ordinary_prompt()]
    CallChooser(model).warm(())
    assert len(model.weighed) == 1
