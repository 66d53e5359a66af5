"""What is left of an answer: the visible text as it is, calls, and word that text was withdrawn."""

from __future__ import annotations

from dataclasses import dataclass

from s2s.core.markup.calls import WrittenCall
from s2s.core.markup.spans import Spans


@dataclass(frozen=True, slots=True)
class Visible:
    """Text for the person."""

    text: str
    at: int
    """Where in the answer it stood."""
    spaced: bool = False
    """Its first character is a space that stands for what was removed."""


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """All text so far was thinking: its end came, and its beginning was never written."""


Item = Visible | WrittenCall | Withdrawn


class Output:
    """Puts together what a filter keeps of one answer.

    Args:
        held: the text may begin inside a thought: it is held until one ends, or the answer.
    """

    def __init__(self, *, held: bool) -> None:
        self.spans = Spans()
        """Where the visible text is code."""
        self.begun = False
        """A visible character was kept."""
        self.last: str = ""
        """The last character that was kept."""
        self.unopened = False
        """A thought ended that had not begun."""
        self._items: list[Item] = []
        self._held = held
        self._gap = False
        """Something was removed since the last character that was kept."""
        self._thought = False
        self._doubt = False
        """A thought has ended that did not begin: if more text comes, all before it was one."""

    def take(self) -> list[Item]:
        """What is certain, once."""
        if self._held:
            return []
        items, self._items = self._items, []
        return items

    def finish(self) -> list[Item]:
        """Everything: the answer is over."""
        self._held = False
        return self.take()

    def keep(self, text: str, at: int) -> None:
        """Add visible text that stood at `at`."""
        for char in text:
            self.spans.read(char)
        if self._gap and (not self.last or self.last.isspace()):
            bare = text.lstrip()
            at, text = at + len(text) - len(bare), bare
        if not text:
            return
        spaced, self._gap = self._gap and self._runs_on(text[0]), False
        if self._doubt and text.strip():
            self._doubt, self.unopened = False, True
            self._items.append(Withdrawn())
        self.begun = self.begun or bool(text.strip())
        self.last = text[-1]
        self._items.append(Visible(" " + text if spaced else text, at, spaced))

    def leave_gap(self) -> None:
        """Something was removed here that stood for itself: words around it stay apart."""
        self._gap = True

    def call(self, call: WrittenCall) -> None:
        """Add a call."""
        self._items.append(call)

    def open_thought(self) -> None:
        """A thought began in the text: what came before it is none."""
        self._held = False
        self._thought = True

    def end_unopened_thought(self) -> None:
        """A thought ended that had not begun in the text."""
        if self._held:
            self._held = False
            self._items = [each for each in self._items if isinstance(each, WrittenCall)]
            self.begun, self.last, self.unopened = False, "", True
        elif self.begun and not self._thought:
            self._doubt, self.last = True, ""
        self._thought = True

    def _runs_on(self, following: str) -> bool:
        """What was removed stood between two words."""
        if not self.last or self.last.isspace():
            return False
        return self.last < "\u2e80" and following < "\u2e80" and following.isalnum()
