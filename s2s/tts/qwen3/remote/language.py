"""Talker and predictor together, on a server: utterances as frames of codes, from a socket.

The messages are `s2s.tts.codec_stream`'s. A socket serves one utterance after the other and is kept
for the next; one that was lost is opened again by the next utterance. Knows no decoder.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from s2s.system.remote.errors import RemoteError, RemoteStalled
from s2s.system.remote.web_socket import ServerWebSocket, SocketMessage
from s2s.tts.codec_stream.framing import WireError
from s2s.tts.codec_stream.receiving import (
    Codes,
    Event,
    FrameReceiver,
    Over,
    Refused,
    StreamBegun,
    text_messages,
)
from s2s.tts.codec_stream.source import CodecFormat, SpeechWish
from s2s.tts.qwen3.engine.decode_loop import Frame, FrameItem, Stop
from s2s.tts.qwen3.engine.stop_rules import StopReason
from s2s.tts.qwen3.errors import RemoteLanguageError
from s2s.tts.qwen3.interfaces import Stale
from s2s.tts.qwen3.remote.dictation import Dictation

FIRST_S = 20.0
"""Longest wait for the first frame: the server may have a long prompt to read, or others first."""
GAP_S = 10.0
"""Longest wait between two messages."""
WINDOW_FRAMES = 48
"""How far the server may be ahead: 3.8 s. More would be computed in vain by each interruption."""
PER_MESSAGE = 4
"""Frames that go together once sound is ahead: a header each would be a fifth of all bytes."""
_MOST_IDLE = 1
"""Sockets that are kept for the next utterance: each holds a place on the server."""

_REASONS = {reason.name.lower(): reason for reason in StopReason}


class CodecLine(Protocol):
    """A socket to the server, read by one thread."""

    def open(self, stop: Callable[[], bool]) -> bool:
        """Wait until it is open; False when `stop` says so before. Raises RemoteError."""
        ...

    def send(self, message: str | bytes) -> None:
        """Any thread. Raises RemoteError when it is lost."""
        ...

    def receive(self, stop: Callable[[], bool], most_s: float) -> SocketMessage | None:
        """The next message; None when `stop` says so. Raises RemoteError when it is lost, or
        nothing comes for so long."""
        ...

    @property
    def lost(self) -> bool: ...

    def close(self) -> None: ...

    def break_off(self) -> None: ...


@dataclass(frozen=True, slots=True)
class RemoteServer:
    """Where the language model is, and how it is spoken with."""

    url: str
    """`ws://HOST:PORT`, or whatever else `socket_address` takes."""
    key: str = ""
    model: str | None = None
    """The model's name there; servers with one alone need none."""
    window_frames: int = WINDOW_FRAMES
    per_message: int = PER_MESSAGE
    first_s: float = FIRST_S
    gap_s: float = GAP_S

    def at(self, url: str) -> RemoteServer:
        """The same, by its whole address."""
        return replace(self, url=url)

    def line(self) -> CodecLine:
        """A new socket. Raises RemoteError where there can be none."""
        return ServerWebSocket(
            self.url, {"Authorization": f"Bearer {self.key}"} if self.key else {}
        )


@dataclass(slots=True, eq=False)
class _Kept:
    """A socket, and what was said on it."""

    line: CodecLine
    receiver: FrameReceiver
    used: bool = False


class RemoteLanguage:
    """Utterances of one server. Safe from any thread."""

    def __init__(
        self,
        server: RemoteServer,
        decoder: CodecFormat,
        connect: Callable[[], CodecLine] | None = None,
    ) -> None:
        self.server = server
        self._decoder = decoder
        self._connect = connect or server.line
        self._lock = threading.Lock()
        self._idle: list[_Kept] = []
        self._closed = False

    def utterance(
        self,
        wish: SpeechWish,
        stale: Stale,
        *,
        about: bool = False,
        dictation: Dictation | None = None,
    ) -> RemoteUtterance:
        """One utterance; to be closed. Nothing is sent yet. dictation: of its text, where that is
        still being written."""
        return RemoteUtterance(self, wish, stale, about=about, dictation=dictation)

    def take(self, *, fresh: bool = False) -> _Kept:
        """A socket that no other utterance uses. Raises RemoteError."""
        while not fresh:
            with self._lock:
                kept = self._idle.pop() if self._idle else None
            if kept is None:
                break
            if not kept.line.lost:
                return kept
            kept.line.close()
        server = self.server
        receiver = FrameReceiver(self._decoder, server.window_frames, server.per_message)
        return _Kept(self._connect(), receiver)

    def give_back(self, kept: _Kept) -> None:
        """It can be used again."""
        with self._lock:
            keep = not self._closed and len(self._idle) < _MOST_IDLE and not kept.line.lost
            if keep:
                self._idle.append(kept)
        if not keep:
            kept.line.close()

    def close(self) -> None:
        """End the sockets that are idle; the others end with their utterances. Idempotent."""
        with self._lock:
            idle, self._idle, self._closed = self._idle, [], True
        for kept in idle:
            kept.line.close()


