"""The signs that chat templates put around a model's text, and what each means. Pure.

From the templates published with the models: ChatML, Llama 2 to 4, Gemma, Mistral, Phi, Command R,
DeepSeek, Qwen, GLM, Kimi, Granite, gpt-oss (harmony), and the tags that models write themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

OPENERS = "<[◁"
"""Characters that a sign begins with."""


LONGEST_SIGN = 400
"""Characters; longer ones are none."""
_OPENER = re.compile(f"[{re.escape(OPENERS)}]")


class Role(Enum):
    """What a sign does to the text that follows."""

    DROP = auto()
    """Nothing: the sign alone is removed."""
    TURN_END = auto()
    """The message is over."""
    HEADER = auto()
    """The name of who speaks follows, up to a line end or another sign."""
    HARMONY = auto()
    """A header of gpt-oss follows, up to its `<|message|>`."""
    SPEAKER = auto()
    """Names who speaks; `Sign.name` is "assistant" or another."""
    THOUGHT = auto()
    THOUGHT_END = auto()
    CALL = auto()
    CALL_END = auto()
    FOREIGN = auto()
    """Text that is not the assistant's (instructions, results of tools), up to its end."""
    FOREIGN_END = auto()


@dataclass(frozen=True, slots=True)
class Sign:
    """One sign at the start of a text."""

    role: Role
    length: int
    """Characters."""
    name: str = ""
    """In lower case, without brackets, bars and namespace."""
    argument: str = ""
    """What stands in the sign behind its name: `=lamp_on`."""
    closed: bool = False
    """Opens and closes at once: `<invoke name="x"/>`."""


class Cut(Enum):
    """Why there is no sign."""

    NONE = auto()
    """The text does not begin with one."""
    MORE = auto()
    """It may, once more of it is there."""


_THOUGHT = (
    "think", "thinking", "thought", "thoughts", "reasoning", "reason", "reflection", "analysis",
    "scratchpad", "ponder", "internal_monologue", "inner_monologue", "inner_thoughts",
    "inner_thought", "internal_thoughts", "chain_of_thought", "cot", "thought_process",
    "thinking_process", "reasoning_process", "reasoning_content", "ant_thinking", "antthinking",
)  # fmt: skip
_CALL = (
    "tool_call", "tool_calls", "toolcall", "toolcalls", "function_call", "function_calls",
    "functioncall", "functioncalls", "function", "invoke", "tool_use", "tool_code", "use_tool",
    "tool_request", "call_tool",
)  # fmt: skip
_FOREIGN = (
    "tool_response", "tool_responses", "tool_result", "tool_results", "tool_output",
    "tool_outputs", "function_response", "function_result", "function_results", "observation",
    "tools", "available_tools", "system_prompt", "sys", "inst",
)  # fmt: skip
_DROP_TAGS = (
    "s", "bos", "eos", "pad", "unk", "mask", "cls", "sep", "sop", "eop", "eod", "bos_token",
    "eos_token", "pad_token", "unk_token", "endoftext", "end_of_text", "answer", "final_answer",
    "solution", "image_soft_token", "start_of_image", "end_of_image", "end_of_utterance",
)  # fmt: skip
_NUMBERED = ("unused", "extra_id_", "special_", "reserved_special_token_", "0x")
_DROP_PATTERN = re.compile(rf"(?:{'|'.join(_NUMBERED)})_?[0-9a-f]{{1,6}}")
_TURN_END_TAGS = ("end_of_turn", "end_of_utterance", "eos", "eos_token", "/s", "endoftext")

_TAG_ROLES: dict[str, Role] = (
    dict.fromkeys(_DROP_TAGS, Role.DROP)
    | dict.fromkeys((f"/{name}" for name in _DROP_TAGS), Role.DROP)
    | dict.fromkeys(_TURN_END_TAGS, Role.TURN_END)
    | dict.fromkeys(_THOUGHT, Role.THOUGHT)
    | dict.fromkeys((f"/{name}" for name in _THOUGHT), Role.THOUGHT_END)
    | dict.fromkeys(_CALL, Role.CALL)
    | dict.fromkeys((f"/{name}" for name in _CALL), Role.CALL_END)
    | dict.fromkeys(_FOREIGN, Role.FOREIGN)
    | dict.fromkeys((f"/{name}" for name in _FOREIGN), Role.FOREIGN_END)
    | {"start_of_turn": Role.HEADER}
)
_SQUARE = (
    "INST", "/INST", "THINK", "/THINK", "THINKING", "/THINKING", "REASONING", "/REASONING",
    "TOOL_CALLS", "/TOOL_CALLS", "TOOL_CALL", "/TOOL_CALL", "TOOL_REQUEST", "/TOOL_REQUEST",
    "END_TOOL_REQUEST", "TOOL_RESULT", "/TOOL_RESULT", "TOOL_RESULTS", "/TOOL_RESULTS",
    "AVAILABLE_TOOLS", "/AVAILABLE_TOOLS", "SYSTEM_PROMPT", "/SYSTEM_PROMPT", "TOOL_CONTENT",
    "ARGS", "CALL_ID", "IMG", "IMG_BREAK", "IMG_END", "PREFIX", "MIDDLE", "SUFFIX", "gMASK",
    "MODEL_SETTINGS", "/MODEL_SETTINGS", "BEGIN_AUDIO", "AUDIO",
    "PAD", "UNK", "BOS", "EOS",
)  # fmt: skip

