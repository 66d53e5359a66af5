"""What only the start of an answer may be, and headers of gpt-oss."""

from __future__ import annotations

import pytest

from s2s.core.markup.headers import (
    HarmonyHeader,
    Start,
    read_call_fence,
    read_harmony,
    read_start,
)
from s2s.core.markup.signs import Cut


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("assistant\nHello", Start.ROLE),
        ("model \n", Start.ROLE),
        ("analysisThe user wants", Start.THOUGHT),
        ("analysis of it", Start.NONE),
        ('{"name"', Start.BARE_CALL),
        ("[lamp(", Start.BARE_CALL),
        ("Assistants are", Start.NONE),
        (" assistant\n", Start.NONE),
    ],
)
def test_an_answer_begins_with(text: str, start: Start) -> None:
    assert read_start(text, final=True) is start


@pytest.mark.parametrize("text", ["a", "assis", "assistant", "assistant  ", "mod", "analysis", "["])
def test_what_may_become_one_is_waited_for_unless_no_more_comes(text: str) -> None:
    assert read_start(text, final=False) is Start.MORE
    assert read_start(text, final=True) is Start.NONE


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("<|start|>assistant<|channel|>final", HarmonyHeader(True, False, "")),
        ("<|channel|>analysis", HarmonyHeader(True, True, "")),
        ("<|start|>user", HarmonyHeader(False, False, "")),
        (
            "<|start|>assistant<|channel|>commentary to=functions.lamp_on",
            HarmonyHeader(True, False, "lamp_on"),
        ),
        ("<|start|>assistant to=user<|channel|>final", HarmonyHeader(True, False, "")),
        ("<|start|>functions.lamp_on to=assistant", HarmonyHeader(False, False, "")),
    ],
)
def test_a_header_says_who_speaks_and_to_whom(header: str, expected: HarmonyHeader) -> None:
    assert read_harmony(header) == expected


@pytest.mark.parametrize(
    ("text", "fence"),
    [
        ("```tool_code\nf()", "```"),
        ("~~~~ tool_call\n", "~~~~"),
        ("```python\nf()", Cut.NONE),
        ("```tool_co", Cut.MORE),
        ("``", Cut.MORE),
        ("```", Cut.MORE),
        ("`tool", Cut.NONE),
        ("```py", Cut.NONE),
    ],
)
def test_a_code_block_may_hold_a_call(text: str, fence: str | Cut) -> None:
    assert read_call_fence(text, final=False) == fence


def test_half_a_fence_at_the_end_is_none() -> None:
    assert read_call_fence("```tool_co", final=True) is Cut.NONE
