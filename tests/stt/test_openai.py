"""Speech to text on a server."""

from __future__ import annotations

import io
import json
import threading
import wave
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler

import numpy as np
import pytest

from s2s.core.audio import Block, empty
from s2s.models.resources import Resources
from s2s.stt.base import SttError, TimedWord, Transcription, WordTimingTranscriber
from s2s.stt.openai import OpenAiTranscriber, OpenAiTranscriberConfig, wav_bytes
from tests.support.patience import PATIENCE_S

pytest.importorskip("openai")


def tone() -> Block:
    return np.sin(np.arange(8_000, dtype=np.float32) / 10) * np.float32(0.5)


@pytest.fixture
def transcriber(server, resources: Resources) -> Iterator[OpenAiTranscriber]:
    config = OpenAiTranscriberConfig(base_url=server.base_url, timeout_s=PATIENCE_S)
    with closing(OpenAiTranscriber(config, resources)) as made:
        yield made


def test_the_audio_goes_out_and_the_text_comes_back(server, transcriber) -> None:
    body = json.dumps({"text": " Hello. "}).encode()
    server.script = lambda request: server.send(request, [body[:5], body[5:]], kind="x/json")
    assert transcriber.transcribe(tone(), language="en") == Transcription("Hello.", "en")
    path, headers, form = server.requests[0]
    assert path == "/v1/audio/transcriptions"
    assert headers["content-type"].startswith("multipart/form-data")
    assert wav_bytes(tone()) in form
    for field in (b'name="model"\r\n\r\nwhisper-1', b'name="language"\r\n\r\nen'):
        assert field in form


def test_the_file_is_16_bit_wav_at_16_khz() -> None:
    with wave.open(io.BytesIO(wav_bytes(tone()))) as file:
        assert (file.getnchannels(), file.getsampwidth()) == (1, 2)
        assert (file.getframerate(), file.getnframes()) == (16_000, 8_000)


def test_too_little_audio_asks_nobody(server, transcriber) -> None:
    assert transcriber.transcribe(empty()).text == ""
    assert transcriber.transcribe(tone()[:1_000]).text == ""
    assert not server.requests


def test_stop_hangs_up(server, transcriber) -> None:
    waiting = threading.Event()

    def silent(request: BaseHTTPRequestHandler) -> None:
        waiting.set()
        server.wait_for_client_to_go(request)

    server.script = silent
    assert transcriber.transcribe(tone(), stop=waiting.is_set).text == ""
    assert server.gone.wait(PATIENCE_S)


@pytest.mark.parametrize("answer", [b"", b"[]", b"{}", b"<html>"])
def test_an_answer_that_is_no_transcription(server, transcriber, answer: bytes) -> None:
    server.script = lambda request: server.send(request, [answer] if answer else [])
    with pytest.raises(SttError, match=r"where a transcription was due|web page"):
        transcriber.transcribe(tone())


SHAPES = {
    "null": (b'{"text": null}', "application/json", ""),
    "null, no segments": (b'{"text": null, "segments": []}', "application/json", ""),
    "empty": (b'{"text": ""}', "application/json", ""),
    "bom": (b'\xef\xbb\xbf{"text": "Hello."}', "application/json", "Hello."),
    "segments": (
        b'{"segments": [{"text": " Hel"}, {"text": "lo."}]}',
        "application/json",
        "Hello.",
    ),
    "plain": (b" Hello.\n", "text/plain; charset=utf-8", "Hello."),
    "emoji in halves": (b'{"text": "Hi \\ud83d\\ude00"}', "application/json", "Hi \U0001f600"),
    "half an emoji": (b'{"text": "Hi \\ud83d"}', "application/json", "Hi \ufffd"),
    "no speech": (b'{"text": " [BLANK_AUDIO]\\n(wind) *coughs*"}', "application/json", ""),
    "some speech": (b'{"text": "(wind) Hello."}', "application/json", "(wind) Hello."),
    "no content type": (b'{"text": "Hello."}', "", "Hello."),
}
FAILURES = {
    "nothing": (b"", "application/json", "nothing where a transcription was due"),
    "html": (b"<html><title>Welcome</title></html>", "text/html", r"web page \(Welcome\)"),
    "html as text": (b"<!doctype html><title>Welcome</title>", "text/plain", "web page"),
    "error 200": (b'{"error": {"message": "no such model"}}', "application/json", "no such model"),
    "detail": (b'{"detail": "no such model"}', "application/json", "no such model"),
    "list": (b'["Hello."]', "application/json", "where a transcription was due"),
    "number": (b'{"text": 5}', "application/json", "where a transcription was due"),
    "list of texts": (b'{"text": ["a"]}', "application/json", "where a transcription was due"),
    "other": (b'{"id": 1}', "application/json", "where a transcription was due"),
    "cut": (b'{"text": "Hel', "application/json", "where a transcription was due"),
    "bytes": (b"\xff\xfe\x00", "application/json", "where a transcription was due"),
}


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_of_an_answer_is_understood(server, transcriber, name: str) -> None:
    """R01 and its kind."""
    body, kind, text = SHAPES[name]
    server.script = lambda request: server.send(request, [body], kind=kind)
    assert transcriber.transcribe(tone()).text == text


