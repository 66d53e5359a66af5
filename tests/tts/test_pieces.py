"""Text cut into pieces that are synthesised at once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.tts.pieces import pieces


def cut(text: str, max_chars: int = 40) -> list[str]:
    return [piece for piece, _ in pieces(text, max_chars)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("  \n ", []),
        ("Hello there.", ["Hello there."]),
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ('He said "go." Then he went.', ['He said "go."', "Then he went."]),
        ("It costs 3.50 at a.b.c today", ["It costs 3.50 at a.b.c today"]),
        ("first line\nsecond line", ["first line", "second line"]),
        ("你好。再见！", ["你好。", "再见！"]),
        (
            "A sentence that is too long, but has a clause to cut at.",
            ["A sentence that is too long,", "but has a clause to cut at."],
        ),
        (
            "a sentence that is too long and has no clause",
            ["a sentence that is too long and has no", "clause"],
        ),
        ("x" * 90, ["x" * 40, "x" * 40, "x" * 10]),
    ],
)
def test_pieces(text: str, expected: list[str]) -> None:
    assert cut(text) == expected


@given(st.text(alphabet="ab.,! \n。😀", max_size=200), st.integers(1, 30))
def test_nothing_is_lost(text: str, max_chars: int) -> None:
    found = list(pieces(text, max_chars))
    assert "".join("".join(p.split()) for p, _ in found) == "".join(text.split())
    start = 0
    for piece, end in found:
        assert piece == piece.strip()
        assert 0 < len(piece) <= max_chars
        assert piece in text[start:end]
        start = end


def test_a_limit_that_makes_no_sense() -> None:
    with pytest.raises(ValueError, match="0"):
        cut("text", 0)
