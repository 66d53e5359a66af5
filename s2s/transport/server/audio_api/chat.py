"""`POST /v1/chat/completions`: the language model in use, for clients that write."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from s2s.core.markup import Call, MarkupFilter, Visible, Withdrawn
from s2s.core.untyped import is_list, is_mapping
from s2s.core.work import Work
from s2s.llm.base import ChatMessage, LlmError, Role
from s2s.llm.generated_text import GeneratedText
from s2s.transport.server.audio_api import fields
from s2s.transport.server.handover import Services
from s2s.transport.server.reply import ApiError, sse
from s2s.transport.server.server import Server
from s2s.transport.server.worker import Stop

Finish = Literal["stop", "length"]

ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "user",
    "function": "user",
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
    max_tokens: int | None
    stop_at: tuple[str, ...]


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
        int(limit) or None,
        _stops(body.get("stop")),
    )


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
    return ChatMessage(role, _content(given.get("content"), where))


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


def answer(asked: ChatCompletion, services: Services, stop: Stop) -> Iterator[str | Ended]:
    """The answer's words as they are written, then its end; in a thread.

    What models write around their words, such as thinking, is left out.
    """
    model = services.chat
    written = GeneratedText(asked.stop_at)
    markup = MarkupFilter(opens_in_thought=False)
    finish: Finish = "stop"
    pieces = 0
    given = model.stream(asked.messages, stop=stop, work=lambda: Work.TEXT_AHEAD)
    for piece in given:
        if isinstance(piece, Call):
            continue
        pieces += 1
        yield from _visible(markup, written.push(piece.encode()))
        if written.ended:
            break
        if asked.max_tokens is not None and pieces >= asked.max_tokens:
            finish = "length"
            break
    if not written.ended:
        yield from _visible(markup, written.flush())
    yield from (item.text for item in markup.flush() if isinstance(item, Visible))
    counted = sum(model.count_tokens(each.content) for each in asked.messages)
    yield Ended(finish, counted, pieces)


def _visible(markup: MarkupFilter, text: str) -> Iterator[str]:
    for item in markup.push(text):
        if isinstance(item, Visible):
            yield item.text
        elif isinstance(item, Withdrawn):
            continue  # a client that reads along has it already


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
        words: list[str] = []
        end: Ended | None = None
        async with aclosing(given):
            async for part in given:
                if isinstance(part, Ended):
                    end = part
                else:
                    words.append(part)
        assert end is not None
        message = {"role": "assistant", "content": "".join(words).strip(), "refusal": None}
        choice = {"index": 0, "message": message, "finish_reason": end.finish, "logprobs": None}
        told = head | {"object": "chat.completion", "choices": [choice], "usage": end.usage()}
        return JSONResponse(told)


async def _events(
    first: str | Ended,
    rest: AsyncGenerator[str | Ended],
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
            async for part in parts:
                if isinstance(part, str):
                    yield chunk({"content": part})
                    continue
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
    first: str | Ended, rest: AsyncGenerator[str | Ended]
) -> AsyncGenerator[str | Ended]:
    async with aclosing(rest):
        yield first
        async for part in rest:
            yield part
