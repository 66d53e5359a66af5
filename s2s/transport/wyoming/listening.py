"""What becomes of the sound of one connection: words, voice activity, wake words."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence

from wyoming.asr import Transcript, TranscriptChunk, TranscriptStart, TranscriptStop
from wyoming.event import Event, Eventable
from wyoming.vad import VoiceStarted, VoiceStopped
from wyoming.wake import Detection, NotDetected

from s2s.core.errors import StageError
from s2s.transport.wyoming import fields
from s2s.transport.wyoming.config import WyomingConfig
from s2s.transport.wyoming.framing import WireFault
from s2s.transport.wyoming.hearing import SoundToWords, VoiceChange
from s2s.transport.wyoming.pcm import PcmStream
from s2s.transport.wyoming.services import JobThreads, WyomingServices
from s2s.transport.wyoming.waking import WakeListening

Send = Callable[[Eventable], Awaitable[None]]


class SoundListener:
    """The sound of one connection, from `audio-start` to `audio-stop`, again and again.

    What is asked before (`transcribe`, `detect`) holds for the next sound; without it the sound is
    written down and its voice activity is told.
    """

    def __init__(
        self, services: WyomingServices, config: WyomingConfig, threads: JobThreads, send: Send
    ) -> None:
        self._services = services
        self._config = config
        self._threads = threads
        self._send = send
        self._pcm = PcmStream()
        self._asked: Event | None = None
        self._words: SoundToWords | None = None
        self._wake: WakeListening | None = None
        self._woken = False
        self._offset_ms = 0
        """The client's time at the start of the sound."""
        self._ahead: asyncio.Task[None] | None = None
        self._told = ""
        """Of the words of this sound, ahead of its end."""
        self._started = False

    def ask(self, event: Event) -> None:
        """`transcribe` or `detect`."""
        self._asked = event

    async def start(self, event: Event) -> None:
        """Sound begins.

        Raises:
            WireFault: a wake word that is not there.
        """
        await self.close()
        asked, self._asked = self._asked, None
        self._pcm = PcmStream()
        self._words = self._wake = None
        self._woken = self._started = False
        self._told = ""
        at: object = event.data.get("timestamp")
        self._offset_ms = at if isinstance(at, int) else 0
        if asked is not None and asked.type == "detect":
            self._wake = WakeListening(self._services, fields.names(asked, "names"))
            return
        language = None if asked is None else fields.language(asked)
        most_s = self._config.max_audio_s
        self._words = SoundToWords(self._services, language, whole=asked is not None, most_s=most_s)

    async def chunk(self, event: Event) -> None:
        """More of it; a chunk without a start begins one.

        Raises:
            WireFault: it cannot be heard, or is too long.
        """
        if self._words is None and self._wake is None:
            await self.start(event)
        sound = self._pcm.push(event)
        if self._wake is not None:
            wake = self._wake
            for woken in await self._threads.call(lambda _: wake.hear(sound)):
                self._woken = True
                await self._send(Detection(woken.name, self._offset_ms + woken.at_ms))
            return
        words = self._words
        assert words is not None
        await self._tell(await self._threads.call(lambda _: words.hear(sound)))
        if words.full:
            most_s = self._config.max_audio_s
            raise WireFault("too_large", f"{most_s:g} s of sound are the most in one go.")
        if self._config.partials and words.wants_to_read() and self._ahead is None:
            self._ahead = asyncio.create_task(self._read_ahead(words))

    async def stop(self) -> None:
        """It has ended.

        Raises:
            SttError: the recogniser failed.
        """
        await self.close()
        words, wake = self._words, self._wake
        self._words = self._wake = None
        if wake is not None and not self._woken:
            await self._send(NotDetected())
        if words is None:
            return
        rest = self._pcm.flush()
        await self._tell(await self._threads.call(lambda _: [*words.hear(rest), *words.stop()]))
        heard = await self._threads.call(words.words)
        await self._tell_words(_more(self._told, heard.text), heard.language)
        await self._send(Transcript(heard.text, language=heard.language))
        if self._started:
            await self._send(TranscriptStop())

    async def close(self) -> None:
        """Read no further ahead. Idempotent."""
        ahead, self._ahead = self._ahead, None
        if ahead is not None:
            ahead.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await ahead

    async def _read_ahead(self, words: SoundToWords) -> None:
        with contextlib.suppress(StageError, ConnectionError):  # the end of the sound tells it
            stable = await self._threads.call(words.ahead())
            await self._tell_words(_more(self._told, stable), None)
        self._ahead = None

    async def _tell_words(self, more: str, language: str | None) -> None:
        """The next words of this sound, as far as they are certain."""
        if not more:
            return
        self._told += more
        if not self._started:
            self._started = True
            await self._send(TranscriptStart(language=language))
        await self._send(TranscriptChunk(more))

    async def _tell(self, changes: Sequence[VoiceChange]) -> None:
        for change in changes:
            at_ms = self._offset_ms + change.at_ms
            kind = VoiceStarted if change.speaks else VoiceStopped
            await self._send(kind(timestamp=at_ms))


def _more(told: str, words: str) -> str:
    """What `words` has behind what was told; nothing where it turned out otherwise."""
    return words[len(told) :] if words.startswith(told) else ""
