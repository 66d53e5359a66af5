"""Headers of gpt-oss, and what only the start of an answer may be. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto

from s2s.core.markup.signs import ROLES, Cut

MESSAGE = "<|message|>"
"""Ends a header of gpt-oss."""
LEAKED_FINAL = re.compile(r"assistant(?:commentary)?final")
LEAKED_FINAL_CHARS = 24
"""Of a server that removes the signs of gpt-oss, and not the words between them."""

_LEAKED_ROLE = re.compile(r"(?:assistant|model)[ \t]*\n")
_LEAKED_CHANNEL = re.compile(r"analysis(?=[A-Z])")
_STARTS = ("assistant", "model", "analysis")
_BARE_CALL = re.compile(r"\{|\[\s*[{A-Za-z_]")
_BARE_CALL_BEGINS = re.compile(r"\[\s*\Z")
_CHANNEL = re.compile(r"<\|channel\|>\s*(\w*)")
_RECIPIENT = re.compile(r"\bto=([\w.\-]+)")
_PEOPLE = ("user", "assistant", "all")
_CALL_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*(?:tool_code|tool_calls?|function_calls?)[ \t]*\n")
_CALL_FENCE_BEGINS = re.compile(r"(`{1,9}|~{1,9})[ \t]*([a-z_]{0,16})[ \t]*\Z")
_CALL_FENCE_NAMES = ("tool_code", "tool_calls", "function_calls")


class Start(Enum):
    """What an answer begins with."""

    NONE = auto()
    MORE = auto()
    """It cannot be told yet."""
    ROLE = auto()
    """The name of who speaks, on a line, without the signs around it."""
    THOUGHT = auto()
    """The channel of gpt-oss, without the signs around it."""
    BARE_CALL = auto()
    """Brackets: perhaps nothing but the JSON of a call."""


@dataclass(frozen=True, slots=True)
class HarmonyHeader:
    """Who speaks, and to whom."""

    assistant: bool
    thought: bool
    tool: str
    """The tool that is called; "" when none is."""


def read_start(text: str, final: bool) -> Start:
    """What an answer is that begins with `text`, which is not white space."""
    if text[0].isspace():
        return Start.NONE
    if _BARE_CALL.match(text):
        return Start.BARE_CALL
    if _LEAKED_ROLE.match(text):
        return Start.ROLE
    if _LEAKED_CHANNEL.match(text):
        return Start.THOUGHT
    if final:
        return Start.NONE
    if _BARE_CALL_BEGINS.match(text):
        return Start.MORE
    word = text.rstrip(" \t")
    begins = any(start.startswith(word) for start in _STARTS) and len(text) < 40
    return Start.MORE if begins else Start.NONE


def read_harmony(header: str) -> HarmonyHeader:
    """A header of gpt-oss, from its first sign up to, not including, `MESSAGE`."""
    speaker = re.match(r"<\|start\|>\s*([\w.]*)", header)
    role = speaker[1].lower() if speaker else "assistant"
    recipient = _RECIPIENT.search(header)
    tool = recipient[1] if recipient and recipient[1] not in _PEOPLE else ""
    channel = _CHANNEL.search(header)
    thought = channel is not None and channel[1].lower() in ("analysis", "thought", "thinking")
    return HarmonyHeader(ROLES.get(role, "." not in role), thought, tool.removeprefix("functions."))


def read_call_fence(text: str, final: bool) -> str | Cut:
    """The fence of a code block that holds a call, where `text` begins with its opening line."""
    if fence := _CALL_FENCE.match(text):
        return fence[1]
    begins = _CALL_FENCE_BEGINS.match(text)
    if begins is None or final:
        return Cut.NONE
    if len(begins[1]) < 3 and begins[2]:
        return Cut.NONE
    known = any(name.startswith(begins[2]) for name in _CALL_FENCE_NAMES)
    return Cut.MORE if known else Cut.NONE
