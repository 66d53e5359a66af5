"""Both ends of a stream of codes in one place, without a socket between them."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator

import numpy as np

from s2s.core.arrays import Ids
from s2s.system.remote import RemoteError, SocketMessage
from s2s.tts.base import TtsError
from s2s.tts.codec_stream.messages import (
    ClientMessage,
    CreditGrant,
    InputCancel,
    InputCancelled,
    InputDone,
    SessionClose,
    SpeechConfig,
    SpeechText,
    parse_client,
)
from s2s.tts.codec_stream.receiving import Codes, Event, FrameReceiver, StreamBegun
from s2s.tts.codec_stream.sending import FrameSender, Sent
from s2s.tts.codec_stream.source import (
    CodecFormat,
    CodecSource,
    SpeechEnd,
    SpeechFrame,
    SpeechWish,
)
from tests.support.patience import PATIENCE_S

CODEC = CodecFormat(2, 16, 12.5, 24_000, "decoder")
HELLO = SpeechWish("Hello.", "ada", "English", seed=3)


def some_frames(count: int, first: int = 0) -> Ids:
    """int64 [count, 2], each frame another one."""
    index = np.arange(first, first + count)
    return np.stack([1 + index % 15, index // 15 % 16], axis=1)


def sender_of(asked: list[str], codec: CodecFormat = CODEC, version: int = 2) -> FrameSender:
    """The server's end of what a receiver asks for."""
    config = parse_client(asked[0])
    assert isinstance(config, SpeechConfig)
    if version == 1:
        config = config.model_copy(update={"codec_stream": None})
    return FrameSender(codec, config, 0)


def answered(
    receiver: FrameReceiver,
    frames: Ids,
    *,
    end: SpeechEnd | None = None,
    prefix: Ids | None = None,
    version: int = 2,
    wish: SpeechWish = HELLO,
) -> list[Event]:
    """All that a receiver tells of an answer of these frames, every grant of which comes at
    once."""
    asked = receiver.ask(wish)
    sender = sender_of(asked, version=version)
    config = parse_client(asked[0])
    assert isinstance(config, SpeechConfig)
    assert config.codec_stream is not None
    allowed = config.codec_stream.credit
    events: list[Event] = []

    def tell(messages: list[Sent]) -> None:
        nonlocal allowed
        for message in messages:
            events.extend(receiver.receive(message))
            grant = receiver.taken(len(codes_of(events)))
            if grant is not None:
                told = parse_client(grant)
                assert isinstance(told, CreditGrant)
                allowed = told.frames

    tell(sender.begin("a model", prefix))
    for each in frames:
        assert allowed is None or version == 1 or sender.frames < allowed, "it would wait for ever"
        tell(sender.push(each, None if version == 1 else allowed))
    tell(sender.end(end or SpeechEnd("end", len(frames))))
    return events


def codes_of(events: list[Event]) -> Ids:
    """int64 [frames, 2] of the speech in them."""
    parts = [event.codes for event in events if isinstance(event, Codes)]
    return np.concatenate([np.zeros((0, 2), np.int64), *parts])


def begun(events: list[Event]) -> StreamBegun:
    """The beginning among them."""
    return next(event for event in events if isinstance(event, StreamBegun))


class PulledLine:
    """A socket whose server is in the same thread: it makes a frame when a message is waited for,
    as far as it is granted.

    Args:
        source: what speaks.
        lost_after: messages after which the line breaks; None: it does not.
        version: of the server.
    """

    def __init__(
        self, source: CodecSource, *, lost_after: int | None = None, version: int = 2
    ) -> None:
        self._source = source
        self._lost_after = lost_after
        self._version = version
        self._arrived: deque[Sent] = deque()
        self._making: Generator[SpeechFrame | SpeechEnd, None, None] | None = None
        self._asked = threading.Event()
        """An answer was asked for: by a thread of its own, where its text is still coming."""
        self._sender: FrameSender | None = None
        self._config = SpeechConfig()
        self._text = ""
        self._allowed: int | None = None
        self._received = 0
        self.sent: list[ClientMessage] = []
        """By the device."""
        self.lost = self.closed = False

    def open(self, stop: Callable[[], bool]) -> bool:
        return not stop()

    def send(self, message: str | bytes) -> None:
        if self.lost:
            raise RemoteError("ws://test was lost")
        assert isinstance(message, str)
        told = parse_client(message)
        self.sent.append(told)
        match told:
            case SpeechConfig():
                self._config = told
                self._text = ""
            case SpeechText(text=text):
                self._text += text
            case InputDone():
                self._begin()
            case CreditGrant(frames=frames):
                self._allowed = frames
            case InputCancel(epoch=epoch):
                self._cancel(epoch)
            case SessionClose():
                self.close()

    def receive(self, stop: Callable[[], bool], most_s: float) -> SocketMessage | None:
        if stop():
            return None
        while not self._arrived:
            self._make()
        if self._received == self._lost_after:
            self.lost = True
        if self.lost:
            raise RemoteError("ws://test was lost")
        self._received += 1
        return SocketMessage(self._arrived.popleft(), 0.01 * self._received)

    def close(self) -> None:
        self.lost = self.closed = True
        if self._making is not None:
            self._making.close()

    def break_off(self) -> None:
        self.close()

    def _begin(self) -> None:
        config = self._config
        if self._version == 1:
            config = config.model_copy(update={"codec_stream": None})
        wishes = config.codec_stream
        self._allowed = None if wishes is None else wishes.credit
        wish = SpeechWish(
            self._text, config.voice, config.language, config.instructions or "", config.seed,
            0 if wishes is None else wishes.attempt, config.max_new_tokens,
        )  # fmt: skip
        sender = self._sender = FrameSender(self._source.codec_format, config, 0)
        source = self._source
        prefix = source.reference_codes(wish.voice)
        about = source.voices, source.languages
        feeds = source.takes_words(wish.voice)
        self._making = source.codec_frames(wish, lambda: False)
        self._arrived += sender.begin(source.model, prefix, *about, feeds=feeds)
        self._asked.set()

    def _make(self) -> None:
        """The next frame, or the end."""
        assert self._asked.wait(PATIENCE_S), "nothing was asked for, or all of it has come"
        if self._arrived:
            return
        sender, making = self._sender, self._making
        assert sender is not None
        assert making is not None
        allowed = self._allowed
        assert allowed is None or sender.frames < allowed, "it would wait for ever"
        try:
            item = next(making)
        except TtsError as error:
            self._end()
            self._arrived += sender.end(None, error=str(error))
            return
        if isinstance(item, SpeechEnd):
            self._end()
            self._arrived += sender.end(item)
        else:
            self._arrived += sender.push(item.codes, allowed, text_late=item.text_late)

    def _end(self) -> None:
        self._asked.clear()
        self._making = None

    def _cancel(self, epoch: int | None) -> None:
        making = self._making
        self._end()
        self._arrived.append(InputCancelled(epoch=epoch).written())
        if making is not None and self._sender is not None:
            making.close()
            self._arrived += self._sender.end(None)
