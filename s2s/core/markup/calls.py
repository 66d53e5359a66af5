"""Calls of tools as models write them into their text, read. Pure; nothing is called here.

Forms: JSON with a name and arguments (Hermes, Qwen, Mistral, Llama 3, Granite, Command R, Phi),
a name before its JSON (Mistral, DeepSeek, Kimi, harmony), tags (Qwen-Coder, GLM, DeepSeek 3.2,
MiniMax) and Python calls (Llama 4, Gemma, LFM).
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from s2s.core.untyped import is_list, is_mapping


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """A call of a tool, written as text."""

    text: str
    """Between the signs around it."""
    name: str = ""
    """Of the tool, where a sign said it; else it stands in `text`."""


@dataclass(frozen=True, slots=True)
class Call:
    """What a model wants called."""

    name: str
    """Of the tool; "" when it could not be read."""
    arguments: str
    """A JSON object; the text as it was written when it could not be read."""


_BRACKETS = re.compile(r'["{}\[\]]|\\.', re.S)
_HEAD = re.compile(
    r"\s*(?:[A-Za-z_][\w.\-]*\s*)?(?:\[CALL_ID\][\w\-]*\s*)?(?:\[ARGS\]\s*)?(?=\{|\[(?!ARGS\]|CALL_ID\]))"
)
_NEXT = re.compile(r"\s*[,;]?\s*(?=[{\[])")
_SIGN = re.compile(r"<[|｜][^<>]{1,80}[|｜]>|\[CALL_ID\]\s*[\w\-]*|\[(?:ARGS|TOOL_CONTENT)\]")
_EDGE_SIGNS = re.compile(rf"\A(?:(?:{_SIGN.pattern})\s*)+|(?:\s*(?:{_SIGN.pattern}))+\Z")
_FENCED = re.compile(r"(?:```|~~~)[a-z]*\n(.*?)\n?(?:```|~~~)", re.S)
_FUNCTION = re.compile(
    r"<(?:｜DSML｜)?(?:function|invoke)\s*(?:=|\s+name\s*=)\s*[\"']?([\w.\-]+)[\"']?[^>]*>"
    r"(.*?)(?:</(?:｜DSML｜)?(?:function|invoke)>|\Z)",
    re.S,
)
_PARAMETER = re.compile(
    r"<(?:｜DSML｜)?parameter\s*(?:=|\s+name\s*=)\s*[\"']?([\w.\-]+)[\"']?[^>]*>"
    r"(.*?)</(?:｜DSML｜)?parameter>",
    re.S,
)
_GLM_PAIR = re.compile(r"<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>", re.S)
_GEMMA_QUOTE = '<|"|>'
_BARE_KEY = re.compile(r"([{,]\s*)([A-Za-z_]\w*)\s*:")
_NAME = re.compile(r"[A-Za-z_][\w.\-]*")
_NAMES = ("name", "tool_name", "function", "tool", "recipient_name")
_ARGUMENTS = ("arguments", "parameters", "args", "input", "kwargs", "params")


def bracket_end(text: str) -> int | None:
    """Where the bracket that `text` begins with is closed, strings skipped; None: nowhere."""
    depth, inside = 0, False
    for match in _BRACKETS.finditer(text):
        char = match.group()
        if inside:
            inside = char != '"'
        elif char == '"':
            inside = True
        elif char in "{[":
            depth += 1
        elif char in "}]":
            depth -= 1
            if depth <= 0:
                return match.end()
    return None


def written_json_end(text: str) -> int | None:
    """Where the JSON of a call, with a name before it perhaps, is over; None: not in `text`."""
    head = _HEAD.match(text)
    if head is None:
        return None
    start = head.end()
    while (length := bracket_end(text[start:])) is not None:
        end = start + length
        following = _NEXT.match(text, end)
        if following is None:
            return end
        start = following.end()
    return None


def is_call(text: str) -> bool:
    """Whether an answer's JSON or Python is a call of a tool, and no text for the person."""
    return all(call.name for call in read_calls(WrittenCall(text)))


