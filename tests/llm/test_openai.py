"""A language model on a server."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler

import pytest

from s2s.llm.base import ChatMessage, LlmError
from s2s.llm.openai import OpenAiChat, OpenAiChatConfig
from s2s.models.resources import Resources
from tests.support.patience import PATIENCE_S

pytest.importorskip("openai")

ASKED = [ChatMessage("system", "Be brief."), ChatMessage("user", "Hi?")]


def event(text: str | None = None, finish: str | None = None) -> bytes:
    delta = {} if text is None else {"content": text}
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return f"data: {json.dumps({'choices': [choice]})}\n\n".encode()


DONE = b"data: [DONE]\n\n"


@pytest.fixture(autouse=True)
def made() -> Iterator[list[OpenAiChat]]:
    """What a test asked, closed at its end."""
    MADE.clear()
    yield MADE
    for each in MADE:
        each.close()


MADE: list[OpenAiChat] = []


def chat(server, resources: Resources, **options: object) -> OpenAiChat:
    config = OpenAiChatConfig(**{"base_url": server.base_url, **options})  # pyright: ignore
    MADE.append(OpenAiChat(config, resources))
    return MADE[-1]


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
    assert server.gone.wait(PATIENCE_S)


def test_closing_the_iterator_hangs_up(server, resources: Resources) -> None:
    def silent(request: BaseHTTPRequestHandler) -> None:
        server.send(request, [event("One")], end=False)
        server.wait_for_client_to_go(request)

    server.script = silent
    answer = chat(server, resources).stream(ASKED)
    assert next(answer) == "One"
    answer.close()  # pyright: ignore[reportAttributeAccessIssue]
    assert server.gone.wait(PATIENCE_S)


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
    with pytest.raises(LlmError, match="cannot be reached"):
        list(chat(server, resources, base_url="http://127.0.0.1:9/v1").stream(ASKED))
    with pytest.raises(LlmError, match="is no address"):
        OpenAiChat(OpenAiChatConfig(base_url="nowhere"), resources)


def test_warming_asks_for_one_token(server, resources: Resources) -> None:
    server.script = lambda request: server.send(request, [event("x"), event(None, "length"), DONE])
    chat(server, resources).warm(ASKED[:1])
    body = json.loads(server.requests[0][2])
    assert body["max_tokens"] == 1
    assert body["messages"][-1]["role"] == "user"


def test_token_estimates_are_not_too_low(server, resources: Resources) -> None:
    model = chat(server, resources)
    assert model.count_tokens("") == 0
    assert model.count_tokens("How many ounces are there in a pound?") >= 9
    assert model.count_tokens("你好") >= 2


# --- what servers ask for -------------------------------------------------------------------------


def refusing(server, *words: str, status: int = 400) -> None:
    """Refuses as often as there are words, then answers."""
    left = list(words)

    def script(request: BaseHTTPRequestHandler) -> None:
        if not left:
            server.send(request, [event("Paris."), event(None, "stop"), DONE])
            return
        body = json.dumps({"error": {"message": left.pop(0)}}).encode()
        request.send_response(status)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    server.script = script


def bodies(server) -> list[dict]:
    return [json.loads(body) for _, _, body in server.requests]


MAX_TOKENS = (
    "Unsupported parameter: 'max_tokens' is not supported with this model. "
    "Use 'max_completion_tokens' instead."
)
TEMPERATURE = (
    "Unsupported value: 'temperature' does not support 0.5 with this model. "
    "Only the default (1) value is supported."
)


def test_max_completion_tokens_is_sent_when_asked_for_and_from_then_on(
    server, resources: Resources
) -> None:
    """L09."""
    refusing(server, MAX_TOKENS)
    model = chat(server, resources)
    assert list(model.stream(ASKED)) == ["Paris."]
    assert list(model.stream(ASKED)) == ["Paris."]
    limits = [{k: v for k, v in body.items() if "tokens" in k} for body in bodies(server)]
    assert limits == [
        {"max_tokens": 200}, {"max_completion_tokens": 200}, {"max_completion_tokens": 200},
    ]  # fmt: skip


def test_fields_that_a_server_refuses_are_left_out(server, resources: Resources) -> None:
    refusing(server, MAX_TOKENS, TEMPERATURE, "seed: Extra inputs are not permitted")
    model = chat(server, resources, temperature=0.5, seed=1, top_p=0.9)
    assert list(model.stream(ASKED)) == ["Paris."]
    assert set(bodies(server)[-1]) == {
        "model", "messages", "stream", "max_completion_tokens", "top_p",
    }  # fmt: skip


def test_the_limit_is_a_setting(server, resources: Resources) -> None:
    refusing(server)
    list(chat(server, resources, max_tokens_field="max_completion_tokens").stream(ASKED))
    list(chat(server, resources, max_tokens=None).stream(ASKED))
    first, second = bodies(server)
    assert first["max_completion_tokens"] == 200
    assert not [key for key in second if "tokens" in key]


def test_a_refusal_of_something_else_is_an_error_at_once(server, resources: Resources) -> None:
    refusing(server, "max_tokens is too large: 200. This model takes at most 100.")
    with pytest.raises(LlmError, match=r"answered 400: max_tokens is too large"):
        list(chat(server, resources).stream(ASKED))
    assert len(server.requests) == 1


def test_a_server_that_refuses_everything_is_not_asked_for_ever(
    server, resources: Resources
) -> None:
    refusing(server, *20 * [MAX_TOKENS + " temperature, seed, top_p: Extra inputs"])
    with pytest.raises(LlmError, match="answered 400"):
        list(chat(server, resources, temperature=0.5, seed=1, top_p=0.9).stream(ASKED))
    assert len(server.requests) <= 5


def test_extra_fields_and_headers_are_sent(server, resources: Resources) -> None:
    refusing(server)
    extra = {"reasoning_effort": "low", "chat_template_kwargs": {"enable_thinking": False}}
    options = {"extra_body": extra | {"max_tokens": None}, "extra_headers": {"X-Title": "s2s"}}
    list(chat(server, resources, **options).stream(ASKED))
    (body,) = bodies(server)
    assert extra.items() <= body.items()
    assert "max_tokens" not in body
    assert server.requests[0][1]["x-title"] == "s2s"


@pytest.mark.parametrize("empty", ["", "  \n"])
def test_an_empty_system_prompt_is_not_sent(server, resources: Resources, empty: str) -> None:
    """E14."""
    refusing(server)
    model = chat(server, resources)
    model.warm([ChatMessage("system", empty)])
    list(model.stream([ChatMessage("system", empty), ChatMessage("user", "Hi?")]))
    assert [[m["role"] for m in body["messages"]] for body in bodies(server)] == [["user"]] * 2


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "System role not supported"),
        (500, "Conversation roles must alternate user/assistant/user/assistant/..."),
        (400, "Only user and assistant roles are supported!"),
    ],
)
def test_a_model_without_system_messages_gets_the_prompt_with_the_first_question(
    server, resources: Resources, status: int, words: str
) -> None:
    refusing(server, words, status=status)
    assert list(chat(server, resources).stream(ASKED)) == ["Paris."]
    assert bodies(server)[-1]["messages"] == [{"role": "user", "content": "Be brief.\n\nHi?"}]


# --- starting -------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [400, 429, 500, 503])
def test_a_server_that_cannot_be_warmed_up_yet_does_not_end_the_start(
    server, resources: Resources, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    """E12, E13."""
    refusing(server, *100 * ["Loading model"], status=status)
    chat(server, resources, loading_timeout_s=0.1).warm(ASKED[:1])
    assert "Loading model" in caplog.text


def test_a_server_that_is_loading_is_waited_for_at_a_question(
    server, resources: Resources, caplog: pytest.LogCaptureFixture
) -> None:
    refusing(server, "Loading model", status=503)
    assert list(chat(server, resources).stream(ASKED)) == ["Paris."]
    assert "Loading model" in caplog.text


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_wrong_address_or_key_ends_the_start(server, resources: Resources, status: int) -> None:
    refusing(server, "no such thing", status=status)
    with pytest.raises(LlmError, match="no such thing"):
        chat(server, resources).warm(ASKED[:1])


def test_auto_is_the_first_model_that_the_server_has(server, resources: Resources) -> None:
    listed = json.dumps({"object": "list", "data": [{"id": "first"}, {"id": "second"}]}).encode()

    def script(request: BaseHTTPRequestHandler) -> None:
        if request.command == "GET":
            server.send(request, [listed], kind="application/json")
        else:
            server.send(request, [event("Hi."), event(None, "stop"), DONE])

    server.script = script
    model = chat(server, resources, model="auto")
    assert list(model.stream(ASKED)) == ["Hi."]
    assert list(model.stream(ASKED)) == ["Hi."]
    assert [path for path, _, _ in server.requests] == [
        "/v1/models",
        "/v1/chat/completions",
        "/v1/chat/completions",
    ]
    assert {json.loads(body)["model"] for _, _, body in server.requests[1:]} == {"first"}


@pytest.mark.parametrize("listed", [b'{"data": []}', b"oops", b"[]"])
def test_a_server_without_any_model_says_so(server, resources: Resources, listed: bytes) -> None:
    server.script = lambda request: server.send(request, [listed], kind="application/json")
    with pytest.raises(LlmError, match=r"lists no model.*--llm\.model NAME"):
        list(chat(server, resources, model="auto").stream(ASKED))
