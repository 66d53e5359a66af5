"""A voice that speaks text: phonemes, sentences, silence between them, and which word is when.

The library's front door:

    voice = load_voice("en_US-joe-medium.onnx")
    for sound in voice.speak("Hello there."):
        play(sound.samples)
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from s2s.core.audio import Block
from s2s.tts.vits.encoding import Scales
from s2s.tts.vits.engine import AnyVitsEngine, Utterance, VitsEngine, load_engine, never
from s2s.tts.vits.phonemes import Phonemizer, Sentence, make_phonemizer
from s2s.tts.vits.timing import Word, assign_words, word_spans
from s2s.tts.vits.voice import VoiceConfig

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Manner:
    """How to speak; None is as the voice's config says."""

    speaker: str | int | None = None
    scales: Scales | None = None
    seed: int | None = None
    sentence_silence_s: float | None = None


@dataclass(frozen=True, slots=True)
class TimedSound:
    """A piece of speech."""

    samples: Block
    """float32 [samples]"""
    words: tuple[Word, ...]
    """Words that end in this piece, times counted from the beginning of the speech. Empty for a
    voice that does not tell its durations."""


class VitsVoice:
    """A loaded voice with its phonemiser. Safe to use from several threads."""

    def __init__(self, engine: AnyVitsEngine) -> None:
        self.engine = engine

    @property
    def config(self) -> VoiceConfig:
        """What the voice says about itself."""
        return self.engine.config

    @property
    def sample_rate_hz(self) -> int:
        """Rate of its sound."""
        return self.engine.sample_rate_hz

    @property
    def streams(self) -> bool:
        """Sound comes before a sentence is done, and words are timed."""
        return isinstance(self.engine, VitsEngine)

    @cached_property
    def phonemizer(self) -> Phonemizer:
        """Made when first needed: phonemes given directly need none."""
        return make_phonemizer(self.config)

    def speak(
        self, text: str, manner: Manner = Manner(), *, stop: Callable[[], bool] = never
    ) -> Iterator[TimedSound]:
        """Speak a text of any length.

        Args:
            text: what to say.
            manner: how.
            stop: asked before every piece of work; when true the iterator ends.

        Raises:
            VitsVoiceError: no phonemiser, or no such speaker.
            SpeechError: the voice can't say this.
        """
        sentences = self.phonemizer.sentences(text)
        return self._speak(sentences, _WordsOf(text, sentences, self.phonemizer), manner, stop)

    def speak_phonemes(
        self,
        sentences: Sequence[Sentence],
        manner: Manner = Manner(),
        *,
        stop: Callable[[], bool] = never,
    ) -> Iterator[TimedSound]:
        """Speak phonemes given in the voice's alphabet. As `speak`, without words."""
        return self._speak(sentences, None, manner, stop)

    def _speak(
        self,
        sentences: Sequence[Sentence],
        words: _WordsOf | None,
        manner: Manner,
        stop: Callable[[], bool],
    ) -> Iterator[TimedSound]:
        speaker = self.config.speaker_number(manner.speaker)
        heard = 0
        for index, sentence in enumerate(sentences):
            for phrase, silence_s in self._phrases(sentence, manner, index + 1 < len(sentences)):
                if stop():
                    return
                ids, owners, unknown = self.config.phoneme_ids(phrase)
                self._note(unknown)
                utterance = self.engine.begin(
                    ids, speaker=speaker, scales=manner.scales, seed=manner.seed
                )
                if words is not None:
                    words.begin(utterance, owners, heard, len(phrase))
                for piece in utterance.pieces(stop):
                    heard += len(piece.samples)
                    yield TimedSound(piece.samples, words.until(heard) if words else ())
                silence = np.zeros(round(silence_s * self.sample_rate_hz), np.float32)
                if len(silence) and not stop():
                    heard += len(silence)
                    yield TimedSound(silence, ())

    def _phrases(
        self, sentence: Sentence, manner: Manner, more: bool
    ) -> Iterator[tuple[Sentence, float]]:
        """A sentence cut where the config wants silence, with the silence after each part."""
        pause_s = manner.sentence_silence_s
        if pause_s is None:
            pause_s = self.config.sentence_silence_s
        pauses = self.config.phoneme_silence_s
        phrase: Sentence = []
        for symbol in sentence:
            phrase.append(symbol)
            if symbol in pauses:
                yield phrase, pauses[symbol]
                phrase = []
        if phrase:
            yield phrase, pause_s if more else 0.0

    def _note(self, unknown: set[str]) -> None:
        if unknown:
            _log.warning("left out phonemes that the voice does not know: %s", sorted(unknown))


class _WordsOf:
    """The words of a text while it is being spoken."""

    def __init__(self, text: str, sentences: Sequence[Sentence], phonemizer: Phonemizer) -> None:
        self._spans = word_spans(text)
        self._text = text
        self._sentences = sentences
        self._phonemizer = phonemizer
        self._position = 0
        self._pending: list[Word] = []
        self._last_word = -1

    @cached_property
    def _owners(self) -> list[int]:
        """The word that each phoneme of the whole text belongs to."""
        symbols = [symbol for sentence in self._sentences for symbol in sentence]
        words = [self._text[start:end] for start, end in self._spans]
        return assign_words(symbols, words, self._phonemizer.word)

    def begin(
        self, utterance: Utterance, owners: Sequence[int | None], heard: int, length: int
    ) -> None:
        """A phrase of `length` phonemes begins at sample `heard`."""
        position, self._position = self._position, self._position + length
        if utterance.ends is None or not self._spans:
            return
        ends = utterance.ends + heard
        times = _phoneme_times(owners, ends, heard, length)
        words = self._owners[position : position + length]
        for offset, word in enumerate(words):
            start, end = times[offset]
            if word == self._last_word and self._pending:
                before = self._pending[-1]
                self._pending[-1] = Word(
                    before.start_char, before.end_char, before.start_sample, end
                )
            elif word > self._last_word:
                self._pending.append(Word(*self._spans[word], start, end))
                self._last_word = word

    def until(self, heard: int) -> tuple[Word, ...]:
        """Words that ended by sample `heard` and were not told yet."""
        done = [word for word in self._pending if word.end_sample <= heard]
        self._pending = self._pending[len(done) :]
        return tuple(done)


def _phoneme_times(
    owners: Sequence[int | None], ends: npt.NDArray[np.int64], begin: int, count: int
) -> list[tuple[int, int]]:
    """(start, end) sample of each phoneme; one that the voice does not know has no length."""
    times: list[tuple[int, int]] = []
    starts = np.concatenate([[begin], ends[:-1]])
    numbers: dict[int, list[int]] = {}
    for number, owner in enumerate(owners):
        if owner is not None:
            numbers.setdefault(owner, []).append(number)
    at = begin
    for phoneme in range(count):
        own = numbers.get(phoneme)
        if own:
            times.append((int(starts[own[0]]), int(ends[own[-1]])))
            at = times[-1][1]
        else:
            times.append((at, at))
    return times


def load_voice(
    path: str | Path,
    *,
    config: str | Path | None = None,
    threads: int | None = None,
    cache: Path | None = None,
) -> VitsVoice:
    """Load a voice; arguments and errors as for `load_engine`."""
    return VitsVoice(load_engine(path, config=config, threads=threads, cache=cache))
