"""Voices whose calls are noted; see `s2s.records.watched`."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator

import numpy as np

from s2s.records import keys
from s2s.records.call_notes import CallNotes
from s2s.tts.base import (
    AudioChunk,
    Capabilities,
    FedSynthesizer,
    LanguageLoader,
    PacedSynthesizer,
    Synthesizer,
    WrittenText,
)


def noted_voice(inner: Synthesizer, real_time_factor: float, notes: CallNotes) -> NotedVoice:
    """The same voice, with all that it can, noted.

    Args:
        inner: it.
        real_time_factor: as it was measured at the start: seconds of work for one of sound.
        notes: takes the notes.
    """
    if isinstance(inner, LanguageLoader):
        return NotedLoader(inner, inner, real_time_factor, notes)
    return NotedVoice(inner, real_time_factor, notes)


class NotedVoice:
    """`Synthesizer`, noted: of each chunk the time since the chunk before it, how much sound it is
    and how loud, not the sound itself."""

    def __init__(self, inner: Synthesizer, real_time_factor: float, notes: CallNotes) -> None:
        self._inner, self._notes = inner, notes
        self._real_time_factor = real_time_factor
        self.warm, self.close = inner.warm, inner.close

    @property
    def capabilities(self) -> Capabilities:
        return self._inner.capabilities

    def pace(self, language: str | None = None) -> float:
        """See `PacedSynthesizer`; as it was measured at the start, of one that is none."""
        inner = self._inner
        return (
            inner.pace(language) if isinstance(inner, PacedSynthesizer) else self._real_time_factor
        )

    def takes_words(self, voice: str | None = None, language: str | None = None) -> bool:
        inner = self._inner
        return isinstance(inner, FedSynthesizer) and inner.takes_words(voice, language)

    def synthesize(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        chunks = self._inner.synthesize(text, voice=voice, language=language, stop=stop)
        return self._noted(chunks, lambda: text, stop)

    def synthesize_written(
        self,
        text: WrittenText,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        inner, read = self._inner, _ReadAlong(text)
        if not isinstance(inner, FedSynthesizer):
            raise TypeError(f"{type(inner).__name__} does not take text while it is written")
        chunks = inner.synthesize_written(read, voice=voice, language=language, stop=stop)
        return self._noted(chunks, lambda: read.text, stop)

    def _noted(
        self, chunks: Iterator[AudioChunk], text: Callable[[], str], stop: Callable[[], bool]
    ) -> Iterator[AudioChunk]:
        made: list[tuple[float, int, int | None, float]] = []
        began_s, whole, failed = self._notes.now(), False, None
        asked_s = began_s
        try:
            while (chunk := next(chunks, None)) is not None:
                peak = float(np.abs(chunk.samples).max()) if len(chunk.samples) else 0.0
                after_s = self._notes.now() - asked_s
                made.append((after_s, len(chunk.samples), chunk.spoken_chars, round(peak, 3)))
                self._notes.chunk(len(chunk.samples) / self.capabilities.sample_rate_hz)
                yield chunk
                asked_s = self._notes.now()
            whole = not stop()
            made.append((self._notes.now() - asked_s, 0, None, 0.0))
        except Exception as error:
            failed = str(error)
            made.append((self._notes.now() - asked_s, 0, None, 0.0))
            raise
        finally:
            if isinstance(chunks, Generator):
                chunks.close()
            said = text()
            self._notes.note(
                "speak",
                keys.of_text(said),
                began_s,
                text=said,
                chunks=made,
                whole=whole,
                error=failed,
            )


class NotedLoader(NotedVoice):
    """Likewise, of one that can load more languages."""

    def __init__(
        self,
        inner: Synthesizer,
        loader: LanguageLoader,
        real_time_factor: float,
        notes: CallNotes,
    ) -> None:
        super().__init__(inner, real_time_factor, notes)
        self.offers, self.prepare = loader.offers, loader.prepare


class _ReadAlong:
    """`WrittenText` that remembers what was read of it."""

    def __init__(self, inner: WrittenText) -> None:
        self._inner = inner
        self.text = ""
        self.close = inner.close

    @property
    def quiet(self) -> bool:
        return self._inner.quiet

    def read(self, stale: Callable[[], bool]) -> str | None:
        part = self._inner.read(stale)
        self.text += part or ""
        return part
