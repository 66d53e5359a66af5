"""Cuts a stream of text into pieces to be spoken. Pure; knows nothing about speech or models.

The first piece leaves at the first clause of four words, so that speech can start early. Later
pieces are sentences; the TTS stage joins those that wait for it. For a voice that takes text while
it is written, the first four words leave together and each later word by itself. The pieces joined
are exactly the text that went in. Why they do not wait for each other:
docs/decisions/sentences-do-not-wait.md.

Text is read character by character and a boundary is decided at the first visible character after
it, so how the stream was split into tokens cannot matter.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from s2s.core.markup import Spans
from s2s.core.messages import Ends
from s2s.llm.abbreviations import ends_sentence

FIRST_CLAUSE_WORDS = 4
MAX_CHARS = 360
"""A sentence without end is cut at its last clause or space after this many characters."""
CJK_CHARS_PER_WORD = 2
"""5.5 CJK characters and 2.6 words are a second of speech."""

_CONTEXT_CHARS = 32
"""Kept of what has left, to judge a full stop near the start of what is pending."""

_WIDE_ENDS = frozenset("。！？｡︒।॥።፧။៕།༎۔")
"""End a sentence without a space after them."""
_ENDS = frozenset(".!?…؟;։") | _WIDE_ENDS
_WIDE_CLAUSES = frozenset("，、；：—፣၊፥")
_CLAUSES = frozenset(",;:–،؛") | _WIDE_CLAUSES
_CLOSERS = frozenset("\"'”’»›)]}」』】）》〉*_~")


@dataclass(slots=True)
class _Boundary:
    """A possible boundary, waiting for the character that decides it."""

    mark: int
    """Index of the last punctuation mark in the pending text; -1 for a line end."""
    newlines: int = 0
    spaces: int = 0
    quoted: bool = False
    """A closing quote or bracket follows the mark."""

    def is_decided_by(self, char: str) -> bool:
        """A visible character decides, but a closing one still belongs to what it closes."""
        return not char.isspace() and (self.spaces > 0 or char not in _CLOSERS)


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A part of a response."""

    text: str
    ends: Ends


