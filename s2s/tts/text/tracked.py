"""Text that is rewritten step by step and still knows where each character came from. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

Edit = tuple[int, int, str]
"""(start, end, new text) of a replacement in the current text."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """A text as it is spoken, and the text it stands for."""

    text: str
    """What a voice says; empty when there is nothing to say."""
    original: str
    """What the client sees."""
    origin: tuple[int, ...]
    """[len(text) + 1], never falling: `text[:n]` tells `original[: origin[n]]`."""

    def heard(self, spoken_chars: int) -> str:
        """The start of `original` that has been told once `spoken_chars` of `text` were spoken.

        A rewritten piece ("$5" as "five dollars") counts when all of it was spoken.
        """
        if spoken_chars >= len(self.text):
            return self.original
        return self.original[: self.origin[max(0, spoken_chars)]]


class Tracked:
    """The text between two rewriting steps."""

    def __init__(self, original: str) -> None:
        self.original = original
        self.text = original
        self._origin = list(range(len(original) + 1))

    def sub(
        self,
        pattern: re.Pattern[str],
        replace: str | Callable[[re.Match[str]], str],
        group: int = 0,
    ) -> None:
        """Replace every match, or one of its groups, by a text or by what the function returns."""
        found = pattern.finditer(self.text)
        if isinstance(replace, str):
            self.edit((m.start(group), m.end(group), replace) for m in found)
        else:
            self.edit((m.start(group), m.end(group), replace(m)) for m in found)

    def bind(self, pattern: re.Pattern[str]) -> None:
        """Let what follows a match, as far as it was one piece, be told together with it.

        "−" and the words of its number are heard at once, so that no sign is heard alone.
        """
        for match in pattern.finditer(self.text):
            at, told = match.end(), self._origin[match.end()]
            while at < len(self.text) and self._origin[at] == told:
                self._origin[at] = self._origin[match.start()]
                at += 1

    def translate(self, table: dict[int, str]) -> None:
        """Replace single characters by single characters."""
        text = self.text.translate(table)
        if len(text) != len(self.text):
            raise ValueError("a translation must not change the length of the text")
        self.text = text

    def keep(self, pattern: re.Pattern[str], group: int | str = 1) -> None:
        """Replace every match by one of its groups, whose characters keep their places."""
        edits: list[Edit] = []
        for match in pattern.finditer(self.text):
            edits.append((match.start(), match.start(group), ""))
            edits.append((match.end(group), match.end(), ""))
        self.edit(edits)

    def edit(self, edits: Iterable[Edit]) -> None:
        """Apply replacements, which are in order and do not overlap."""
        parts: list[str] = []
        origin: list[int] = []
        done = 0
        for start, end, new in edits:
            if self.text[start:end] == new:
                continue
            parts += (self.text[done:start], new)
            origin += self._origin[done:start]
            origin += [self._origin[start]] * len(new)
            done = end
        if not parts:
            return
        parts.append(self.text[done:])
        origin += self._origin[done:]
        self.text = "".join(parts)
        self._origin = origin

    def parts(self, longest: int) -> list[Tracked]:
        """The text in pieces of at most `longest` characters, cut at a space where there is one."""
        parts: list[Tracked] = []
        start = 0
        while len(self.text) - start > longest:
            limit = start + longest
            stop = self.text.rfind(". ", start + longest // 2, limit) + 2
            space = self.text.rfind(" ", start + longest // 2, limit) + 1
            end = stop if stop > 1 else space or limit
            parts.append(self._part(start, end))
            start = end
        return [*parts, self._part(start, len(self.text))]

    def _part(self, start: int, end: int) -> Tracked:
        part = Tracked(self.original)
        part.text = self.text[start:end]
        part._origin = self._origin[start : end + 1]
        return part

    def join(self, parts: list[Tracked]) -> None:
        """Become what `parts` of this text say, one after the other."""
        self.text = "".join(part.text for part in parts)
        last = parts[-1]._origin[-1]
        self._origin = [at for part in parts for at in part._origin[:-1]] + [last]

    def finish(self) -> Spoken:
        """The result, without white space around it."""
        start = len(self.text) - len(self.text.lstrip())
        text = self.text.strip()
        origin = self._origin[start : start + len(text) + 1]
        origin[0] = 0
        origin[-1] = len(self.original)
        return Spoken(text, self.original, tuple(origin))