ROLES = {
    "assistant": True, "model": True, "bot": True, "chatbot": True, "gpt": True, "ai": True,
    "user": False, "system": False, "tool": False, "human": False, "developer": False,
    "function": False, "ipython": False, "environment": False, "observation": False,
    "context": False, "tool_response": False,
}  # fmt: skip
"""Names in headers, and whether what follows is the assistant's."""

_BAR = re.compile(r"<[|｜](/?[^\s<>|｜][^<>|｜\n]{0,79})[|｜]?>|<([A-Za-z_]{1,24})\|>")
_BAR_BEGINS = re.compile(
    r"<[|｜](?:/?(?:[^\s<>|｜](?:[^<>|｜\n]{0,79}[|｜]?)?)?)?\Z|<[A-Za-z_]{1,24}\|?\Z"
)
_SQUARE_NUMBER = re.compile(r"\[UNUSED_TOKEN_\d{1,4}\]")
_SQUARE_NUMBER_BEGINS = re.compile(r"\[UNUSED_TOKEN_\d{0,4}\Z")
_SQUARE_BAR = re.compile(r"\[\|(/?[A-Za-z_]{2,32})\|\]")
_SQUARE_BAR_BEGINS = re.compile(r"\[(?:\|(?:/?[A-Za-z_]{0,32}\|?)?)?\Z")
_TRIANGLE = re.compile(r"◁(/?)([A-Za-z_]{2,24})▷")
_TRIANGLE_BEGINS = re.compile(r"◁/?[A-Za-z_]{0,24}\Z")
_NAMESPACES = ("antml", "seed", "minimax", "mm", "qwen", "model", "tool")
_DSML = "｜DSML｜"
"""DeepSeek's mark in the tags of its calls."""
_TAG = re.compile(
    rf"<(/?)(?:{_DSML})?(?:(?:{'|'.join(_NAMESPACES)}):)?([A-Za-z0-9_][\w-]{{0,32}})"
    r"((?:\s*=|\s)[^<>\n]{0,300}|)/?>"
)
_TAG_BEGINS = re.compile(
    rf"<(/?)(?:{_DSML})?(?:({'|'.join(_NAMESPACES)}):)?([A-Za-z0-9_][\w-]{{0,32}})?"
    r"((?:\s*=|\s)[^<>\n]{0,300})?/?\Z"
)
_SYS = ("<<SYS>>", "<</SYS>>")

_BAR_THOUGHT = re.compile(
    r"(?:(?:start|begin)_(?:of_)?)?(?:think|thinking|thought|reasoning)(?:_(?:start|begin))?"
)
_BAR_THOUGHT_END = re.compile(
    r"/(?:think|thinking|thought|reasoning)|(?:end|stop)_(?:of_)?(?:think|thinking|thought|"
    r"reasoning)|(?:think|thinking|thought|reasoning)_end"
)
_BAR_CALL = re.compile(
    r"python_(?:tag|start)|(?:start_|begin_)?(?:tool|function|action)s?(?:_?calls?)?(?:s?_section)?"
    r"(?:_start|_begin)|(?:start|begin)_(?:of_)?(?:action|tool_calls?|function_calls?)|"
    r"tool_calls?|function_calls?"
)
_BAR_CALL_END = re.compile(
    r"/(?:tool_calls?|function_calls?)|(?:end|stop)_(?:of_)?(?:action|tool_calls?|function_calls?)|"
    r"(?:tool|function|action|python)s?(?:_?calls?)?(?:s?_section)?_end"
)
_BAR_FOREIGN = re.compile(
    r"(?:start|begin)_(?:of_)?tool_results?|tool_(?:response|outputs?|results?)(?:_(?:begin|start))?"
)
_BAR_FOREIGN_END = re.compile(
    r"/tool_response|end_(?:of_)?tool_results?|tool_(?:response|outputs?|results?)_end"
)
_BAR_HEADER = ("im_start", "start_header_id", "header_start", "start_of_role", "role_start")
_BAR_HARMONY = ("start", "channel")
_BAR_TURN_END = re.compile(
    r"im_end|eot_id|eom_id|eot|eom|end|return|call|end_?of_?text|end_?of_?turn(?:_token)?|"
    r"end_?of_?sentence|eos|eos_token|end_of_message|endofturn|end_of_utterance|e_o_s"
)
_BAR_CLOSES = {
    "channel": Role.THOUGHT_END, "think": Role.THOUGHT_END, "tool_call": Role.CALL_END,
    "tool_response": Role.FOREIGN_END, "turn": Role.TURN_END,
}  # fmt: skip
"""Gemma's signs that open as `<|name>` and close as `<name|>`."""


