"""Cuts a text that is to be spoken into pieces. Pure; knows no model.

The one splitter for text that is there as a whole: sentences for a voice that makes one at a time,
segments for a model that loses its pace in long texts, pieces that grow for a voice that is slow. A
stream of tokens is cut by the language model's stage (`llm/sentences`), which has to decide before
the text goes on; docs/decisions/text-splitters.md says why those are two.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

_CLOSERS = '"”’»)\\]」』）】'
_SENTENCE_END = re.compile(rf"[.!?…]+[{_CLOSERS}]*(?=\s)|[。！？]+[{_CLOSERS}]*|\n+")
_CLAUSE_END = re.compile(r"[,;:—](?=\s)|[、，；：]")
_LAST_MARK = re.compile(rf"[.!?…。！？][{_CLOSERS}]*\Z")


def pieces(
    text: str,
    max_chars: int,
    *,
    join: bool = False,
    first_chars: int | None = None,
    growth: float = 2.0,
) -> Iterator[tuple[str, int]]:
    """Yield (piece, end): pieces of `text` of at most `max_chars` characters and where they end.

    A piece is a sentence, or with `join` as many as fit. One that is too long is cut at its last
    clause that fits, else at the last space, else anywhere. Joining `text[previous end:end]` gives
    the text; a piece has no white space around it and is never empty. Meant for speakable text: it
    knows no abbreviations, since a cut there costs only a short pause.

    Args:
        text: all of it.
        max_chars: no piece is longer.
        join: sentences stay together as long as they fit.
        first_chars: wished length of the first piece, so that sound starts early. It is kept by
            cutting at clauses and never inside one.
        growth: with `first_chars`, the wished length of a piece is so many times what is still to
            be played when it is begun. A voice that takes r seconds for a second of sound does not
            run dry with growth 1 / r, as long as clauses are short enough.

    Raises:
        ValueError: a length below 1 or a growth below 1.
    """
    if max_chars < 1 or (first_chars is not None and first_chars < 1) or growth < 1.0:
        raise ValueError(
            f"max_chars {max_chars}, first_chars {first_chars} and growth {growth} "
            "must be at least 1"
        )
    cutter = _Cutter(text, max_chars, join)
    wish = max_chars if first_chars is None else first_chars
    ahead = 0.0
    start = 0
    while start < len(text):
        if text[start].isspace():
            start += 1
            continue
        end = cutter.end(start, min(wish, max_chars))
        yield text[start:end].rstrip(), end
        if first_chars is not None:
            # While this piece was made, a part of what was ahead has been played.
            ahead = max(0.0, ahead - (end - start) / growth) + (end - start)
            wish = max(1, int(growth * ahead))
        start = end


def sentences(text: str) -> list[str]:
    """The sentences of `text`, however long."""
    return [piece for piece, _ in pieces(text, max(1, len(text)))]


def ends_sentence(piece: str) -> bool:
    """The piece ends where a sentence does, not at a clause or inside one."""
    return _LAST_MARK.search(piece) is not None


class _Cutter:
    """Where the pieces of one text end."""

    def __init__(self, text: str, max_chars: int, join: bool) -> None:
        self._text = text
        self._max_chars = max_chars
        self._join = join
        self._sentences = [match.end() for match in _SENTENCE_END.finditer(text)] + [len(text)]
        self._clauses = [match.end() for match in _CLAUSE_END.finditer(text)]

    def end(self, start: int, wish: int) -> int:
        """The end of the piece that begins at `start`, about `wish` long if it can be."""
        limit = start + self._max_chars
        if self._join:
            end = _last(self._sentences, start, start + wish) or _last(
                self._sentences, start, limit
            )
        else:
            end = _first(self._sentences, start, limit)
        if end is not None and end <= start + wish:
            return end
        fitting = _last(self._clauses, start, start + wish)
        if wish < self._max_chars:
            fitting = fitting or _first(self._clauses, start, limit if end is None else end)
        return fitting or end or self._space(start, limit)

    def _space(self, start: int, limit: int) -> int:
        """The last end of a word in (start, limit], or the limit."""
        for end in range(limit, start, -1):
            if self._text[end - 1 : end + 1].strip() != self._text[end - 1 : end + 1]:
                return end
        return limit


def _last(ends: Sequence[int], start: int, limit: int) -> int | None:
    """The last of `ends` in (start, limit]."""
    at = bisect_right(ends, limit) - 1
    return ends[at] if at >= 0 and ends[at] > start else None


def _first(ends: Sequence[int], start: int, limit: int) -> int | None:
    """The first of `ends` in (start, limit]."""
    at = bisect_right(ends, start)
    return ends[at] if at < len(ends) and ends[at] <= limit else None
