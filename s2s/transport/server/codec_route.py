"""`WS /v1/audio/speech/stream`: codes in place of sound, for devices that decode them.

The messages are those of `s2s.tts.codec_stream`. Of a client's answers one is spoken at a time; a
cancel is heard meanwhile, and acknowledged at once.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, closing
from dataclasses import dataclass, field, replace

from starlette.websockets import WebSocket

from s2s.core.arrays import Ids
from s2s.core.errors import StageError
from s2s.core.work import Shift, Work, each
from s2s.transport.server.access import sent_key
from s2s.transport.server.handover import SocketGone
from s2s.transport.server.reply import ApiError
from s2s.transport.server.server import Server
from s2s.transport.server.web_socket import ServerSocket
from s2s.transport.threaded import Stop, ThreadStream
from s2s.tts.codec_stream.feeding import TextFeed, all_of
from s2s.tts.codec_stream.framing import WireError
from s2s.tts.codec_stream.messages import (
    ClientMessage,
    CreditGrant,
    ErrorMessage,
    InputCancel,
    InputCancelled,
    InputDone,
    SessionClose,
    SpeechConfig,
    SpeechText,
    parse_client,
)
from s2s.tts.codec_stream.sending import Credit, FrameSender, Sent
from s2s.tts.codec_stream.source import (
    CodecFormat,
    CodecSource,
    SpeechEnd,
    SpeechFrame,
    SpeechWish,
)

log = logging.getLogger(__name__)

MOST_WAITING = 4
"""Answers of one client that wait for each other."""
FIRST_FRAMES = 25
"""The first two seconds of an answer are waited for; what follows is made ahead."""


@dataclass(slots=True, eq=False)
class _Asked:
    """One answer that a client has asked for."""

    config: SpeechConfig
    text: str | TextFeed
    """All of it, or one that is still coming: `session.config` says so with ``fed``."""
    index: int
    credit: Credit = field(init=False)
    cancelled: bool = False

    def __post_init__(self) -> None:
        wishes = self.config.codec_stream
        self.credit = Credit(None if wishes is None else wishes.credit)

    @property
    def epoch(self) -> int | None:
        return None if self.config.codec_stream is None else self.config.codec_stream.epoch

    @property
    def wish(self) -> SpeechWish:
        config = self.config
        return SpeechWish(
            self.text,
            config.voice,
            config.language,
            config.instructions or "",
            config.seed,
            0 if config.codec_stream is None else config.codec_stream.attempt,
            config.max_new_tokens,
        )

    def cancel(self) -> None:
        """It is not wanted any more."""
        self.cancelled = True
        self.end()

    def end(self) -> None:
        """Nothing waits for anything of it any more."""
        self.credit.close()
        if isinstance(self.text, TextFeed):
            self.text.close()


@dataclass(frozen=True, slots=True, eq=False)
class _Voice:
    """The codes of the recording that a voice is cloned from, if there are any."""

    prefix: Ids | None
    feeds: bool


_Made = _Voice | SpeechFrame | SpeechEnd


class SpeechStreamRoute:
    """The endpoint of one server."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._threads = ThreadPoolExecutor(server.config.max_sessions, "s2s-codes")

    async def connect(self, websocket: WebSocket) -> None:
        """Let a device in, and serve it until it goes. It takes a place like a conversation."""
        server = self._server
        source = server.services.codes
        try:
            server.access.check_origin(websocket.headers)
            server.access.check_key(sent_key(websocket.headers))
            if source is None:
                raise ApiError(
                    404,
                    "no_codec_stream",
                    "This server gives no codes: start it with --tts qwen3 --codec-stream.",
                )
            if (refusal := server.no_place()) is not None:
                raise refusal
            server.sessions.take()
        except ApiError as error:
            await websocket.send_denial_response(server.refused(error))
            return
        try:
            await websocket.accept()
            async with ServerSocket(websocket, server.config, self._count_error) as socket:
                await _Device(server, source, socket, self._threads).serve()
        except Exception:
            log.exception("a stream of codes failed")
            server.metrics.count("s2s_errors_total", where="codec", code="internal")
        finally:
            server.sessions.leave()

    def close(self) -> None:
        """Take no more work; what runs ends by itself."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _count_error(self, code: str) -> None:
        self._server.metrics.count("s2s_errors_total", where="codec", code=code)


class _Device:
    """One client that decodes."""

    def __init__(
        self,
        server: Server,
        source: CodecSource,
        socket: ServerSocket,
        threads: ThreadPoolExecutor,
    ) -> None:
        self._server = server
        self._source = source
        self._socket = socket
        self._threads = threads
        self._config: SpeechConfig | None = None
        self._text: list[str] = []
        self._feed: TextFeed | None = None
        """Of the answer whose text is coming while it is spoken."""
        self._answers = 0
        self._asked: deque[_Asked] = deque()
        """The first is being spoken, the others wait."""
        self._more = asyncio.Event()

    async def serve(self) -> None:
        """Until it goes."""
        speaking = asyncio.create_task(self._speak_all())
        try:
            while (data := await self._socket.receive_any()) is not None:
                try:
                    if isinstance(data, bytes):
                        raise WireError("a client sends no binary messages")
                    message = parse_client(data)
                    if isinstance(message, SessionClose):
                        break
                    await self._take(message)
                except WireError as error:
                    self._server.metrics.count(
                        "s2s_errors_total", where="codec", code="invalid_message"
                    )
                    await self._tell(
                        ErrorMessage(message=str(error), code="invalid_message").written()
                    )
        except SocketGone:
            pass
        finally:
            for asked in self._asked:
                asked.cancel()
            speaking.cancel()
            await asyncio.gather(speaking, return_exceptions=True)

    async def _take(self, message: ClientMessage) -> None:
        """What a client says. Raises WireError for what cannot be said now."""
        match message:
            case SpeechConfig():
                if message.output_mode != "codec_tokens":
                    raise WireError(
                        f"output_mode {message.output_mode!r}: this address gives codec_tokens"
                    )
                self._config, self._text, self._feed = message, [], None
            case SpeechText(text=text):
                self._add(text)
            case InputDone():
                if self._feed is None:
                    self._ask("".join(self._text))
                else:
                    self._feed.end()
                self._text, self._feed = [], None
            case InputCancel(epoch=epoch):
                await self._cancel(epoch)
            case CreditGrant(epoch=epoch, frames=frames):
                for asked in self._asked:
                    if asked.epoch == epoch:
                        asked.credit.grant(frames)
            case SessionClose():
                pass

    def _add(self, text: str) -> None:
        """More of the text; of one that is fed, the first asks for the answer."""
        most = self._server.config.max_input_chars
        self._text.append(text)
        if (length := sum(map(len, self._text))) > most:
            self._text.clear()
            if self._feed is not None:
                self._feed.close()
            raise WireError(f"the text has {length} characters; {most} are the most")
        wishes = None if self._config is None else self._config.codec_stream
        if wishes is not None and wishes.fed and self._feed is None:
            feed = TextFeed()
            self._ask(feed)
            self._feed = feed
        if self._feed is not None:
            self._feed.push(text)

    def _ask(self, text: str | TextFeed) -> None:
        if self._config is None:
            raise WireError("session.config comes before the first text")
        if len(self._asked) > MOST_WAITING:
            raise WireError(f"{len(self._asked)} answers wait already")
        self._asked.append(_Asked(self._config, text, self._answers))
        self._answers += 1
        self._more.set()

    async def _cancel(self, epoch: int | None) -> None:
        index = None
        for asked in self._asked:
            if epoch is None or asked.epoch in (epoch, None):
                asked.cancel()
                index = asked.index
        await self._tell(InputCancelled(epoch=epoch, utterance_index=index).written())

    async def _speak_all(self) -> None:
        while True:
            while not self._asked:
                self._more.clear()
                await self._more.wait()
            await self._speak(self._asked[0])
            self._asked.popleft()

    async def _speak(self, asked: _Asked) -> None:
        """One answer, from its start to its end; a failure is told."""
        codec = self._source.codec_format
        sender = FrameSender(codec, asked.config, asked.index)
        began = False
        try:
            _check_decoder(asked.config, codec)
            end: SpeechEnd | None = None
            async with aclosing(self._items(asked)) as items:
                async for item in items:
                    match item:
                        case _Voice(prefix=prefix, feeds=feeds):
                            source = self._source
                            about = source.voices, source.languages
                            start = sender.begin(source.model, prefix, *about, feeds=feeds)
                            await self._tell(*start)
                            began = True
                        case SpeechFrame(codes=codes, text_late=text_late):
                            granted = asked.credit.frames
                            await self._tell(*sender.push(codes, granted, text_late=text_late))
                        case SpeechEnd():
                            end = item
            await self._tell(*sender.end(None if asked.cancelled else end))
        except StageError as error:
            log.warning("codes: %s", type(error).__name__)
            await self._failed(sender, began, type(error).__name__, str(error))
        except SocketGone:
            raise
        except Exception:
            log.exception("codes failed")
            words = "The server failed at this; its log says why."
            await self._failed(sender, began, "internal_error", words)
        finally:
            seconds = sender.frames / codec.frame_rate_hz
            self._server.metrics.count("s2s_speech_seconds_total", by=seconds)

    async def _failed(self, sender: FrameSender, began: bool, code: str, message: str) -> None:
        self._server.metrics.count("s2s_errors_total", where="codec", code=code)
        if began:
            await self._tell(*sender.end(None, error=message))
        else:
            await self._tell(ErrorMessage(message=message, code=code, epoch=sender.epoch).written())

    async def _items(self, asked: _Asked) -> AsyncGenerator[_Made]:
        """What a thread makes of it. When it is closed, the thread ends within a frame."""
        loop = asyncio.get_running_loop()
        stream = ThreadStream(loop, lambda stop: self._made(asked, stop))
        running = loop.run_in_executor(self._threads, stream.run)
        try:
            async with aclosing(stream.items()) as items:
                async for item in items:
                    if asked.cancelled:
                        break
                    yield item
        finally:
            stream.give_up()
            asked.end()
            await running  # the next answer computes when this one does no more

    def _made(self, asked: _Asked, stop: Stop) -> Iterator[_Made]:
        """In the thread: nothing is made that the client has not granted."""
        source, wish = self._source, asked.wish

        def gone() -> bool:
            return stop() or asked.cancelled

        feeds = source.takes_words(wish.voice)
        yield _Voice(source.reference_codes(wish.voice), feeds)
        frames = 0
        shift = Shift(
            self._server.services.compute,
            lambda: Work.FIRST_SOUND if frames < FIRST_FRAMES else Work.SOUND_AHEAD,
            source.threads,
        )
        if isinstance(asked.text, TextFeed):
            asked.text.waits = shift.paused
            if not feeds:
                whole = all_of(asked.text, gone)
                if whole is None:
                    return
                wish = replace(wish, text=whole)
        with closing(source.codec_frames(wish, gone)) as made:
            for item in each(made, shift):
                yield item
                if isinstance(item, SpeechFrame):
                    frames += 1
                    if not asked.credit.wait(frames):
                        return

    async def _tell(self, *messages: Sent) -> None:
        """Send them. Raises SocketGone."""
        for message in messages:
            if isinstance(message, bytes):
                await self._socket.send_bytes(message)
            else:
                await self._socket.send_text(message)


def _check_decoder(config: SpeechConfig, codec: CodecFormat) -> None:
    """Raise StageError where the client decodes something else."""
    wishes = config.codec_stream
    if wishes is not None and wishes.decoder not in ("", codec.decoder):
        raise StageError(
            f"the device's decoder is {wishes.decoder!r}, and this model's codes are for "
            f"{codec.decoder!r}: give the device tts.model as the server has it"
        )
