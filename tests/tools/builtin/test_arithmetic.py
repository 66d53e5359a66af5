"""Arithmetic: exact against Python's own fractions, and harmless whatever is written."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.tools.builtin.arithmetic import (
    MOST_DEPTH,
    ArithmeticFault,
    evaluate,
    read_expression,
    said_expression,
    said_result,
)


def result(text: str) -> str:
    return said_result(evaluate(read_expression(text)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("17 * 23", "391"),
        ("What is seventeen times twenty three?", "391"),
        ("15% of 80", "12"),
        ("200 plus 10%", "220"),
        ("half of ninety", "45"),
        ("2^3^2", "512"),
        ("-2^2", "-4"),
        ("the square root of 169", "13"),
        ("sqrt(2)", "about 1.41421"),
        ("1/3", "about 0.333333"),
        ("0.1 + 0.2", "0.3"),
        ("5 factorial", "120"),
        ("what is 5 times 5!", "25"),
        ("one hundred and five plus two", "107"),
        ("1,000 + 1", "1001"),
        ("Can you divide 144 by 12 for me?", "12"),
        ("subtract 5 from 20, please", "15"),
        ("the sum of 3 and 4", "7"),
        ("10 - -3", "13"),
        ("2**100", "about 1.2677 times 10 to the power of 30"),
    ],
)
def test_what_is_written_or_said_is_calculated(text: str, expected: str) -> None:
    assert result(text) == expected


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("2 +", "missing at the end"),
        ("", "missing at the end"),
        ("10 / 0", "divided by zero"),
        ("7 mod 0", "divided by zero"),
        ("0 ^ -1", "divided by zero"),
        ("9**9**9", "too large"),
        ("(1000!)", "whole numbers from 0 to 400"),
        ("sqrt(-1)", "no square root"),
        ("__import__('os')", "no number and no sign"),
        ("2 3", "does not go on"),
        ("(2 + 3", "not closed"),
        ("(" * (MOST_DEPTH + 2) + "1" + ")" * (MOST_DEPTH + 2), "brackets"),
        ("1" * 500, "characters"),
    ],
)
def test_what_cannot_be_calculated_is_refused_with_its_reason(text: str, why: str) -> None:
    with pytest.raises(ArithmeticFault, match=why):
        result(text)


def test_what_was_understood_can_be_said() -> None:
    said = said_expression(read_expression("How much is (3 + 4) * 2?"))
    assert said == "(3 plus 4) times 2"


@dataclass(frozen=True)
class Written:
    """An expression and what it comes to."""

    text: str
    value: Fraction


def _numbers() -> st.SearchStrategy[Written]:
    return st.integers(0, 9999).map(lambda number: Written(str(number), Fraction(number)))


def _joined(inner: st.SearchStrategy[Written]) -> st.SearchStrategy[Written]:
    def join(one: Written, sign: str, other: Written) -> Written:
        match sign:
            case "+":
                value = one.value + other.value
            case "-":
                value = one.value - other.value
            case "*":
                value = one.value * other.value
            case _:
                value = one.value / other.value if other.value else Fraction(0)
        divided_by_zero = sign == "/" and not other.value
        text = "(0)" if divided_by_zero else f"({one.text} {sign} {other.text})"
        return Written(text, value)

    return st.builds(join, inner, st.sampled_from("+-*/"), inner) | inner.map(
        lambda each: Written(f"(-{each.text})", -each.value)
    )


@given(st.recursive(_numbers(), _joined, max_leaves=6))
def test_it_is_exact(written: Written) -> None:
    assert evaluate(read_expression(written.text)) == written.value


@given(st.lists(st.tuples(st.sampled_from("+-*"), st.integers(0, 99)), min_size=1, max_size=6))
def test_products_come_before_sums(parts: list[tuple[str, int]]) -> None:
    text = "7" + "".join(f" {sign} {number}" for sign, number in parts)
    total, product = Fraction(0), Fraction(7)
    for sign, number in parts:
        if sign == "*":
            product *= number
        else:
            total, product = total + product, Fraction(number if sign == "+" else -number)
    assert evaluate(read_expression(text)) == total + product


@given(st.text(st.sampled_from("0123456789+-*/^%!().,²√ abcdefgpiquarthlf"), max_size=60))
def test_whatever_is_written_gives_a_number_or_a_reason(text: str) -> None:
    try:
        value = evaluate(read_expression(text))
    except ArithmeticFault:
        return
    assert said_result(value)
