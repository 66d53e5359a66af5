"""Speech to text on a server."""

from __future__ import annotations

import io
import json
import threading
import wave
from http.server import BaseHTTPRequestHandler

import numpy as np
import pytest

from s2s.core.audio import Block, empty
from s2s.models.resources import Resources
from s2s.stt.base import SttError, Transcription
from s2s.stt.openai import OpenAiTranscriber, OpenAiTranscriberConfig, wav_bytes


def tone() -> Block:
    return np.sin(np.arange(8_000, dtype=np.float32) / 10) * np.float32(0.5)


@pytest.fixture
def transcriber(server, resources: Resources) -> OpenAiTranscriber:
    config = OpenAiTranscriberConfig(base_url=server.base_url, timeout_s=5.0)
    return OpenAiTranscriber(config, resources)


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
    assert server.gone.wait(2.0)


@pytest.mark.parametrize("answer", [b"", b"[]", b"{}", b"<html>"])
def test_an_answer_that_is_no_transcription(server, transcriber, answer: bytes) -> None:
    server.script = lambda request: server.send(request, [answer] if answer else [])
    with pytest.raises(SttError, match="no transcription"):
        transcriber.transcribe(tone())
