"""Word error rate."""

from __future__ import annotations

import pytest

from s2s.bench.hearing import wer


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mr. John's ill-disposed!", ["mister", "john's", "ill", "disposed"]),
        ("10 meters", ["ten", "meters"]),
        ("342, 21 %", ["three", "hundred", "forty", "two", "twenty", "one", "percent"]),
        ("  ", []),
        ("Don’t", ["don't"]),
    ],
)
def test_words_as_compared(text: str, expected: list[str]) -> None:
    assert wer.words(text) == expected


@pytest.mark.parametrize(
    ("reference", "heard", "wrong"),
    [
        ("a b c d", "a b c d", 0),
        ("a b c d", "", 4),
        ("a b c d", "a x c d", 1),
        ("a b c d", "a c d", 1),
        ("a b c d", "a b b c d", 1),
        ("a b c d", "d c b a", 4),
        ("a", "a b c", 2),
    ],
)
def test_errors(reference: str, heard: str, wrong: int) -> None:
    assert wer.errors(reference, heard) == (wrong, len(reference.split()))


def test_rate_is_over_all_words() -> None:
    assert wer.rate([("one two three", "one two three"), ("four", "for")]) == pytest.approx(0.25)
    with pytest.raises(ValueError, match="no word"):
        wer.rate([("", "something")])