class SentenceStream:
    """Splits one response. Feed it with `push`, end it with `flush`; then it starts afresh."""

    def __init__(
        self,
        *,
        first_clause_words: int = FIRST_CLAUSE_WORDS,
        max_chars: int = MAX_CHARS,
    ) -> None:
        if first_clause_words < 1 or max_chars < 1:
            raise ValueError(
                f"first_clause_words {first_clause_words} and max_chars {max_chars} must be at "
                "least 1"
            )
        self._first_clause_words = first_clause_words
        self._max_chars = max_chars
        self._reset()

    def _reset(self) -> None:
        self._started = False
        self._said = ""
        self._ends = Ends.WORD
        self._spans = Spans()
        self._forget("")

    def _forget(self, rest: str) -> None:
        """Go on with `rest` as the pending text."""
        self._text = rest
        self._boundary: _Boundary | None = None
        self._clause_end = 0
        self._space_end = 0

    def push(self, piece: str) -> list[TextPiece]:
        """Add `piece`, any part of the text, and return what can be spoken now."""
        pieces: list[TextPiece] = []
        for char in piece:
            end = self._advance(char)
            if end:
                pieces.append(TextPiece(self._take(end), self._ends))
        return pieces

    def flush(self) -> list[TextPiece]:
        """Return the rest of the text; the next push starts a new response."""
        rest = self._text
        self._reset()
        return [TextPiece(rest, Ends.SENTENCE)] if rest else []

    def _take(self, end: int) -> str:
        piece, rest = self._text[:end], self._text[end:]
        boundary = self._boundary
        self._forget(rest)
        if boundary is not None and boundary.mark >= end:
            boundary.mark -= end
            self._boundary = boundary
        self._started = True
        self._said = (self._said + piece)[-_CONTEXT_CHARS:]
        return piece

    def _advance(self, char: str) -> int:
        """Read one character; the length of the piece that ends before it, or 0. What is over
        there is in `_ends`."""
        end = 0
        self._ends = Ends.WORD
        boundary = self._boundary
        if boundary is not None and boundary.is_decided_by(char):
            ends = self._decide(boundary, char)
            if ends is not None:
                end = self._mark(ends, len(self._text))
                self._ends = ends
            self._boundary = None
        if not end and len(self._text) >= self._max_chars and not self._spans.holds:
            end, self._ends = self._emergency_end(), Ends.WORD
        self._spans.read(char)
        self._text += char
        self._note(char, len(self._text) - 1)
        return end

    def _note(self, char: str, at: int) -> None:
        """Remember a boundary that `char`, at index `at`, may begin or extend."""
        boundary = self._boundary
        if char.isspace():
            if not self._spans.holds:
                self._space_end = at + 1
            if boundary is None and (char == "\n" or _is_unspaced(self._text[at - 1 : at])):
                boundary = self._boundary = _Boundary(mark=-1)
            if boundary is not None:
                boundary.newlines += char == "\n"
                boundary.spaces += 1
        elif char in _ENDS or char in _CLAUSES or (char == "-" and self._is_dash(at)):
            self._boundary = _Boundary(mark=at)
        elif boundary is not None and char in _CLOSERS:
            boundary.quoted = boundary.quoted or char not in "*_~"

    def _is_dash(self, at: int) -> bool:
        """A hyphen used as a dash, not one in a word or before a list item."""
        before = self._text[:at]
        return before[-1:] in {" ", "-"} and before.rstrip(" -")[-1:] not in {"", "\n"}

    def _decide(self, boundary: _Boundary, following: str) -> Ends | None:
        """What is over there, now that the visible character after it is known."""
        if self._spans.holds:
            return None
        if boundary.newlines and following != "|":
            if boundary.newlines > 1 or not following.islower():
                return Ends.SENTENCE
            return Ends.CLAUSE
        if boundary.mark < 0:
            return Ends.CLAUSE if _is_unspaced(following) else None
        mark = self._text[boundary.mark]
        if mark in _WIDE_ENDS:
            return Ends.SENTENCE
        if mark in _WIDE_CLAUSES:
            between_digits = self._text[boundary.mark - 1 : boundary.mark].isdigit()
            if between_digits and following.isdigit() and not boundary.spaces:
                return None  # １，０００ and １２：３０
            return Ends.CLAUSE
        if not boundary.spaces:
            return None
        if mark in _ENDS:
            return self._decide_end(boundary, following)
        return Ends.CLAUSE

    def _decide_end(self, boundary: _Boundary, following: str) -> Ends | None:
        before = self._said + self._text[: boundary.mark]
        mark = self._text[boundary.mark]
        if mark == "…" or (mark == "." and before.endswith("..")):
            return Ends.CLAUSE if following.islower() else Ends.SENTENCE
        if boundary.quoted and following.islower():
            return None
        if mark != "." or ends_sentence(before, following):
            return Ends.SENTENCE
        return None

    def _mark(self, ends: Ends, at: int) -> int:
        """Note the boundary at `at`; the length of the piece that may leave now, or 0."""
        self._clause_end = at
        if not self._started:
            return at if count_words(self._text[:at]) >= self._first_clause_words else 0
        return at if ends is Ends.SENTENCE and self._text[:at].strip() else 0

    def _emergency_end(self) -> int:
        """Where to cut a text that has become too long to wait for its end."""
        for end in (self._clause_end, self._space_end):
            if end:
                return end
        return len(self._text) if len(self._text) >= 2 * self._max_chars else 0


class WordStream(SentenceStream):
    """Splits one response at its words, once the first few are there."""

    def _advance(self, char: str) -> int:
        at = len(self._text)
        begins = not char.isspace() and self._text[-1:].isspace() and not self._spans.holds
        end = super()._advance(char)
        if end or not begins:
            return end
        started = self._started or count_words(self._text[:at]) >= self._first_clause_words
        return at if started and self._text[:at].strip() else 0


def count_words(text: str) -> int:
    """Words in `text`; scripts without spaces count two characters as one."""
    words, inside, unspaced = 0, False, 0
    for char in text:
        if _is_unspaced(char):
            unspaced += 1
            inside = False
        elif char.isalnum():
            words += not inside
            inside = True
        elif char not in "'’-" and not unicodedata.category(char).startswith("M"):
            inside = False
    return words + -(-unspaced // CJK_CHARS_PER_WORD)


def _is_unspaced(char: str) -> bool:
    """Han, kana, Thai, Lao, Burmese or Khmer: scripts that put no space between words."""
    return bool(char) and (
        "\u3040" <= char <= "\u30ff"
        or "\u3400" <= char <= "\u9fff"
        or "\uf900" <= char <= "\ufaff"
        or "\u0e00" <= char <= "\u0eff"
        or "\u1000" <= char <= "\u109f"
        or "\u1780" <= char <= "\u17ff"
        or "\U00020000" <= char <= "\U0003ffff"
    )
