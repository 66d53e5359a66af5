"""The official client of the OpenAI API, unmodified, against a server on a real port."""

from __future__ import annotations

import io
from collections.abc import Iterator

import openai
import pytest
import soundfile
from openai import OpenAI

from s2s.transport.server.config import ServeConfig
from tests.support.recordings import DATA
from tests.support.serving import Voice, Writer, fake_server, served


@pytest.fixture(scope="module")
def client() -> Iterator[OpenAI]:
    server = fake_server(
        ServeConfig(), key="secret", synthesizer=Voice(), chat=Writer(pieces=("Good ", "day."))
    )
    with served(server) as port:
        base = f"http://127.0.0.1:{port}/v1"
        with OpenAI(base_url=base, api_key="secret", max_retries=0) as made:
            yield made


def question() -> bytes:
    return (DATA / "librivox_0930.wav").read_bytes()


def test_models(client: OpenAI):
    assert [each.id for each in client.models.list()] == ["s2s", "writer", "ear"]
    assert client.models.retrieve("gpt-realtime").id == "gpt-realtime"


def test_speech_whole_and_streamed(client: OpenAI):
    answer = client.audio.speech.create(
        model="tts-1", voice="alloy", input="One two three.", response_format="wav"
    )
    heard, rate_hz = soundfile.read(io.BytesIO(answer.content))
    assert len(heard) / rate_hz == pytest.approx(0.3)
    with client.audio.speech.with_streaming_response.create(
        model="tts-1", voice="ada", input="One two three.", response_format="pcm"
    ) as streamed:
        data = b"".join(streamed.iter_bytes())
    assert len(data) == 2 * 7_200


def test_transcriptions_in_every_form(client: OpenAI):
    def ask(**more: object) -> object:
        return client.audio.transcriptions.create(
            model="whisper-1", file=("q.wav", question()), **more
        )  # pyright: ignore

    plain = ask()
    assert plain.text.endswith("seconds of speech.")  # pyright: ignore
    verbose = ask(response_format="verbose_json", timestamp_granularities=["word", "segment"])
    assert verbose.segments  # pyright: ignore
    assert verbose.words[-1].word == "speech."  # pyright: ignore
    assert ask(response_format="srt").startswith("1\n00:00:0")  # pyright: ignore
    kinds = [event.type for event in ask(stream=True)]  # pyright: ignore
    assert kinds[-1] == "transcript.text.done"
    assert set(kinds[:-1]) == {"transcript.text.delta"}


def test_chat_whole_and_streamed(client: OpenAI):
    messages = [{"role": "user", "content": "Hello."}]
    answer = client.chat.completions.create(model="any", messages=messages)  # pyright: ignore
    assert answer.choices[0].message.content == "Good day."
    assert answer.usage is not None
    chunks = client.chat.completions.create(
        model="any", messages=messages, stream=True, stream_options={"include_usage": True}
    )  # pyright: ignore
    said = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
    assert "".join(said) == "Good day."


def test_errors_are_the_clients_own(client: OpenAI):
    with pytest.raises(openai.AuthenticationError):
        client.with_options(api_key="wrong").models.list()
    with pytest.raises(openai.BadRequestError) as caught:
        client.audio.speech.create(model="tts-1", voice="nobody", input="Hi.")
    assert caught.value.param == "voice"
    with pytest.raises(openai.BadRequestError):
        client.audio.transcriptions.create(model="whisper-1", file=("x.wav", b"no sound"))


def test_client_secrets(client: OpenAI):
    made = client.realtime.client_secrets.create(session={"type": "realtime"})
    assert made.value.startswith("ek_")
    assert made.expires_at > 0
