"""Text to speech on a server."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.audio import from_int16
from s2s.models.resources import Resources
from s2s.tts.base import TtsError
from s2s.tts.openai import OpenAiSpeech, OpenAiSpeechConfig, pcm_blocks

SAMPLES = np.arange(-3_000, 3_000, dtype=np.int16)


@pytest.fixture
def speech(server, resources: Resources) -> OpenAiSpeech:
    config = OpenAiSpeechConfig(base_url=server.base_url, voices=("echo",), gap_timeout_s=0.2)
    return OpenAiSpeech(config, resources)


def test_sound_comes_as_it_arrives(server, speech) -> None:
    pcm = SAMPLES.astype("<i2").tobytes()
    server.script = lambda request: server.send(request, [pcm[:1001], pcm[1001:]], kind="x/pcm")
    chunks = list(speech.synthesize("Hello.", voice="echo"))
    assert np.array_equal(np.concatenate([c.samples for c in chunks]), from_int16(SAMPLES))
    path, _, body = server.requests[0]
    assert path == "/v1/audio/speech"
    assert json.loads(body) == {
        "model": "tts-1",
        "voice": "echo",
        "input": "Hello.",
        "response_format": "pcm",
    }
    assert speech.capabilities.voices == ("alloy", "echo")


@given(st.lists(st.binary(max_size=9), max_size=9))
def test_any_split_gives_the_same_samples(chunks: list[bytes]) -> None:
    data = b"".join(chunks)
    expected = np.frombuffer(data[: len(data) // 2 * 2], dtype="<i2")
    blocks = list(pcm_blocks(iter(chunks)))
    got = np.concatenate([*blocks, np.zeros(0, np.float32)])
    assert np.array_equal(got, from_int16(expected.astype(np.int16)))
    assert all(len(block) for block in blocks)


def test_nothing_to_say_asks_nobody(server, speech) -> None:
    assert not list(speech.synthesize("… 😀"))
    assert not server.requests


def test_an_unknown_voice_is_named(speech) -> None:
    with pytest.raises(TtsError, match=r"no voice 'nova'; there are alloy, echo"):
        list(speech.synthesize("Hello.", voice="nova"))


def test_closing_the_iterator_hangs_up(server, speech) -> None:
    def endless(request: BaseHTTPRequestHandler) -> None:
        server.send(request, [b"\0\0" * 100], end=False)
        server.wait_for_client_to_go(request)

    server.script = endless
    sound = speech.synthesize("Hello.")
    assert len(next(sound).samples) == 100
    sound.close()
    assert server.gone.wait(2.0)


def test_a_server_that_stalls(server, speech) -> None:
    def stall(request: BaseHTTPRequestHandler) -> None:
        server.send(request, [b"\0\0"], end=False)
        server.wait_for_client_to_go(request)

    server.script = stall
    with pytest.raises(TtsError, match=r"no answer for 0\.2 s"):
        list(speech.synthesize("Hello."))
