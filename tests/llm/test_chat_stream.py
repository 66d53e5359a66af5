"""What servers send as a chat completion, shape by shape, at every split."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.markup import Call
from s2s.llm.base import LlmError
from s2s.llm.chat_stream import ChatStream


def chunk(delta: object, finish: object = None, **more: object) -> str:
    return json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]} | more)


def events(*data: str, end: str = "\n\n") -> bytes:
    return "".join(f"data: {each}{end}" for each in data).encode()


def text(*texts: object, finish: object = "stop") -> list[str]:
    return [*(chunk({"content": each}) for each in texts), chunk({}, finish)]


WHOLE = json.dumps(
    {"choices": [{"message": {"role": "assistant", "content": "It is Paris today."}}]}
)
PARTS = [{"type": "text", "text": "It is Paris "}], [{"type": "text", "text": "today."}]

ANSWERS: dict[str, bytes] = {
    "plain": events(*text("It is ", "Paris today."), "[DONE]"),
    "no done": events(*text("It is ", "Paris today.")),
    "no finish": events(*text("It is Paris today.")[:1], "[DONE]"),
    "empty finish": events(chunk({"content": "It is "}, ""), *text("Paris today."), "[DONE]"),
    "length": events(*text("It is Paris today.", finish="length")),
    "parts": events(*text(*PARTS), "[DONE]"),
    "one part": events(*text({"type": "text", "text": "It is Paris today."}), "[DONE]"),
    "text with value": events(*text([{"text": {"value": "It is Paris today."}}]), "[DONE]"),
    "thinking parts": events(
        *text([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}], *PARTS),
    ),
    "reasoning": events(
        chunk({"reasoning_content": "hm. so", "content": None}),
        chunk({"reasoning": "hm"}),
        *text("It is Paris today."),
    ),
    "null content": events(
        chunk({"role": "assistant", "content": None}), *text("It is Paris today.")
    ),
    "null delta": events(chunk(None), *text("It is Paris today.")),
    "delta is the text": events(chunk("It is Paris today."), chunk({}, "stop")),
    "no choices": events('{"choices": []}', '{"choices": null}', *text("It is Paris today."),
                         '{"choices": [], "usage": {"total_tokens": 5}}', "[DONE]"),
    "bom": b"\xef\xbb\xbf" + events(*text("It is ", "Paris today."), "[DONE]"),
    "crlf": events(*text("It is ", "Paris today."), "[DONE]", end="\r\n\r\n"),
    "cr": events(*text("It is ", "Paris today."), "[DONE]", end="\r\r"),
    "one line end": events(*text("It is ", "Paris today."), "[DONE]", end="\n"),
    "no space": events(*text("It is Paris today.")).replace(b"data: ", b"data:"),
    "comments": b": hello\n\n" + events(*text("It is Paris today.")) + b": bye\n",
    "event names": b"event: message\nid: 1\nretry: 5\n" + events(*text("It is Paris today.")),
    "data over lines": b'data: {"choices": [{"delta":\ndata: {"content": "It is Paris today."},\n'
    b'data: "finish_reason": "stop"}]}\n\n',
    "whole": WHOLE.encode(),
    "whole, pretty": json.dumps(json.loads(WHOLE), indent=2).encode(),
    "whole, bom": b"\xef\xbb\xbf" + WHOLE.encode(),
    "whole in an event": events(WHOLE, "[DONE]"),
    "json lines": "\n".join(text("It is ", "Paris today.")).encode(),
    "ollama": b'{"message": {"content": "It is "}, "done": false}\n'
    b'{"message": {"content": "Paris today."}, "done": true}\n',
    "completion": events('{"choices": [{"text": "It is Paris today.", "finish_reason": "stop"}]}'),
    "refusal": events(chunk({"refusal": "It is Paris today."}, "stop")),
    "second choice": events(
        '{"choices": [{"index": 1, "delta": {"content": "no"}}]}', *text("It is Paris today.")
    ),
    "after done": events(*text("It is Paris today."), "[DONE]", "{oops"),
    "no line at the end": events(*text("It is Paris today."), end="\n").rstrip(),
}  # fmt: skip

FAILURES: dict[str, tuple[bytes, str]] = {
    "cut": (events(*text("It is")[:1]), "in the middle"),
    "error event": (events('{"error": {"message": "No model was chosen"}}'), "No model was chosen"),
    "error event, named": (
        b'event: error\ndata: {"message": "No model was chosen"}\n\n', "No model was chosen"),
    "error event, text": (events('{"error": "No model was chosen"}'), "No model was chosen"),
    "error field": (b'error: {"code": 500, "message": "No slot"}\n\n', "No slot"),
    "error in the middle": (
        events(chunk({"content": "It"}), '{"error": {"message": "out of memory"}}'),
        "out of memory",
    ),
    "error 200": (b'{"error": {"message": "model \'x\' not found"}}', "not found"),
    "error object": (b'{"object": "error", "message": "not found", "code": 404}', "not found"),
    "detail 200": (b'{"detail": "Not Found"}', "Not Found"),
    "error in a choice": (
        events('{"choices": [{"delta": {}, "error": {"message": "No slot"}}]}'), "No slot"),
    "finish with an error": (
        events('{"choices": [{"delta": {"content": "It"}, "finish_reason": "error"}]}'), "failed"),
    "list with an error": (b'[{"error": {"message": "No slot"}}]', "No slot"),
    "html": (b"<!DOCTYPE html>\n<html><head><title>Welcome</title></head></html>",
             r"web page \(Welcome\).*base_url"),
    "text": (b"Service starting", "Service starting"),
    "nothing": (b"", "nothing where a chat completion was due"),
    "blank": (b"\n\n", "nothing where a chat completion was due"),
    "bad json": (b"data: {oops\n\n", "where JSON was due"),
    "number": (events("3"), "where an object was due"),
    "broken whole": (b'{"choices": [', "where JSON was due"),
    "other json": (b'{"status": "ok"}', "in the middle"),
    "only comments": (b": one\n\n: two\n\n", "in the middle"),
}  # fmt: skip


def read(*parts: bytes) -> tuple[str, list[Call]]:
    stream = ChatStream("http://here")
    got = [*(each for part in parts for each in stream.push(part)), *stream.finish()]
    assert all(got)
    return "".join(each for each in got if isinstance(each, str)), [
        each for each in got if isinstance(each, Call)
    ]


@pytest.mark.parametrize("name", ANSWERS)
def test_every_shape_is_understood(name: str) -> None:
    data = ANSWERS[name]
    assert read(data) == ("It is Paris today.", [])
    for at in range(len(data)):
        assert read(data[:at], data[at:]) == ("It is Paris today.", []), data[:at]
    assert read(*(data[at : at + 1] for at in range(len(data)))) == ("It is Paris today.", [])


@pytest.mark.parametrize("name", FAILURES)
def test_every_failure_is_told_in_the_servers_words(name: str) -> None:
    data, words = FAILURES[name]
    for parts in ([data], [data[: len(data) // 2], data[len(data) // 2 :]]):
        with pytest.raises(LlmError, match=words):
            read(*parts)


def test_a_number_is_text_too() -> None:
    assert read(events(*text("It is ", 42)))[0] == "It is 42"


HALVES = {
    "in one text": (["Well done \ud83d\ude00 and good"], "Well done 😀 and good"),
    "in two events": (["Well done \ud83d", "\ude00 and good"], "Well done 😀 and good"),
    "first half alone": (["Well done \ud83d", " and good"], "Well done \ufffd and good"),
    "second half alone": (["Well done ", "\ude00 and good"], "Well done \ufffd and good"),
    "at the end": (["Well done", "\ud83d"], "Well done\ufffd"),
    "wrong order": (["\ude00\ud83d", "!"], "\ufffd\ufffd!"),
}


@pytest.mark.parametrize("name", HALVES)
def test_halves_of_characters_are_joined_or_replaced(name: str) -> None:
    """L07, E08, E09."""
    texts, expected = HALVES[name]
    got, _ = read(events(*text(*texts), "[DONE]"))
    assert got == expected
    got.encode()


CALL = Call("lamp_on", '{"room": "hall"}')


@pytest.mark.parametrize(
    "deltas",
    [
        [{"tool_calls": [{"index": 0, "id": "a", "function": {"name": "lamp_on"}}]},
         {"tool_calls": [{"index": 0, "function": {"arguments": '{"room"'}}]},
         {"tool_calls": [{"index": 0, "function": {"arguments": ': "hall"}'}}]}],
        [{"tool_calls": [{"function": {"name": "lamp_on", "arguments": {"room": "hall"}}}]}],
        [{"function_call": {"name": "lamp_on", "arguments": '{"room": '}},
         {"function_call": {"arguments": '"hall"}'}}],
    ],
)  # fmt: skip
def test_calls_in_fields_of_their_own_are_calls(deltas: list[object]) -> None:
    data = events(*(chunk(delta) for delta in deltas), chunk({}, "tool_calls"), "[DONE]")
    assert read(data) == ("", [CALL])


def test_two_calls_are_two() -> None:
    calls = [{"index": n, "function": {"name": f"f{n}", "arguments": "{}"}} for n in (0, 1)]
    data = events(chunk({"content": "Well.", "tool_calls": calls}), chunk({}, "tool_calls"))
    assert read(data) == ("Well.", [Call("f0", "{}"), Call("f1", "{}")])


@given(st.binary(max_size=80), st.sampled_from(sorted(ANSWERS)), st.integers(0, 200))
def test_damage_never_raises_anything_else(noise: bytes, name: str, at: int) -> None:
    data = ANSWERS[name]
    try:
        got, _ = read(data[:at] + noise + data[at:])
    except LlmError:
        return
    got.encode()
