"""The tool that calculates."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from s2s.tools.builtin.arithmetic import (
    ArithmeticFault,
    ArithmeticSign,
    evaluate,
    read_expression,
    said_expression,
    said_result,
)
from s2s.tools.tool import tool

_NUMBER = (
    r"(?:\d[\d.,]*|zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|"
    r"\w+ty|hundred|thousand|million)"
)


def known_expression(text: str) -> str:
    """`text`, which can be calculated.

    Raises:
        ValueError: it cannot; says why.
    """
    try:
        parts = read_expression(text)
        evaluate(parts)
    except ArithmeticFault as fault:
        raise ValueError(f"{text!r} cannot be calculated: {fault}") from fault
    if not any(isinstance(part, ArithmeticSign) for part in parts):
        raise ValueError(f"there is nothing to calculate in {text!r}")
    return text


Expression = Annotated[str, AfterValidator(known_expression)]


@tool(
    name="calculate",
    wish="have something calculated",
    cues=(
        rf"{_NUMBER}\W*(?:\+|-|−|\*|/|×|÷|x|\^|plus|minus|times|multiplied|divided|over|percent"
        rf"|per cent|%|to the power|squared|cubed|mod(?:ulo)?)(?:\W|$)",
        rf"\b(?:divide|multiply|add|subtract|sum of|product of)\W+(?:the )?{_NUMBER}",
        rf"\b(?:root|half|third|quarter|percent(?:age)?) of\W+(?:the )?{_NUMBER}",
    ),
    examples=(
        ("What is twelve times nine?", '{"expression": "twelve times nine"}'),
        ("How much is 20 percent of 45?", '{"expression": "20 percent of 45"}'),
    ),
    written="expression",
)
def calculate(expression: Expression) -> str:
    """Calculates exactly: sums, products, powers, roots, percentages.

    Args:
        expression: what to calculate, such as "17 * 23", "(3 + 4) / 2" or "15% of 80".
    """
    parts = read_expression(expression)
    value = evaluate(parts)
    said = said_expression(parts)
    return f"{said[:1].upper()}{said[1:]} is {said_result(value)}."
