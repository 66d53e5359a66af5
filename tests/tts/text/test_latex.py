"""Formulas become plain signs; money and prose stay."""

from __future__ import annotations

import pytest

from s2s.tts.text.latex import plain_formula, read_formulas
from tests.support.rewriting import rewritten


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("$x^2$", "x^2"),
        ("$$\\frac{1}{2}$$", "1/2"),
        ("\\(\\alpha + \\beta\\)", "α + β"),
        ("\\[\\sqrt[3]{8}\\]", "∛8"),
        ("it is \\frac{a}{b} here", "it is a ∕ b here"),
        ("$\\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix}$", "1, 2; 3, 4"),
        ("$\\text{if } x > 0$", "if x > 0"),
        ("$\\foo{x}$", "x"),
    ],
)
def test_a_formula_is_plain_signs(text: str, said: str) -> None:
    assert rewritten(read_formulas, text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("$5 and $6", "$5 and $6"),
        ("no formula", "no formula"),
        ("C:\\new\\alpha_dir", "C:\\new\\alpha_dir"),
        ("a_b", "a_b"),
    ],
)
def test_what_is_no_formula_stays(text: str, said: str) -> None:
    assert rewritten(read_formulas, text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\\sqrt{2}", "√2"),
        ("e^{-x}", "e^−x"),
        ("\\left( a \\right)", "( a )"),
        ("\\binom{n}{k}", "(n, k)"),
    ],
)
def test_a_formula_may_be_nested(text: str, said: str) -> None:
    assert plain_formula(text) == said


@pytest.mark.parametrize(
    "text", ["\\frac{", "\\sqrt", "x^", "}{", "\\left", "\\begin{x}", "{" * 50]
)
def test_half_a_formula_is_read_as_far_as_it_goes(text: str) -> None:
    assert "\\" not in plain_formula(text)
