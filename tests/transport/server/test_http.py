"""The HTTP endpoints, on fakes."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator

import numpy as np
import pytest
import soundfile
from starlette.testclient import TestClient

from s2s.core.audio import decode_sound, write_wav
from s2s.core.markup import Call
from s2s.llm.base import LlmError
from s2s.stt.base import SttError
from s2s.testing.simulator import tone
from s2s.transport.server.app import make_app
from s2s.transport.server.config import ServeConfig
from s2s.transport.server.handover import SessionRefused
from s2s.transport.server.server import Server
from s2s.tts.base import AudioChunk, TtsError
from tests.support.serving import VOICE_HZ, Ear, Voice, Writer, fake_server


def client(server: Server | None = None, **options: object) -> TestClient:
    return TestClient(make_app(server or fake_server()), base_url="http://localhost", **options)  # pyright: ignore[reportArgumentType]


@pytest.fixture
def http() -> Iterator[TestClient]:
    with client() as made:
        yield made


def events(text: str) -> list[dict[str, object] | str]:
    """The data of server-sent events."""
    found = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data")]
    return [each if each == "[DONE]" else json.loads(each) for each in found]


def wav(*parts: np.ndarray) -> bytes:
    out = io.BytesIO()
    soundfile.write(out, np.concatenate(parts), 16_000, format="WAV", subtype="PCM_16")
    return out.getvalue()


SILENCE = np.zeros(32_000, np.float32)


# --- what there is --------------------------------------------------------------------------------


def test_the_models_are_listed_and_every_name_will_do(http: TestClient):
    listed = http.get("/v1/models").json()
    assert listed["object"] == "list"
    assert [each["id"] for each in listed["data"]] == ["s2s", "writer", "ear"]
    assert {each["object"] for each in listed["data"]} == {"model"}
    assert http.get("/v1/models/ear").json()["id"] == "ear"
    assert http.get("/v1/models/openai/gpt-realtime").json()["id"] == "openai/gpt-realtime"


def test_the_voices_are_told_in_both_forms(http: TestClient):
    told = http.get("/v1/audio/voices").json()
    assert told["voices"] == ["ada", "ben"]
    assert [each["id"] for each in told["data"]] == ["ada", "ben"]
    with client(fake_server(synthesizer=Voice(voices=()))) as one:
        assert one.get("/v1/audio/voices").json()["voices"] == ["default"]


def test_health_tells_whether_there_is_a_place():
    server = fake_server(ServeConfig(max_sessions=1), key="k")
    with client(server) as http:
        assert http.get("/health").json() == {"status": "ok", "sessions": 0, "max_sessions": 1}
        server.sessions.take()
        assert http.get("/health").json()["status"] == "full"


def test_metrics_are_for_prometheus(http: TestClient):
    http.get("/v1/models")
    http.get("/nothing/here")
    answer = http.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert 's2s_http_requests_total{endpoint="/v1/models",status="200"} 1' in answer.text
    assert 'status="404"' in answer.text
    assert "nothing/here" not in answer.text
    assert "s2s_sessions 0" in answer.text


def test_the_page_is_served_to_everybody_and_nothing_else_is_a_file():
    with client(fake_server(key="k")) as http:
        page = http.get("/")
        assert page.status_code == 200
        assert "text/html" in page.headers["content-type"]
        assert "default-src" in page.headers["content-security-policy"]
        for path in ("/../server/app.py", "/%2e%2e/page.py", "/etc/passwd", "/index.html/../x"):
            answer = http.get(path)
            assert answer.status_code == 404
            assert answer.json()["error"]["code"] == "not_found"


# --- who may come in ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/models"),
        ("GET", "/v1/models/x"),
        ("GET", "/v1/audio/voices"),
        ("GET", "/v1/realtime"),
        ("GET", "/metrics"),
        ("POST", "/v1/audio/speech"),
        ("POST", "/v1/audio/transcriptions"),
        ("POST", "/v1/chat/completions"),
        ("POST", "/v1/realtime/client_secrets"),
    ],
)
def test_everything_asks_for_the_key(method: str, path: str):
    server = fake_server(key="secret")
    with client(server) as http:
        answer = http.request(method, path)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert answer.json()["error"]["code"] == "missing_api_key"
        wrong = http.request(method, path, headers={"Authorization": "Bearer x"})
        assert wrong.json()["error"]["code"] == "invalid_api_key"
        right = http.request(method, path, headers={"Authorization": "Bearer secret"})
        assert right.status_code != 401


def test_pages_of_others_and_names_of_others_are_refused(http: TestClient):
    assert http.get("/v1/models", headers={"Origin": "http://evil.com"}).status_code == 403
    assert http.get("/health", headers={"Host": "evil.com"}).status_code == 403
    assert http.get("/", headers={"Host": "evil.com"}).status_code == 403
    assert http.get("/v1/models", headers={"Origin": "http://localhost"}).status_code == 200


def test_pages_that_are_named_may_ask_from_elsewhere():
    config = ServeConfig(origins=("https://friend.org",))
    with client(fake_server(config, key="k")) as http:
        asked = {"Origin": "https://friend.org", "Access-Control-Request-Method": "POST",
                 "Access-Control-Request-Headers": "authorization"}  # fmt: skip
        before = http.options("/v1/audio/speech", headers=asked)
        assert before.status_code == 200
        assert before.headers["access-control-allow-origin"] == "https://friend.org"
        answer = http.get(
            "/v1/models", headers={"Origin": "https://friend.org", "Authorization": "Bearer k"}
        )
        assert answer.headers["access-control-allow-origin"] == "https://friend.org"


# --- client secrets -------------------------------------------------------------------------------


def test_a_client_secret_is_made_for_a_session(http: TestClient):
    asked = {"expires_after": {"anchor": "created_at", "seconds": 20},
             "session": {"type": "realtime", "instructions": "Be brief."}}  # fmt: skip
    made = http.post("/v1/realtime/client_secrets", json=asked).json()
    assert made["value"].startswith("ek_")
    assert made["session"] == asked["session"]
    assert isinstance(made["expires_at"], int)


@pytest.mark.parametrize("seconds", [9, 7_201, "soon", True])
def test_a_client_secret_lives_neither_too_short_nor_too_long(http: TestClient, seconds: object):
    answer = http.post("/v1/realtime/client_secrets", json={"expires_after": {"seconds": seconds}})
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == "seconds"


def test_a_session_that_cannot_be_makes_no_client_secret():
    def refuse(session: object) -> dict[str, object]:
        raise SessionRefused("no such voice", param="session.audio.output.voice")

    with client(fake_server(validate_session=refuse)) as http:
        answer = http.post("/v1/realtime/client_secrets", json={"session": {"type": "realtime"}})
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == "session.audio.output.voice"


# --- bodies that are none -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'"x"', b"\xff\xfe", b"[" * 100_000, b'{"input": NaN'],
    ids=["empty", "cut", "list", "text", "binary", "deep", "cut number"],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/v1/audio/speech", "/v1/chat/completions"])
def test_a_body_that_is_no_object_is_refused(http: TestClient, path: str, body: bytes):
    answer = http.post(path, content=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "invalid_json"


def test_a_body_that_is_too_large_is_refused(http: TestClient):
    answer = http.post("/v1/audio/speech", content=b" " * (4 * 1024 * 1024 + 1))
    assert answer.status_code == 413


# --- speech ---------------------------------------------------------------------------------------


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


# --- transcriptions -------------------------------------------------------------------------------


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

    monkeypatch.setattr("tempfile._TemporaryFileWrapper", full)
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


# --- texts ----------------------------------------------------------------------------------------


ASKED = {"model": "gpt-x", "messages": [{"role": "user", "content": "Hi."}]}


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


def test_a_fault_of_ours_is_an_answer_too_and_says_nothing_of_the_inside():
    with client(fake_server(chat=Writer(error=KeyError("inner")))) as http:
        answer = http.post("/v1/chat/completions", json=ASKED)
        assert answer.status_code == 500
        assert answer.json()["error"]["type"] == "server_error"
        assert "inner" not in answer.text
        assert http.get("/v1/models").status_code == 200
