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
from s2s.stt.base import SttError, Transcription
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
