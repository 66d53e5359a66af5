"""The text in the bytes of a chat completion, in every shape that servers send it. Pure.

Server-sent events or JSON lines or one whole JSON; content as text or as a list of parts; calls of
tools in pieces; characters cut in halves; errors among the events. What is thinking in a field of
its own is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Literal

from s2s.core.markup import Call
from s2s.core.untyped import is_list, is_mapping
from s2s.llm.base import LlmError
from s2s.system.remote import reported_error, server_words, unexpected

SHOWN_BYTES = 4096
"""As much of an answer as is kept to say what it was."""

_LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")
_FIELDS = ("data", "event", "id", "retry", "error")
_THINKING = ("reasoning_content", "reasoning", "thinking", "reasoning_details")
_THINKING_PARTS = ("thinking", "reasoning", "redacted_thinking")
_HIGH = re.compile("[\ud800-\udbff]\\Z")
_HALF = re.compile("[\ud800-\udfff]")

Form = Literal["unknown", "events", "json", "other"]


class ChatStream:
    """Reads one answer. Feed it with `push`; `finish` says whether it was one.

    Args:
        url: names the server in errors.
    """

    def __init__(self, url: str) -> None:
        self.begun = False
        """Something was generated: a word, or a thought."""
        self._url = url
        self._form: Form = "unknown"
        self._rest = b""
        self._start = b""
        """What the answer began with."""
        self._body: list[str] = []
        """Lines of JSON that is not whole yet."""
        self._data: list[str] = []
        """Data of an event that is not whole yet."""
        self._event = ""
        self._finished = False
        self._over = False
        self._half = ""
        self._calls: dict[object, _Pieces] = {}

    def push(self, data: bytes) -> Iterator[str | Call]:
        """Add bytes and yield the text and calls in them; texts are not empty.

        Raises:
            LlmError: the server reports an error, or sends what is no chat completion.
        """
        if len(self._start) < SHOWN_BYTES:
            self._start += data[: SHOWN_BYTES - len(self._start)]
        *whole, self._rest = _LINE_END.split(self._rest + data)
        for line in whole:
            yield from self._read_line(line.decode("utf-8", errors="replace"))

    def finish(self) -> Iterator[str | Call]:
        """The answer is over; yield what was still open.

        Raises:
            LlmError: it broke off, or was none.
        """
        if self._rest.strip():
            yield from self._read_line(self._rest.decode("utf-8", errors="replace").rstrip("\r"))
        yield from self._end_event()
        if self._body:
            yield from self._read_body("".join(self._body))
        if self._half:
            self._half = ""
            yield "\ufffd"
        yield from self._whole_calls()
        if self._form in ("unknown", "other"):
            raise LlmError(str(unexpected(self._url, self._start, "a chat completion")))
        if not self._finished:
            raise LlmError(
                "the server ended its answer in the middle. Look at its log; it may have run out "
                "of memory."
            )

    @property
    def finished(self) -> bool:
        """The answer is whole, whatever becomes of the connection."""
        return self._finished

    # --- lines ----------------------------------------------------------------------------------

    def _read_line(self, line: str) -> Iterator[str | Call]:
        if self._form == "unknown":
            line = line.removeprefix("\ufeff")
            self._form = _form(line)
        if self._form == "events":
            yield from self._read_field(line)
        elif self._form == "json":
            yield from self._read_json_line(line)

    def _read_field(self, line: str) -> Iterator[str | Call]:
        if not line.strip():
            yield from self._end_event()
            return
        field, _, value = line.partition(":")
        value = value.strip()
        match field.strip():
            case "event":
                self._event = value
            case "error":
                raise LlmError(f"the server failed: {server_words(value.encode())}")
            case "data" if value == "[DONE]":
                self._finished = self._over = True
            case "data" if value and not self._over:
                self._data.append(value)
                event = _parsed("\n".join(self._data))
                if event is not None:
                    self._data = []
                    yield from self._read_event(event[0])
            case _:
                pass

    def _end_event(self) -> Iterator[str | Call]:
        data, self._data = "\n".join(self._data), []
        self._event = ""
        if data:
            raise LlmError(f"the server sent {data[:80]!r} where JSON was due.")
        yield from ()

    def _read_json_line(self, line: str) -> Iterator[str | Call]:
        event = _parsed(line) if line.strip() and not self._body else None
        if event is not None and is_mapping(event[0]):
            yield from self._read_event(event[0])
        elif line.strip():
            self._body.append(line)

    def _read_body(self, body: str) -> Iterator[str | Call]:
        event = _parsed(body)
        if event is None:
            raise LlmError(f"the server sent {body[:80]!r} where JSON was due.")
        values = event[0] if is_list(event[0]) else [event[0]]
        for value in values:
            yield from self._read_event(value)

    # --- events ---------------------------------------------------------------------------------

    def _read_event(self, event: object) -> Iterator[str | Call]:
        if not is_mapping(event):
            raise LlmError(f"the server sent {str(event)[:80]!r} where an object was due.")
        words = reported_error(event)
        if words is None and self._event == "error":
            words = server_words(json.dumps(event).encode())
        if words is not None:
            raise LlmError(f"the server failed: {words}")
        choices = event.get("choices")
        if is_list(choices):
            for choice in choices:
                if is_mapping(choice) and not choice.get("index"):
                    yield from self._read_choice(choice)
        elif is_mapping(message := event.get("message")):  # Ollama's own form
            yield from self._read_message(message)
            self._finished = self._finished or bool(event.get("done", True))

    def _read_choice(self, choice: Mapping[str, object]) -> Iterator[str | Call]:
        failed = reported_error(choice)
        if failed is None and choice.get("finish_reason") == "error":
            failed = str(choice.get("native_finish_reason") or "it says no more")
        if failed is not None:
            raise LlmError(f"the server failed: {failed}")
        message = choice.get("delta") or choice.get("message")
        if is_mapping(message):
            yield from self._read_message(message)
        else:
            yield from self._text(content_text(message) or content_text(choice.get("text")))
        whole = is_mapping(choice.get("message"))
        self._finished = self._finished or whole or bool(choice.get("finish_reason"))

    def _read_message(self, message: Mapping[str, object]) -> Iterator[str | Call]:
        content = message.get("content")
        self.begun = self.begun or bool(content) or any(message.get(key) for key in _THINKING)
        yield from self._text(content_text(content) or content_text(message.get("refusal")))
        calls = message.get("tool_calls")
        if is_list(calls):
            for number, call in enumerate(calls):
                if is_mapping(call):
                    self._add_call(call.get("index", number), call.get("function"))
        self._add_call("function_call", message.get("function_call"))

    def _text(self, text: str) -> Iterator[str]:
        """`text` with characters whose halves came apart put together again."""
        text, self._half = self._half + text, ""
        if not text:
            return
        if _HALF.search(text):
            if half := _HIGH.search(text):
                self._half, text = half.group(), text[: half.start()]
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        if text:
            self.begun = True
            yield text

    def _add_call(self, key: object, function: object) -> None:
        if is_mapping(function):
            self.begun = True
            self._calls.setdefault(key, _Pieces()).add(function)

    def _whole_calls(self) -> Iterator[Call]:
        calls, self._calls = self._calls, {}
        for call in calls.values():
            yield Call("".join(call.name), "".join(call.arguments) or "{}")


class _Pieces:
    """A call that comes in pieces."""

    def __init__(self) -> None:
        self.name: list[str] = []
        self.arguments: list[str] = []

    def add(self, function: Mapping[str, object]) -> None:
        name, arguments = function.get("name"), function.get("arguments")
        if isinstance(name, str) and name not in self.name:
            self.name.append(name)
        if isinstance(arguments, str):
            self.arguments.append(arguments)
        elif arguments:
            self.arguments.append(json.dumps(arguments, ensure_ascii=False))


def content_text(content: object) -> str:
    """The text of a message's content: a text, a list of parts, or one part."""
    if isinstance(content, str):
        return content
    if isinstance(content, int | float) and not isinstance(content, bool):
        return str(content)
    if is_list(content):
        return "".join(map(content_text, content))
    if not is_mapping(content) or content.get("type") in _THINKING_PARTS:
        return ""
    text = content.get("text")
    return content_text(text.get("value") if is_mapping(text) else text)


def _form(line: str) -> Form:
    """What an answer is that begins with `line`."""
    start = line.lstrip()
    if not start:
        return "unknown"
    if start[0] in "{[":
        return "json"
    if start[0] == ":" or start.partition(":")[0].strip() in _FIELDS:
        return "events"
    return "other"


def _parsed(text: str) -> tuple[object] | None:
    """The JSON value in `text`; None when it is none, or not whole."""
    try:
        return (json.loads(text),)
    except (ValueError, RecursionError):
        return None
