"""The speech of a VITS voice as chunks that tell how far the text is: for Piper's and MMS' voices.

Sound of a voice that streams is handed on in chunks that end where words end; one that cannot is
cut at clauses, so that it neither starts late nor runs dry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from s2s.core.clock import SystemClock
from s2s.tts.base import AudioChunk
from s2s.tts.pieces import ends_sentence, pieces
from s2s.tts.running_cost import PieceLength, RunningCost

if TYPE_CHECKING:
    from s2s.tts.vits import Manner, TimedSound, VitsVoice

_MAX_CHARS = 240
"""Text of one piece for a voice that cannot stream: attention over all its phonemes takes memory
that grows with the square of their number."""


def vits_chunks(
    voice: VitsVoice, text: str, manner: Manner, stop: Callable[[], bool], cost: RunningCost
) -> Iterator[AudioChunk]:
    """The sound of `text`.

    Args:
        voice: who speaks.
        text: speakable text.
        manner: how.
        stop: asked before every piece of work.
        cost: of the voice's calls; used and taught where it cannot stream.

    Raises:
        VitsError: the voice cannot say this.
    """
    if voice.streams:
        return _word_by_word(voice, text, manner, stop)
    return _piece_by_piece(voice, text, manner, stop, cost)


def usual_cost() -> RunningCost:
    """What is assumed of a voice before its first call: of a medium one on one core."""
    return RunningCost(call_s=0.05, char_s=0.01)


def _word_by_word(
    voice: VitsVoice, text: str, manner: Manner, stop: Callable[[], bool]
) -> Iterator[AudioChunk]:
    """The speech of a voice that streams."""
    spoken = 0
    begin = 0
    for sound in voice.speak(text, manner, stop=stop):
        for chunk in _at_words(sound, begin, spoken):
            spoken = chunk.spoken_chars or spoken
            yield chunk
        begin += len(sound.samples)


def _piece_by_piece(
    voice: VitsVoice, text: str, manner: Manner, stop: Callable[[], bool], cost: RunningCost
) -> Iterator[AudioChunk]:
    """The speech of a voice that makes a sentence at a time: long ones are cut at clauses, so that
    it neither starts late nor runs dry."""
    pause_s = manner.sentence_silence_s
    if pause_s is None:
        pause_s = voice.config.sentence_silence_s
    pause = np.zeros(round(pause_s * voice.sample_rate_hz), np.float32)
    before = ""
    length = PieceLength(cost, SystemClock().now)
    for piece, end in pieces(text, _MAX_CHARS, wish=length.wish):
        if stop():
            return
        sounds = [sound.samples for sound in voice.speak(piece, manner, stop=stop)]
        if ends_sentence(before):
            sounds.insert(0, pause)
        if sounds:
            samples = np.concatenate(sounds)
            length.made(len(piece), len(samples) / voice.sample_rate_hz)
            yield AudioChunk(samples, end)
        before = piece


def _at_words(sound: TimedSound, begin: int, spoken: int) -> Iterator[AudioChunk]:
    """`sound`, which begins at sample `begin`, cut after each word that ends in it."""
    at = begin
    for word in sound.words:
        if word.end_sample > at:
            yield AudioChunk(sound.samples[at - begin : word.end_sample - begin], word.end_char)
            at = word.end_sample
        spoken = word.end_char
    if at - begin < len(sound.samples):
        yield AudioChunk(sound.samples[at - begin :], spoken)
