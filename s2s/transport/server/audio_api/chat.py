"""`POST /v1/chat/completions`: the language model in use, for clients that write."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Literal

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from s2s.core.answering import ToolChoice, ToolSchema
from s2s.core.markup import (
    Call,
    Item,
    MarkupFilter,
    Visible,
    Withdrawn,
    WrittenCall,
    read_calls,
)
from s2s.core.untyped import is_list, is_mapping
from s2s.core.work import Work
from s2s.llm.base import ChatMessage, ChatOptions, LlmError, Role, ToolUse
from s2s.llm.generated_text import GeneratedText
from s2s.transport.server.audio_api import fields
from s2s.transport.server.handover import Services
from s2s.transport.server.reply import ApiError, sse
from s2s.transport.server.server import Server
from s2s.transport.server.worker import Stop, while_connected

Finish = Literal["stop", "length", "tool_calls"]

ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
"""Of a client's messages -> of ours."""

MAX_MESSAGES = 1_000


@dataclass(frozen=True, slots=True)
class ChatCompletion:
    """What is asked."""

    model: str
    messages: tuple[ChatMessage, ...]
    stream: bool
    with_usage: bool
    options: ChatOptions
    stop_at: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WantedCall:
    """A tool that the model wants called."""

    call_id: str
    name: str
    arguments: str

    def told(self) -> dict[str, object]:
        """As the API tells it."""
        function = {"name": self.name, "arguments": self.arguments}
        return {"id": self.call_id, "type": "function", "function": function}


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of an answer."""

    finish: Finish
    prompt_tokens: int
    answer_tokens: int

    def usage(self) -> dict[str, object]:
        """As the API tells it."""
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.answer_tokens,
            "total_tokens": self.prompt_tokens + self.answer_tokens,
        }


def read_request(body: Mapping[str, object]) -> ChatCompletion:
    """
    Raises:
        ApiError: a field that is missing, or that cannot be.
    """
    given = body.get("messages")
    if not is_list(given) or not given:
        raise ApiError(400, "missing_required_parameter", "messages is missing.", param="messages")
    if len(given) > MAX_MESSAGES:
        raise ApiError(
            400, "invalid_value", f"{MAX_MESSAGES} messages are the most.", param="messages"
        )
    if fields.number(body, "n", 1, 1, 128) != 1:
        raise ApiError(400, "invalid_value", "One answer a request: n must be 1.", param="n")
    name = "max_completion_tokens" if "max_completion_tokens" in body else "max_tokens"
    limit = fields.number(body, name, 0, 1, 1_000_000)
    options = body.get("stream_options")
    return ChatCompletion(
        fields.text(body, "model", default=""),
        system_first([_message(each, number) for number, each in enumerate(given)]),
        fields.flag(body, "stream"),
        is_mapping(options) and fields.flag(options, "include_usage"),
        replace(tool_options(body), max_tokens=int(limit) or None),
        _stops(body.get("stop")),
    )


def tool_options(body: Mapping[str, object]) -> ChatOptions:
    """The tools that the model may want called, and whether it must.

    Raises:
        ApiError: they cannot be read.
    """
    given = body.get("tools")
    if given is None:
        return ChatOptions()
    if not is_list(given):
        raise fields.wrong_type("tools", "a list")
    tools = tuple(_tool(each, number) for number, each in enumerate(given))
    choice = body.get("tool_choice")
    if is_mapping(choice):
        function = choice.get("function")
        forced = fields.text(function if is_mapping(function) else {}, "name")
        return ChatOptions(tools, "required", forced)
    choices: tuple[ToolChoice, ...] = ("auto", "none", "required")
    wanted = fields.one_of(body, "tool_choice", choices)
    return ChatOptions(tools, next(each for each in choices if each == wanted))


def _tool(given: object, number: int) -> ToolSchema:
    where = f"tools[{number}]"
    function = given.get("function") if is_mapping(given) else None
    if not is_mapping(function):
        raise fields.wrong_type(f"{where}.function", "an object")
    parameters = function.get("parameters")
    if parameters is not None and not is_mapping(parameters):
        raise fields.wrong_type(f"{where}.function.parameters", "an object")
    description = fields.text(function, "description", default="")
    return ToolSchema(fields.text(function, "name"), description, parameters or {})


def system_first(messages: list[ChatMessage]) -> tuple[ChatMessage, ...]:
    """The same with all system messages as one in front, where models want them."""
    system = "\n\n".join(each.content for each in messages if each.role == "system")
    rest = [each for each in messages if each.role != "system"]
    return (ChatMessage("system", system), *rest) if system else tuple(rest)


def _message(given: object, number: int) -> ChatMessage:
    where = f"messages[{number}]"
    if not is_mapping(given):
        raise fields.wrong_type(where, "an object")
    role = ROLES.get(fields.text(given, "role"))
    if role is None:
        raise ApiError(
            400, "invalid_value", f"There is no such role in {where}.", param=f"{where}.role"
        )
    content = _content(given.get("content"), where)
    if role == "tool":
        return ChatMessage(role, content, call_id=fields.text(given, "tool_call_id", default=""))
    calls = given.get("tool_calls")
    if role != "assistant" or calls is None:
        return ChatMessage(role, content)
    if not is_list(calls):
        raise fields.wrong_type(f"{where}.tool_calls", "a list")
    return ChatMessage(role, content, tuple(_use(each, where) for each in calls))


def _use(given: object, where: str) -> ToolUse:
    function = given.get("function") if is_mapping(given) else None
    if not is_mapping(given) or not is_mapping(function):
        raise fields.wrong_type(f"{where}.tool_calls", "a list of calls")
    return ToolUse(
        fields.text(given, "id"),
        fields.text(function, "name"),
        fields.text(function, "arguments", default="{}"),
    )


def _content(given: object, where: str) -> str:
    if given is None:
        return ""
    if isinstance(given, str):
        return given
    if not is_list(given):
        raise fields.wrong_type(f"{where}.content", "text or a list of parts")
    texts: list[str] = []
    for part in given:
        words = part.get("text") if is_mapping(part) else None
        if not isinstance(words, str):
            raise ApiError(
                400,
                "unsupported_content_type",
                "The language model here reads text alone.",
                param=f"{where}.content",
            )
        texts.append(words)
    return "\n".join(texts)


def _stops(given: object) -> tuple[str, ...]:
    stops = [given] if isinstance(given, str) else given
    if stops is None:
        return ()
    if not is_list(stops):
        raise fields.wrong_type("stop", "text or a list of texts")
    return tuple(each for each in stops[:16] if isinstance(each, str) and each)


def answer(
    asked: ChatCompletion, services: Services, stop: Stop
) -> Iterator[str | WantedCall | Ended]:
    """The answer's words as they are written and the calls of tools, then its end; in a thread.

    What models write around their words, such as thinking, is left out.
    """
    model = services.chat
    written = GeneratedText(asked.stop_at)
    markup = MarkupFilter(opens_in_thought=False)
    finish: Finish = "stop"
    pieces = 0
    given = model.stream(
        asked.messages, stop=stop, work=lambda: Work.TEXT_AHEAD, options=asked.options
    )
    for piece in given:
        pieces += 1
        if isinstance(piece, Call):
            finish = "tool_calls"
            yield _wanted(piece)
            continue
        for part in _parts(markup.push(written.push(piece.encode()))):
            finish = "tool_calls" if isinstance(part, WantedCall) else finish
            yield part
        if written.ended:
            break
        if asked.options.max_tokens is not None and pieces >= asked.options.max_tokens:
            finish = "length"
            break
    last = "" if written.ended else written.flush()
    for part in _parts([*markup.push(last), *markup.flush()]):
        finish = "tool_calls" if isinstance(part, WantedCall) else finish
        yield part
    counted = sum(model.count_tokens(each.content) for each in asked.messages)
    yield Ended(finish, counted, pieces)


def _parts(items: Iterable[Item]) -> Iterator[str | WantedCall]:
    for item in items:
        match item:
            case Visible():
                yield item.text
            case WrittenCall():
                yield from (_wanted(call) for call in read_calls(item) if call.name)
            case Withdrawn():
                continue  # a client that reads along has it already


def _wanted(call: Call) -> WantedCall:
    return WantedCall(f"call_{uuid.uuid4().hex[:24]}", call.name, call.arguments)


class ChatEndpoint:
    """The endpoint of one server."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def __call__(self, request: Request) -> Response:
        asked = read_request(await fields.json_object(request))
        services = self._server.services
        given = self._server.workers.stream(lambda stop: answer(asked, services, stop))
        head = {
            "id": f"chatcmpl-{uuid.uuid4().hex[:24]}",
            "created": int(time.time()),
            "model": asked.model or next(iter(services.models), "local"),
        }
        if asked.stream:
            try:
                first = await anext(given)
            except BaseException:
                await given.aclose()
                raise
            events = _events(first, given, head, asked)
            return StreamingResponse(events, media_type="text/event-stream")
        words, calls, end = await while_connected(request, _whole(given))
        text = "".join(words).strip()
        message: dict[str, object] = {"role": "assistant", "content": text, "refusal": None}
        if calls:
            message |= {"content": text or None, "tool_calls": [call.told() for call in calls]}
        choice = {"index": 0, "message": message, "finish_reason": end.finish, "logprobs": None}
        told = head | {"object": "chat.completion", "choices": [choice], "usage": end.usage()}
        return JSONResponse(told)