def read_sign(text: str) -> Sign | Cut:
    """The sign that `text`, not empty, begins with."""
    if text[0] == "[":
        return _read_square(text)
    if text[0] == "◁":
        return _read_triangle(text)
    for sys in _SYS:
        if text.startswith(sys):
            role = Role.FOREIGN_END if "/" in sys else Role.FOREIGN
            return Sign(role, len(sys), "sys")
    if tag := _TAG.match(text):
        return _tag(tag)
    if bar := _BAR.match(text):
        return _bar(bar)
    begins = (
        any(sys.startswith(text) for sys in _SYS)
        or _BAR_BEGINS.match(text) is not None
        or _may_be_tag(text)
    )
    return Cut.MORE if begins else Cut.NONE


def _read_square(text: str) -> Sign | Cut:
    if len(text) > 1 and not (text[1].isupper() or text[1] in "/g|"):
        return Cut.NONE
    for name in _SQUARE:
        if text.startswith(f"[{name}]"):
            return Sign(_square_role(name), len(name) + 2, _plain(name))
    if bar := _SQUARE_BAR.match(text):
        return _named(bar[1], bar.end())
    if number := _SQUARE_NUMBER.match(text):
        return Sign(Role.DROP, number.end(), "unused")
    begins = any(f"[{name}]".startswith(text) for name in (*_SQUARE, "UNUSED_TOKEN_"))
    begins = begins or _SQUARE_NUMBER_BEGINS.match(text) is not None
    return Cut.MORE if begins or _SQUARE_BAR_BEGINS.match(text) else Cut.NONE


def _square_role(name: str) -> Role:
    if name in ("TOOL_REQUEST", "TOOL_CALLS", "TOOL_CALL"):
        return Role.CALL
    if name in ("END_TOOL_REQUEST", "/TOOL_REQUEST", "/TOOL_CALLS", "/TOOL_CALL"):
        return Role.CALL_END
    foreign = ("INST", "TOOL_RESULT", "TOOL_RESULTS", "AVAILABLE_TOOLS", "SYSTEM_PROMPT")
    if name.lstrip("/") in (*foreign, "MODEL_SETTINGS"):
        return Role.FOREIGN_END if name[0] == "/" else Role.FOREIGN
    if name.lstrip("/") in ("THINK", "THINKING", "REASONING"):
        return Role.THOUGHT_END if name[0] == "/" else Role.THOUGHT
    return Role.DROP


def _read_triangle(text: str) -> Sign | Cut:
    if sign := _TRIANGLE.match(text):
        if sign[2].lower() in _THOUGHT:
            role = Role.THOUGHT_END if sign[1] else Role.THOUGHT
            return Sign(role, sign.end(), sign[2].lower())
        return Cut.NONE
    return Cut.MORE if _TRIANGLE_BEGINS.match(text) else Cut.NONE


def _tag(match: re.Match[str]) -> Sign | Cut:
    name = _plain(match[2])
    role = _TAG_ROLES.get(match[1] + name)
    if role is None and _DROP_PATTERN.fullmatch(name):
        role = Role.DROP
    if role is None:
        return Cut.NONE
    closed = match.group().endswith("/>")
    return Sign(role, match.end(), name, match[3].strip(" /"), closed)


