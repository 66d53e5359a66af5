"""The calls of a record, found again by what was asked, or by what is most like it. Pure."""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import cast

from s2s.core.markup import Call
from s2s.core.untyped import is_mapping, is_sequence

LIKE = 0.5
"""Words that have less in common than that are no answer to each other's question."""


@dataclass(frozen=True, slots=True)
class CallNote:
    """A call of a model."""

    call: str
    key: str
    at_s: float
    took_s: float
    fields: Mapping[str, object] = field(default_factory=dict[str, object])

    @property
    def whole(self) -> bool:
        """It was not given up before its end."""
        return self.fields.get("whole") is not False

    @property
    def value(self) -> float | None:
        value = self.fields.get("value")
        return float(value) if isinstance(value, int | float) else None

    def text(self, name: str) -> str:
        value = self.fields.get(name)
        return value if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True)
class ToldChunk:
    """A piece of sound that a voice made."""

    after_s: float
    """Since the piece before it."""
    samples: int
    spoken_chars: int | None
    peak: float


class CallMemory:
    """What models gave. Each question is answered as often as it was asked then; asked once more,
    the last answer is given again. Not thread-safe by itself: each stage asks for its own calls."""

    def __init__(self, calls: Iterable[Mapping[str, object]]) -> None:
        self._all: dict[str, list[CallNote]] = defaultdict(list)
        self._by_key: dict[tuple[str, str], list[CallNote]] = defaultdict(list)
        notes = [note for line in calls if (note := _note(line)) is not None]
        for note in sorted(notes, key=lambda note: note.at_s):
            self._all[note.call].append(note)
            self._by_key[note.call, note.key].append(note)

    def next(self, call: str, key: str) -> CallNote | None:
        """What came of asking that, in the order in which it was asked."""
        notes = self._by_key.get((call, key))
        if not notes:
            return None
        return notes.pop(0) if len(notes) > 1 else notes[0]

    def typical_s(self, call: str) -> float:
        """What such a call took, the median; 0 where there was none."""
        return median([note.took_s for note in self._all[call]] or [0.0])

    def answer(self, key: str, said: str, at_s: float) -> CallNote | None:
        """The answer to these messages; else the one to the words that are most like `said`, of
        equals the nearest in time. None where nothing like it was said."""
        exact = self.next("answer", key)
        if exact is not None:
            return exact
        notes = [(self._likeness(said, note.text("said")), note) for note in self._all["answer"]]
        best = max((like for like, _ in notes), default=0.0)
        if best < LIKE:
            return None
        alike = [note for like, note in notes if like == best]
        return min(alike, key=lambda note: (not note.whole, -len(answered(note)),
                                            abs(note.at_s - at_s)))  # fmt: skip

    def rest_of(self, note: CallNote) -> list[tuple[float, str | Call]]:
        """How an answer goes on that was given up then: as another one to the same messages that
        was not; nothing where there is none."""
        known = answered(note)
        for other in self._all["answer"]:
            whole = answered(other)
            if other.key == note.key and other.whole and whole.startswith(known):
                return _behind(pieces_of(other), len(known))
        return []

    def after_call(self, note: CallNote) -> CallNote | None:
        """The answer that went on when the tool that `note` wanted had been called."""
        later = [each for each in self._all["answer"] if each.at_s > note.at_s]
        same = [each for each in later if each.text("said") == note.text("said")]
        return min(same, key=lambda each: each.at_s, default=None)

    def beginning_with(self, text: str) -> CallNote | None:
        """The speech of a text that begins so; of several that which is next."""
        notes = [note for note in self._all["speak"] if note.text("text").startswith(text)]
        if not notes:
            return None
        note = min(notes, key=lambda each: (not each.whole, each.at_s))
        if len(notes) > 1:
            self._all["speak"].remove(note)
        return note

    def pace(self) -> tuple[float, float, float]:
        """Of the voice: samples a character, seconds to its first sound, seconds a sample."""
        chunks = [(note, told_chunks(note)) for note in self._all["speak"] if note.whole]
        chars = sum(len(note.text("text")) for note, _ in chunks)
        samples = sum(chunk.samples for _, each in chunks for chunk in each)
        if not chars or not samples:
            return 24_000 / 15.0, 0.0, 0.0
        firsts = [each[0].after_s for _, each in chunks if each]
        rest_s = sum(chunk.after_s for _, each in chunks for chunk in each[1:])
        return samples / chars, median(firsts), rest_s / samples

    def tokens(self, key: str) -> int | None:
        """Of a text, as the language model counted them."""
        note = self.next("tokens", key)
        return None if note is None or note.value is None else int(note.value)

    def _likeness(self, one: str, other: str) -> float:
        return difflib.SequenceMatcher(
            None, one.casefold().split(), other.casefold().split()
        ).ratio()


def pieces_of(note: CallNote) -> list[tuple[float, str | Call]]:
    """The pieces of an answer, each with the seconds since the one before it; the last is empty:
    the time until the model was done."""
    found: list[tuple[float, str | Call]] = []
    for after_s, piece in _pairs(note.fields.get("pieces")):
        if isinstance(piece, str):
            found.append((after_s, piece))
        elif is_mapping(piece):
            found.append(
                (after_s, Call(str(piece.get("name", "")), str(piece.get("arguments", ""))))
            )
    return found


def _behind(pieces: list[tuple[float, str | Call]], chars: int) -> list[tuple[float, str | Call]]:
    """The pieces behind the first so many characters."""
    found: list[tuple[float, str | Call]] = []
    for after_s, piece in pieces:
        if not isinstance(piece, str) or not chars:
            found.append((after_s, piece))
        elif len(piece) > chars:
            found.append((after_s, piece[chars:]))
            chars = 0
        else:
            chars -= len(piece)
    return found


def answered(note: CallNote) -> str:
    """All that was written of an answer."""
    return "".join(piece for _, piece in pieces_of(note) if isinstance(piece, str))


def told_chunks(note: CallNote) -> list[ToldChunk]:
    """The sound of a text, without the sound."""
    chunks = note.fields.get("chunks")
    found: list[ToldChunk] = []
    for chunk in chunks if is_sequence(chunks) else ():
        if is_sequence(chunk) and len(chunk) == 4:
            after_s, samples, chars, peak = chunk
            if isinstance(after_s, int | float) and isinstance(samples, int):
                spoken = chars if isinstance(chars, int) else None
                loud = float(peak) if isinstance(peak, int | float) else 0.0
                found.append(ToldChunk(float(after_s), samples, spoken, loud))
    return found


def _pairs(value: object) -> Iterable[tuple[float, object]]:
    for pair in value if is_sequence(value) else ():
        if is_sequence(pair) and len(pair) == 2 and isinstance(pair[0], int | float):
            yield float(pair[0]), pair[1]


def _note(line: Mapping[str, object]) -> CallNote | None:
    at_s, took_s = line.get("at_s"), line.get("took_s")
    call, key = line.get("call"), line.get("key")
    numbers = isinstance(at_s, int | float) and isinstance(took_s, int | float)
    if not (numbers and isinstance(call, str) and isinstance(key, str)):
        return None
    return CallNote(call, key, float(cast(float, at_s)), float(cast(float, took_s)), line)