@pytest.mark.parametrize("name", FAILURES)
def test_what_is_no_transcription_is_told_in_the_servers_words(
    server, transcriber, name: str
) -> None:
    body, kind, words = FAILURES[name]
    server.script = lambda request: server.send(request, [body] if body else [], kind=kind)
    with pytest.raises(SttError, match=words):
        transcriber.transcribe(tone())


def test_the_language_that_was_heard_is_known(server, transcriber) -> None:
    body = b'{"text": "Bonjour.", "language": "fr"}'
    server.script = lambda request: server.send(request, [body])
    assert transcriber.transcribe(tone()) == Transcription("Bonjour.", "fr")
    assert transcriber.transcribe(tone(), language="de").language == "de"


@pytest.mark.parametrize(("status", "final"), [(503, False), (500, False), (401, True)])
def test_only_a_wrong_address_or_key_ends_the_start(
    server, resources: Resources, caplog: pytest.LogCaptureFixture, status: int, final: bool
) -> None:
    def refuse(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        request.send_header("Content-Length", "7")
        request.end_headers()
        request.wfile.write(b"not now")

    server.script = refuse
    config = OpenAiTranscriberConfig(base_url=server.base_url, loading_timeout_s=0.1)
    with closing(OpenAiTranscriber(config, resources)) as model:
        if final:
            with pytest.raises(SttError, match="not now"):
                model.warm()
        else:
            model.warm()
            assert "not now" in caplog.text


# --- the time of each word, and words while they are written -------------------------------------

VERBOSE = {
    "task": "transcribe", "language": "english", "duration": 0.5, "text": "Hello, world.",
    "words": [{"word": "Hello", "start": 0.0, "end": 0.2}, {"word": "world", "start": 0.3,
               "end": 0.48}],
}  # fmt: skip
WHISPER_CPP = {
    "text": " Hello, world.",
    "segments": [
        {"text": " Hello,", "words": [{"word": " Hello,", "start": 0.0, "end": 0.2, "t_dtw": -1}]},
        {"text": " world.", "words": [{"word": " world.", "start": 0.3, "end": 0.48}, {"word": 1}]},
    ],
}


@pytest.mark.parametrize("answer", [VERBOSE, WHISPER_CPP])
def test_the_times_of_words_are_asked_for_and_taken(
    server, transcriber, answer: dict[str, object]
) -> None:
    assert isinstance(transcriber, WordTimingTranscriber)
    server.script = lambda request: server.send(request, [json.dumps(answer).encode()])
    heard = transcriber.transcribe_words(tone())
    assert heard.text == "Hello, world."
    assert heard.words == (TimedWord("Hello,", 0.0, 0.2), TimedWord("world.", 0.3, 0.48))
    assert heard.language == ("en" if answer is VERBOSE else None)
    form = server.requests[0][2]
    assert b'name="response_format"\r\n\r\nverbose_json' in form
    assert b'name="timestamp_granularities[]"\r\n\r\nword' in form
    assert transcriber.transcribe(tone()).text == "Hello, world."
    assert b"timestamp_granularities" not in server.requests[1][2]


@pytest.mark.parametrize("words", ["soon", [1, {}], [{"word": "x", "start": "0"}], None])
def test_an_answer_without_times_has_none(server, transcriber, words: object) -> None:
    answer = json.dumps({"text": "Hello.", "words": words, "segments": [{}, {"words": 1}]})
    server.script = lambda request: server.send(request, [answer.encode()])
    heard = transcriber.transcribe_words(tone())
    assert (heard.text, heard.words) == ("Hello.", ())


def test_a_server_that_refuses_times_is_asked_once(
    server, transcriber, caplog: pytest.LogCaptureFixture
) -> None:
    def script(request: BaseHTTPRequestHandler) -> None:
        if b"verbose_json" in server.requests[-1][2]:
            request.send_response(400)
            request.send_header("Content-Length", "2")
            request.end_headers()
            request.wfile.write(b"no")
        else:
            server.send(request, [b'{"text": "Hello."}'])

    server.script = script
    for _ in range(2):
        heard = transcriber.transcribe_words(tone())
        assert (heard.text, heard.words) == ("Hello.", ())
    assert len(server.requests) == 3
    assert caplog.text.count("not asked for any more") == 1


def test_a_failure_is_no_refusal(server, transcriber) -> None:
    body = b'{"error": {"message": "no such model"}}'
    server.script = lambda request: server.send(request, [body])
    with pytest.raises(SttError, match="no such model"):
        transcriber.transcribe_words(tone())
    assert len(server.requests) == 1


EVENTS = [
    b'data: {"type": "transcript.text.delta", "delta": "He was"}\n\n',
    b'data: {"type": "transcript.text.delta", "delta": " not."}\n\n',
    b'data: {"type": "transcript.text.done", "text": "He was not."}\n\n',
]


@pytest.fixture
def streaming(server, resources: Resources) -> Iterator[OpenAiTranscriber]:
    config = OpenAiTranscriberConfig(base_url=server.base_url, timeout_s=PATIENCE_S, stream=True)
    with closing(OpenAiTranscriber(config, resources)) as made:
        yield made


def test_words_come_while_the_server_writes_them(server, streaming) -> None:
    """The second half is not sent before the first was told."""
    told: list[str] = []
    first = threading.Event()

    def script(request: BaseHTTPRequestHandler) -> None:
        pieces = [EVENTS[0], b"".join(EVENTS[1:])]

        def paused() -> Iterator[bytes]:
            yield pieces[0]
            assert first.wait(PATIENCE_S)
            yield pieces[1]

        server.send(request, paused(), kind="text/event-stream")

    def so_far(heard: Transcription) -> None:
        told.append(heard.text)
        first.set()

    server.script = script
    heard = streaming.transcribe_growing(tone(), so_far=so_far, language="en")
    assert heard == Transcription("He was not.", "en")
    assert told == ["He was", "He was not."]
    assert b'name="stream"\r\n\r\ntrue' in server.requests[0][2]


def test_a_server_that_sends_it_whole_is_taken_too(server, streaming, transcriber) -> None:
    told: list[Transcription] = []
    server.script = lambda request: server.send(request, [b'{"text": "Hello."}'])
    assert streaming.transcribe_growing(tone(), so_far=told.append).text == "Hello."
    assert transcriber.transcribe_growing(tone(), so_far=told.append).text == "Hello."
    assert b'name="stream"' not in server.requests[1][2], "nobody set it"
    assert told == []


def test_a_turn_that_is_stale_hears_no_more(server, streaming) -> None:
    told: list[Transcription] = []
    server.script = lambda request: server.send(request, EVENTS, kind="text/event-stream")
    heard = streaming.transcribe_growing(
        tone(), so_far=told.append, stop=lambda: len(server.requests) > 0
    )
    assert (heard.text, told) == ("", [])


@pytest.mark.parametrize(
    ("events", "words"),
    [
        (EVENTS[:1], "in the middle"),
        ([b'data: {"error": {"message": "no such model"}}\n\n'], "no such model"),
    ],
)
def test_a_stream_that_fails(server, streaming, events: list[bytes], words: str) -> None:
    server.script = lambda request: server.send(request, events, kind="text/event-stream")
    with pytest.raises(SttError, match=words):
        streaming.transcribe_growing(tone(), so_far=lambda heard: None)


def test_taught_words_go_along(server, resources: Resources) -> None:
    taught = Resources(resources.store, 1, words=("Aoife=eefa", "ill disposed"))
    server.script = lambda request: server.send(request, [b'{"text": "Hello."}'])
    config = OpenAiTranscriberConfig(base_url=server.base_url, timeout_s=PATIENCE_S)
    with closing(OpenAiTranscriber(config, taught)) as model:
        model.transcribe(tone())
    assert b'name="prompt"\r\n\r\nAoife, ill disposed.' in server.requests[0][2]
