"""Tools made of functions: what a model is told of them, and what their arguments may be."""

from __future__ import annotations

import json
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.tools import Tool, ToolContext, ToolError, tool
from s2s.tools.tool import MOST_CHARS, as_text, made_of, read_arguments, tool_of


@tool
def dim(room: str, level: int = 50, mood: Literal["warm", "cold"] = "warm") -> str:
    """Dims the lamps of a room.

    They dim slowly.

    Args:
        room: which room, such as
            "kitchen".
        level: how bright, from 0 to 100.

    Returns:
        what was done.
    """
    return f"{room} {level} {mood}"


def made(function: object) -> Tool:
    found = tool_of(function)
    assert found is not None
    return found


def test_the_schema_is_made_of_signature_and_docstring() -> None:
    schema = made(dim).schema
    assert (schema.name, schema.description) == (
        "dim",
        "Dims the lamps of a room. They dim slowly.",
    )
    assert schema.parameters == {
        "type": "object",
        "properties": {
            "room": {"type": "string", "description": 'which room, such as "kitchen".'},
            "level": {
                "type": "integer",
                "default": 50,
                "description": "how bright, from 0 to 100.",
            },
            "mood": {"type": "string", "enum": ["warm", "cold"], "default": "warm"},
        },
        "required": ["room"],
        "additionalProperties": False,
    }


def test_a_function_stays_what_it_is() -> None:
    assert dim("hall") == "hall 50 warm"
    assert tool_of(len) is tool_of("dim") is None


def test_arguments_are_read_as_their_types() -> None:
    outcome = made(dim).call('{"room": "hall", "level": "7"}', ToolContext())
    assert (outcome.text, outcome.failed, outcome.sayable) == ("hall 7 warm", False, True)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ("{}", "room: Field required"),
        ('{"room": "hall", "level": "much"}', "level: Input should be a valid integer"),
        ('{"room": "hall", "mood": "blue"}', "mood: Input should be 'warm' or 'cold'"),
        ('{"room": "hall", "colour": 1}', "colour: Extra inputs"),
        ("room: hall", "must be one JSON object"),
        ("[1]", "must be one JSON object"),
        ("[" * 100_000, "must be one JSON object"),
    ],
)
def test_arguments_that_do_not_fit_are_told_and_nothing_is_run(arguments: str, why: str) -> None:
    outcome = made(dim).call(arguments, ToolContext())
    assert outcome.failed
    assert why in outcome.text


@given(
    st.dictionaries(
        st.sampled_from(["room", "level", "mood", "other"]),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text()),
    )
)
def test_a_tool_is_only_ever_run_with_arguments_that_fit(arguments: dict[str, object]) -> None:
    seen: list[tuple[object, object]] = []

    def run(room: str, level: int = 50) -> str:
        """Does something."""
        seen.append((room, level))
        return "done"

    outcome = made_of(run).call(json.dumps(arguments), ToolContext())
    assert outcome.failed != bool(seen)
    for room, level in seen:
        assert isinstance(room, str)
        assert type(level) is int


def test_a_function_is_given_the_context_and_models_are_not_told_of_it() -> None:
    def speak(context: ToolContext, word: str = "hi") -> str:
        """Says it."""
        return f"{word} {context.language}"

    found = made_of(speak)
    assert list(found.schema.parameters["properties"]) == ["word"]  # type: ignore[call-overload]
    assert found.call("", ToolContext(language="de")).text == "hi de"


def test_whatever_goes_wrong_is_told() -> None:
    def fail(how: str) -> str:
        """Fails."""
        raise ToolError("the lamp is broken") if how == "kindly" else KeyError("x")

    found = made_of(fail)
    assert found.call('{"how": "kindly"}', ToolContext()).text == "Error: the lamp is broken"
    outcome = found.call('{"how": "badly"}', ToolContext())
    assert (outcome.text, outcome.failed) == ("Error: fail failed: KeyError: 'x'", True)


def test_coroutines_are_tools_too() -> None:
    async def answer() -> dict[str, int]:
        """Answers."""
        return {"answer": 42}

    outcome = made_of(answer).call("", ToolContext())
    assert (outcome.text, outcome.sayable) == ('{"answer": 42}', False)


def test_what_a_tool_gives_is_bounded_text() -> None:
    assert as_text(None) == "Done."
    assert as_text("  ") == "Nothing."
    assert as_text([1, "ä"]) == '[1, "ä"]'
    assert len(as_text("a" * 10 * MOST_CHARS)) < MOST_CHARS + 50
    assert dict(read_arguments("")) == {}


def test_what_cannot_be_a_tool_is_refused() -> None:
    def untold(x: int) -> int:
        return x

    def untyped(x) -> int:  # type: ignore[no-untyped-def]
        """Something."""
        return x

    def nameless(*many: int) -> int:
        """Something."""
        return len(many)

    for function, why in ((untold, "docstring"), (untyped, "no type"), (nameless, "no name")):
        with pytest.raises(ValueError, match=why):
            made_of(function)
    with pytest.raises(ValueError, match="cannot be the name"):
        made_of(dim, name="dim the lamp")
