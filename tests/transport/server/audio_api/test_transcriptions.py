"""Recordings that are written down."""

from __future__ import annotations

import json

import pytest
from starlette.testclient import TestClient

from s2s.core.audio import write_wav
from s2s.stt.base import SttError
from s2s.testing.simulator import tone
from s2s.transport.server.config import ServeConfig
from tests.support.http import SILENCE, client, events, wav
from tests.support.serving import Ear, fake_server


def test_a_recording_is_written_down():
    ear = Ear()
    with client(fake_server(transcriber=ear)) as http:
        sound = wav(SILENCE, tone(1.0), SILENCE)
        answer = http.post(
            "/v1/audio/transcriptions",
            files={"file": ("a.wav", sound)},
            data={"model": "whisper-1", "language": "de"},
        )
    assert answer.json()["usage"] == {"type": "duration", "seconds": 5.0}
    assert answer.json()["text"].endswith("seconds of speech.")
    assert [language for _, language in ear.heard] == ["de"]


def test_silence_has_no_words():
    ear = Ear()
    with client(fake_server(transcriber=ear)) as http:
        answer = http.post("/v1/audio/transcriptions", files={"file": ("a.wav", wav(SILENCE))})
    assert answer.json()["text"] == ""
    assert ear.heard == []


TWO = (tone(1.0), SILENCE, tone(1.0))


def test_every_form_has_the_words(http: TestClient):
    def ask(form: str, **more: str) -> str:
        answer = http.post(
            "/v1/audio/transcriptions",
            files={"file": ("a.wav", wav(*TWO))},
            data={"response_format": form} | more,
        )
        assert answer.status_code == 200, answer.text
        return answer.text

    assert ask("text").strip().endswith("speech.")
    assert ask("vtt").startswith("WEBVTT\n\n00:00:00.000 --> ")
    assert ask("srt").count(" --> ") == 2
    verbose = json.loads(ask("verbose_json", **{"timestamp_granularities[]": "word"}))
    assert len(verbose["segments"]) == 2
    first, second = verbose["segments"]
    assert first["end"] <= second["start"]
    assert second["start"] == pytest.approx(3.0, abs=0.6)
    assert [each["word"] for each in verbose["words"]][1:4] == ["seconds", "of", "speech."]
    assert verbose["duration"] == 4.0
    assert "words" not in json.loads(ask("verbose_json"))


def test_words_come_as_events_where_they_are_asked_for(http: TestClient):
    answer = http.post(
        "/v1/audio/transcriptions",
        files={"file": ("a.wav", wav(*TWO))},
        data={"stream": "true"},
    )
    assert answer.headers["content-type"].startswith("text/event-stream")
    *deltas, done = events(answer.text)
    assert len(deltas) == 2
    assert {each["type"] for each in deltas} == {"transcript.text.delta"}  # pyright: ignore
    assert "".join(each["delta"] for each in deltas) == done["text"]  # pyright: ignore
    assert done["type"] == "transcript.text.done"  # pyright: ignore


@pytest.mark.parametrize(
    ("files", "data", "param"),
    [
        ({}, {"model": "x"}, None),
        ({"other": ("a.wav", b"x")}, {}, "file"),
        ({"file": ("a.wav", b"not sound")}, {}, "file"),
        ({"file": ("a.wav", b"")}, {}, "file"),
        ({"file": ("/etc/passwd", b"RIFF")}, {}, "file"),
        ({"file": ("a.wav", wav(SILENCE))}, {"response_format": "doc"}, "response_format"),
        ({"file": ("a.wav", wav(SILENCE))}, {"stream": "perhaps"}, "stream"),
    ],
)
def test_what_cannot_be_written_down_is_refused(
    http: TestClient, files: dict[str, tuple[str, bytes]], data: dict[str, str], param: str | None
):
    answer = http.post("/v1/audio/transcriptions", files=files, data=data)
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == param


def test_a_path_in_the_place_of_a_file_is_not_opened(http: TestClient, tmp_path: object):
    """Bare samples by name, a playlist, an address: nothing but what was sent is read."""
    path = f"{tmp_path}/secret.wav"
    write_wav(path, tone(1.0), 16_000)
    for name, content in ((path, b""), ("a.m3u8", path.encode()), ("x.raw", path.encode())):
        answer = http.post("/v1/audio/transcriptions", files={"file": (name, content)})
        assert answer.status_code == 400
    answer = http.post("/v1/audio/transcriptions", data={"file": path})
    assert answer.status_code == 400


def test_a_recording_that_is_too_long_or_too_large_is_refused():
    config = ServeConfig(max_upload_s=1.5, max_upload_bytes=200_000)
    with client(fake_server(config)) as http:
        long = http.post("/v1/audio/transcriptions", files={"file": ("a.wav", wav(SILENCE))})
        assert long.status_code == 400
        assert "2 s of sound or more; 1.5 are the most" in long.json()["error"]["message"]
        large = http.post("/v1/audio/transcriptions", files={"file": ("a.wav", b"x" * 300_000)})
        assert large.status_code == 413


def test_a_recording_is_never_written_to_disk(http: TestClient, monkeypatch: pytest.MonkeyPatch):
    """What is as large as starlette would put into a file stays in memory: a full disk is none of
    our concern."""

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    monkeypatch.setattr("tempfile.NamedTemporaryFile", full)
    monkeypatch.setattr("tempfile.SpooledTemporaryFile.rollover", full)
    sound = wav(tone(2.0), *[SILENCE] * 40)
    assert len(sound) > 2 * 1024 * 1024
    answer = http.post("/v1/audio/transcriptions", files={"file": ("a.wav", sound)})
    assert answer.status_code == 200


def test_a_recogniser_that_fails_is_told():
    server = fake_server(transcriber=Ear(error=SttError("the ear is deaf")))
    with client(server) as http:
        files = {"file": ("a.wav", wav(*TWO))}
        answer = http.post("/v1/audio/transcriptions", files=files)
        assert answer.status_code == 502
        assert answer.json()["error"]["message"] == "the ear is deaf"
        streamed = http.post("/v1/audio/transcriptions", files=files, data={"stream": "true"})
        assert events(streamed.text)[-1]["type"] == "error"  # pyright: ignore
