"""Word error rate, as all our tests and benchmarks count it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SPOKEN = {"mr": "mister", "mrs": "missus", "dr": "doctor", "ok": "okay", "%": "percent"}
_ONES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"),
    *("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
    *("eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_TOKEN = re.compile(r"\d+|%|[^\W\d_]+(?:'[^\W\d_]+)*")


def words(text: str) -> list[str]:
    """The words of `text` as compared: lower case, no punctuation, small numbers in letters.

    Hyphens part words, apostrophes do not: "ill-disposed" is two, "don't" is one.
    """
    found: list[str] = []
    tokens: list[str] = _TOKEN.findall(text.lower().replace("’", "'"))
    for token in tokens:
        if token.isdigit() and int(token) < 1000:
            found += _number(int(token))
        else:
            found.append(_SPOKEN.get(token, token))
    return found


def errors(reference: str, heard: str) -> tuple[int, int]:
    """(errors, words of the reference): the fewest words to insert, delete or replace."""
    wanted, got = words(reference), words(heard)
    row = list(range(len(got) + 1))
    for i, word in enumerate(wanted, start=1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(got, start=1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (word != other))
    return row[-1], len(wanted)


def rate(pairs: Iterable[tuple[str, str]]) -> float:
    """Errors over words of all (reference, heard) pairs together.

    Raises:
        ValueError: the references hold no word.
    """
    counts = [errors(reference, heard) for reference, heard in pairs]
    total = sum(count for _, count in counts)
    if not total:
        raise ValueError("word error rate: the references hold no word")
    return sum(wrong for wrong, _ in counts) / total


def _number(value: int) -> list[str]:
    """`value` from 0 to 999 in words."""
    if value >= 100:
        rest = _number(value % 100) if value % 100 else []
        return [_ONES[value // 100], "hundred", *rest]
    if value < 20:
        return [_ONES[value]]
    return [_TENS[value // 10 - 2], *([_ONES[value % 10]] if value % 10 else [])]
