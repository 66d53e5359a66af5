"""Text to speech over vLLM-Omni's WebSocket, and its fields over HTTP."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace

import numpy as np
import pytest

from s2s.core.audio import from_int16
from s2s.models.resources import Resources
from s2s.system.remote import RemoteError, Waits
from s2s.tts.backends.openai import OpenAiSpeech, OpenAiSpeechConfig
from s2s.tts.base import AudioChunk, TtsError
from tests.support.fake_vllm_omni import FRAME_SAMPLES, FakeVllmOmni, serving
from tests.support.patience import PATIENCE_S

pytest.importorskip("openai")
pytest.importorskip("websockets")

from websockets.sync.server import ServerConnection, serve

from s2s.tts.backends.openai_socket import SpeechSockets

WAITS = Waits(PATIENCE_S, PATIENCE_S, PATIENCE_S, PATIENCE_S)


@pytest.fixture
def fake() -> Iterator[FakeVllmOmni]:
    with serving(FakeVllmOmni()) as made:
        yield made


def config_of(fake: FakeVllmOmni, **more: object) -> OpenAiSpeechConfig:
    config = OpenAiSpeechConfig(
        base_url=fake.base_url, model="qwen3-tts", voice="vivian", socket=True,
        languages=("en", "de", "fr"),
    )  # fmt: skip
    return replace(config, **more)  # pyright: ignore[reportArgumentType]


def samples_of(chunks: list[AudioChunk]) -> list[float]:
    return np.concatenate([each.samples for each in chunks]).tolist()


def expected(fake: FakeVllmOmni, frames: int) -> list[float]:
    data = b"".join(fake.pcm(index) for index in range(frames))
    return from_int16(np.frombuffer(data, "<i2").astype(np.int16)).tolist()


def test_texts_are_spoken_one_after_the_other_on_one_socket(
    fake: FakeVllmOmni, resources: Resources
) -> None:
    with closing(OpenAiSpeech(config_of(fake), resources)) as speech:
        for frames in (12, 3):
            fake.frames = frames
            assert samples_of(list(speech.synthesize("Hello."))) == expected(fake, frames)
    assert fake.connections == 1
    assert fake.requests[0] == {
        "type": "session.config",
        "model": "qwen3-tts",
        "voice": "vivian",
        "language": "Auto",
        "response_format": "pcm",
        "stream_audio": True,
    }


@pytest.mark.parametrize("socket", [True, False])
def test_voices_and_languages_are_said_by_the_servers_names(
    fake: FakeVllmOmni, resources: Resources, socket: bool
) -> None:
    config = config_of(
        fake,
        socket=socket,
        dialect="vllm-omni",
        voice_names={"reader": "ryan"},
        language_names={"fr": "Chinese"},
        extra_body={"seed": 4, "model": None} if socket else {"seed": 4},
    )
    with closing(OpenAiSpeech(config, resources)) as speech:
        assert speech.capabilities.voices == ("vivian", "reader")
        for language in ("de", "fr", None):
            list(speech.synthesize("Hello.", voice="reader", language=language))
        list(speech.synthesize_instructed("Hello.", "softly"))
    assert [each["language"] for each in fake.requests] == ["German", "Chinese", "Auto", "Auto"]
    assert [each["voice"] for each in fake.requests] == ["ryan"] * 3 + ["vivian"]
    assert [each.get("instructions") for each in fake.requests] == [None, None, None, "softly"]
    assert all(each["seed"] == 4 for each in fake.requests)
    if socket:
        assert "model" not in fake.requests[0]  # null leaves one of ours out
    else:
        assert fake.requests[0]["stream_format"] == "audio"


def test_over_http_the_sound_comes_as_it_is_made(fake: FakeVllmOmni, resources: Resources) -> None:
    config = config_of(fake, socket=False, dialect="vllm-omni")
    fake.frames = -1
    with closing(OpenAiSpeech(config, resources)) as speech:
        spoken = speech.synthesize("Hello.")
        assert len(next(spoken).samples)
        spoken.close()
        assert fake.aborted.wait(PATIENCE_S)


def test_a_server_that_is_openais_is_told_no_more_than_openais_fields(
    fake: FakeVllmOmni, resources: Resources
) -> None:
    with closing(OpenAiSpeech(config_of(fake, socket=False), resources)) as speech:
        list(speech.synthesize("Hello.", language="de"))
    assert set(fake.requests[0]) == {"model", "voice", "input", "response_format"}


def test_it_is_silenced_by_hanging_up_and_speaks_again(
    fake: FakeVllmOmni, resources: Resources
) -> None:
    fake.frames = -1
    with closing(OpenAiSpeech(config_of(fake), resources)) as speech:
        spoken = speech.synthesize("Hello.")
        assert len(next(spoken).samples) == FRAME_SAMPLES
        spoken.close()
        assert fake.aborted.wait(PATIENCE_S)
        fake.frames = 2
        assert samples_of(list(speech.synthesize("Hello."))) == expected(fake, 2)
        assert fake.connections == 2
        stopped = threading.Event()
        fake.frames = -1
        heard: list[AudioChunk] = []
        for chunk in speech.synthesize("Hello.", stop=stopped.is_set):
            heard.append(chunk)
            stopped.set()
        assert len(heard) == 1


def test_what_it_refuses_is_told_and_the_next_text_is_spoken(
    fake: FakeVllmOmni, resources: Resources
) -> None:
    config = config_of(fake, voices=("nobody",))
    with closing(OpenAiSpeech(config, resources)) as speech:
        with pytest.raises(TtsError, match="Invalid voice 'nobody'"):
            list(speech.synthesize("Hello.", voice="nobody"))
        with pytest.raises(TtsError, match="Invalid language 'French'"):
            list(speech.synthesize("Hello.", language="fr"))
        assert list(speech.synthesize("Hello."))


def test_of_a_lost_connection_what_came_is_heard(fake: FakeVllmOmni, resources: Resources) -> None:
    fake.breaks_after = 4
    with closing(OpenAiSpeech(config_of(fake), resources)) as speech:
        heard: list[AudioChunk] = []
        with pytest.raises(TtsError, match="closed the connection"):
            heard.extend(speech.synthesize("Hello."))
        assert samples_of(heard) == expected(fake, 4)
        fake.breaks_after = None
        assert list(speech.synthesize("Hello."))


def test_warming_measures_it(fake: FakeVllmOmni, resources: Resources) -> None:
    with closing(OpenAiSpeech(config_of(fake), resources)) as speech:
        speech.warm()
        assert speech.real_time_factor > 0


def test_settings_that_do_not_go_together_are_told(
    fake: FakeVllmOmni, resources: Resources
) -> None:
    with pytest.raises(TtsError, match=r"streams pcm, not wav: set tts\.format to pcm"):
        OpenAiSpeech(config_of(fake, format="wav"), resources)


@contextmanager
def scripted(*messages: str | bytes) -> Iterator[SpeechSockets]:
    """A server that answers each text with these messages."""

    def answer(connection: ServerConnection) -> None:
        for message in connection:
            if json.loads(message)["type"] == "input.done":
                for each in messages:
                    connection.send(each)

    with serve(answer, "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        port = server.socket.getsockname()[1]
        with closing(SpeechSockets(f"http://127.0.0.1:{port}/v1", {}, 24_000)) as made:
            yield made
        server.shutdown()
        thread.join(PATIENCE_S)


def said(sockets: SpeechSockets) -> list[tuple[int, int]]:
    """Samples and rate of each piece."""
    spoken = sockets.speak({}, "Hello.", WAITS, lambda: False)
    return [(len(each.samples), each.rate_hz) for each in spoken]


START = '{"type": "audio.start", "format": "pcm", "sample_rate": 48000, "channels": 1}'
DONE = '{"type": "session.done", "utterance_index": 0, "total_sentences": 1}'


def test_sound_may_be_cut_anywhere_and_says_its_rate() -> None:
    end = '{"type": "audio.done", "total_bytes": 6}'
    with scripted(START, b"\0\0\0", b"\0", b"\0\0", end, DONE) as sockets:
        assert said(sockets) == [(1, 48_000), (1, 48_000), (1, 48_000)]
    with scripted(b"\0\0", DONE) as sockets:
        assert said(sockets) == [(1, 24_000)]


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        (('{"type": "error", "message": "no memory", "action": "discard"}',), "no memory"),
        ((START, '{"type": "audio.done", "error": "cut off"}'), "cut off"),
        ((START, '{"type": "audio.done", "total_bytes": 9}'), "sent 9 bytes of sound, and 0 came"),
        (('{"type": "audio.start", "format": "wav"}',), "sends 'wav', not pcm"),
        (('{"type": "audio.start", "sample_rate": 3}',), "no message of a speech server"),
        (("hello",), "answered 'hello', which is no message"),
        (('{"error": {"message": "who are you?"}}',), "who are you"),
    ],
)
def test_what_is_no_speech_is_told_in_the_servers_words(
    messages: tuple[str, ...], words: str
) -> None:
    with scripted(*messages) as sockets, pytest.raises(RemoteError, match=words):
        said(sockets)
