"""Answers of the language model, in the form of the API."""

from __future__ import annotations

import json

import pytest
from starlette.testclient import TestClient

from s2s.core.markup import Call
from s2s.llm.base import LlmError
from tests.support.http import ASKED, client, events
from tests.support.serving import Writer, fake_server


def test_the_language_model_answers():
    writer = Writer()
    with client(fake_server(chat=writer)) as http:
        told = http.post("/v1/chat/completions", json=ASKED).json()
    assert told["object"] == "chat.completion"
    assert told["model"] == "gpt-x"
    assert told["choices"][0]["message"]["content"] == "Hello there, friend."
    assert told["choices"][0]["finish_reason"] == "stop"
    assert told["usage"] == {"prompt_tokens": 1, "completion_tokens": 3, "total_tokens": 4}
    assert [(m.role, m.content) for m in writer.asked[0]] == [("user", "Hi.")]


def test_the_answer_comes_in_pieces_where_they_are_asked_for(http: TestClient):
    asked = ASKED | {"stream": True, "stream_options": {"include_usage": True}}
    *chunks, usage, done = events(http.post("/v1/chat/completions", json=asked).text)
    assert done == "[DONE]"
    assert usage["usage"]["total_tokens"] == 4  # pyright: ignore
    assert usage["choices"] == []  # pyright: ignore
    deltas = [each["choices"][0]["delta"] for each in chunks]  # pyright: ignore
    assert deltas[0]["role"] == "assistant"
    assert "".join(each.get("content", "") for each in deltas).strip() == "Hello there, friend."
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"  # pyright: ignore
    plain = events(http.post("/v1/chat/completions", json=ASKED | {"stream": True}).text)
    assert not any(each != "[DONE]" and "usage" in each for each in plain)


def test_an_answer_ends_where_it_is_told_to(http: TestClient):
    def answer(**more: object) -> tuple[str, str]:
        choice = http.post("/v1/chat/completions", json=ASKED | more).json()["choices"][0]
        return choice["message"]["content"], choice["finish_reason"]

    assert answer(max_tokens=1) == ("Hello", "length")
    assert answer(max_completion_tokens=2) == ("Hello there,", "length")
    assert answer(stop=", fr") == ("Hello there", "stop")
    assert answer(stop=["nothing", "there"]) == ("Hello", "stop")


def test_what_a_model_writes_around_its_words_is_left_out():
    writer = Writer(pieces=("<think>", "hm", "</think>", "Yes."))
    with client(fake_server(chat=writer)) as http:
        told = http.post("/v1/chat/completions", json=ASKED).json()
    assert told["choices"][0]["message"]["content"] == "Yes."


def test_messages_are_read_in_all_their_forms():
    writer = Writer()
    asked = {
        "messages": [
            {"role": "user", "content": [{"text": "a"}, {"type": "text", "text": "b"}]},
            {"role": "assistant", "content": None},
            {"role": "developer", "content": "Be brief."},
            {"role": "system", "content": "Be kind."},
            {"role": "tool", "content": "42", "tool_call_id": "c"},
        ]
    }  # fmt: skip
    with client(fake_server(chat=writer)) as http:
        assert http.post("/v1/chat/completions", json=asked).status_code == 200
    assert [(m.role, m.content) for m in writer.asked[0]] == [
        ("system", "Be brief.\n\nBe kind."),
        ("user", "a\nb"),
        ("assistant", ""),
        ("tool", "42"),
    ]


TOOL = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}


