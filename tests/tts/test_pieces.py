"""Text cut into pieces that are synthesised at once."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.tts.pieces import ends_sentence, pieces, sentences


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
        (
            "one two three four five six, seven eight nine",
            ["one two three four five six,", "seven eight nine"],
        ),
        ("「你好。」他说。", ["「你好。」", "他说。"]),
        ("x" * 90, ["x" * 40, "x" * 40, "x" * 10]),
    ],
)
def test_pieces(text: str, expected: list[str]) -> None:
    assert cut(text) == expected


@given(
    st.text(alphabet="ab.,! \n。😀", max_size=200),
    st.integers(1, 30),
    st.booleans(),
    st.none() | st.lists(st.integers(-1, 40), min_size=1),
)
def test_nothing_is_lost(text: str, max_chars: int, join: bool, wishes: list[int] | None) -> None:
    wish = None if wishes is None else itertools.cycle(wishes).__next__
    found = list(pieces(text, max_chars, join=join, wish=wish))
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


def test_joined_sentences_stay_together_as_long_as_they_fit() -> None:
    text = "One two. Three! Four five? A sentence, as it were, of forty characters."
    found = [piece for piece, _ in pieces(text, 40, join=True)]
    assert found == [
        "One two. Three! Four five?",
        "A sentence, as it were,",
        "of forty characters.",
    ]


LONG = (
    "Well, there is a lot to say about this, although it may take a while, because the story "
    "begins in the year when the harbour was built, long before anybody living now was born, "
    "and it ends, as far as we know, with a letter that nobody has ever opened."
)


def test_the_first_piece_is_short_and_ends_at_a_clause() -> None:
    wishes = iter([45, *[90] * 20])
    first, *rest = [piece for piece, _ in pieces(LONG, 240, wish=wishes.__next__)]
    assert first == "Well, there is a lot to say about this,"
    assert all(piece.endswith((",", ".")) for piece in rest)
    whole = [piece for piece, _ in pieces(LONG, 240)]
    assert len(whole[0]) > 5 * len(first)


def test_a_clause_longer_than_the_wish_is_not_cut_inside() -> None:
    text = "a clause of thirty characters, and another one."
    assert [p for p, _ in pieces(text, 100, wish=lambda: 10)] == [
        "a clause of thirty characters,",
        "and another one.",
    ]


def test_a_clause_far_longer_than_the_wish_is_cut_where_people_breathe() -> None:
    text = "We went to the harbour in the morning and looked for the ship that was not there."
    assert [p for p, _ in pieces(text, 200, wish=lambda: 15)] == [
        "We went to the harbour in the morning",
        "and looked for the ship that was not there.",
    ]
    assert [p for p, _ in pieces(text, 200, wish=lambda: 60)] == [text], "half as long again"
    assert [p for p, _ in pieces("You and I were here and now we are.", 200, wish=lambda: 1)] == [
        "You and I were here",
        "and now we are.",
    ]


def test_sentences_are_whole_however_long() -> None:
    assert sentences(LONG + " Yes. No!") == [LONG, "Yes.", "No!"]
    assert sentences(" ") == []


@pytest.mark.parametrize(
    ("piece", "ends"),
    [("Yes.", True), ('"Yes!"', True), ("Well,", False), ("好。」", True), ("a", False)],
)
def test_what_ends_a_sentence(piece: str, ends: bool) -> None:
    assert ends_sentence(piece) is ends
