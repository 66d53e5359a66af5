"""Piper voices as a text-to-speech backend: thousands of voices, some 50 languages, streamed.

A thin adapter around `s2s.tts.vits`. Sound is handed on in pieces that end where words end, so that
what has been spoken is known to the word.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from s2s.core.setting import setting
from s2s.models.resources import Resources
from s2s.models.store import StoreError
from s2s.tts.base import AudioChunk, Capabilities, TtsError
from s2s.tts.level import amplify
from s2s.tts.pieces import ends_sentence, pieces
from s2s.tts.tempo import FASTEST, SLOWEST

if TYPE_CHECKING:
    from s2s.tts.vits import Manner, TimedSound, VitsVoice

_MAX_CHARS = 240
"""Text of one piece for a voice that cannot stream: attention over all its phonemes takes memory
that grows with the square of their number."""
_FIRST_CHARS = 40
"""Three seconds of speech: half a second of work for a medium voice on one core."""
_GROWTH = 2.0
"""Keeps a voice that takes half a second for a second of sound from running dry: nearly all do on
one core. docs/decisions/text-splitters.md"""


@dataclass(frozen=True, slots=True)
class PiperConfig:
    """Options of a Piper voice."""

    model: str = setting(
        "piper-joe",
        "A model of the store, a voice's .onnx file (its .json beside it), or a folder with one.",
    )
    speaker: str | None = setting(
        None, "Name or number of the speaker, for voices that have several."
    )
    speed: float = setting(1.0, "1 is the voice's own pace, 2 twice as fast; 0.5 to 2.")
    volume_db: float = setting(0.0, "Louder above 0, in dB; loud places are bent, not cut off.")
    noise_scale: float | None = setting(None, "Variation of the sound; None is as the voice says.")
    length_scale: float | None = setting(None, "Slower above 1; None is as the voice says.")
    noise_w: float | None = setting(None, "Variation of the rhythm; None is as the voice says.")
    sentence_silence_ms: int | None = setting(None, "Between sentences; None is as the voice says.")
    seed: int | None = setting(
        None, "The same text then always gives the same samples; None varies, as people do."
    )
    threads: int | None = setting(
        None, "None measures what is fastest, up to the threads this backend was given."
    )

    def __post_init__(self) -> None:
        if not SLOWEST <= self.speed <= FASTEST:
            raise ValueError(f"speed must be from {SLOWEST} to {FASTEST}, got {self.speed}")


class Piper:
    """Speaks with one Piper voice. Calls may come from several threads."""

    def __init__(self, config: PiperConfig, resources: Resources) -> None:
        """Load the voice; the first time it is also cut and checked, which takes seconds.

        Raises:
            TtsError: the voice can't be had or used.
        """
        self._config = config
        self._lock = threading.Lock()
        self._voice: VitsVoice | None = _load(config, resources)

    @property
    def capabilities(self) -> Capabilities:
        voice = self._loaded()
        known = voice.config
        return Capabilities(
            sample_rate_hz=voice.sample_rate_hz,
            streaming=voice.streams,
            languages=(known.language,),
            voices=tuple(known.speakers),
            word_timing=voice.streams,
        )

    def synthesize(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        """Yield the sound of `text`; see `s2s.tts.base.Synthesizer`. The voice has one language."""
        del language
        from s2s.tts.vits import VitsError

        loaded, manner = self._loaded(), self._manner(voice)
        speak = _word_by_word if loaded.streams else _piece_by_piece
        try:
            for chunk in speak(loaded, text, manner, stop):
                yield self._louder(chunk)
        except VitsError as error:
            raise TtsError(f"piper: {error}") from error

    def _louder(self, chunk: AudioChunk) -> AudioChunk:
        gain_db = self._config.volume_db
        return replace(chunk, samples=amplify(chunk.samples, gain_db)) if gain_db else chunk

    def warm(self) -> None:
        """Speak a short sentence, unheard."""
        for _ in self.synthesize("Hello."):
            pass

    def close(self) -> None:
        """Free the voice. Idempotent."""
        with self._lock:
            self._voice = None

    def _loaded(self) -> VitsVoice:
        with self._lock:
            if self._voice is None:
                raise TtsError("piper was used after it was closed.")
            return self._voice

    def _manner(self, speaker: str | None) -> Manner:
        from s2s.tts.vits import Manner

        config = self._config
        scales = self._loaded().config.scales
        silence_ms = config.sentence_silence_ms
        return Manner(
            speaker=speaker or config.speaker,
            scales=replace(
                scales,
                noise=_or(config.noise_scale, scales.noise),
                length=_or(config.length_scale, scales.length) / config.speed,
                noise_w=_or(config.noise_w, scales.noise_w),
            ),
            seed=config.seed,
            sentence_silence_s=None if silence_ms is None else silence_ms / 1000.0,
        )


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
    voice: VitsVoice, text: str, manner: Manner, stop: Callable[[], bool]
) -> Iterator[AudioChunk]:
    """The speech of a voice that makes a sentence at a time: long ones are cut at clauses, the
    first early, so that it neither starts late nor runs dry."""
    pause_s = manner.sentence_silence_s
    if pause_s is None:
        pause_s = voice.config.sentence_silence_s
    pause = np.zeros(round(pause_s * voice.sample_rate_hz), np.float32)
    before = ""
    for piece, end in pieces(text, _MAX_CHARS, first_chars=_FIRST_CHARS, growth=_GROWTH):
        if stop():
            return
        sounds = [sound.samples for sound in voice.speak(piece, manner, stop=stop)]
        if ends_sentence(before):
            sounds.insert(0, pause)
        if sounds:
            yield AudioChunk(np.concatenate(sounds), end)
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


def _or(chosen: float | None, default: float) -> float:
    return default if chosen is None else chosen


def _load(config: PiperConfig, resources: Resources) -> VitsVoice:
    from s2s.tts.vits import VitsError, load_voice

    threads = config.threads or (1 if resources.threads == 1 else None)
    try:
        path = resources.store.path(config.model)
        return load_voice(path, threads=threads, cache=resources.store.root / "split")
    except (StoreError, VitsError) as error:
        raise TtsError(f"piper: {error}") from error
