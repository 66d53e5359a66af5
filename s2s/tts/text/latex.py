"""Turns LaTeX formulas into plain signs (α, ×, √), which each language then reads. Pure.

A formula stands between delimiters, in an environment, or is a bare command that is known. What is
not known is skipped: no command is ever said by its backslash, braces or layout.
"""

from __future__ import annotations

import re

from s2s.tts.text.latex_signs import (
    BINOMIALS,
    COMMANDS,
    DROPPED,
    FRACTIONS,
    FUNCTIONS,
    SILENT,
    WITH_ARGUMENT,
)
from s2s.tts.text.tracked import Edit, Tracked

_FORMULA = re.compile(
    r"\$\$(?P<display>(?:(?!\$\$).){1,800})\$\$|\\\[(?P<bracket>(?:(?!\\\]).){1,800})\\\]"
    r"|\\\((?P<paren>(?:(?!\\\)).){1,800})\\\)"
    r"|\\begin\{(?P<name>[a-z]{1,20}\*?)\}(?P<inner>(?:(?!\\end\{(?P=name)\}).){0,2000})"
    r"\\end\{(?P=name)\}"
    r"|(?<![\\$A-Za-z0-9])\$(?![\s$])"
    r"(?P<inline>(?=[^$\n]{0,400}[A-Za-z\\^_={}])(?:[^$\n\\]|\\.){1,400}(?<![\s\\])|[-+−±]?\d[\d.,]{0,20})\$(?![\d$])",
    re.S,
)
_LONELY_DOLLARS = re.compile(r"\$\$(?!\d)|(?<!\d)\$\$")
_BARE = re.compile(r"(?<![\w:\\.])\\([A-Za-z]+)")
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_BARE_NAMES = (
    COMMANDS.keys()
    | FUNCTIONS
    | FRACTIONS
    | BINOMIALS
    | SILENT
    | DROPPED
    | WITH_ARGUMENT
    | {"sqrt"}
)
_PROSE_ENVIRONMENTS = frozenset({"document", "itemize", "enumerate", "center", "quote", "figure"})
_TABULAR = re.compile(r"matrix|array|tabular|cases|smallmatrix")
_ROOTS = {"2": "√", "3": "∛"}
_MAX_DEPTH = 12
"""Deeper braces are left out: nobody follows such a formula by ear, and the stack is finite."""


def read_formulas(text: Tracked) -> None:
    """Replace formulas in `text` in place; money such as "$5 and $6" is none."""
    if "$" not in text.text and "\\" not in text.text:
        return
    text.sub(_FORMULA, _read_formula)
    if "\\" in text.text:
        text.edit(_bare_edits(text.text))
    text.sub(_LONELY_DOLLARS, " ")


def _read_formula(match: re.Match[str]) -> str:
    if match["name"] in _PROSE_ENVIRONMENTS:
        return match["inner"].replace("\\item", "\n")
    if match["name"]:
        return _environment(match["name"], match["inner"], 0)
    formula = match["display"] or match["bracket"] or match["paren"] or match["inline"] or ""
    return plain_formula(formula)


def _bare_edits(text: str) -> list[Edit]:
    """Commands without delimiters, with their arguments and what hangs on them ("^2")."""
    edits: list[Edit] = []
    done = 0
    for match in _BARE.finditer(text):
        following = _COMMAND.match(text, match.end())
        if match.start() < done or match[1] not in _BARE_NAMES:
            continue
        if following is not None and following[1] not in _BARE_NAMES:
            continue  # a path of Windows
        parser = _Parser(text, match.start())
        words = parser.item(0)
        while parser.at < len(text) and (text[parser.at] in "^_" or _goes_on(text, parser.at)):
            words += parser.item(0)
        done = parser.at
        edits.append((match.start(), done, words.strip() or " "))
    return edits


def _goes_on(text: str, at: int) -> bool:
    """Another known command stands here: "\\alpha\\beta"."""
    command = _COMMAND.match(text, at)
    return command is not None and command[1] in _BARE_NAMES


def plain_formula(formula: str, depth: int = 0) -> str:
    """A formula without delimiters, in plain signs."""
    parser = _Parser(formula, 0)
    parts: list[str] = []
    while parser.at < len(formula):
        parts.append(parser.item(depth))
    return " ".join("".join(parts).split())


def _environment(name: str, inner: str, depth: int) -> str:
    """Cells with commas between them, rows with semicolons; an equation is just read."""
    inner = re.sub(r"\A(?:\[[^\]]*\])?\{[^{}]*\}", "", inner) if "ar" in name else inner
    is_table = _TABULAR.search(name) is not None
    if not is_table and "\\begin" in inner:
        return f" {plain_formula(inner, depth + 1)} "
    rows = [row.split("&") for row in re.split(r"\\\\(?:\[[^\]]*\])?", inner)]
    read = [[plain_formula(cell, depth + 1) for cell in row] for row in rows]
    joint = ", " if is_table else " "
    lines = [joint.join(cell for cell in row if cell) for row in read]
    return " " + ("; " if is_table else ", ").join(line for line in lines if line) + " "