async def _whole(
    given: AsyncGenerator[str | WantedCall | Ended],
) -> tuple[list[str], list[WantedCall], Ended]:
    """All of an answer: words, calls, and its end."""
    words: list[str] = []
    calls: list[WantedCall] = []
    end: Ended | None = None
    async with aclosing(given):
        async for part in given:
            match part:
                case str():
                    words.append(part)
                case WantedCall():
                    calls.append(part)
                case Ended():
                    end = part
    assert end is not None
    return words, calls, end


async def _events(
    first: str | WantedCall | Ended,
    rest: AsyncGenerator[str | WantedCall | Ended],
    head: Mapping[str, object],
    asked: ChatCompletion,
) -> AsyncGenerator[bytes]:
    """The answer as server-sent events."""

    def chunk(delta: Mapping[str, object], finish: Finish | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return _chunk(head, [choice])

    try:
        async with aclosing(_after(first, rest)) as parts:
            yield chunk({"role": "assistant", "content": ""})
            calls = 0
            async for part in parts:
                match part:
                    case str():
                        yield chunk({"content": part})
                    case WantedCall():
                        yield chunk({"tool_calls": [{"index": calls} | part.told()]})
                        calls += 1
                    case Ended():
                        yield chunk({}, part.finish)
                        if asked.with_usage:
                            yield _chunk(head, [], part.usage())
    except LlmError as error:
        told = {"message": str(error), "type": "server_error", "code": "model_failed"}
        yield sse(None, json.dumps({"error": told}))
        return
    yield sse(None, "[DONE]")


def _chunk(
    head: Mapping[str, object], choices: list[object], usage: Mapping[str, object] | None = None
) -> bytes:
    told = {**head, "object": "chat.completion.chunk", "choices": choices}
    if usage is not None:
        told["usage"] = usage
    return sse(None, json.dumps(told))


async def _after(
    first: str | WantedCall | Ended, rest: AsyncGenerator[str | WantedCall | Ended]
) -> AsyncGenerator[str | WantedCall | Ended]:
    async with aclosing(rest):
        yield first
        async for part in rest:
            yield part
