"""One client's connection: its events, one after another, until it has gone or something fails.

A failure costs the connection that it happened on and is told there as an `error` event.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from contextlib import aclosing

from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.error import Error
from wyoming.event import Event, Eventable, async_write_event
from wyoming.handle import Handled, HandledChunk, HandledStart, HandledStop, NotHandled
from wyoming.ping import Pong
from wyoming.tts import SynthesizeStopped

from s2s.core.errors import StageError
from s2s.transport.wyoming import fields
from s2s.transport.wyoming.config import WyomingConfig
from s2s.transport.wyoming.conversations import AnswerFailed, Conversations
from s2s.transport.wyoming.description import described
from s2s.transport.wyoming.framing import HEADER_BYTES, WireFault, read_event
from s2s.transport.wyoming.listening import SoundListener
from s2s.transport.wyoming.pcm import pcm_chunks
from s2s.transport.wyoming.services import JobThreads, WyomingServices
from s2s.transport.wyoming.speaking import SentenceFeed, SpokenTexts, plain

log = logging.getLogger(__name__)

WIDTH = 2
"""Bytes of a sample of what is sent."""
LINGER_S = 2.0
"""What a client still sends is read for so long, and thrown away: with unread bytes the connection
would break off, and the client not see why."""

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def farewell(streams: Streams, code: str, message: str) -> None:
    """Tell a client why its connection ends. It is to be closed then."""
    reader, writer = streams
    with contextlib.suppress(ConnectionError, TimeoutError):
        async with asyncio.timeout(LINGER_S):
            await async_write_event(Error(message, code=code).event(), writer)
            writer.write_eof()
            while await reader.read(HEADER_BYTES):
                continue


class WyomingConnection:
    """One of them.

    Args:
        threads, conversations: those of the server.
    """

    def __init__(
        self,
        streams: Streams,
        services: WyomingServices,
        config: WyomingConfig,
        threads: JobThreads,
        conversations: Conversations,
    ) -> None:
        self._reader, self._writer = streams
        self._services = services
        self._config = config
        self._threads = threads
        self._conversations = conversations
        self._sending = asyncio.Lock()
        self._sound = SoundListener(services, config, threads, self.send)
        self._feed: SentenceFeed | None = None
        """A text that the client is still writing."""
        self._speech: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Its whole life. Raises nothing that a client can cause."""
        try:
            while (event := await self._next()) is not None:
                await self._take(event)
        except (ConnectionError, TimeoutError):
            pass  # it has gone, or takes nothing any more
        except WireFault as fault:
            await self._fail(fault.code, str(fault))
        except StageError as error:
            log.warning("wyoming: %s: %s", type(error).__name__, error)
            await self._fail("model_failed", str(error))
        except Exception:
            log.exception("a Wyoming connection failed")
            await self._fail("internal_error", "The server failed at this; its log says why.")
        finally:
            await self._end()

    async def send(self, event: Eventable) -> None:
        """Tell the client.

        Raises:
            ConnectionError, TimeoutError: it has gone, or reads nothing.
        """
        async with self._sending, asyncio.timeout(self._config.slow_reader_s):
            await async_write_event(event.event(), self._writer)

    async def _next(self) -> Event | None:
        """The client's next event; what fails meanwhile is raised."""
        reading = asyncio.ensure_future(read_event(self._reader, self._config.max_payload_bytes))
        try:
            async with asyncio.timeout(self._config.idle_s):
                if self._speech is not None:
                    both = {reading, self._speech}
                    await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
                    if self._speech.done():
                        self._speech.result()
                return await reading
        finally:
            reading.cancel()

    async def _take(self, event: Event) -> None:
        """Do what the client asks. Kinds of events that mean nothing here are passed over, as the
        protocol wants it."""
        match event.type:
            case "describe":
                await self.send(described(self._services))
            case "ping":
                said: object = event.data.get("text")
                await self.send(Pong(said if isinstance(said, str) else None))
            case "transcribe" | "detect":
                self._sound.ask(event)
            case "audio-start":
                await self._sound.start(event)
            case "audio-chunk":
                await self._sound.chunk(event)
            case "audio-stop":
                await self._sound.stop()
            case "transcript":
                await self._answer(event)
            case "synthesize" if self._feed is None:  # else it repeats what is being spoken
                await self._synthesize(event)
            case "synthesize-start":
                await self._begin_speech(event)
            case "synthesize-chunk" if self._feed is not None:
                self._write_on(event)
            case "synthesize-stop" if self._feed is not None:
                await self._end_speech()
            case _:
                log.debug("wyoming: %s means nothing here", event.type[:60])

    # --- answers -------------------------------------------------------------------------------

    async def _answer(self, event: Event) -> None:
        text = fields.text(event, "text", self._config.max_text_chars)
        context = fields.context(event)
        name = context.get("conversation_id")
        conversation_id = name if isinstance(name, str) and name else None
        words: list[str] = []
        try:
            answer = self._conversations.answer(text, conversation_id, fields.language(event))
            async with aclosing(answer) as pieces:
                async for piece in pieces:
                    if not words:
                        await self.send(HandledStart(context=context))
                    words.append(piece)
                    await self.send(HandledChunk(piece))
        except AnswerFailed as error:
            log.warning("wyoming: no answer: %s", error)
            await self.send(NotHandled(str(error), context=context))
            return
        await self.send(Handled("".join(words).strip(), context=context))
        if words:
            await self.send(HandledStop())

    # --- speech --------------------------------------------------------------------------------

    async def _synthesize(self, event: Event) -> None:
        text = fields.text(event, "text", self._config.max_text_chars)
        spoken = SpokenTexts(self._services, fields.voice(event))
        await self._speak(spoken, [plain(text, event.data.get("text_format"))])

    async def _speak(self, spoken: SpokenTexts, texts: SentenceFeed | list[str]) -> None:
        rate_hz = spoken.rate_hz
        await self.send(AudioStart(rate_hz, WIDTH, 1, timestamp=0))
        sent = 0
        async with aclosing(self._threads.stream(lambda stop: spoken.sound(texts, stop))) as made:
            async for block in made:
                for data in pcm_chunks(block):
                    await self.send(
                        AudioChunk(rate_hz, WIDTH, 1, data, timestamp=1000 * sent // rate_hz)
                    )
                    sent += len(data) // WIDTH
        await self.send(AudioStop(timestamp=1000 * sent // rate_hz))

    async def _begin_speech(self, event: Event) -> None:
        await self._stop_speech()
        spoken = SpokenTexts(self._services, fields.voice(event))
        self._feed = SentenceFeed()
        self._speech = asyncio.create_task(self._speak(spoken, self._feed))

    def _write_on(self, event: Event) -> None:
        assert self._feed is not None
        most = self._config.max_text_chars
        text = fields.text(event, "text", most)
        if self._feed.characters + len(text) > most:
            raise WireFault("too_large", f"{most} characters are the most in one go.")
        self._feed.push(text)

    async def _end_speech(self) -> None:
        feed, speech = self._feed, self._speech
        assert feed is not None
        assert speech is not None
        feed.end()
        await speech
        self._feed = self._speech = None
        await self.send(SynthesizeStopped())

    async def _stop_speech(self) -> None:
        feed, speech = self._feed, self._speech
        self._feed = self._speech = None
        if feed is not None:
            feed.end()
        if speech is not None:
            speech.cancel()
            with contextlib.suppress(Exception, asyncio.CancelledError):
                await speech

    # --- the end -------------------------------------------------------------------------------

    async def _fail(self, code: str, message: str) -> None:
        await self._stop_speech()
        async with self._sending:
            await farewell((self._reader, self._writer), code, message)

    async def _end(self) -> None:
        await self._sound.close()
        await self._stop_speech()
        self._writer.close()
        with contextlib.suppress(ConnectionError, TimeoutError):
            async with asyncio.timeout(self._config.slow_reader_s):
                await self._writer.wait_closed()
