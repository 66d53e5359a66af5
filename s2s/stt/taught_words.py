"""Names and words that a recogniser is taught by what it writes instead of them. Pure.

Where a recogniser takes no hints, a word that it does not know comes out as others that sound like
it: "Gashwood" for Dashwood, "ill-sposed" for ill disposed. Such places are found here by letters
and sound; who can ask the recogniser whether the taught word is as likely there, should
(`Proposal`): what sounds alike may also be meant.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

LEAST_LIKENESS = 0.62
"""Of what is written and what is taught, to be asked about: docs/decisions/taught-words.md."""
SHORT_SOUNDS, SHORT_LIKENESS = 4, 0.95
"""Of so few sounds, nearly all must be the same: short words have many neighbours."""

SAME_SOUND = 0.95
"""As alike as what sounds the same: where no recogniser can be asked."""

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_LETTERS = (  # what is written -> how it sounds, roughly, in any European language; first wins
    ("tsch", "C"), ("sch", "S"), ("tch", "C"), ("dge", "J"), ("ph", "f"), ("sh", "S"), ("ch", "C"),
    ("th", "T"), ("gh", ""), ("wh", "w"), ("qu", "kw"), ("ck", "k"), ("kn", "n"), ("wr", "r"),
    ("ce", "se"), ("ci", "si"), ("cy", "si"), ("c", "k"), ("q", "k"), ("x", "ks"), ("z", "s"),
    ("y", "i"), ("j", "J"), ("h", ""),
)  # fmt: skip
_VOWELS = frozenset("aeiou")
_NEAR = tuple(frozenset(pair) for pair in ("bp", "dt", "gk", "vf", "mn", "sS", "SC", "JC", "Tt"))
_ALIKE, _STOPS, _OTHER = 0.3, 0.8, 1.0
_STOP_SOUNDS = frozenset("bpdtgk")


@dataclass(frozen=True, slots=True)
class Proposal:
    """A place in a text where a taught word may have been said."""

    start: int
    """First character of what stands there."""
    end: int
    """Character behind it."""
    word: str
    """What is taught."""
    heard: str
    """How it sounds, as a recogniser may spell it."""
    likeness: float
    """From 0 to 1: they sound the same."""


class TaughtWords:
    """Finds taught words in what a recogniser writes.

    Args:
        words: as they are to be written; `Aoife=eefa` tells how a word sounds where that does not
            follow from its letters.
        least: how alike what is proposed must be.

    Raises:
        ValueError: a word has no letters.
    """

    def __init__(self, words: Sequence[str], *, least: float = LEAST_LIKENESS) -> None:
        self._least = least
        self._taught: list[tuple[str, str]] = []
        for entry in words:
            word = written(entry)
            like = entry.partition("=")[2].strip() or word
            if not sounds(like) or not word:
                raise ValueError(f"a word to be taught needs letters, got {entry!r}")
            self._taught.append((word, like))

    def proposals(self, text: str) -> list[Proposal]:
        """Where taught words may have been said that are not written, the most alike first; no two
        overlap."""
        spans = [match.span() for match in _WORD.finditer(text)]
        found = sorted(self._all(text, spans), key=lambda each: (-each.likeness, each.start))
        chosen: list[Proposal] = []
        for each in found:
            if all(each.end <= other.start or other.end <= each.start for other in chosen):
                chosen.append(each)
        return [each for each in chosen if text[each.start : each.end] != each.word]

    def corrected(
        self, text: str, accepts: Callable[[str, str], bool] = lambda _before, _after: True
    ) -> str:
        """`text` with taught words where they were heard.

        Args:
            text: what a recogniser wrote.
            accepts: asked with the text as it is and as the recogniser would have written the
                taught word, whether that is as likely.
        """
        result = text
        for each in sorted(self.proposals(text), key=lambda each: -each.start):
            if accepts(text, text[: each.start] + each.heard + text[each.end :]):
                result = result[: each.start] + each.word + result[each.end :]
        return result

    def _all(self, text: str, spans: Sequence[tuple[int, int]]) -> Iterator[Proposal]:
        for word, like in self._taught:
            sound, words = sounds(like), len(_WORD.findall(like))
            for count in {max(1, words - 1), words, words + 1}:
                for first in range(len(spans) - count + 1):
                    start, end = spans[first][0], spans[first + count - 1][1]
                    alike = likeness(sounds(text[start:end]), sound)
                    short = len(sound) <= SHORT_SOUNDS
                    if alike >= (SHORT_LIKENESS if short else self._least):
                        yield Proposal(start, end, word, like, alike)


def written(entry: str) -> str:
    """How a taught word is to be written: `Aoife=eefa` is written Aoife."""
    return entry.partition("=")[0].strip()


def hint(words: Sequence[str]) -> str | None:
    """Taught words as Whisper reads them: as if they had been said before, whose spelling it goes
    on with; its full stops too, without which it writes none. None for none."""
    return f"{', '.join(map(written, words))}." if words else None


def sounds(text: str) -> str:
    """How `text` sounds, a sign a sound, roughly: accents, doubled letters and spaces say nothing.
    Other scripts are left as they are."""
    plain = unicodedata.normalize("NFKD", text.casefold().replace("ß", "ss"))
    letters = "".join(sign for sign in plain if sign.isalnum())
    out = ""
    position = 0
    while position < len(letters):
        for spelled, heard in _LETTERS:  # noqa: B007
            if letters.startswith(spelled, position):
                break
        else:
            spelled = heard = letters[position]
        position += len(spelled)
        out += "".join(sound for sound in heard if not out.endswith(sound))
    return out


def likeness(one: str, other: str) -> float:
    """How alike two strings of `sounds` are, from 0 to 1; 0 where one has none."""
    if not one or not other:
        return 0.0
    row = [0.0]
    for sound in other:
        row.append(row[-1] + _weight(sound))
    for mine in one:
        above, row = row, [row[0] + _weight(mine)]
        for index, theirs in enumerate(other):
            change = above[index] + _difference(mine, theirs)
            gap = min(above[index + 1] + _weight(mine), row[index] + _weight(theirs))
            row.append(min(change, gap))
    return max(0.0, 1.0 - row[-1] / max(len(one), len(other)))


def _weight(sound: str) -> float:
    """Of a sound that the other has not."""
    return 0.5 if sound in _VOWELS else 1.0


def _difference(one: str, other: str) -> float:
    if one == other:
        return 0.0
    pair = frozenset((one, other))
    if pair <= _VOWELS or pair in _NEAR:
        return _ALIKE
    return _STOPS if pair <= _STOP_SOUNDS else _OTHER
