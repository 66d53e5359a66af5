"""What a turn says so far, from recordings of it that grow: one interface to every recogniser.

A recogniser of whole utterances hears each recording anew, a streaming one what is new in it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from s2s.core.audio import Block, empty
from s2s.stt.base import (
    GrowingTranscriber,
    StreamingTranscriber,
    Transcriber,
    Transcription,
    TranscriptionStream,
)

SoFar = Callable[[Transcription], None]
"""Takes what is known of an answer while the rest of it is being written."""


def _nobody(heard: Transcription) -> None:
    """Takes nothing."""


class TurnHearing(Protocol):
    """Hears one turn. Not thread-safe."""

    def hear(
        self,
        audio: Block,
        *,
        final: bool,
        language: str | None,
        stop: Callable[[], bool],
        so_far: SoFar = _nobody,
    ) -> Transcription:
        """What is said in `audio`.

        Args:
            audio: float32 [samples] at 16 kHz: the turn so far. Usually what was heard before and
                more; something else is heard afresh.
            final: to its last word; else the last words may still be missing.
            language: as for `Transcriber.transcribe`.
            stop: when it comes true, what is returned is not kept.
            so_far: is given its first words already while the others are written, by a recogniser
                that writes them so.

        Raises:
            SttError: the recogniser failed.
        """
        ...


def hearing_of(transcriber: Transcriber) -> TurnHearing:
    """A turn that `transcriber` is to hear."""
    if isinstance(transcriber, StreamingTranscriber):
        return StreamedHearing(transcriber)
    return WholeHearing(transcriber)


def partial_interval_ms(configured_ms: int, transcriber: Transcriber) -> int:
    """How often the words so far are asked for: as configured, but never (0) remains never; as
    often as there may be new ones where asking costs nothing."""
    if configured_ms > 0 and isinstance(transcriber, StreamingTranscriber):
        return min(configured_ms, transcriber.interval_ms)
    return configured_ms


class WholeHearing:
    """A turn as a recogniser of whole utterances hears it."""

    def __init__(self, transcriber: Transcriber) -> None:
        self._transcriber = transcriber
        self._earlier: Transcription | None = None
        self._heard = empty()
        self._language: str | None = None

    def hear(
        self,
        audio: Block,
        *,
        final: bool,
        language: str | None,
        stop: Callable[[], bool],
        so_far: SoFar = _nobody,
    ) -> Transcription:
        """See `TurnHearing`."""
        del final
        if language != self._language:
            self._earlier, self._language = None, language
        if self._earlier is not None and np.array_equal(audio, self._heard):
            return self._earlier
        earlier, transcriber = self._earlier, self._transcriber
        if isinstance(transcriber, GrowingTranscriber):
            result = transcriber.transcribe_growing(
                audio, so_far=so_far, language=language, earlier=earlier, stop=stop
            )
        else:
            result = transcriber.transcribe(audio, language=language, earlier=earlier, stop=stop)
        if not stop():
            self._earlier, self._heard = result, audio
        return result


class StreamedHearing:
    """A turn as a streaming recogniser hears it."""

    def __init__(self, transcriber: StreamingTranscriber) -> None:
        self._transcriber = transcriber
        self._stream: TranscriptionStream | None = None
        self._pushed = empty()
        self._language: str | None = None
        self._last = Transcription("")
        self._ended = False

    def hear(
        self,
        audio: Block,
        *,
        final: bool,
        language: str | None,
        stop: Callable[[], bool],
        so_far: SoFar = _nobody,
    ) -> Transcription:
        """See `TurnHearing`. A stream that ended cannot go on: then all is heard afresh."""
        pushed = len(self._pushed)
        goes_on = language == self._language and np.array_equal(audio[:pushed], self._pushed)
        if goes_on and self._ended and pushed == len(audio):
            return self._last
        if self._stream is None or self._ended or not goes_on:
            self._stream = self._transcriber.open(language=language)
            self._language, self._ended, pushed = language, False, 0
        result = self._stream.push(audio[pushed:], stop=stop)
        if final and not stop():
            self._ended = True
            result = self._stream.end(stop=stop)
        if stop():
            self._stream = None
        self._pushed, self._last = audio, result
        return result
