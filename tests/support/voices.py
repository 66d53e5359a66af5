"""A voice without a model, which remembers what it was asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from s2s.tts.base import AudioChunk, Capabilities, WrittenText


class ScriptedVoice:
    """Speaks a second of ones, and remembers what it was asked."""

    def __init__(
        self, *languages: str, rate_hz: int = 24_000, voices: tuple[str, ...] = ()
    ) -> None:
        self.capabilities = Capabilities(rate_hz, True, languages, voices)
        self.asked: list[tuple[str, str | None, str | None]] = []
        self.warmed = self.closed = 0

    def synthesize(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        self.asked.append((text, voice, language))
        half = np.ones(self.capabilities.sample_rate_hz // 2, dtype=np.float32)
        for part in (1, 2):
            if stop():
                return
            yield AudioChunk(half, len(text) * part // 2)

    def warm(self) -> None:
        self.warmed += 1

    def close(self) -> None:
        self.closed += 1


class SaysInstructions:
    """For a voice that remembers what it was asked: it says how it was told to speak, too."""

    takes_instructions = True
    synthesize: Callable[..., Iterator[AudioChunk]]

    def synthesize_instructed(
        self,
        text: str,
        instructions: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        return self.synthesize(f"{instructions}: {text}", voice=voice, language=language, stop=stop)


class AbleVoice(ScriptedVoice):
    """Takes text while it is written and instructions, knows its pace, and loads more languages."""

    def __init__(
        self,
        *languages: str,
        rate_hz: int = 24_000,
        voices: tuple[str, ...] = (),
        loads: tuple[str, ...] = (),
    ) -> None:
        super().__init__(*languages, rate_hz=rate_hz, voices=voices)
        self.now = 0.5
        self.loads = loads
        self.loaded: set[str] = set()
        self.wanted: list[str] = []
        self.instructions: list[str] = []

    @property
    def takes_instructions(self) -> bool:
        return True

    def synthesize_instructed(
        self,
        text: str,
        instructions: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        self.instructions.append(instructions)
        yield from self.synthesize(text, voice=voice, language=language, stop=stop)

    def takes_words(self, voice: str | None = None, language: str | None = None) -> bool:
        return voice != "whole"

    def synthesize_written(
        self,
        text: WrittenText,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        try:
            while part := text.read(stop):
                yield from self.synthesize(part, voice=voice, language=language, stop=stop)
        finally:
            text.close()

    def pace(self, language: str | None = None) -> float:
        return self.now

    def offers(self, language: str) -> bool:
        return language in self.capabilities.languages or language in self.loads

    def prepare(self, language: str) -> bool:
        if language not in self.wanted:
            self.wanted.append(language)
        return language in self.loaded
