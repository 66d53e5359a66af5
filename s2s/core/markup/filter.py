"""Takes what was never meant for the person out of a language model's text, as it streams.

Control tokens of chat templates, thinking, comments and turns that are not the assistant's are
removed; calls of tools that were written as text are handed on as calls. Code and formulas are
text like any other, and what stands inside code is never touched. A decision is made from the
characters alone, so that the same text comes out however it was split.
See docs/decisions/model-markup.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from s2s.core.markup.calls import WrittenCall, bracket_end, is_call, written_json_end
from s2s.core.markup.headers import (
    LEAKED_FINAL,
    LEAKED_FINAL_CHARS,
    MESSAGE,
    Start,
    read_call_fence,
    read_harmony,
    read_start,
)
from s2s.core.markup.output import Item, Output
from s2s.core.markup.signs import (
    OPENERS,
    ROLES,
    Cut,
    Role,
    Sign,
    ends_call,
    ends_foreign,
    find_sign,
    read_sign,
)

INLINE_CODE_CHARS = 200
"""An opening sign after a backtick waits this long for the closing one."""
HEADER_CHARS = 200
"""A header that does not end within this many characters was none."""
LEAST_CUT_SIGN = 5
"""Characters of half a sign at the end of an answer that are taken for one."""
BARE_CALL_CHARS = 20_000
"""An answer that begins with a bracket waits this long for the end of its JSON."""


_ROLE_NAME = re.compile(r"[ \t]*([A-Za-z_]{0,20})")
_CLOSES = re.compile(r"[>\]}▷]")
_BETWEEN_JSON = re.compile(r"\s*[,;]?\s*")
_ENDS_THOUGHT = (Role.THOUGHT_END, Role.TURN_END, Role.HARMONY, Role.HEADER)
_SPEAKS = (Role.HEADER, Role.HARMONY, Role.SPEAKER)
_WITH_JSON = (
    "tool_calls", "tool_call", "toolcall", "toolcalls", "function_call", "functioncall",
    "tool_use", "tool_request",
)  # fmt: skip
"""Calls that may be over with their JSON, without a sign."""


class MarkupFilter:
    """Reads one answer. Feed it with `push`, end it with `flush`.

    Args:
        opens_in_thought: the template may have opened the thinking, so that the text begins inside
            it: it is held until the thinking ends, or the answer.
        start: what comes first is the start of an answer, no part from its middle.
    """

    def __init__(self, *, opens_in_thought: bool = False, start: bool = True) -> None:
        self._start = start
        self._buffer = ""
        self._at = 0
        """Characters of the answer before the buffer."""
        self._out = Output(held=opens_in_thought)
        self._step: Callable[[bool], bool] = self._read_text
        """Reads on in the buffer; False when that needs more than there is. Its argument: there
        will be no more."""
        self._foreign = ""
        self._call_sign: Sign | None = None
        self._call_name = ""
        self._fence_end = ""
        self._looked = 0
        """Characters of the buffer that were searched in vain for the end of a call."""

    @property
    def opened_in_thought(self) -> bool:
        """The answer ended a thought that it had not begun."""
        return self._out.unopened

    def push(self, text: str) -> list[Item]:
        """Add text and return what is certain now."""
        self._buffer += text
        return self._run(final=False)

    def flush(self) -> list[Item]:
        """End the answer: half a sign is removed, an open call handed on."""
        items = self._run(final=True)
        if self._call_sign is not None:
            self._end_call(len(self._buffer))
        self._drop(len(self._buffer))
        return [*items, *self._out.finish()]

    def _run(self, *, final: bool) -> list[Item]:
        while self._buffer and self._step(final):
            pass
        return self._out.take()

    def _keep(self, length: int) -> None:
        text, at = self._buffer[:length], self._at
        self._drop(length)
        self._out.keep(text, at)

    def _drop(self, length: int, *, block: bool = False) -> None:
        self._buffer = self._buffer[length:]
        self._at += length
        self._looked = max(0, self._looked - length)
        if block:
            self._out.leave_gap()

    # --- text -------------------------------------------------------------------------------------

    def _read_text(self, final: bool) -> bool:
        """Read up to the next sign; False when more is needed to go on."""
        if self._start and not self._out.begun:
            begun = self._read_start(final)
            if begun is not None:
                return begun
        buffer, spans = self._buffer, self._out.spans
        if buffer[0] in "`~" and not spans.in_fence:
            fenced = (
                None if self._out.last and self._out.last in "`~" else self._read_call_fence(final)
            )
            if fenced is not None:
                return fenced
        if buffer[0] not in OPENERS or spans.in_fence:
            self._keep(1 if buffer[0] in "`~\n" else self._plain_length())
            return True
        if spans.in_inline_code:
            end = re.search(r"[`\n]", buffer)
            if end is None and len(buffer) < INLINE_CODE_CHARS and not final:
                return False
            if end is not None and end.group() == "`" and end.start() < INLINE_CODE_CHARS:
                self._keep(end.start())
                return True
            spans.no_inline_code()
        return self._read_sign(final)

    def _plain_length(self) -> int:
        """Characters up to the next that may mean something; white space at the start alone."""
        if not self._out.begun and self._buffer[0].isspace():
            return len(self._buffer) - len(self._buffer.lstrip())
        for index, char in enumerate(self._buffer):
            if index and (char in OPENERS or char in "`~\n"):
                return index
        return len(self._buffer)

    def _read_start(self, final: bool) -> bool | None:
        """What only the start of an answer may be; None when it is text like any other."""
        match read_start(self._buffer, final):
            case Start.MORE:
                return False
            case Start.BARE_CALL:
                return self._read_bare_call(final)
            case Start.ROLE:
                self._drop(self._buffer.index("\n"), block=True)
            case Start.THOUGHT:
                self._drop(len("analysis"))
                self._hide_until(LEAKED_FINAL, LEAKED_FINAL_CHARS)
            case Start.NONE:
                return None
        return True

    def _read_bare_call(self, final: bool) -> bool | None:
        """An answer that is nothing but the JSON of a call."""
        sign = read_sign(self._buffer) if self._buffer[0] == "[" else Cut.NONE
        if isinstance(sign, Sign):
            return None
        if sign is Cut.MORE and not final:
            return False
        if not final and len(self._buffer) < BARE_CALL_CHARS and not self._may_end():
            return False
        end = bracket_end(self._buffer[:BARE_CALL_CHARS])
        if end is None:
            return None if final or len(self._buffer) >= BARE_CALL_CHARS else False
        if not is_call(self._buffer[:end]):
            return None
        self._out.call(WrittenCall(self._buffer[:end]))
        self._drop(end, block=True)
        return True

    def _read_call_fence(self, final: bool) -> bool | None:
        """A code block that is a call: Gemma's `tool_code`; None when it is not."""
        match read_call_fence(self._buffer, final):
            case Cut.MORE:
                return False
            case str() as fence:
                self._drop(self._buffer.index("\n") + 1)
                self._fence_end = fence
                self._call_sign = Sign(Role.CALL, 0, "fence")
                self._step = self._read_fenced_call
                return True
            case _:
                return None

    def _read_sign(self, final: bool) -> bool:
        sign = read_sign(self._buffer)
        if sign is Cut.MORE and final and len(self._buffer) >= LEAST_CUT_SIGN:
            sign = Sign(Role.DROP, len(self._buffer))
        if sign is Cut.MORE or (self._buffer[:4] != "<!--" and "<!--".startswith(self._buffer)):
            if not final:
                return False
            sign = Cut.NONE
        if self._buffer.startswith("<!--"):
            self._drop(4)
            self._hide_until(re.compile("-->"), 3)
        elif isinstance(sign, Sign):
            self._obey(sign)
        else:
            self._keep(1)
        return True

    def _obey(self, sign: Sign) -> None:
        """Do what a sign in the text asks for."""
        match sign.role:
            case Role.DROP | Role.CALL_END | Role.FOREIGN_END:
                self._drop(sign.length)
            case Role.TURN_END:
                self._drop(sign.length, block=True)
            case Role.SPEAKER:
                self._drop(sign.length, block=True)
                if sign.name != "assistant":
                    self._step = self._skip_foreign_turn
            case Role.HEADER:
                self._drop(sign.length, block=True)
                self._step = self._read_header
            case Role.HARMONY:
                self._step = self._read_harmony_header
            case Role.THOUGHT if sign.closed:
                self._drop(sign.length)
            case Role.THOUGHT:
                self._open_thought(sign.length)
            case Role.THOUGHT_END:
                self._drop(sign.length, block=True)
                self._out.end_unopened_thought()
            case Role.FOREIGN:
                self._drop(sign.length, block=True)
                self._foreign = sign.name
                self._step = self._skip_foreign
            case Role.CALL:
                self._open_call(sign)

    # --- thinking, comments, other people's turns -------------------------------------------------

    def _open_thought(self, length: int) -> None:
        self._drop(length, block=True)
        self._out.open_thought()
        self._step = self._skip_thought

    def _skip_thought(self, final: bool) -> bool:
        sign = self._next_sign(final, lambda sign: sign.role in _ENDS_THOUGHT)
        if sign is None:
            return False
        self._step = self._read_text
        if sign.role in (Role.THOUGHT_END, Role.TURN_END):
            self._drop(sign.length)
        return True

    def _skip_foreign(self, final: bool) -> bool:
        sign = self._next_sign(final, lambda sign: ends_foreign(self._foreign, sign))
        if sign is None:
            return False
        if sign.role not in (Role.HEADER, Role.SPEAKER):
            self._drop(sign.length)
        self._step = self._read_text
        return True

    def _skip_foreign_turn(self, final: bool) -> bool:
        if self._next_sign(final, lambda sign: sign.role in _SPEAKS) is None:
            return False
        self._step = self._read_text
        return True

    def _hide_until(self, end: re.Pattern[str], longest: int) -> None:
        """Drop everything up to `end`, which is at most `longest` characters."""
        self._out.leave_gap()

        def skip(final: bool) -> bool:
            found = end.search(self._buffer)
            if found is None:
                self._drop(len(self._buffer) if final else max(0, len(self._buffer) - longest + 1))
                return False
            self._drop(found.end())
            self._step = self._read_text
            return True

        self._step = skip

    def _next_sign(self, final: bool, wanted: Callable[[Sign], bool]) -> Sign | None:
        """Drop text up to a sign that is wanted; None: it is not there yet."""
        index, sign = find_sign(self._buffer, final, wanted)
        self._drop(index)
        return sign

    # --- headers ----------------------------------------------------------------------------------

    def _read_header(self, final: bool) -> bool:
        """The name of who speaks, behind `<|im_start|>` and its like."""
        name = _ROLE_NAME.match(self._buffer)
        assert name is not None
        if name.end() == len(self._buffer) and not final:
            return False
        self._step = self._read_text
        role = name[1].lower()
        if role in ROLES:
            self._drop(name.end(), block=True)
            if not ROLES[role]:
                self._step = self._skip_foreign_turn
        return True

    def _read_harmony_header(self, final: bool) -> bool:
        """From `<|start|>` or `<|channel|>` to `<|message|>`: who speaks, for whom, and where."""
        end = self._buffer.find(MESSAGE, 0, HEADER_CHARS)
        if end < 0:
            if len(self._buffer) < HEADER_CHARS and not final:
                return False
            sign = read_sign(self._buffer)
            assert isinstance(sign, Sign)
            self._drop(sign.length, block=True)
            self._step = self._read_header
            return True
        header = read_harmony(self._buffer[:end])
        self._drop(end + len(MESSAGE), block=True)
        if header.tool:
            self._call_sign = Sign(Role.CALL, 0, "harmony")
            self._call_name = header.tool
            self._step = self._read_call
        elif not header.assistant:
            self._step = self._skip_foreign_turn
        elif header.thought:
            self._open_thought(0)
        else:
            self._step = self._read_text
        return True

    # --- calls ------------------------------------------------------------------------------------

    def _open_call(self, sign: Sign) -> None:
        self._drop(sign.length, block=True)
        named = re.search(r"(?:\A|\bname\s*)=\s*[\"']?([\w.\-]+)", sign.argument)
        self._call_name = named[1] if named else ""
        self._call_sign = sign
        self._step = self._read_call
        if sign.closed:
            self._end_call(0)

    def _read_call(self, final: bool) -> bool:
        """Up to the sign that ends the call, or the end of its JSON."""
        opened = self._call_sign
        assert opened is not None
        if not final and not self._may_end():
            return False
        index, sign = find_sign(self._buffer, final, lambda sign: ends_call(opened, sign))
        if opened.name in _WITH_JSON:
            end = written_json_end(self._buffer[:index])
            if end is not None:
                more = _BETWEEN_JSON.fullmatch(self._buffer, end, index) is not None
                if not more or sign is not None or final:
                    self._end_call(end)
                    return True
                self._looked = 0  # what follows decides
        if sign is None:
            return False
        self._end_call(index)
        if sign.role is Role.CALL:
            self._open_call(sign)
        elif sign.role is not Role.HARMONY:
            self._drop(sign.length)
        return True

    def _may_end(self) -> bool:
        """Whether what came since the last look could end a call: looking each time would take
        time with the square of its length."""
        looked, self._looked = self._looked, len(self._buffer)
        return _CLOSES.search(self._buffer, looked) is not None

    def _read_fenced_call(self, final: bool) -> bool:
        end = re.search(rf"(?:\A|\n)[ \t]*{self._fence_end}[`~]*", self._buffer)
        if end is None or (end.end() == len(self._buffer) and not final):
            return False
        self._end_call(end.start())
        self._drop(end.end() - end.start())
        return True

    def _end_call(self, length: int) -> None:
        """Hand on the call whose text is the next `length` characters."""
        text, name = self._buffer[:length].strip(), self._call_name
        self._drop(length, block=True)
        self._call_sign, self._call_name, self._step = None, "", self._read_text
        if text or name:
            self._out.call(WrittenCall(text, name))
