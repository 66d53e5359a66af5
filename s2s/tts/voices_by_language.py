"""One voice made of several: each language is spoken by the backend and voice set for it.

To the stage it is one synthesizer of all their languages, at one sample rate. What one of them can
beyond that it can in its languages: take text while it is written, follow instructions, tell its
pace, load more languages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from s2s.tts.base import (
    AudioChunk,
    Capabilities,
    FedSynthesizer,
    InstructedSynthesizer,
    LanguageLoader,
    PacedSynthesizer,
    Synthesizer,
    WrittenText,
)
from s2s.tts.tempo import at_rate


@dataclass(frozen=True, slots=True)
class LanguageVoice:
    """Who speaks a language."""

    synthesizer: Synthesizer
    voice: str | None = None
    """One of its voices; None: its own."""


class VoicesByLanguage:
    """Speaks each language with its own voice.

    Args:
        main: speaks every language that is not in `others`.
        others: by ISO 639-1 code; a synthesizer may be `main`, or serve several.
    """

    def __init__(self, main: Synthesizer, others: Mapping[str, LanguageVoice]) -> None:
        self._main = LanguageVoice(main)
        self._others = dict(others)
        unique = {id(each.synthesizer): each.synthesizer for each in self._all()}
        self._synthesizers = tuple(unique.values())
        self._measured: dict[int, float] = {}
        self._capabilities = _joined(self._synthesizers, (*main.capabilities.languages, *others))

    @property
    def capabilities(self) -> Capabilities:
        return self._capabilities

    @property
    def synthesizers(self) -> tuple[Synthesizer, ...]:
        """Each once, the main one first."""
        return self._synthesizers

    def synthesize(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        """Yield the sound of `text`; see `s2s.tts.base.Synthesizer`. A `voice` that the language's
        backend does not have is another language's: then it is the language's own."""
        chosen = self._chosen(voice, language)
        chunks = chosen.synthesizer.synthesize(
            text, voice=chosen.voice, language=chosen.language, stop=stop
        )
        yield from self._at_one_rate(chunks, chosen.synthesizer)

    def takes_words(self, voice: str | None = None, language: str | None = None) -> bool:
        """See `s2s.tts.base.FedSynthesizer`. Of no certain language: any of them does."""
        if language is None:
            return any(_takes_words(each, None, None) for each in self._synthesizers)
        chosen = self._chosen(voice, language)
        return _takes_words(chosen.synthesizer, chosen.voice, chosen.language)

    def synthesize_written(
        self,
        text: WrittenText,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        """See `s2s.tts.base.FedSynthesizer`.

        Raises:
            TypeError: the voice of the language wants whole texts.
        """
        chosen = self._chosen(voice, language)
        speaker = chosen.synthesizer
        if not isinstance(speaker, FedSynthesizer):
            text.close()
            raise TypeError(f"{type(speaker).__name__} does not take text while it is written")
        chunks = speaker.synthesize_written(
            text, voice=chosen.voice, language=chosen.language, stop=stop
        )
        return self._at_one_rate(chunks, speaker)

    @property
    def takes_instructions(self) -> bool:
        """One of them heeds them; the others speak as ever."""
        return any(_takes_instructions(each) for each in self._synthesizers)

    def synthesize_instructed(
        self,
        text: str,
        instructions: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        """See `s2s.tts.base.InstructedSynthesizer`."""
        chosen = self._chosen(voice, language)
        speaker = chosen.synthesizer
        if not (isinstance(speaker, InstructedSynthesizer) and speaker.takes_instructions):
            yield from self.synthesize(text, voice=voice, language=language, stop=stop)
            return
        chunks = speaker.synthesize_instructed(
            text, instructions, voice=chosen.voice, language=chosen.language, stop=stop
        )
        yield from self._at_one_rate(chunks, speaker)

    def pace(self, language: str | None = None) -> float:
        """See `s2s.tts.base.PacedSynthesizer`; of one that does not know it what `measure` found,
        0 before that."""
        speaker = self._chosen(None, language).synthesizer
        if isinstance(speaker, PacedSynthesizer):
            return speaker.pace(language)
        return self._measured.get(id(speaker), 0.0)

    def measure(self, real_time_factor: Callable[[Synthesizer], float]) -> float:
        """Seconds of work for a second of speech of the slowest; each is remembered."""
        self._measured = {id(each): real_time_factor(each) for each in self._synthesizers}
        return max(self._measured.values())

    def offers(self, language: str) -> bool:
        """See `s2s.tts.base.LanguageLoader`."""
        return language in self._others or _speaks(self._main.synthesizer, language)

    def prepare(self, language: str) -> bool:
        """See `s2s.tts.base.LanguageLoader`."""
        speaker = self._others.get(language, self._main).synthesizer
        if isinstance(speaker, LanguageLoader) and speaker.offers(language):
            return speaker.prepare(language)
        return True  # it is loaded, with its languages or the one that it was set for

    def warm(self) -> None:
        """Speak once with each, unheard."""
        for each in self._synthesizers:
            each.warm()

    def close(self) -> None:
        """Free all. Idempotent."""
        for each in self._synthesizers:
            each.close()

    def _all(self) -> tuple[LanguageVoice, ...]:
        return (self._main, *self._others.values())

    def _chosen(self, voice: str | None, language: str | None) -> _Chosen:
        """Who speaks `language`; a voice that its backend does not have is another language's:
        then it is the language's own."""
        speaks = self._others.get(language or "", self._main)
        speaker, able = speaks.synthesizer, speaks.synthesizer.capabilities
        told = language if language is not None and _speaks(speaker, language) else None
        return _Chosen(speaker, voice if voice in able.voices else speaks.voice, told)

    def _at_one_rate(
        self, chunks: Iterator[AudioChunk], speaker: Synthesizer
    ) -> Iterator[AudioChunk]:
        rate_hz, wanted_hz = speaker.capabilities.sample_rate_hz, self._capabilities.sample_rate_hz
        return at_rate(chunks, rate_hz, wanted_hz)


@dataclass(frozen=True, slots=True)
class _Chosen:
    """Who speaks a text."""

    synthesizer: Synthesizer
    voice: str | None
    language: str | None
    """As it is told; None where it does not have the language."""


def _speaks(synthesizer: Synthesizer, language: str) -> bool:
    if isinstance(synthesizer, LanguageLoader):
        return synthesizer.offers(language)
    return language in synthesizer.capabilities.languages


def _takes_words(synthesizer: Synthesizer, voice: str | None, language: str | None) -> bool:
    return isinstance(synthesizer, FedSynthesizer) and synthesizer.takes_words(voice, language)


def _takes_instructions(synthesizer: Synthesizer) -> bool:
    return isinstance(synthesizer, InstructedSynthesizer) and synthesizer.takes_instructions


def _joined(synthesizers: tuple[Synthesizer, ...], languages: tuple[str, ...]) -> Capabilities:
    """What they can do together: what all can, at the highest rate, in any of the languages."""
    able = [each.capabilities for each in synthesizers]
    voices = [voice for each in able for voice in each.voices]
    return Capabilities(
        sample_rate_hz=max(each.sample_rate_hz for each in able),
        streaming=all(each.streaming for each in able),
        languages=tuple(dict.fromkeys(languages)),
        voices=tuple(dict.fromkeys(voices)),
        cloning=all(each.cloning for each in able),
        word_timing=all(each.word_timing for each in able),
        threads=max(each.threads for each in able),
        reads_first=any(each.reads_first for each in able),
        ahead_s=max(each.ahead_s for each in able),
    )
