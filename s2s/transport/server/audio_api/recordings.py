"""What is said in a recording that is there as a whole, piece by piece: for files and uploads.

Knows no format of files and none of answers. The recogniser is shown only what the voice detector
takes for speech.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from s2s.core.audio import PIPELINE_HZ, Block
from s2s.core.work import Compute, Unlimited, Work
from s2s.stt.base import TimedWord, Transcriber, Transcription, WordTimingTranscriber
from s2s.stt.subtitles import SaidSegment
from s2s.stt.windows import quiet_windows
from s2s.turns.base import VadModel
from s2s.turns.speech_regions import speech_regions

GAP_S = 0.8
"""A pause as long as this parts two segments where their times are asked for."""
SEGMENT_S = 12.0
"""Longer ones are cut at quiet points then."""


@dataclass(frozen=True, slots=True)
class Recogniser:
    """What writes recordings down."""

    transcriber: Transcriber
    vad: VadModel
    compute: Compute = field(default_factory=Unlimited)
    """Decides when: what is said in a conversation goes first."""

    @property
    def tells_words(self) -> bool:
        """It can tell when each word was said."""
        return isinstance(self.transcriber, WordTimingTranscriber)


@dataclass(frozen=True, slots=True)
class Writing:
    """How a recording is to be written down."""

    language: str | None = None
    """ISO 639-1 code; None: as heard."""
    in_segments: bool = False
    """Short pieces have the better times, long ones the better words."""
    words: bool = False
    """With the time of each word, where the recogniser tells it."""


def said_in(
    sound: Block,
    recogniser: Recogniser,
    writing: Writing,
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[SaidSegment]:
    """What is said in `sound` float32 [samples at 16 kHz], each piece as soon as it is known.

    Args:
        stop: asked between decoding steps; when true it ends.

    Raises:
        SttError: the recogniser failed.
    """
    for piece in pieces(sound, recogniser.vad, short=writing.in_segments):
        recogniser.compute.wait(Work.TEXT_AHEAD, stop)
        if stop():
            return
        with recogniser.compute.working(Work.TEXT_AHEAD):
            heard = _heard(sound[piece], recogniser.transcriber, writing, stop)
        if heard.text:
            begin_s = piece.start / PIPELINE_HZ
            yield SaidSegment(
                heard.text,
                begin_s,
                piece.stop / PIPELINE_HZ,
                heard.language,
                heard.confidence,
                tuple(_later(word, begin_s) for word in heard.words),
            )


def pieces(sound: Block, vad: VadModel, *, short: bool) -> Iterator[slice]:
    """Where something is said."""
    if not short:
        yield from speech_regions(sound, vad.open())
        return
    for region in speech_regions(sound, vad.open(), gap_s=GAP_S):
        for window in quiet_windows(sound[region], int(SEGMENT_S * PIPELINE_HZ)):
            yield slice(region.start + window.start, region.start + window.stop)


def _heard(
    sound: Block, transcriber: Transcriber, writing: Writing, stop: Callable[[], bool]
) -> Transcription:
    if writing.words and isinstance(transcriber, WordTimingTranscriber):
        return transcriber.transcribe_words(sound, language=writing.language, stop=stop)
    return transcriber.transcribe(sound, language=writing.language, stop=stop)


def _later(word: TimedWord, by_s: float) -> TimedWord:
    return TimedWord(word.text, word.start_s + by_s, word.end_s + by_s)