def _may_be_tag(text: str) -> bool:
    match = _TAG_BEGINS.match(text)
    if match is None:
        return "<｜DSML｜".startswith(text) or "</｜DSML｜".startswith(text)
    slash, namespace, name, rest = match[1], match[2], _plain(match[3] or ""), match[4]
    if rest:
        return slash + name in _TAG_ROLES
    known = any(key.startswith(slash + name) for key in _TAG_ROLES)
    begins_namespace = not namespace and any(each.startswith(name) for each in _NAMESPACES)
    numbered = any(name.startswith(each) or each.startswith(name) for each in _NUMBERED)
    return known or begins_namespace or numbered


def _bar(match: re.Match[str]) -> Sign:
    """`<|name|>`, or Gemma's `<|name>` and `<name|>`."""
    if match[2]:
        return Sign(_BAR_CLOSES.get(_plain(match[2]), Role.DROP), match.end(), _plain(match[2]))
    closed = match.group()[-2] in "|｜"
    if not closed and _plain(match[1]) == "turn":
        return Sign(Role.HEADER, match.end(), "turn")
    if not closed and _plain(match[1]) == "channel":
        return Sign(Role.THOUGHT, match.end(), "channel")
    return _named(match[1], match.end())


def _named(written: str, length: int) -> Sign:
    """A sign in bars, by the name in it."""
    name = _plain(written)
    if name in _BAR_HEADER:
        return Sign(Role.HEADER, length, name)
    if name in _BAR_HARMONY:
        return Sign(Role.HARMONY, length, name)
    speaker = name.removesuffix("_token").strip("_")
    if speaker in ROLES:
        speaks = "assistant" if ROLES[speaker] else speaker
        return Sign(Role.SPEAKER, length, speaks)
    patterns = (
        (_BAR_TURN_END, Role.TURN_END),
        (_BAR_THOUGHT_END, Role.THOUGHT_END),
        (_BAR_THOUGHT, Role.THOUGHT),
        (_BAR_CALL_END, Role.CALL_END),
        (_BAR_CALL, Role.CALL),
        (_BAR_FOREIGN_END, Role.FOREIGN_END),
        (_BAR_FOREIGN, Role.FOREIGN),
    )
    for pattern, role in patterns:
        if pattern.fullmatch(name):
            return Sign(role, length, name)
    return Sign(Role.DROP, length, name)


def _plain(name: str) -> str:
    """In lower case, with one kind of space: `tool▁calls▁begin` is `tool_calls_begin`."""
    return re.sub(r"[▁\s-]+", "_", name.strip()).lower()


def find_sign(text: str, final: bool, wanted: Callable[[Sign], bool]) -> tuple[int, Sign | None]:
    """Where the first sign is that is wanted; without one, up to where there surely is none.

    Args:
        final: no more text will come, so half a sign is none.
    """
    index = 0
    while (found := _OPENER.search(text, index)) is not None:
        sign = read_sign(text[found.start() : found.start() + LONGEST_SIGN])
        if sign is Cut.MORE and not final:
            return found.start(), None
        if isinstance(sign, Sign) and wanted(sign):
            return found.start(), sign
        index = found.start() + (sign.length if isinstance(sign, Sign) else 1)
    return len(text), None


def opened_thought(text: str) -> str:
    """The sign at the very end of `text`, white space aside, that opens a thought; "" for none."""
    tail = text.rstrip()[-LONGEST_SIGN:]
    for found in _OPENER.finditer(tail):
        sign = read_sign(tail[found.start() :])
        if isinstance(sign, Sign) and found.start() + sign.length == len(tail):
            opens = sign.role is Role.THOUGHT and not sign.closed
            return tail[found.start() :] if opens else ""
    return ""


def _call_kind(name: str) -> str:
    """What a sign of a call has in common with the sign that ends it."""
    return re.sub(r"^(?:start|begin|end|stop)_(?:of_)?|_(?:start|begin|end)$", "", name.strip("/"))


def ends_call(opened: Sign, sign: Sign) -> bool:
    """Whether `sign` ends the call that `opened` began."""
    if sign.role is Role.TURN_END or sign.role is Role.HARMONY:
        return True
    if sign.role is Role.CALL_END:
        same = _call_kind(sign.name) == _call_kind(opened.name)
        return same or (opened.name, sign.name) == ("tool_request", "end_tool_request")
    return sign.role is Role.CALL and sign == opened and not opened.argument


def ends_foreign(opened: str, sign: Sign) -> bool:
    """Whether `sign` ends text that is not the assistant's, begun by a sign of that name."""
    if sign.role is Role.FOREIGN_END:
        return _call_kind(sign.name) == _call_kind(opened)
    speaks = sign.role is Role.SPEAKER and sign.name == "assistant"
    return speaks or sign.role in (Role.TURN_END, Role.HEADER)
