"""A voice, and another that speaks while the first cannot: one on a server that does not answer."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

from s2s.core.clock import Clock, SystemClock
from s2s.tts.base import (
    AudioChunk,
    Capabilities,
    InstructedSynthesizer,
    LanguageLoader,
    Measured,
    PacedSynthesizer,
    Synthesizer,
    TtsError,
)
from s2s.tts.tempo import at_rate

log = logging.getLogger(__name__)

AGAIN_S = 20.0
"""How long the spare voice speaks before the first is tried again: a server that is not there may
take seconds to be found so, and each text would wait for it."""


class SpareVoice:
    """Speaks with the first voice, and with the spare one what the first could not begin.

    What was begun is not gone on with in another voice: it fails. It is given whole texts: what
    one has begun to speak while it was written could not be spoken again by the other.

    Args:
        main: the first.
        spare: the other one; its own voice speaks.
    """

    def __init__(self, main: Synthesizer, spare: Synthesizer, clock: Clock | None = None) -> None:
        self._main = main
        self._spare = spare
        self._clock: Clock = clock or SystemClock()
        self._again_s: float | None = None
        """When the first is tried again, after it failed."""

    @property
    def capabilities(self) -> Capabilities:
        """The first one's."""
        return self._main.capabilities

    @property
    def main(self) -> Synthesizer:
        """The first."""
        return self._main

    @property
    def description(self) -> str:
        """Which model it is, and what speaks where it cannot."""
        main = self._main.description if isinstance(self._main, Measured) else "a voice"
        return f"{main}, with a spare voice"

    @property
    def real_time_factor(self) -> float:
        """The first one's; 0 where it tells none."""
        return self._main.real_time_factor if isinstance(self._main, Measured) else 0.0

    @property
    def measured_how(self) -> str:
        """See `Measured`."""
        return self._main.measured_how if isinstance(self._main, Measured) else ""

    @property
    def takes_instructions(self) -> bool:
        """Where the first does."""
        main = self._main
        return isinstance(main, InstructedSynthesizer) and main.takes_instructions

    def pace(self, language: str | None = None) -> float:
        """The first one's; what it was at the start where it does not know it."""
        main = self._main
        return main.pace(language) if isinstance(main, PacedSynthesizer) else self.real_time_factor

    def synthesize(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        """Yield the sound of `text`; see `s2s.tts.base.Synthesizer`."""
        yield from self.synthesize_instructed(text, "", voice=voice, language=language, stop=stop)

    def synthesize_instructed(
        self,
        text: str,
        instructions: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        """See `s2s.tts.base.InstructedSynthesizer`; the spare voice heeds none."""
        again_s = self._again_s
        if again_s is None or self._clock.now() >= again_s:
            heard = False
            try:
                for chunk in self._first(text, instructions, voice, language, stop):
                    heard = heard or len(chunk.samples) > 0
                    yield chunk
                self._again_s = None
                return
            except TtsError as error:
                self._again_s = self._clock.now() + AGAIN_S
                if heard or stop():
                    raise
                log.warning("the spare voice speaks: %s", error)
        yield from self._instead(text, language, stop)

    def warm(self) -> None:
        """Speak once with each, unheard; that the first cannot is told, and no error."""
        self._spare.warm()
        try:
            self._main.warm()
        except TtsError as error:
            self._again_s = self._clock.now() + AGAIN_S
            log.warning("the spare voice speaks: %s", error)

    def close(self) -> None:
        """Free both. Idempotent."""
        self._main.close()
        self._spare.close()

    def _first(
        self,
        text: str,
        instructions: str,
        voice: str | None,
        language: str | None,
        stop: Callable[[], bool],
    ) -> Iterator[AudioChunk]:
        main = self._main
        if instructions and isinstance(main, InstructedSynthesizer):
            return main.synthesize_instructed(
                text, instructions, voice=voice, language=language, stop=stop
            )
        return main.synthesize(text, voice=voice, language=language, stop=stop)

    def _instead(
        self, text: str, language: str | None, stop: Callable[[], bool]
    ) -> Iterator[AudioChunk]:
        able, rate_hz = self._spare.capabilities, self._main.capabilities.sample_rate_hz
        spoken = language if language in able.languages else None
        chunks = self._spare.synthesize(text, language=spoken, stop=stop)
        yield from at_rate(chunks, able.sample_rate_hz, rate_hz)


class SpareVoiceBehindLoader(SpareVoice):
    """Likewise, where the first can load more languages."""

    def __init__(
        self, main: Synthesizer, loader: LanguageLoader, spare: Synthesizer, clock: Clock | None
    ) -> None:
        super().__init__(main, spare, clock)
        self.offers, self.prepare = loader.offers, loader.prepare


def with_spare(main: Synthesizer, spare: Synthesizer, clock: Clock | None = None) -> SpareVoice:
    """The first voice with a spare one, and with all that the first can; see `SpareVoice`."""
    if isinstance(main, LanguageLoader):
        return SpareVoiceBehindLoader(main, main, spare, clock)
    return SpareVoice(main, spare, clock)
