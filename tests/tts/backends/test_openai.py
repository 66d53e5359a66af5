"""Text to speech on a server."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.audio import from_int16, to_int16
from s2s.models.resources import Resources
from s2s.tts.backends.openai import OpenAiSpeech, OpenAiSpeechConfig
from s2s.tts.base import AudioChunk, Measured, TtsError
from s2s.tts.sound_stream import pcm_blocks
from s2s.tts.speak import instructed
from tests.support.patience import PATIENCE_S

pytest.importorskip("openai")

SAMPLES = np.arange(-3_000, 3_000, dtype=np.int16)


def said(config: OpenAiSpeechConfig, resources: Resources) -> list[AudioChunk]:
    with closing(OpenAiSpeech(config, resources)) as made:
        return list(made.synthesize("Hello."))


@pytest.fixture
def speech(server, resources: Resources) -> Iterator[OpenAiSpeech]:
    config = OpenAiSpeechConfig(base_url=server.base_url, voices=("echo",))
    with closing(OpenAiSpeech(config, resources)) as made:
        yield made


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


def test_how_to_speak_is_passed_on(server, speech) -> None:
    pcm = SAMPLES.astype("<i2").tobytes()
    server.script = lambda request: server.send(request, [pcm], kind="x/pcm")
    assert list(instructed(speech, "softly").synthesize("Hello."))
    assert json.loads(server.requests[0][2])["instructions"] == "softly"


def test_any_server_speaks_faster_and_louder(server, resources: Resources) -> None:
    """Some heed a speed that they are asked for and some do not: it is made here, for all."""
    t = np.arange(24_000) / 24_000
    pcm = to_int16((0.1 * np.sin(2 * np.pi * 200 * t)).astype(np.float32)).astype("<i2").tobytes()
    server.script = lambda request: server.send(request, [pcm], kind="x/pcm")
    sounds = [
        np.concatenate([chunk.samples for chunk in said(config, resources)])
        for config in (
            OpenAiSpeechConfig(base_url=server.base_url),
            OpenAiSpeechConfig(base_url=server.base_url, speed=1.5, volume_db=6.0),
        )
    ]
    assert len(sounds[0]) / len(sounds[1]) == pytest.approx(1.5, rel=0.01)
    assert np.abs(sounds[1]).max() / np.abs(sounds[0]).max() == pytest.approx(2.0, rel=0.02)
    assert "speed" not in json.loads(server.requests[-1][2])
    with pytest.raises(ValueError, match=r"speed must be from 0\.5 to 2"):
        OpenAiSpeechConfig(speed=3.0)


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
    assert server.gone.wait(PATIENCE_S)


def test_a_server_that_stalls(server, resources: Resources) -> None:
    def stall(request: BaseHTTPRequestHandler) -> None:
        server.send(request, [b"\0\0"], end=False)
        server.wait_for_client_to_go(request)

    server.script = stall
    config = OpenAiSpeechConfig(base_url=server.base_url, gap_timeout_s=0.2)
    with pytest.raises(TtsError, match=r"no answer for 0\.2 s"):
        said(config, resources)


@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 22_050, 48_000])
def test_sound_at_another_rate_is_brought_to_the_configured_one(
    server, speech, rate_hz: int
) -> None:
    """V01."""
    out = io.BytesIO()
    tone = 0.5 * np.sin(2 * np.pi * 440 * np.arange(int(0.4 * rate_hz)) / rate_hz)
    soundfile.write(out, tone, rate_hz, format="WAV", subtype="PCM_16")
    server.script = lambda request: server.send(request, [out.getvalue()], kind="audio/wav")
    samples = np.concatenate([chunk.samples for chunk in speech.synthesize("Hello.")])
    assert len(samples) == pytest.approx(0.4 * 24_000, abs=2)
    spectrum = np.abs(np.fft.rfft(samples))
    assert np.argmax(spectrum) * 24_000 / len(samples) == pytest.approx(440, abs=4)


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        (b'{"error": {"message": "no such voice"}}', "application/json", "no such voice"),
        (b"<html><title>Welcome</title></html>", "text/html", r"web page \(Welcome\)"),
        (b"", "audio/pcm", "nothing where sound was due"),
    ],
)
def test_what_is_no_sound_is_not_played(server, speech, body: bytes, kind: str, words: str) -> None:
    """V03, V04, V05, E16."""
    server.script = lambda request: server.send(request, [body] if body else [], kind=kind)
    with pytest.raises(TtsError, match=words):
        list(speech.synthesize("Hello."))


def test_the_format_and_extra_fields_are_settings(server, resources: Resources) -> None:
    server.script = lambda request: server.send(request, [b"\0\0"], kind="audio/pcm")
    config = OpenAiSpeechConfig(
        base_url=server.base_url, format="wav", extra_body={"speed": 1.2, "instructions": "calm"}
    )
    said(config, resources)
    body = json.loads(server.requests[0][2])
    assert (body["response_format"], body["speed"], body["instructions"]) == ("wav", 1.2, "calm")


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
    config = OpenAiSpeechConfig(base_url=server.base_url, loading_timeout_s=0.1)
    with closing(OpenAiSpeech(config, resources)) as voice:
        if final:
            with pytest.raises(TtsError, match="not now"):
                voice.warm()
        else:
            voice.warm()
            assert "not now" in caplog.text
            assert voice.real_time_factor == 0.0


class Ticking:
    """A clock on which half a second passes each time it is looked at."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def now(self) -> float:
        self.now_s += 0.5
        return self.now_s


def test_warming_up_measures_how_quick_it_is(
    server, speech, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("s2s.tts.backends.openai.SystemClock", Ticking)
    server.script = lambda request: server.send(request, [b"\0\1" * 24_000], kind="audio/pcm")
    speech.warm()
    assert isinstance(speech, Measured)
    assert speech.real_time_factor == 0.5  # a second of sound
    assert speech.description.startswith("tts-1 at http://127.0.0.1")
