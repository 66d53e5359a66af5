"""What a voice says of a text that is still being written, as far as nothing can change it. Pure.

Rules look ahead: "5" may become "5 May", a word in stars may be a list. So a word is handed on when
the next one is complete, and neither they nor the words before them are of a kind that rules read
together: a few plain words in a row, outside of code, links and formulas. Everything else waits.
What is handed on is taken from the text as it is spoken so far, so that the pieces together are
what `speakable` makes of the whole. docs/decisions/text-as-it-is-written.md says how far that goes.
"""

from __future__ import annotations

import logging
import re
from bisect import bisect_left

from s2s.core.markup import Spans
from s2s.tts.text.lexicon import Lexicon
from s2s.tts.text.speakable import speakable
from s2s.tts.text.tracked import Spoken

log = logging.getLogger(__name__)

PLAIN_BEFORE = 3
"""Plain words before a place that is settled: no rule for numbers reads further ("5 million US
dollars")."""
_WORD = re.compile(r"\S+")
_PLAIN = re.compile(r"([^\W\d_]+(?:['’-][^\W\d_]+)*)[,;:.!?]?")
_UNIT = re.compile("[b-df-hj-np-tv-xzµμ]+", re.IGNORECASE)
"""No word: "km" is read as a unit once there is a digit anywhere in the text, and waits for all of
that."""
_ONE_LETTER = frozenset("aAeEiIoOuyYàÀèÈéÉìòóÓùавикосуябжАВИКОСУЯ")
"""Words of one letter; others are names of things, and parts of formulas."""
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff]"
)


class SpeakableStream:
    """Reads one text. Feed it with `push`, end it with `end`.

    Args:
        language: ISO 639-1 code, as for `speakable`.
        lexicon: the user's respellings.
    """

    def __init__(self, language: str, lexicon: Lexicon | None = None) -> None:
        self._language = language
        self._lexicon = lexicon
        self._ahead = 1 if lexicon is None else lexicon.words_a_key
        """Words that have to be complete beyond what is given."""
        self._original = ""
        self._spans = Spans()
        self._words: list[tuple[int, int]] = []
        """Start and end of each complete word."""
        self._held: list[bool] = []
        """Whether code, a link or a formula was open at the end of each of them."""
        self._word = -1
        """Where the word begins that is still being written; -1 between words."""
        self._settled = 0
        """Characters of the original whose spoken form was given."""
        self._given = ""
        self._spoken = Spoken("", "", (0,))

    @property
    def original(self) -> str:
        """All that was pushed."""
        return self._original

    @property
    def given(self) -> str:
        """All that was returned."""
        return self._given

    def heard(self, spoken_chars: int) -> str:
        """The start of the original that has been told once so many characters of `given` were
        spoken."""
        return self._spoken.heard(min(spoken_chars, len(self._given)))

    def push(self, text: str) -> str:
        """More of the text; what can be spoken now that could not before."""
        for char in text:
            at = len(self._original)
            if char.isspace():
                if self._word >= 0:
                    self._words.append((self._word, at))
                    self._held.append(self._spans.holds)
                    self._word = -1
            elif self._word < 0:
                self._word = at
            self._spans.read(char)
            self._original += char
        return self._settle()

    def end(self) -> str:
        """No more text; what was not spoken yet."""
        spoken = speakable(self._original, self._language, self._lexicon)
        given, start = self._given, len(self._given)
        if not spoken.text.startswith(given):
            # A rule reached further back than any that is known: what was said stays said.
            log.debug("%r was given of %r", given, spoken.text)
            start = bisect_left(spoken.origin, self._settled)
        rest = spoken.text[start:]
        self._given = given + rest
        moved = len(given) - start
        origin = (*self._spoken.origin[: len(given)], *spoken.origin[start:])
        self._spoken = spoken if not moved else Spoken(self._given, self._original, origin)
        return rest

    def _settle(self) -> str:
        """What is settled by the last pair of words that settles anything."""
        for last in range(len(self._words) - self._ahead, 0, -1):
            start = self._words[last][0]
            if start <= self._settled:
                return ""
            end = self._words[last + self._ahead - 1][1]
            if self._is_settled(last) and (new := self._spoken_until(start, end)):
                return new
        return ""

    def _is_settled(self, last: int) -> bool:
        """No character to come changes what is said before word `last`."""
        first, beyond = max(0, last - PLAIN_BEFORE), last + self._ahead
        if any(self._held[first:beyond]) or not all(
            _is_plain(self._original[start:end]) for start, end in self._words[first:beyond]
        ):
            return False
        before = self._original[: self._words[last][0]]
        if any(_UNIT.fullmatch(word.rstrip(",;:.!?")) for word in before[self._settled :].split()):
            return False
        return before.rfind("<") <= before.rfind(">") and "{" not in before

    def _spoken_until(self, start: int, end: int) -> str:
        """What is newly said up to `start`, by the text up to `end`."""
        spoken = speakable(self._original[:end], self._language, self._lexicon)
        at = bisect_left(spoken.origin, start)
        until = spoken.text[:at]
        if spoken.origin[at] != start or not until.startswith(self._given):
            return ""
        new = until[len(self._given) :]
        self._settled, self._given, self._spoken = start, until, spoken
        return new


def _is_plain(word: str) -> bool:
    """A word that rules leave alone and that is no part of a number, a name or an abbreviation."""
    found = _PLAIN.fullmatch(word)
    if found is None or _UNSPACED.search(word):
        return False
    letters = found[1]
    if len(letters) == 1:
        return word in _ONE_LETTER
    return letters[1:].islower()