class _Parser:
    """Reads one item of a formula after the other; `at` is where it stands."""

    def __init__(self, text: str, at: int) -> None:
        self._text = text
        self.at = at

    def item(self, depth: int) -> str:
        """The next item: a character, a command with its arguments, a group, an exponent."""
        char = self._text[self.at]
        self.at += 1
        if char == "\\":
            return self._command(depth)
        if char == "{":
            self.at -= 1
            return self._argument(depth)
        if char == "^":
            return self._power(self._argument(depth))
        if char == "_":
            index = self._argument(depth)
            return f" {index}" if index else ""
        return {"}": "", "&": " ", "~": " ", "$": "", "-": "−", "*": "×"}.get(char, char)

    def _power(self, exponent: str) -> str:
        exponent = exponent.strip()
        if exponent in {"°", "'", "′", "∗", "×", ""}:
            return exponent.strip("×∗")
        return "^" + exponent.replace(" ", "")

    def _argument(self, depth: int) -> str:
        """A group in braces, or a single item."""
        while self.at < len(self._text) and self._text[self.at] == " ":
            self.at += 1
        if self.at >= len(self._text):
            return ""
        if self._text[self.at] != "{":
            return self.item(depth + 1) if depth < _MAX_DEPTH else ""
        inner = self._braced()
        return plain_formula(inner, depth + 1) if depth < _MAX_DEPTH else ""

    def _braced(self) -> str:
        """What stands between the brace here and its partner, braces of others included."""
        start, level = self.at + 1, 0
        while self.at < len(self._text):
            char = self._text[self.at]
            self.at += 2 if char == "\\" else 1
            level += (char == "{") - (char == "}")
            if level == 0:
                return self._text[start : self.at - 1]
        self.at = len(self._text)
        return self._text[start:]

    def _optional(self) -> str | None:
        """The argument in square brackets, if there is one."""
        if self._text[self.at : self.at + 1] != "[":
            return None
        end = self._text.find("]", self.at)
        if end < 0:
            return None
        inner = self._text[self.at + 1 : end]
        self.at = end + 1
        return inner

    def _command(self, depth: int) -> str:
        name = re.compile(r"[A-Za-z]+").match(self._text, self.at)
        if name is None:
            sign = self._text[self.at : self.at + 1]
            self.at += 1
            return sign if sign in "%$#&_" else " "
        self.at = name.end()
        return self._named(name.group(), depth)

    def _named(self, name: str, depth: int) -> str:
        if name in FRACTIONS:
            self._optional()
            return _fraction(self._argument(depth), self._argument(depth))
        if name in BINOMIALS:
            return f"({self._argument(depth)}, {self._argument(depth)})"
        if name == "sqrt":
            return self._root(depth)
        if name == "begin":
            return self._begin(depth)
        if name in DROPPED:
            self._optional()
            self._argument(_MAX_DEPTH)
            return " "
        if name in SILENT:
            self._delimiter()
            return " " if name not in {"left", "right"} else ""
        known = COMMANDS.get(name)
        if known is not None:
            return known if known.isalnum() or known == "°" else f" {known} "
        if name in FUNCTIONS:
            return f" {name} "
        if name.startswith("text") or name == "mbox":
            words = self._argument(depth)
            hangs_on = self._text[self.at : self.at + 1] in {"^", "_"}
            return words if hangs_on else f" {words} "
        return self._unknown(depth)

    def _root(self, depth: int) -> str:
        index = self._optional() or "2"
        index = plain_formula(index, depth + 1) if depth < _MAX_DEPTH else "2"
        sign = _ROOTS.get(index, f"{index}√")
        return f" {sign}{self._argument(depth)} "

    def _begin(self, depth: int) -> str:
        name = self._braced() if self._text[self.at : self.at + 1] == "{" else ""
        end = self._text.find(f"\\end{{{name}}}", self.at)
        inner = self._text[self.at : end] if end >= 0 else self._text[self.at :]
        self.at = end + len(f"\\end{{{name}}}") if end >= 0 else len(self._text)
        return _environment(name, inner, depth + 1) if depth < _MAX_DEPTH else ""

    def _unknown(self, depth: int) -> str:
        """A command that is not known: its arguments are read, its name is not."""
        self._optional()
        parts: list[str] = []
        while self._text[self.at : self.at + 1] == "{":
            parts.append(self._argument(depth))
        return " ".join(parts) if parts else " "

    def _delimiter(self) -> None:
        r"""Skip what `\left.` and `\left\{` put before the bracket, which itself is kept."""
        if self._text[self.at : self.at + 1] == ".":
            self.at += 1
        elif self._text[self.at : self.at + 2] in {"\\{", "\\}", "\\|"}:
            self.at += 2


def _fraction(top: str, bottom: str) -> str:
    top, bottom = top.strip(), bottom.strip()
    if top.isdecimal() and bottom.isdecimal():
        return f"{top}/{bottom}"
    return f" {top} ∕ {bottom} "
