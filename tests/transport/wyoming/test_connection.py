"""One connection: what the official client is answered, and what a fault costs."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator

import pytest
from wyoming.asr import Transcribe, Transcript
from wyoming.audio import AudioChunk
from wyoming.client import AsyncTcpClient
from wyoming.error import Error
from wyoming.event import Event
from wyoming.handle import Handled, HandledChunk, NotHandled
from wyoming.info import Describe, Info
from wyoming.ping import Ping, Pong
from wyoming.tts import (
    Synthesize,
    SynthesizeChunk,
    SynthesizeStart,
    SynthesizeStop,
    SynthesizeVoice,
)
from wyoming.wake import Detect, Detection

from s2s.llm.base import LlmError
from s2s.stt.base import SttError
from s2s.transport.wyoming.config import WyomingConfig
from s2s.tts.base import TtsError
from tests.support.serving import VOICE_HZ, Ear, Voice, Writer
from tests.support.wyoming import (
    WAIT_S,
    as_events,
    exchange,
    fake_wyoming,
    said,
    silence,
    types,
    wyoming_served,
)


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with wyoming_served(config=WyomingConfig(zeroconf=False, partials=False)) as made:
        yield made


START = b'{"type": "audio-start"}\n'


def the_error(events: list[Event]) -> Error:
    assert events[-1].type == "error", types(events)
    return Error.from_event(events[-1])


def sound_of(events: list[Event]) -> bytes:
    return b"".join(event.payload or b"" for event in events if event.type == "audio-chunk")


# --- services ------------------------------------------------------------------------------------


def test_describe_tells_every_service(port: int) -> None:
    info = Info.from_event(exchange(port, [Describe()], "info")[0])
    assert info.asr[0].supports_transcript_streaming
    assert info.tts[0].supports_synthesize_streaming
    assert info.handle[0].supports_handled_streaming
    assert [voice.name for voice in info.tts[0].voices] == ["ada", "ben"]
    assert [model.name for model in info.wake[0].models] == ["loud"]


def test_a_ping_is_answered_with_its_text(port: int) -> None:
    assert Pong.from_event(exchange(port, [Ping("a")], "pong")[0]).text == "a"


def test_speech_is_written_down_and_its_voice_is_told(port: int) -> None:
    events = exchange(port, [Transcribe(language="de-DE"), *as_events(said())], "transcript-stop")
    assert types(events) == [
        "voice-started",
        "voice-stopped",
        "transcript-start",
        "transcript-chunk",
        "transcript",
        "transcript-stop",
    ]
    started, stopped = (event.data["timestamp"] for event in events[:2])
    assert 400 <= started <= 600
    assert 1400 <= stopped <= 1700
    transcript = Transcript.from_event(events[-2])
    assert transcript.text.endswith("seconds of speech.")
    assert transcript.language == "de"
    chunks = [event.data["text"] for event in events if event.type == "transcript-chunk"]
    assert "".join(chunks) == transcript.text


def test_silence_is_an_empty_transcript(port: int) -> None:
    events = exchange(port, as_events(silence(1.0)), "transcript")
    assert types(events) == ["transcript"]
    assert Transcript.from_event(events[0]).text == ""


def test_a_text_is_spoken(port: int) -> None:
    events = exchange(port, [Synthesize("one two three")], "audio-stop")
    assert types(events) == ["audio-start", "audio-chunk", "audio-stop"]
    assert events[0].data["rate"] == VOICE_HZ
    assert len(sound_of(events)) == 2 * 3 * VOICE_HZ // 10
    last = AudioChunk.from_event(events[-2])
    assert events[-1].data["timestamp"] == 300
    assert last.timestamp is not None
    assert 0 < last.timestamp < 300


def test_a_text_that_is_still_written_is_spoken_sentence_by_sentence(port: int) -> None:
    """Its first sound comes before its end; the whole text again, for older servers, is not."""

    async def main() -> list[Event]:
        found: list[Event] = []

        async def until(kind: str) -> None:
            while not found or found[-1].type != kind:
                event = await asyncio.wait_for(client.read_event(), WAIT_S)
                assert event is not None
                found.append(event)

        async with AsyncTcpClient("127.0.0.1", port) as client:
            await client.write_event(SynthesizeStart(SynthesizeVoice("ben")).event())
            for word in ("This is a first", " sentence.", " And"):
                await client.write_event(SynthesizeChunk(word).event())
            await until("audio-chunk")
            await client.write_event(SynthesizeChunk(" a second.").event())
            whole = Synthesize("This is a first sentence. And a second.")
            await client.write_event(whole.event())
            await client.write_event(SynthesizeStop().event())
            await until("synthesize-stopped")
        return found

    events = asyncio.run(main())
    assert types(events) == ["audio-start", "audio-chunk", "audio-stop", "synthesize-stopped"]
    assert len(sound_of(events)) == 2 * 8 * VOICE_HZ // 10


def test_a_wake_word_is_detected_by_its_name_and_its_time(port: int) -> None:
    events = exchange(port, [Detect(["loud"]), *as_events(said())[:-1]], "detection")
    detection = Detection.from_event(events[0])
    assert detection.name == "loud"
    assert detection.timestamp is not None
    assert 450 <= detection.timestamp <= 600


def test_sound_that_ends_without_a_wake_word_says_so(port: int) -> None:
    events = exchange(port, [Detect(), *as_events(silence(0.3))], "not-detected")
    assert types(events) == ["not-detected"]


def test_a_question_is_answered_and_the_context_comes_back(port: int) -> None:
    context = {"conversation_id": "a", "device_id": "kitchen"}
    events = exchange(port, [Transcript("how late is it", context=context)], "handled-stop")
    assert types(events) == ["handled-start", "handled-chunk", "handled", "handled-stop"]
    handled = Handled.from_event(events[-2])
    assert handled.text == "You said how late is it."
    assert handled.context == context
    chunks = [HandledChunk.from_event(e).text for e in events if e.type == "handled-chunk"]
    assert "".join(chunks).strip() == handled.text


def test_one_connection_does_one_thing_after_another(port: int) -> None:
    sent = [Detect(), *as_events(said()), Transcribe(), *as_events(said()), Synthesize("one")]
    kinds = types(exchange(port, sent, "audio-stop"))
    assert kinds[0] == "detection"
    assert kinds.index("transcript") < kinds.index("audio-start")


def test_kinds_that_mean_nothing_here_are_passed_over(port: int) -> None:
    class Strange(Ping):
        def event(self) -> Event:
            return Event("timer-started", {"id": "1"})

    assert types(exchange(port, [Strange(), SynthesizeStop(), Ping()], "pong")) == ["pong"]


# --- faults --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (b"GET / HTTP/1.1\r\n", "bad_header"),
        (b"[1]\n", "bad_header"),
        (b'{"type": 3}\n', "bad_header"),
        (b'{"type": "ping", "data_length": -1}\n', "bad_header"),
        (b'{"type": "ping", "data_length": 3}\n{{{', "bad_header"),
        (b'{"type": "audio-chunk", "payload_length": 99999999999}\n', "too_large"),
        (b'{"type": "ping", "data_length": 99999999999}\n', "too_large"),
        (b"x" * 200_000, "header_too_long"),
        (b'{"type": "synthesize", "data": {"text": 3}}\n', "bad_event"),
        (b'{"type": "synthesize-start", "data": {"voice": {"name": "eve"}}}\n', "no_such_voice"),
        (b'{"type": "audio-chunk", "data": {"rate": 1, "width": 2, "channels": 1}}\n', "bad_audio"),
        (b'{"type": "detect", "data": {"names": ["x"]}}\n' + START, "no_such_wake_word"),
        (b'{"type": "pi', "cut"),
        (b'{"type": "audio-chunk", "payload_length": 10}\nabc', "cut"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_costs_its_connection_and_is_told(
    port: int, sent: bytes, code: str
) -> None:
    async def main() -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        writer.write_eof()
        told = await asyncio.wait_for(reader.read(), WAIT_S)
        writer.close()
        await writer.wait_closed()
        return told

    head, _, data = asyncio.run(main()).partition(b"\n")
    assert json.loads(head)["type"] == "error"
    assert json.loads(data)["code"] == code
    assert exchange(port, [Ping()], "pong")  # others are served on


def test_a_client_that_goes_in_the_middle_of_its_answer_is_forgotten(port: int) -> None:
    async def main() -> None:
        for _ in range(3):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            text = json.dumps({"type": "synthesize", "data": {"text": "word " * 2_000}})
            writer.write(text.encode() + b"\n")
            await writer.drain()
            writer.transport.abort()

    asyncio.run(main())
    assert exchange(port, [Ping()], "pong")


@pytest.mark.parametrize(
    ("sent", "broken"),
    [
        (as_events(said()), {"transcriber": Ear(error=SttError("deaf today"))}),
        ([Synthesize("one")], {"synthesizer": Voice(error=TtsError("mute today"))}),
        (
            [SynthesizeStart(), SynthesizeChunk("This is one sentence. And"), Ping()],
            {"synthesizer": Voice(error=TtsError("mute today"))},
        ),
    ],
)
def test_a_model_that_fails_costs_the_connection_and_is_told(
    sent: list[Ping], broken: dict[str, object], caplog: pytest.LogCaptureFixture
) -> None:
    with (
        caplog.at_level(logging.CRITICAL),
        wyoming_served(fake_wyoming(**broken)) as port,
    ):
        error = the_error(exchange(port, sent, "error"))
        assert error.code == "model_failed"
        assert error.text.endswith("today")
        assert exchange(port, [Ping()], "pong")


def test_a_language_model_that_fails_has_not_handled_it(caplog: pytest.LogCaptureFixture) -> None:
    writer = Writer(pieces=(), error=LlmError("no words today"))
    with caplog.at_level(logging.CRITICAL), wyoming_served(fake_wyoming(writer)) as port:
        events = exchange(
            port, [Transcript("hello", context={"conversation_id": "a"})], "not-handled"
        )
        told = NotHandled.from_event(events[-1])
        assert told.text is not None
        assert "no words today" in told.text
        assert told.context == {"conversation_id": "a"}


def test_a_sound_beyond_the_limit_is_refused() -> None:
    config = WyomingConfig(zeroconf=False, partials=False, max_audio_s=1.0)
    with wyoming_served(config=config) as port:
        error = the_error(exchange(port, [Transcribe(), *as_events(said())], "error"))
        assert error.code == "too_large"
        # Voice activity alone, of a microphone that is always on, has no end.
        assert types(exchange(port, as_events(said()), "transcript"))[-1] == "transcript"


def test_a_client_that_says_nothing_is_gone_after_a_while() -> None:
    config = WyomingConfig(zeroconf=False, idle_s=0.05)
    with wyoming_served(config=config) as port:
        assert exchange(port, [], "pong") == []
