"""A transcription that comes in events, as OpenAI and vLLM send it."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.stt.base import SttError
from s2s.stt.transcription_events import TranscriptionEvents


def sent(*events: object, end: str = "\n\n") -> bytes:
    lines = (each if isinstance(each, str) else json.dumps(each) for each in events)
    return "".join(f"data: {line}{end}" for line in lines).encode()


def whole(answer: bytes) -> str:
    events = TranscriptionEvents("http://here")
    events.push(answer)
    return events.finish()


def delta(text: str) -> dict[str, object]:
    return {"type": "transcript.text.delta", "delta": text}


def chunk(text: str) -> dict[str, object]:
    return {"object": "transcription.chunk", "choices": [{"index": 0, "delta": {"content": text}}]}


DONE = {"type": "transcript.text.done", "text": "Déjà vu.", "usage": {"type": "tokens"}}
OPENAI = sent(delta("Dé"), delta("jà"), delta(" vu."), DONE)
VLLM = sent(chunk("Dé"), chunk("jà vu."), {"choices": [], "usage": {}}, "[DONE]")


@pytest.mark.parametrize("answer", [OPENAI, VLLM, OPENAI.replace(b"\n", b"\r\n"), OPENAI[:-2]])
def test_the_words_of_the_servers(answer: bytes) -> None:
    assert whole(answer) == "Déjà vu."


def test_words_are_told_as_they_come() -> None:
    events = TranscriptionEvents("http://here")
    assert not events.begun
    assert events.push(b": a comment\n\nevent: message\n" + sent(delta("He was")))
    assert events.text == "He was"
    assert not events.push(sent({"type": "transcript.text.segment", "text": "x"}))
    assert not events.done
    assert events.push(sent({"type": "transcript.text.done", "text": "He was not."}))
    assert events.text == events.finish() == "He was not."


def test_what_is_no_transcription_is_told() -> None:
    for answer, words in (
        (sent({"error": {"message": "no such model"}}), "no such model"),
        (sent({"type": "error", "error": {"message": "out of memory"}}), "out of memory"),
        (sent("not json"), "where a transcription was due"),
        (sent(delta("He ")), "in the middle"),
        (b"", "nothing where a transcription was due"),
        (b"<html><title>Welcome</title></html>", "web page"),
    ):
        with pytest.raises(SttError, match=words):
            whole(answer)


@given(st.sampled_from([OPENAI, VLLM]), st.lists(st.integers(0, 400)))
def test_any_split_gives_the_same(answer: bytes, cuts: list[int]) -> None:
    events = TranscriptionEvents("http://here")
    ends = sorted({min(cut, len(answer)) for cut in cuts} | {0, len(answer)})
    said = [""]
    for start, end in pairwise(ends):
        if events.push(answer[start:end]):
            said.append(events.text)
    assert events.finish() == "Déjà vu."
    assert all(later.startswith(earlier) for earlier, later in pairwise(said))
