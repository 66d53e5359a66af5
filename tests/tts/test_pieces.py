"""Text cut into pieces that are synthesised at once."""

from __future__ import annotations

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
    st.none() | st.integers(1, 40),
    st.floats(1.0, 4.0),
)
def test_nothing_is_lost(
    text: str, max_chars: int, join: bool, first_chars: int | None, growth: float
) -> None:
    found = list(pieces(text, max_chars, join=join, first_chars=first_chars, growth=growth))
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
    with pytest.raises(ValueError, match="growth"):
        list(pieces("text", 40, growth=0.5))


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
    first, *rest = [piece for piece, _ in pieces(LONG, 240, first_chars=45, growth=2.0)]
    assert first == "Well, there is a lot to say about this,"
    assert all(piece.endswith((",", ".")) for piece in rest)
    whole = [piece for piece, _ in pieces(LONG, 240)]
    assert len(whole[0]) > 5 * len(first)


def test_a_clause_longer_than_the_wish_is_not_cut_inside() -> None:
    text = "a clause of thirty characters, and another one."
    assert [p for p, _ in pieces(text, 100, first_chars=10)] == [
        "a clause of thirty characters,",
        "and another one.",
    ]


@pytest.mark.parametrize("rtf", [0.25, 0.4, 0.5])
def test_a_slow_voice_does_not_run_dry(rtf: float) -> None:
    """The sound of a piece lasts while the next, which is up to 1 / rtf times as long, is made."""
    text = "All right. " + LONG

    def waits_s(found: list[str]) -> float:
        """Longest silence between two pieces, at 14 characters a second."""
        made_s = played_s = longest_s = 0.0
        for piece in found:
            made_s += rtf * len(piece) / 14
            longest_s = max(longest_s, made_s - played_s if played_s else 0.0)
            played_s = max(played_s, made_s) + len(piece) / 14
        return longest_s

    grown = [p for p, _ in pieces(text, 240, first_chars=30, growth=1.0 / rtf)]
    assert waits_s([p for p, _ in pieces(text, 240)]) > 0.8
    assert waits_s(grown) < 0.35


def test_sentences_are_whole_however_long() -> None:
    assert sentences(LONG + " Yes. No!") == [LONG, "Yes.", "No!"]
    assert sentences(" ") == []


@pytest.mark.parametrize(
    ("piece", "ends"),
    [("Yes.", True), ('"Yes!"', True), ("Well,", False), ("好。」", True), ("a", False)],
)
def test_what_ends_a_sentence(piece: str, ends: bool) -> None:
    assert ends_sentence(piece) is ends
