"""Cuts text into pieces short enough to be synthesised at once. Pure; knows no model."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SENTENCE_END = re.compile(r"[.!?…]+[\"”’)\]]*(?=\s)|[。！？]+|\n+")
_CLAUSE_END = re.compile(r"[,;:—](?=\s)|[、，；：]")


def pieces(text: str, max_chars: int) -> Iterator[tuple[str, int]]:
    """Yield (piece, end): pieces of `text` of at most `max_chars` characters and where they end.

    A piece longer than that is cut at the last clause, else at the last space, else anywhere.
    Joining `text[previous end:end]` gives the text; a piece has no white space around it and is
    never empty. Meant for speakable text: it knows no abbreviations, since a cut there costs only
    a short pause.

    Raises:
        ValueError: `max_chars` is below 1.
    """
    if max_chars < 1:
        raise ValueError(f"max_chars must be at least 1, got {max_chars}")
    start = 0
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    for end in [*ends, len(text)]:
        while end - start > max_chars:
            cut = _cut(text[start : start + max_chars]) + start
            yield from _piece(text, start, cut)
            start = cut
        yield from _piece(text, start, end)
        start = end


def _piece(text: str, start: int, end: int) -> Iterator[tuple[str, int]]:
    piece = text[start:end].strip()
    if piece:
        yield piece, end


def _cut(stretch: str) -> int:
    """Where to cut `stretch`, at least 1."""
    clauses = [match.end() for match in _CLAUSE_END.finditer(stretch)]
    space = stretch.rstrip().rfind(" ") + 1
    return (clauses[-1] if clauses else space) or len(stretch)
