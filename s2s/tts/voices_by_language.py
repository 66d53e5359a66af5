"""One voice made of several: each language is spoken by the backend and voice set for it.

To the stage it is one synthesizer of all their languages, at one sample rate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from s2s.core.audio import Resampler
from s2s.tts.base import AudioChunk, Capabilities, Synthesizer


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
        chosen = self._others.get(language or "", self._main)
        able = chosen.synthesizer.capabilities
        if voice not in able.voices:
            voice = chosen.voice
        spoken = language if language in able.languages else None
        chunks = chosen.synthesizer.synthesize(text, voice=voice, language=spoken, stop=stop)
        if able.sample_rate_hz == self._capabilities.sample_rate_hz:
            yield from chunks
            return
        resampler = Resampler(able.sample_rate_hz, self._capabilities.sample_rate_hz)
        last = None
        for chunk in chunks:
            yield replace(chunk, samples=resampler.push(chunk.samples))
            last = chunk.spoken_chars
        rest = resampler.flush()
        if len(rest):
            yield AudioChunk(rest, last)

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
