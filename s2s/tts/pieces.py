"""Cuts a text that is to be spoken into pieces. Pure; knows no model.

The one splitter for text that is there as a whole: sentences for a voice that makes one at a time,
segments for a model that loses its pace in long texts, pieces of a wished length for a voice that
is slow. A stream of tokens is cut by the language model's stage (`llm/sentences`), which has to
decide before the text goes on; docs/decisions/text-splitters.md says why those are two.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence

_CLOSERS = '"”’»)\\]」』）】'
_SENTENCE_END = re.compile(rf"[.!?…]+[{_CLOSERS}]*(?=\s)|[。！？]+[{_CLOSERS}]*|\n+")
_CLAUSE_END = re.compile(r"[,;:—](?=\s)|[、，；：]")
_JOINING = re.compile(
    r"\s+(?=(?:and|but|or|because|which|who|when|while|where|although|until|whether"
    r"|und|oder|aber|weil|dass|wenn|denn|während|obwohl"
    r"|et|ou|mais|parce|quand|lorsque|puisque|y|pero|porque|cuando|aunque|mientras"
    r"|perché|quando|mentre|anche se|mas|embora|enquanto)\s)",
    re.IGNORECASE,
)
"""Before words that join clauses, in the languages of the number rules: people breathe there."""
_SHORTEST = 12
"""Characters of the shortest piece that ends before a joining word."""
_PATIENCE = 1.5
"""A clause so many times longer than the wish is still taken whole."""
_LAST_MARK = re.compile(rf"[.!?…。！？][{_CLOSERS}]*\Z")


def pieces(
    text: str,
    max_chars: int,
    *,
    join: bool = False,
    wish: Callable[[], int] | None = None,
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
        wish: asked before each piece for the length it should have, for a voice that is slow
            (`s2s.tts.running_cost`). It is kept by cutting at clauses; one that is half as long
            again, or more, is cut before a word that joins clauses, and nowhere else.

    Raises:
        ValueError: a length below 1.
    """
    if max_chars < 1:
        raise ValueError(f"max_chars {max_chars} must be at least 1")
    cutter = _Cutter(text, max_chars, join)
    start = 0
    while start < len(text):
        if text[start].isspace():
            start += 1
            continue
        wished = max_chars if wish is None else max(1, min(wish(), max_chars))
        end = cutter.end(start, wished)
        yield text[start:end].rstrip(), end
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
        self._joints = [match.start() for match in _JOINING.finditer(text)]

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
        if fitting is None and wish < self._max_chars:
            fitting = self._shortest(start, wish, limit if end is None else end)
        return fitting or end or self._space(start, limit)

    def _shortest(self, start: int, wish: int, limit: int) -> int | None:
        """The end of the shortest piece that sounds like one, where no clause is short enough."""
        clause = _first(self._clauses, start, limit)
        patient = start + int(_PATIENCE * wish)
        if (clause or limit) <= patient:
            return clause
        joint = _last(self._joints, start + _SHORTEST, patient) or _first(
            self._joints, start + _SHORTEST, clause or limit
        )
        return joint or clause

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