class RemoteUtterance:
    """One utterance, read by one thread: `begin`, then `items` once; closed in any case."""

    def __init__(
        self,
        language: RemoteLanguage,
        wish: SpeechWish,
        stale: Stale,
        *,
        about: bool,
        dictation: Dictation | None,
    ) -> None:
        self._language = language
        self._wish = wish
        self._stale = stale
        self._about = about
        self._dictation = dictation
        self._kept: _Kept | None = None
        self._over = self._discard = False
        self._frames = 0
        self._arrived_s: float | None = None
        self._took_s = 0.0
        """Between the frames that came last and those before them, for each."""

    @property
    def voice(self) -> str | None:
        """That it is to be spoken with; None is the server's own."""
        return self._wish.voice

    @property
    def version(self) -> int:
        """Of the protocol, as the server speaks it; 0 before `begin`."""
        return 0 if self._kept is None else self._kept.receiver.version

    def begin(self) -> StreamBegun | None:
        """Ask for it, and wait until the server has begun; None when cancelled before.

        Raises RemoteLanguageError.
        """
        for fresh in (False, True):
            try:
                return self._asked(fresh=fresh)
            except RemoteError as error:
                again = self._kept is not None and self._kept.used and not fresh
                self._drop()
                if not again:  # else the server had ended a socket that was idle
                    raise RemoteLanguageError(str(error)) from error
            except WireError as error:
                self._drop()
                raise self._nonsense(error) from error
        return None

    def items(self) -> Generator[FrameItem, None, None]:
        """The frames as they come, then the stop. A socket that is lost stops them too, so that
        what came is heard; then RemoteLanguageError is raised."""
        try:
            yield from self._spoken()
        except RemoteLanguageError:
            if not self._discard:
                yield Stop(StopReason.LOST, self._frames)
            raise

    def close(self) -> None:
        """Cancel what is left of it. Idempotent."""
        kept = self._left()
        if kept is None:
            return
        try:
            if not self._over:
                for message in kept.receiver.cancel():
                    kept.line.send(message)
        except RemoteError:
            kept.line.break_off()
            return
        kept.used = True
        self._language.give_back(kept)

    def _spoken(self) -> Generator[FrameItem, None, None]:
        server = self._language.server
        while (events := self._heard(server.gap_s if self._frames else server.first_s)) is not None:
            for event in events:
                match event:
                    case Codes():
                        yield from self._made(event)
                    case Over(reason=reason, frames=frames):
                        self._end(event)
                        yield Stop(_REASONS.get(reason, StopReason.END), frames)
                        return
                    case Refused():
                        self._end(event)
                    case StreamBegun():
                        pass  # `begin` has waited for it
        yield Stop(StopReason.STOPPED, self._frames)

    def _heard(self, most_s: float) -> list[Event] | None:
        """As `_next`. Raises RemoteLanguageError; the socket is good for nothing then."""
        try:
            return self._next(most_s)
        except RemoteError as error:
            self._drop()
            raise RemoteLanguageError(str(error)) from error
        except WireError as error:
            self._drop()
            raise self._nonsense(error) from error

    def _end(self, event: Over | Refused) -> None:
        """The server has told the end. Raises RemoteLanguageError unless it was a good one."""
        self._over = True
        url = self._language.server.url
        match event:
            case Refused(message=message, discard=discard):
                self._discard = discard
                raise RemoteLanguageError(f"{url}: {message}")
            case Over(reason="stopped"):
                raise RemoteLanguageError(f"{url} gave the answer up")
            case Over():
                pass

    def _asked(self, *, fresh: bool) -> StreamBegun | None:
        self._kept = kept = self._language.take(fresh=fresh)
        if not kept.line.open(self._stale):
            self._drop()
            return None
        server = self._language.server
        for message in kept.receiver.ask(self._wish, model=server.model, about=self._about):
            kept.line.send(message)
        if self._dictation is not None:
            self._dictation.tell(partial(_say, kept.line))
        while (events := self._next(server.first_s)) is not None:
            for event in events:
                match event:
                    case StreamBegun():
                        return event
                    case Refused() | Over():
                        self._end(event)
                        raise RemoteLanguageError(f"{server.url} ended before it began")
                    case Codes():
                        pass  # none comes before the beginning
        return None

    def _next(self, most_s: float) -> list[Event] | None:
        """What happens next; None when cancelled. Raises RemoteError, WireError."""
        kept = self._kept
        if kept is None or self._stale():
            return None
        if (granted := kept.receiver.taken(self._frames)) is not None:
            kept.line.send(granted)
        message = self._waited(kept.line, most_s)
        if message is None:
            return None
        before_s, self._arrived_s = self._arrived_s, message.arrived_s
        events = kept.receiver.receive(message.data)
        frames = sum(len(event.codes) for event in events if isinstance(event, Codes))
        if frames and before_s is not None:
            self._took_s = (message.arrived_s - before_s) / frames
        return events

    def _waited(self, line: CodecLine, most_s: float) -> SocketMessage | None:
        """The next message. A text that is still being written may keep the server waiting for
        any time; that the line is dead is noticed without a message."""
        while True:
            goes_on = self._dictation is not None and self._dictation.goes_on
            try:
                return line.receive(self._stale, most_s)
            except RemoteStalled:
                if not goes_on:
                    raise

    def _made(self, made: Codes) -> Generator[Frame, None, None]:
        last = len(made.codes) - 1
        for at, each in enumerate(made.codes):
            yield Frame(self._frames, each, self._took_s, made.text_late and at == last)
            self._frames += 1

    def _left(self) -> _Kept | None:
        """The socket, which is told nothing more of this utterance."""
        if self._dictation is not None:
            self._dictation.leave()
        kept, self._kept = self._kept, None
        return kept

    def _drop(self) -> None:
        """The socket is good for nothing more."""
        kept = self._left()
        if kept is not None:
            kept.line.break_off()

    def _nonsense(self, error: WireError) -> RemoteLanguageError:
        return RemoteLanguageError(f"{self._language.server.url} sends what cannot be: {error}")


def _say(line: CodecLine, text: str, ended: bool) -> None:
    for message in text_messages(text, ended=ended):
        line.send(message)