def test_tools_are_handed_to_the_model_and_its_calls_to_the_client():
    writer = Writer(pieces=("One moment. ", Call("weather", '{"city": "Oslo"}')))
    asked = ASKED | {"tools": [TOOL], "tool_choice": "required"}
    with client(fake_server(chat=writer)) as http:
        choice = http.post("/v1/chat/completions", json=asked).json()["choices"][0]
        *chunks, done = events(
            http.post("/v1/chat/completions", json=asked | {"stream": True}).text
        )
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] == "One moment."
    [call] = choice["message"]["tool_calls"]
    assert call["function"] == {"name": "weather", "arguments": '{"city": "Oslo"}'}
    [tool] = writer.options[0].tools
    assert tool.name == "weather"
    assert writer.options[0].tool_choice == "required"
    assert done == "[DONE]"
    deltas = [each["choices"][0]["delta"] for each in chunks]  # pyright: ignore
    [streamed] = [each["tool_calls"][0] for each in deltas if "tool_calls" in each]
    assert (streamed["index"], streamed["function"]) == (0, call["function"])
    assert chunks[-1]["choices"][0]["finish_reason"] == "tool_calls"  # pyright: ignore


def test_calls_that_a_model_writes_as_text_are_read():
    written = '<tool_call>{"name": "weather", "arguments": {"city": "Oslo"}}</tool_call>'
    with client(fake_server(chat=Writer(pieces=(written,)))) as http:
        asked = ASKED | {"tools": [TOOL]}
        choice = http.post("/v1/chat/completions", json=asked).json()["choices"][0]
    [call] = choice["message"]["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"city": "Oslo"}
    assert choice["message"]["content"] is None


def test_what_a_tool_gave_back_is_read():
    writer = Writer()
    use = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    asked = {"messages": [
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": None, "tool_calls": [use]},
        {"role": "tool", "tool_call_id": "c1", "content": "Sunny."},
    ], "tools": [TOOL], "tool_choice": {"function": {"name": "weather"}}}  # fmt: skip
    with client(fake_server(chat=writer)) as http:
        assert http.post("/v1/chat/completions", json=asked).status_code == 200
    _, called, given = writer.asked[0]
    assert [(each.call_id, each.name) for each in called.calls] == [("c1", "weather")]
    assert (given.role, given.call_id, given.content) == ("tool", "c1", "Sunny.")
    assert writer.options[0].forced_tool == "weather"


@pytest.mark.parametrize(
    "fields",
    [
        {"tools": "all"},
        {"tools": [3]},
        {"tools": [{"type": "function"}]},
        {"tools": [{"function": {"name": 3}}]},
        {"tools": [TOOL], "tool_choice": "perhaps"},
        {"tools": [TOOL], "tool_choice": {"type": "function"}},
        {"messages": [{"role": "assistant", "tool_calls": 3}]},
        {"messages": [{"role": "assistant", "tool_calls": [{"id": "x"}]}]},
    ],
)
def test_tools_that_cannot_be_read_are_refused(http: TestClient, fields: dict[str, object]):
    assert http.post("/v1/chat/completions", json=ASKED | fields).status_code == 400


@pytest.mark.parametrize(
    "messages",
    [
        None,
        [],
        "Hi.",
        [3],
        [{"content": "x"}],
        [{"role": "king", "content": "x"}],
        [{"role": "user", "content": 3}],
        [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "file:///x"}}]}],
        [{"role": "user", "content": "x"}] * 1_001,
    ],
)
def test_messages_that_cannot_be_read_are_refused(http: TestClient, messages: object):
    answer = http.post("/v1/chat/completions", json={"messages": messages})
    assert answer.status_code == 400
    assert answer.json()["error"]["param"].startswith("messages") or "role" in answer.text


def test_a_language_model_that_fails_is_told():
    with client(fake_server(chat=Writer(pieces=(), error=LlmError("no tongue")))) as http:
        answer = http.post("/v1/chat/completions", json=ASKED)
        assert answer.status_code == 502
        assert answer.json()["error"]["message"] == "no tongue"
        answer = http.post("/v1/chat/completions", json=ASKED | {"stream": True})
        assert answer.status_code == 502
    with client(fake_server(chat=Writer(error=LlmError("no tongue")))) as http:
        found = events(http.post("/v1/chat/completions", json=ASKED | {"stream": True}).text)
        assert found[-1]["error"]["message"] == "no tongue"  # pyright: ignore
