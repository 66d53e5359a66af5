"""Where code and formulas begin and end in a text that comes in pieces. Pure.

Read character by character, so that how the text was split cannot matter.
"""

from __future__ import annotations

SPAN_CHARS = 400
"""A backtick, bracket or formula that is not closed within this many characters was none."""
DOLLAR_CHARS = 120
"""The same for a single dollar sign, which is money more often."""

_FENCE_RUN = 3


class Spans:
    """Follows fenced code (``` and ~~~), inline code, links and formulas ($$, $, \\[ and \\()."""

    def __init__(self) -> None:
        self._fence = ""
        """The run of backticks or tildes that opened the code block; "" outside."""
        self._opening_line = False
        """Still on the line that opened the block."""
        self._inline = False
        self._formula = ""
        """What closes the formula: "$$", "$", "]" or ")"; "" outside."""
        self._dollars = 0
        self._before_dollars = ""
        self._run = ""
        self._spent = False
        """The run of backticks has closed a block: it opens nothing."""
        self._closed_inline = False
        """The run of backticks has closed inline code: inside a line it opens nothing."""
        self._mid_line = False
        """The block was opened inside a line: nothing but its language may follow there."""
        self._line_start = True
        self._brackets = 0
        self._target = False
        self._open_chars = 0
        self._last = ""

    @property
    def holds(self) -> bool:
        """The text so far ends inside something that belongs together."""
        return bool(self._fence) or self._in_line()

    @property
    def in_fence(self) -> bool:
        """Inside a code block, or its opening line."""
        return bool(self._fence)

    @property
    def in_inline_code(self) -> bool:
        """After a backtick that is not closed yet."""
        return self._inline

    def no_inline_code(self) -> None:
        """The backtick before turned out to be none."""
        self._inline = False

    def read(self, char: str) -> None:
        """Take the next character."""
        if char in "`~":
            self._run = self._run + char if self._run[-1:] in ("", char) else char
            self._read_run()
        else:
            self._run, self._spent, self._closed_inline = "", False, False
            if self._mid_line and self._opening_line and not (char.isalnum() or char in "+#.-_\n"):
                self._fence, self._opening_line = "", False  # ``` in the middle of a sentence
                self._inline = True
            if not self._fence and not self._inline:
                self._read_formula(char)
                if not self._formula:
                    self._read_link(char)
        self._limit(char)
        if char == "\n":
            self._line_start = True
            self._opening_line = False
        elif not char.isspace() and char not in "`~>":
            self._line_start = False
        self._last = char

    def _in_line(self) -> bool:
        return self._inline or bool(self._formula) or self._brackets > 0 or self._target

    def _limit(self, char: str) -> None:
        """What stays open for too long, or to the end of the paragraph, was no markup."""
        self._open_chars = self._open_chars + 1 if self._in_line() else 0
        longest = DOLLAR_CHARS if self._formula == "$" else SPAN_CHARS
        if self._open_chars > longest or (char == "\n" == self._last):
            self._inline, self._formula = False, ""
            self._brackets, self._target = 0, False

    def _read_run(self) -> None:
        run = self._run
        if self._fence:
            closes = run.startswith(self._fence) and (self._line_start or self._opening_line)
            if closes and len(run) >= len(self._fence) and not self._is_opening(run):
                self._fence, self._spent = "", True
        elif self._spent:
            return
        elif len(run) >= _FENCE_RUN and (
            self._line_start or (run[0] == "`" and not self._closed_inline)
        ):
            self._fence, self._opening_line = run, True
            self._inline, self._mid_line = False, not self._line_start
        elif run == "`" and not self._formula:
            self._closed_inline = self._inline
            self._inline = not self._inline

    def _is_opening(self, run: str) -> bool:
        """The run that opens a block goes on: ```` is a fence of four."""
        if self._opening_line and self._last == run[-1] and len(run) == len(self._fence) + 1:
            self._fence = run
            return True
        return False

    def _read_formula(self, char: str) -> None:
        if self._formula:
            self._close_formula(char)
        elif char == "$":
            if not self._dollars:
                self._before_dollars = self._last
            self._dollars += 1
            if self._dollars == 2:
                self._formula = "$$"
                self._dollars = 0
        elif self._dollars:
            opens = char.isalpha() or char == "\\"
            if opens and not self._before_dollars.isalnum():
                self._formula = "$"
            self._dollars = 0
        elif self._last == "\\" and char in "[(":
            self._formula = "]" if char == "[" else ")"

    def _close_formula(self, char: str) -> None:
        if self._formula == "$" and char == "$":
            self._formula = ""
        elif self._formula == "$$" and char == "$":
            self._dollars += 1
            if self._dollars == 2:
                self._formula, self._dollars = "", 0
        elif self._formula == char and self._last == "\\":
            self._formula = ""
        elif char != "$":
            self._dollars = 0

    def _read_link(self, char: str) -> None:
        if self._target:
            self._target = char != ")"
        elif char == "[":
            self._brackets += 1
        elif char == "]" and self._brackets:
            self._brackets -= 1
        elif char == "(" and self._last == "]":
            self._target = True
