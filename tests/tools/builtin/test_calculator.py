"""The tool that calculates."""

from __future__ import annotations

import json

from s2s.tools import ToolContext
from s2s.tools.builtin.calculator import calculate
from s2s.tools.tool import tool_of


def test_it_says_what_it_calculated() -> None:
    assert calculate("17 * 23") == "17 times 23 is 391."
    assert calculate("the square root of two") == "The square root of 2 is about 1.41421."


def test_what_it_cannot_calculate_is_told_with_the_reason() -> None:
    found = tool_of(calculate)
    assert found is not None
    for expression, why in (
        ("a / b", "'a / b' cannot be calculated: 'a'"),
        ("7", "nothing to calculate in '7'"),
    ):
        outcome = found.call(json.dumps({"expression": expression}), ToolContext())
        assert outcome.failed
        assert why in outcome.text
        assert not found.hints.fits("expression", expression)
    assert found.hints.fits("expression", "7 plus 1")
