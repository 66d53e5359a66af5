"""Texts that are spoken."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from s2s.core.audio import decode_sound
from s2s.tts.base import AudioChunk, TtsError
from tests.support.http import client, events
from tests.support.serving import VOICE_HZ, Voice, fake_server
from tests.support.voices import SaysInstructions


def test_a_text_is_spoken():
    voice = Voice()
    with client(fake_server(synthesizer=voice)) as http:
        answer = http.post(
            "/v1/audio/speech",
            json={"model": "tts-1", "input": "One two three.", "voice": "alloy",
                  "response_format": "pcm"},
        )  # fmt: skip
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "audio/pcm"
    assert len(answer.content) == 3 * 2 * VOICE_HZ // 10
    assert voice.spoken == [("One two three.", None, "en")]


class Actor(SaysInstructions, Voice):
    """Can be told how to speak."""


@pytest.mark.parametrize(
    ("voice", "instructions", "said"),
    [
        (Actor(), "like a pirate", "like a pirate: One two."),
        (Actor(), None, "One two."),
        (Actor(), "", "One two."),
        (Voice(), "like a pirate", "One two."),
    ],
)
def test_a_voice_that_can_be_told_how_to_speak_is_told(
    voice: Voice, instructions: str | None, said: str
):
    asked = {"input": "One two.", "voice": "ada", "response_format": "pcm"}
    if instructions is not None:
        asked["instructions"] = instructions
    with client(fake_server(synthesizer=voice)) as http:
        assert http.post("/v1/audio/speech", json=asked).status_code == 200
    assert voice.spoken == [(said, "ada", "en")]


@pytest.mark.parametrize(
    ("name", "kind"),
    [("mp3", "audio/mpeg"), ("opus", "audio/ogg"), ("flac", "audio/flac"), ("wav", "audio/wav")],
)
def test_each_format_can_be_heard(http: TestClient, name: str, kind: str):
    text = " ".join(["word"] * 20)
    answer = http.post(
        "/v1/audio/speech", json={"input": text, "voice": "ben", "response_format": name}
    )
    assert answer.headers["content-type"] == kind
    heard, rate_hz = decode_sound(io.BytesIO(answer.content), name)
    assert len(heard) / rate_hz == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("name", ["mp3", "opus", "flac", "wav", "pcm"])
def test_a_text_without_words_is_a_moment_of_silence(http: TestClient, name: str):
    answer = http.post(
        "/v1/audio/speech", json={"input": " ", "voice": "ben", "response_format": name}
    )
    assert answer.status_code == 200
    if name != "pcm":
        heard, rate_hz = decode_sound(io.BytesIO(answer.content), name)
        assert len(heard) / rate_hz < 0.3


def test_mp3_is_what_comes_unasked(http: TestClient):
    answer = http.post("/v1/audio/speech", json={"input": "Hello.", "voice": "ben"})
    assert answer.headers["content-type"] == "audio/mpeg"


def test_speech_comes_as_events_where_they_are_asked_for(http: TestClient):
    asked = {"input": "One two.", "voice": "ada", "response_format": "pcm", "stream_format": "sse"}
    answer = http.post("/v1/audio/speech", json=asked)
    assert answer.headers["content-type"].startswith("text/event-stream")
    *deltas, done = events(answer.text)
    sound = b"".join(base64.b64decode(each["audio"]) for each in deltas)  # pyright: ignore
    assert {each["type"] for each in deltas} == {"speech.audio.delta"}  # pyright: ignore
    assert len(sound) == 2 * 2 * VOICE_HZ // 10
    assert done["type"] == "speech.audio.done"  # pyright: ignore
    assert set(done["usage"]) == {"input_tokens", "output_tokens", "total_tokens"}  # pyright: ignore


@pytest.mark.parametrize("speed", [0.25, 0.5, 0.8, 1.0, 1.5, 2.0, 4.0])
def test_speech_has_the_pace_that_is_asked_for(http: TestClient, speed: float):
    text = " ".join(["word"] * 20)
    asked = {"input": text, "voice": "ada", "speed": speed, "response_format": "pcm"}
    answer = http.post("/v1/audio/speech", json=asked)
    assert len(answer.content) / 2 / VOICE_HZ == pytest.approx(2.0 / speed, rel=0.03)


@pytest.mark.parametrize(
    ("field", "value", "param"),
    [
        ("input", None, "input"),
        ("input", 3, "input"),
        ("input", "x" * 4_097, "input"),
        ("voice", "carl", "voice"),
        ("voice", "/etc/passwd", "voice"),
        ("voice", "../../voices/x.onnx", "voice"),
        ("voice", 3, "voice"),
        ("speed", 0.2, "speed"),
        ("speed", 4.1, "speed"),
        ("speed", "fast", "speed"),
        ("response_format", "aac", "response_format"),
        ("stream_format", "smoke", "stream_format"),
    ],
)
def test_what_cannot_be_spoken_is_refused(http: TestClient, field: str, value: object, param: str):
    asked = {"input": "Hello.", "voice": "ada"} | {field: value}
    answer = http.post("/v1/audio/speech", json=asked)
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == param


def test_a_voice_may_be_an_object():
    voice = Voice()
    with client(fake_server(synthesizer=voice)) as http:
        http.post("/v1/audio/speech", json={"input": "Hi.", "voice": {"id": "ben"}})
    assert voice.spoken[0][1] == "ben"


def test_a_voice_that_fails_at_once_is_an_error():
    class Hoarse(Voice):
        def synthesize(self, text: str, **options: object) -> Iterator[AudioChunk]:
            raise TtsError("the voice is hoarse")

    with client(fake_server(synthesizer=Hoarse())) as http:
        answer = http.post("/v1/audio/speech", json={"input": "Hello.", "voice": "ada"})
    assert answer.status_code == 502
    assert answer.json()["error"]["message"] == "the voice is hoarse"


def test_a_voice_that_fails_midway_is_told_in_the_events():
    failing = Voice(error=TtsError("the voice is hoarse"))
    asked = {"input": "Hello.", "voice": "ada", "response_format": "pcm", "stream_format": "sse"}
    with client(fake_server(synthesizer=failing)) as http:
        found = events(http.post("/v1/audio/speech", json=asked).text)
    assert found[-1]["type"] == "error"  # pyright: ignore
    assert found[-1]["error"]["message"] == "the voice is hoarse"  # pyright: ignore
