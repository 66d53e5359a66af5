"""`WS /v1/audio/speech/stream`: codes to devices that decode them, one answer after the other."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from starlette.testclient import TestClient, WebSocketDenialResponse, WebSocketTestSession

from s2s.core.arrays import Ids
from s2s.transport.server.app import make_app
from s2s.transport.server.config import ServeConfig
from s2s.transport.server.server import Server
from s2s.tts.base import TtsError, WrittenText
from s2s.tts.codec_stream.feeding import TextFeed
from s2s.tts.codec_stream.messages import (
    CodecDone,
    CodecStart,
    ErrorMessage,
    InputCancelled,
    ServerMessage,
    parse_server,
)
from s2s.tts.codec_stream.receiving import (
    Codes,
    Event,
    FrameReceiver,
    Over,
    Refused,
    text_messages,
)
from s2s.tts.codec_stream.source import SpeechEnd, SpeechFrame, SpeechWish
from tests.support.codec_stream import CODEC, HELLO, begun, codes_of, some_frames
from tests.support.patience import PATIENCE_S
from tests.support.serving import fake_server

PATH = "ws://localhost/v1/audio/speech/stream"


@dataclass
class Codec:
    """A voice that gives as many frames as it is told to; -1: without end."""

    frames: int = 20
    error: Exception | None = None
    prefix: Ids | None = None
    feeds: bool = False
    """A frame for each word that it is fed with, in place of ``frames``."""
    asked: list[SpeechWish] = field(default_factory=list)
    made: int = 0
    """Frames of the last answer."""
    stopped: threading.Event = field(default_factory=threading.Event)
    """Set when an answer was given up."""

    codec_format = CODEC
    model = "scripted"
    voices = ("ada",)
    languages = ("en",)
    threads = 1

    def reference_codes(self, voice: str | None) -> Ids | None:
        if voice == "nobody":
            raise TtsError("no voice 'nobody'; known: ada")
        return self.prefix

    def takes_words(self, voice: str | None) -> bool:
        return self.feeds

    def codec_frames(
        self, wish: SpeechWish, stop: Callable[[], bool]
    ) -> Generator[SpeechFrame | SpeechEnd, None, None]:
        self.asked.append(wish)
        self.made = 0
        if not isinstance(wish.text, str):
            yield from self._fed(wish.text, stop)
            return
        try:
            while self.made != self.frames:
                if stop():
                    yield SpeechEnd("stopped", self.made)
                    return
                self.made += 1
                yield SpeechFrame(some_frames(1, self.made - 1)[0])
        finally:
            if self.made != self.frames:
                self.stopped.set()
        if self.error is not None:
            raise self.error
        yield SpeechEnd("end", self.made)

    def _fed(
        self, text: WrittenText, stop: Callable[[], bool]
    ) -> Generator[SpeechFrame | SpeechEnd, None, None]:
        while words := text.read(stop):
            for at in range(count := len(words.split())):
                yield SpeechFrame(some_frames(1, self.made)[0], text_late=at == count - 1)
                self.made += 1
        if words is None:
            self.stopped.set()
        yield SpeechEnd("stopped" if words is None else "end", self.made)


def server_of(codec: Codec | None, key: str | None = None, **config: int) -> Server:
    return fake_server(ServeConfig(**config), key, codes=codec)  # pyright: ignore


@contextmanager
def socket_of(server: Server) -> Iterator[WebSocketTestSession]:
    with (
        TestClient(make_app(server), base_url="http://localhost") as client,
        client.websocket_connect(PATH) as socket,
    ):
        yield socket


def next_message(socket: WebSocketTestSession) -> str | bytes:
    message = socket.receive()
    return message.get("text") or message["bytes"]


def told(socket: WebSocketTestSession) -> ServerMessage:
    """The next message in JSON."""
    return parse_server(str(next_message(socket)))


def answer(
    socket: WebSocketTestSession, receiver: FrameReceiver, wish: SpeechWish = HELLO
) -> list[Event]:
    """All that a device hears of one answer."""
    for message in receiver.ask(wish):
        socket.send_text(message)
    events: list[Event] = []
    while not (events and isinstance(events[-1], Over)):
        events += receiver.receive(next_message(socket))
        if (grant := receiver.taken(len(codes_of(events)))) is not None:
            socket.send_text(grant)
    return events


def test_an_answer_comes_whole_and_so_does_the_next() -> None:
    codec = Codec()
    with socket_of(server_of(codec)) as socket:
        receiver = FrameReceiver(CODEC, window=4, per_message=3)
        for frames in (20, 1, 50):
            codec.frames = frames
            events = answer(socket, receiver, SpeechWish("Hi.", "ada", "English", "low", 9, 1, 70))
            assert codes_of(events).tolist() == some_frames(frames).tolist()
            assert events[-1] == Over("end", frames)
    assert codec.asked == [SpeechWish("Hi.", "ada", "English", "low", 9, 1, 70)] * 3


def test_the_prefix_of_a_cloned_voice_comes_first() -> None:
    with socket_of(server_of(Codec(prefix=some_frames(5)))) as socket:
        receiver = FrameReceiver(CODEC)
        for _ in range(2):
            found = begun(answer(socket, receiver)).prefix
            assert found is not None
            assert found.tolist() == some_frames(5).tolist()


def test_nothing_is_made_that_was_not_granted() -> None:
    codec = Codec(frames=-1)
    with socket_of(server_of(codec)) as socket:
        receiver = FrameReceiver(CODEC, window=3)
        for message in receiver.ask(HELLO):
            socket.send_text(message)
        events: list[Event] = []
        while len(codes_of(events)) < 3:
            events += receiver.receive(next_message(socket))
        assert codec.made == 3
        for message in receiver.cancel():
            socket.send_text(message)
        assert isinstance(told(socket), InputCancelled)
        done = told(socket)
        assert isinstance(done, CodecDone)
        assert done.cancelled
        assert codec.made == 3
        codec.frames = 2
        assert codes_of(answer(socket, receiver)).tolist() == some_frames(2).tolist()


def test_a_cancel_is_acknowledged_and_stops_the_talker_within_a_frame() -> None:
    codec = Codec(frames=-1)
    with socket_of(server_of(codec)) as socket:
        receiver = FrameReceiver(CODEC)
        for message in receiver.ask(HELLO):
            socket.send_text(message)
        next_message(socket)
        for message in receiver.cancel():
            socket.send_text(message)
        kinds: list[type] = []
        while CodecDone not in kinds:
            message = next_message(socket)
            assert receiver.receive(message) == []
            if isinstance(message, str):
                kinds.append(type(parse_server(message)))
        assert kinds == [InputCancelled, CodecDone]
        assert codec.stopped.wait(PATIENCE_S)


def test_a_client_that_leaves_stops_its_talker() -> None:
    codec = Codec(frames=-1)
    server = server_of(codec)
    with socket_of(server) as socket:
        for message in FrameReceiver(CODEC).ask(HELLO):
            socket.send_text(message)
        next_message(socket)
    assert codec.stopped.wait(PATIENCE_S)
    assert server.sessions.taken == 0


def test_a_client_of_the_prototype_is_given_version_1() -> None:
    with socket_of(server_of(Codec(frames=3))) as socket:
        socket.send_json({"type": "session.config", "output_mode": "codec_tokens", "voice": "ada"})
        socket.send_json({"type": "input.text", "text": "Hel"})
        socket.send_json({"type": "input.text", "text": "lo."})
        socket.send_json({"type": "input.done"})
        start = told(socket)
        assert isinstance(start, CodecStart)
        assert (start.version, start.header_format) == (1, "<IHB")
        for seq in range(3):
            header = next_message(socket)[:7]
            assert header == bytes((seq, 0, 0, 0, 1, 0, 4 if seq == 0 else 0))
        assert next_message(socket) == bytes((3, 0, 0, 0, 0, 0, 3))
        done = told(socket)
        assert isinstance(done, CodecDone)
        assert (done.total_frames, done.seq_last, done.cancelled) == (3, 3, False)


FED = SpeechWish(TextFeed(), "ada", "English", seed=3)


def heard(socket: WebSocketTestSession, receiver: FrameReceiver, frames: int) -> list[Event]:
    """What a device hears until it has so many frames more."""
    events: list[Event] = []
    while len(codes_of(events)) < frames:
        events += receiver.receive(next_message(socket))
    return events


def tell(socket: WebSocketTestSession, text: str, *, ended: bool = False) -> None:
    for message in text_messages(text, ended=ended):
        socket.send_text(message)


def test_a_text_is_spoken_along_while_it_comes() -> None:
    with socket_of(server_of(Codec(feeds=True))) as socket:
        receiver = FrameReceiver(CODEC, per_message=4)
        for _ in range(2):
            for message in receiver.ask(FED):
                socket.send_text(message)
            tell(socket, "one two")
            events = heard(socket, receiver, 2)
            assert begun(events).start.feeds
            last = events[-1]
            assert isinstance(last, Codes)
            assert last.text_late
            for at in range(8):  # beyond the frames that go alone: none waits for a late text
                tell(socket, f" three {at}")
                events += heard(socket, receiver, 2)
            tell(socket, "", ended=True)
            while not isinstance(events[-1], Over):
                events += receiver.receive(next_message(socket))
            assert events[-1] == Over("end", 18)
            assert codes_of(events).tolist() == some_frames(18).tolist()


def test_a_voice_that_wants_whole_texts_is_given_all_that_was_fed() -> None:
    codec = Codec(frames=2)
    with socket_of(server_of(codec)) as socket:
        receiver = FrameReceiver(CODEC)
        for message in receiver.ask(FED):
            socket.send_text(message)
        tell(socket, "one ")
        events = receiver.receive(next_message(socket))
        assert begun(events).start.feeds is None
        tell(socket, "two", ended=True)
        while not isinstance(events[-1], Over):
            events += receiver.receive(next_message(socket))
        assert [wish.text for wish in codec.asked] == ["one two"]


@pytest.mark.parametrize("feeds", [True, False])
def test_a_cancel_ends_an_answer_that_waits_for_its_text(feeds: bool) -> None:
    codec = Codec(frames=2, feeds=feeds)
    with socket_of(server_of(codec)) as socket:
        receiver = FrameReceiver(CODEC)
        for message in receiver.ask(FED):
            socket.send_text(message)
        tell(socket, "one")
        begun(receiver.receive(next_message(socket)))
        for message in receiver.cancel():
            socket.send_text(message)
        kinds: list[type] = []
        while CodecDone not in kinds:
            message = next_message(socket)
            assert receiver.receive(message) == []
            if isinstance(message, str):
                kinds.append(type(parse_server(message)))
        assert kinds == [InputCancelled, CodecDone]
        tell(socket, " late", ended=True)  # of the answer that is over: it goes nowhere
        assert codes_of(answer(socket, receiver)).tolist() == some_frames(2).tolist()
        assert codec.asked[-1].text == HELLO.text


def test_a_client_that_leaves_ends_an_answer_that_waits_for_its_text() -> None:
    codec = Codec(feeds=True)
    server = server_of(codec)
    with socket_of(server) as socket:
        receiver = FrameReceiver(CODEC)
        for message in receiver.ask(FED):
            socket.send_text(message)
        tell(socket, "one")
        heard(socket, receiver, 1)
    assert codec.stopped.wait(PATIENCE_S)
    assert server.sessions.taken == 0


def test_a_text_that_grows_too_long_while_it_is_spoken_ends_it() -> None:
    codec = Codec(feeds=True)
    with socket_of(server_of(codec)) as socket:
        receiver = FrameReceiver(CODEC)
        for message in receiver.ask(FED):
            socket.send_text(message)
        tell(socket, "one")
        heard(socket, receiver, 1)
        tell(socket, "a" * 4_097)
        events: list[Event] = []
        while not (events and isinstance(events[-1], Refused)):
            events += receiver.receive(next_message(socket))
        assert events[-1] == Refused("the text has 4100 characters; 4096 are the most")
        assert codec.stopped.wait(PATIENCE_S)


def test_what_goes_wrong_is_told_before_or_behind_the_codes() -> None:
    codec = Codec(frames=4, error=TtsError("the weights are damaged"))
    with socket_of(server_of(codec)) as socket:
        receiver = FrameReceiver(CODEC)
        for message in receiver.ask(SpeechWish("Hi.", "nobody")):
            socket.send_text(message)
        assert receiver.receive(next_message(socket)) == [Refused("no voice 'nobody'; known: ada")]
        for message in receiver.ask(HELLO):
            socket.send_text(message)
        events: list[Event] = []
        while Refused("the weights are damaged") not in events:
            events += receiver.receive(next_message(socket))
        assert len(codes_of(events)) == 4
        codec.error = ValueError("inside")
        for message in receiver.ask(HELLO):
            socket.send_text(message)
        while True:
            message = next_message(socket)
            if isinstance(message, str) and "error" in message:
                break
        assert "its log says why" in message
        codec.error = None
        assert isinstance(answer(socket, receiver)[-1], Over)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("nonsense", "Invalid JSON"),
        ('{"type": "input.done"}', "session.config comes before"),
        ('{"type": "session.config", "output_mode": "audio"}', "this address gives codec_tokens"),
        ('{"type": "input.text", "text": "' + "a" * 4_097 + '"}', "4097 characters; 4096"),
        (b"\0", "no binary messages"),
    ],
)
def test_what_a_client_cannot_say_is_answered_and_the_socket_stays(
    message: str | bytes, words: str
) -> None:
    with socket_of(server_of(Codec())) as socket:
        if isinstance(message, bytes):
            socket.send_bytes(message)
        else:
            socket.send_text(message)
        error = told(socket)
        assert isinstance(error, ErrorMessage)
        assert words in error.message
        assert isinstance(answer(socket, FrameReceiver(CODEC))[-1], Over)


def test_more_answers_than_may_wait_are_refused() -> None:
    with socket_of(server_of(Codec(frames=-1))) as socket:
        socket.send_json({"type": "session.config", "codec_stream": {"epoch": 1, "credit": 1}})
        for _ in range(6):
            socket.send_json({"type": "input.done"})
        while not isinstance(message := next_message(socket), str) or "wait already" not in message:
            pass
        socket.send_json({"type": "session.close"})


def test_who_is_not_let_in_is_told_before_the_upgrade() -> None:
    for server, status in (
        (server_of(None), 404),
        (server_of(Codec(), key="secret"), 401),
    ):
        with (
            TestClient(make_app(server), base_url="http://localhost") as client,
            pytest.raises(WebSocketDenialResponse) as refused,
            client.websocket_connect(PATH),
        ):
            pass
        assert refused.value.status_code == status


def test_a_device_takes_a_place_like_a_conversation() -> None:
    server = server_of(Codec(), max_sessions=1)
    with TestClient(make_app(server), base_url="http://localhost") as client:
        with client.websocket_connect(PATH):
            assert server.sessions.full
            with (
                pytest.raises(WebSocketDenialResponse) as refused,
                client.websocket_connect(PATH),
            ):
                pass
            assert refused.value.status_code == 503
        assert client.get("/health").json()["status"] == "ok"
