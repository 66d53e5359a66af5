"""Where words are put under a voice so that none lies over another: the rule of `page.js`, for
pictures. Pure: seconds, pixels and text.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

GAP_PX = 6.0
LEAST_PX = 30.0
"""What words need to say anything; with less room they are left out."""
NATURAL_PX = 240.0
"""How wide words are where they have room, or as wide as they were said long."""


@dataclass(frozen=True, slots=True)
class SpokenWords:
    """Words, and when they were said."""

    at_s: float
    to_s: float
    text: str


@dataclass(frozen=True, slots=True)
class PlacedWords:
    """Words where they are drawn."""

    left_px: float
    width_px: float
    lines: tuple[str, ...]


def placed(
    spoken: Iterable[SpokenWords],
    window_s: tuple[float, float],
    width_px: float,
    *,
    char_px: float,
    most_lines: int = 3,
) -> list[PlacedWords]:
    """Place the words of one lane, each as wide as there is room before the next.

    Args:
        spoken: ascending by `at_s`.
        window_s: beginning and end of what is drawn, in `width_px`.
        char_px: width of a character, rarely less.
        most_lines: words beyond them are left out, with an ellipsis.
    """
    from_s, to_s = window_s
    px_per_s = width_px / (to_s - from_s)
    labels = [each for each in spoken if each.text.strip()]
    found: list[PlacedWords] = []
    for number, label in enumerate(labels):
        left = max(0.0, (label.at_s - from_s) * px_per_s)
        following = labels[number + 1].at_s if number + 1 < len(labels) else math.inf
        next_px = (following - from_s) * px_per_s
        natural = max((label.to_s - from_s) * px_per_s - left, NATURAL_PX)
        room = min(next_px - GAP_PX, width_px, left + natural) - left
        shown = label.at_s < to_s and max(label.to_s, label.at_s) >= from_s
        if shown and room >= LEAST_PX:
            lines = wrapped(label.text, int(room / char_px), most_lines)
            found.append(PlacedWords(left, room, lines))
    return found


def wrapped(text: str, most_chars: int, most_lines: int) -> tuple[str, ...]:
    """Words in lines; what does not fit is left out, with an ellipsis."""
    lines = textwrap.wrap(
        " ".join(text.split()), max(1, most_chars), max_lines=most_lines, placeholder="…"
    )
    return tuple(line[: max(1, most_chars)] for line in lines)


def rows_of(duration_s: float, row_s: float) -> Sequence[tuple[float, float]]:
    """The rows in which a conversation is drawn, one below the other, like lines of a text."""
    count = max(1, math.ceil(duration_s / row_s))
    return [(number * row_s, (number + 1) * row_s) for number in range(count)]