def read_calls(written: WrittenCall) -> list[Call]:
    """The calls in `written`; one without a name where they cannot be read."""
    text = _EDGE_SIGNS.sub("", written.text.strip())
    if fenced := _FENCED.fullmatch(text):
        text = fenced[1].strip()
    if written.name and not text:
        return [Call(written.name, "{}")]
    for reader in (_from_tags, _from_json, _from_pairs):
        if calls := list(reader(text, written.name)):
            return calls
    if written.name:
        return [Call(written.name, text)]
    return list(_from_named(text)) or list(_from_python(text)) or [Call("", text)]


def _from_tags(text: str, name: str) -> Iterator[Call]:
    for function in _FUNCTION.finditer(text):
        yield Call(function[1], _parameters(function[2]))
    if name and _PARAMETER.search(text) and not _FUNCTION.search(text):
        yield Call(name, _parameters(text))


def _parameters(body: str) -> str:
    found = {match[1]: _value(match[2]) for match in _PARAMETER.finditer(body)}
    if found or not body.strip():
        return json.dumps(found, ensure_ascii=False)
    return body.strip()


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text.strip()


def _from_json(text: str, name: str) -> Iterator[Call]:
    for value in _values(text):
        for item in value if is_list(value) else [value]:
            call = _from_object(item, name)
            if call is None:
                return
            yield call


def _values(text: str) -> Iterator[object]:
    """The JSON values that `text` consists of; none when there is anything else."""
    decoder = json.JSONDecoder()
    values: list[object] = []
    at = 0
    while at < len(text):
        try:
            value, at = decoder.raw_decode(text, at)
        except ValueError:
            return
        values.append(value)
        gap = re.compile(r"[\s,;]*").match(text, at)
        at = gap.end() if gap else at
    yield from values


def _from_object(item: object, name: str) -> Call | None:
    if not is_mapping(item):
        return None
    if is_mapping(inner := item.get("function")):
        return _from_object(inner, name)
    said = next((item[key] for key in _NAMES if isinstance(item.get(key), str)), "")
    for key in _ARGUMENTS:
        if key in item and said:
            given = item[key]
            written = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
            return Call(str(said).removeprefix("functions."), written)
    return Call(name, json.dumps(item, ensure_ascii=False)) if name else None


def _from_pairs(text: str, name: str) -> Iterator[Call]:
    pairs = _GLM_PAIR.findall(text)
    said = _NAME.match(text)
    if pairs and (said or name):
        arguments = {key.strip(): _value(value) for key, value in pairs}
        called = said.group() if said else name
        yield Call(called, json.dumps(arguments, ensure_ascii=False))


def _from_named(text: str) -> Iterator[Call]:
    """`name{...}` with signs between, once or more often: the sign before the name is skipped."""
    bare = _SIGN.sub("\n", text.replace(_GEMMA_QUOTE, '"'))
    at = 0
    while (brace := bare.find("{", at)) >= 0:
        words = re.findall(r"[A-Za-z_][\w.\-]*(?::\d+)?", bare[at:brace].replace("```json", ""))
        length = bracket_end(bare[brace:])
        if not words or length is None:
            return
        said = re.sub(r":\d+$", "", words[-1]).removeprefix("functions.").removeprefix("call:")
        yield Call(said, _as_json(bare[brace : brace + length]))
        at = brace + length


def _as_json(written: str) -> str:
    """An object whose keys may lack their quotes; as it is where it cannot be read."""
    quoted = _BARE_KEY.sub(r'\1"\2":', written)
    for text in (written, quoted):
        try:
            return json.dumps(json.loads(text), ensure_ascii=False)
        except ValueError:
            continue
    return written


def _from_python(text: str) -> Iterator[Call]:
    """`[lamp_on(room="hall")]`, `print(f(x=1))`: arguments that are literals."""
    code = text.removeprefix("python").strip()
    try:
        tree = ast.parse(code, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in tree.elts if isinstance(tree, ast.List | ast.Tuple) else [tree]:
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "print" and node.args:
            node = node.args[0]
        if not isinstance(node, ast.Call):
            return
        try:
            arguments = {each.arg or "": ast.literal_eval(each.value) for each in node.keywords}
            arguments |= {str(i): ast.literal_eval(each) for i, each in enumerate(node.args)}
            written = json.dumps(arguments, ensure_ascii=False)
        except (ValueError, TypeError):
            written = ", ".join(ast.unparse(each) for each in (*node.args, *node.keywords))
        yield Call(ast.unparse(node.func), written)
