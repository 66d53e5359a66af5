"""Texts that are spoken: whole ones, and those that are still being written."""

from __future__ import annotations

import html
import queue
import re
from collections.abc import Iterable, Iterator, Mapping

from s2s.core.audio import Block
from s2s.core.work import Shift, Work, each
from s2s.llm.sentences import SentenceStream
from s2s.transport.threaded import Stop
from s2s.transport.wyoming.fields import language_code
from s2s.transport.wyoming.framing import WireFault
from s2s.transport.wyoming.services import WyomingServices
from s2s.tts.speak import language_for, speak

DEFAULT_VOICE = "default"
"""The name under which a voice without one is described."""

_MARK = re.compile(r"<[^>]*>")


class SpokenTexts:
    """How one client's texts are spoken.

    Args:
        voice: as the client describes it: a name, or a language.

    Raises:
        WireFault: there is no such voice.
    """

    def __init__(self, services: WyomingServices, voice: Mapping[str, object]) -> None:
        self._services = services
        self._synthesizer = services.synthesizer
        capabilities = self._synthesizer.capabilities
        self.rate_hz = capabilities.sample_rate_hz
        self._voice = _voice_of(voice, capabilities.voices)
        self._language = language_code(voice.get("language")) or services.language

    def sound(self, texts: Iterable[str], stop: Stop) -> Iterator[Block]:
        """The sound of one text after another, float32 [samples] as they are made; in a thread.

        Raises:
            TtsError: the voice failed.
        """
        work = Work.FIRST_SOUND
        capabilities = self._synthesizer.capabilities
        shift = Shift(self._services.compute, lambda: work, capabilities.threads)
        for text in texts:
            if stop():
                return
            language = language_for(text, capabilities.languages, self._language)
            chunks = speak(text, self._synthesizer, language, voice=self._voice, stop=stop).chunks
            for chunk in each(chunks, shift):
                if len(chunk.samples):
                    yield chunk.samples
                    work = Work.SOUND_AHEAD


class SentenceFeed:
    """A text that comes in pieces and is spoken sentence by sentence: pieces from one thread,
    sentences in another."""

    def __init__(self) -> None:
        self._cutter = SentenceStream()
        self._sentences: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self.characters = 0

    def push(self, text: str) -> None:
        """More of it."""
        self.characters += len(text)
        for piece in self._cutter.push(text):
            self._sentences.put(piece.text)

    def end(self) -> None:
        """That was all, or it was cancelled. Idempotent."""
        for piece in self._cutter.flush():
            self._sentences.put(piece.text)
        self._sentences.put(None)

    def __iter__(self) -> Iterator[str]:
        """What can be spoken, waiting for it."""
        while (sentence := self._sentences.get()) is not None:
            yield sentence


def plain(text: str, text_format: object) -> str:
    """The words of a text, which may be SSML: its marks have no effect."""
    if text_format != "ssml":
        return text
    return html.unescape(_MARK.sub(" ", text))


def _voice_of(asked: Mapping[str, object], voices: tuple[str, ...]) -> str | None:
    name = asked.get("name")
    if name in (None, "", DEFAULT_VOICE):
        return None
    if isinstance(name, str) and name in voices:
        return name
    known = ", ".join(voices[:20]) or DEFAULT_VOICE
    raise WireFault("no_such_voice", f"No voice {str(name)[:60]!r}; there is {known}.")
