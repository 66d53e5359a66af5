"""The line that a person types in a conversation: begun, edited, sent or dropped, key by key.

A line begins with any character that steers nothing, or with Tab (docs/decisions/typing.md). Knows
no terminal and no conversation.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

ENTER, TAB, ESCAPE, END = "\n", "\t", "\x1b", "\x04"
ERASE = ("\x7f", "\b")
ERASE_WORD, ERASE_LINE = "\x17", "\x15"
LONGEST_CHARS = 4000
"""What is typed or pasted beyond that is not taken."""


class TypedLine:
    """One line at a time. For the thread that reads keys.

    Args:
        send: takes a whole line, never blank.
        show: takes the line as it is by now; None when there is none.
        steering: characters that steer while no line is open, in lower case.
        always: there is nothing but typing: a line is always open, and no character steers.
        end: Ctrl-D was pressed where nothing is typed and nothing but typing is done.
    """

    def __init__(
        self,
        send: Callable[[str], None],
        show: Callable[[str | None], None],
        *,
        steering: str = "",
        always: bool = False,
        end: Callable[[], None] = lambda: None,
    ) -> None:
        self._send = send
        self._show = show
        self._steering = steering
        self._always = always
        self._end = end
        self._text: str | None = None

    @property
    def is_open(self) -> bool:
        """Something is being typed."""
        return self._text is not None

    def takes(self, key: str) -> bool:
        """Take one character, as it was typed; False where it belongs to no line."""
        if self._text is None:
            return self._begins(key)
        text = self._text
        if key == ENTER:
            self._become(None)
            if text.strip():
                self._send(text.strip())
        elif key == ESCAPE:
            self._become(None)
        elif key in ERASE:
            self._become(_without_last(text) or None)
        elif key == ERASE_WORD:
            self._become(text.rstrip()[: -len(text.split()[-1])] or None if text.split() else None)
        elif key == ERASE_LINE:
            self._become(None)
        elif key.isprintable() and len(text) < LONGEST_CHARS:
            self._become(text + key)
        return True

    def _begins(self, key: str) -> bool:
        if key == TAB:
            self._become("")
            return True
        if self._always and key == END:
            self._end()
            return True
        steers = key.lower() in self._steering and not self._always
        if steers or not key.isprintable() or key.isspace() or key == "\ufffd":
            return False
        self._become(key)
        return True

    def _become(self, text: str | None) -> None:
        if text != self._text:
            self._text = text
            self._show(text)


def _without_last(text: str) -> str:
    """`text` without its last character and what is combined with it."""
    end = len(text) - 1
    while end > 0 and unicodedata.combining(text[end]):
        end -= 1
    return text[: max(end, 0)]
