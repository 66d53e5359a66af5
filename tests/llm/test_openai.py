"""A language model on a server."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler

import pytest

from s2s.llm.base import ChatMessage, LlmError
from s2s.llm.openai import OpenAiChat, OpenAiChatConfig, deltas
from s2s.models.resources import Resources

ASKED = [ChatMessage("system", "Be brief."), ChatMessage("user", "Hi?")]


def event(text: str | None = None, finish: str | None = None) -> bytes:
    delta = {} if text is None else {"content": text}
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return f"data: {json.dumps({'choices': [choice]})}\n\n".encode()


DONE = b"data: [DONE]\n\n"


def chat(server, resources: Resources, **options: object) -> OpenAiChat:
    config = OpenAiChatConfig(base_url=server.base_url, **options)  # pyright: ignore
    return OpenAiChat(config, resources)


def test_the_answer_comes_in_pieces(server, resources: Resources) -> None:
    parts = [event(""), event("Hel"), b": a comment\n\n", event("lo."), event(None, "stop"), DONE]
    whole = b"".join(parts)
    server.script = lambda request: server.send(request, [whole[:50], whole[50:77], whole[77:]])
    model = chat(server, resources, model="m", temperature=0.5, seed=3)
    assert list(model.stream(ASKED)) == ["Hel", "lo."]
    assert list(model.stream(ASKED)) == ["Hel", "lo."]
    path, _, body = server.requests[0]
    assert path == "/v1/chat/completions"
    assert json.loads(body) == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hi?"},
        ],
        "max_tokens": 200,
        "stream": True,
        "temperature": 0.5,
        "seed": 3,
    }
    assert server.connections == 1
    model.close()
    model.close()


@pytest.mark.parametrize("when", ["before the first token", "between tokens"])
def test_stop_hangs_up(server, resources: Resources, when: str) -> None:
    waiting = threading.Event()

    def silent(request: BaseHTTPRequestHandler) -> None:
        if when == "between tokens":
            server.send(request, [event("One")], end=False)
        waiting.set()
        server.wait_for_client_to_go(request)

    server.script = silent
    assert "".join(chat(server, resources).stream(ASKED, stop=waiting.is_set)) in ("", "One")
    assert server.gone.wait(2.0)


def test_closing_the_iterator_hangs_up(server, resources: Resources) -> None:
    def silent(request: BaseHTTPRequestHandler) -> None:
        server.send(request, [event("One")], end=False)
        server.wait_for_client_to_go(request)

    server.script = silent
    answer = chat(server, resources).stream(ASKED)
    assert next(answer) == "One"
    answer.close()  # pyright: ignore[reportAttributeAccessIssue]
    assert server.gone.wait(2.0)


def test_signs_of_life_are_no_first_token(server, resources: Resources) -> None:
    def alive(request: BaseHTTPRequestHandler) -> None:
        server.send(request, [b": wait\n\n"], end=False)
        waiter = threading.Event()
        while not waiter.wait(0.02):
            try:
                request.wfile.write(b"8\r\n: wait\n\n\r\n")
            except OSError:
                request.close_connection = True
                return

    server.script = alive
    with pytest.raises(LlmError, match=r"no answer for 0\.3 s"):
        list(chat(server, resources, first_token_timeout_s=0.3).stream(ASKED))


def test_the_whole_answer_has_a_limit(server, resources: Resources) -> None:
    def endless(request: BaseHTTPRequestHandler) -> None:
        server.send(request, [], end=False)
        waiter = threading.Event()
        data = event("on and ")
        while not waiter.wait(0.01):
            try:
                request.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            except OSError:
                request.close_connection = True
                return

    server.script = endless
    with pytest.raises(LlmError, match=r"no answer for 0\.3 s"):
        list(chat(server, resources, total_timeout_s=0.3).stream(ASKED))


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        ([event("One")], "in the middle"),
        ([b"data: {oops\n\n"], "where JSON was due"),
        ([b"data: 3\n\n"], "where an object was due"),
        ([event("One"), b'data: {"error": {"message": "out of memory"}}\n\n'], "out of memory"),
        ([b'data: {"error": "busy"}\n\n'], "busy"),
    ],
)
def test_a_stream_that_goes_wrong(
    server, resources: Resources, stream: list[bytes], message: str
) -> None:
    server.script = lambda request: server.send(request, stream)
    with pytest.raises(LlmError, match=message):
        list(chat(server, resources).stream(ASKED))


def test_a_server_that_is_not_there(server, resources: Resources) -> None:
    config = OpenAiChatConfig(base_url="http://127.0.0.1:9/v1")
    with pytest.raises(LlmError, match="cannot be reached"):
        list(OpenAiChat(config, resources).stream(ASKED))
    with pytest.raises(LlmError, match="is no address"):
        OpenAiChat(OpenAiChatConfig(base_url="nowhere"), resources)


def test_warming_asks_for_one_token(server, resources: Resources) -> None:
    server.script = lambda request: server.send(request, [event("x"), event(None, "length"), DONE])
    chat(server, resources).warm(ASKED[:1])
    body = json.loads(server.requests[0][2])
    assert body["max_tokens"] == 1
    assert body["messages"][-1]["role"] == "user"


def test_a_finished_answer_needs_no_done() -> None:
    parts = (event("a") + event(None, "stop")).decode().splitlines()
    assert list(deltas(iter(parts), lambda: False)) == ["a"]


def test_token_estimates_are_not_too_low(server, resources: Resources) -> None:
    model = chat(server, resources)
    assert model.count_tokens("") == 0
    assert model.count_tokens("How many ounces are there in a pound?") >= 9
    assert model.count_tokens("你好") >= 2
