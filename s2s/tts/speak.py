"""How a text is spoken, by the conversation and by the command `say` alike.

A backend gets speakable text in a language that it has: no markup, no signs, numbers as words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from s2s.core.audio.manner import SpokenManner
from s2s.tts.base import (
    AudioChunk,
    Capabilities,
    FedSynthesizer,
    InstructedSynthesizer,
    PacedSynthesizer,
    Synthesizer,
)
from s2s.tts.language import StickyLanguage, likely_language
from s2s.tts.passage import Passage
from s2s.tts.text import Lexicon, speakable


@dataclass(frozen=True, slots=True)
class TtsSettings:
    """How the stage speaks."""

    output_hz: int
    speculative: bool = True
    max_coalesced_s: float = 20.0
    """Estimated seconds of speech that one synthesis call gets at most."""
    lexicon: Lexicon | None = None
    sign: Literal["sound", "words"] = "sound"
    """Of life, while an answer takes long to start."""
    manner: SpokenManner = field(default_factory=SpokenManner)
    """What the person asked for: slower, louder, ..."""
    real_time_factor: float = 0.0
    """Seconds of work for a second of sound, as measured on this machine; above 1 sound is held
    back until the rest can be made while it plays. A voice that knows its pace is asked instead."""


class SpokenForm(Protocol):
    """What a voice says, and the text that it stands for; both may grow while it is said."""

    @property
    def text(self) -> str:
        """As the voice gets it; empty when there is nothing to say."""
        ...

    @property
    def original(self) -> str:
        """As the client sees it."""
        ...

    def heard(self, spoken_chars: int) -> str:
        """The start of `original` that has been told with so many characters of `text`."""
        ...


@dataclass(frozen=True, slots=True)
class Synthesis:
    """One call of a synthesizer."""

    spoken: SpokenForm
    language: str | None
    """ISO 639-1 code it is spoken in; None for a backend that names no languages and was told
    none."""
    chunks: Iterator[AudioChunk]
    """The sound, made while it is read; `AudioChunk.spoken_chars` counts in `spoken.text`."""


def speak(
    text: str,
    synthesizer: Synthesizer,
    language: str | None,
    *,
    voice: str | None = None,
    lexicon: Lexicon | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Synthesis:
    """Read `text` aloud.

    Args:
        text: as a client sees it: markdown, numbers, emoji and all.
        synthesizer: what speaks.
        language: ISO 639-1 code to speak in, as `language_for` or a session's own rule chose it.
        voice: one of the synthesizer's; None is the configured one.
        lexicon: the user's respellings.
        stop: asked before every piece of work; when true the sound ends.

    Raises:
        TtsError: while the sound is read, as `Synthesizer.synthesize` does.
    """
    spoken = speakable(text, language, lexicon)
    if not spoken.text:
        return Synthesis(spoken, language, iter(()))
    chunks = synthesizer.synthesize(spoken.text, voice=voice, language=language, stop=stop)
    return Synthesis(spoken, language, chunks)


@dataclass(frozen=True, slots=True)
class InstructedVoice:
    """`Synthesizer` that speaks all that it says as it was told once."""

    voice: InstructedSynthesizer
    instructions: str

    @property
    def capabilities(self) -> Capabilities:
        return self.voice.capabilities

    def synthesize(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        return self.voice.synthesize_instructed(
            text, self.instructions, voice=voice, language=language, stop=stop
        )

    def warm(self) -> None:
        self.voice.warm()

    def close(self) -> None:
        """Nothing: the voice is another's."""


def instructed(synthesizer: Synthesizer, instructions: str) -> Synthesizer:
    """The same voice, which speaks as the words of `instructions` say; as ever where there are none
    or its model heeds none."""
    if not instructions or not isinstance(synthesizer, InstructedSynthesizer):
        return synthesizer
    if not synthesizer.takes_instructions:
        return synthesizer
    return InstructedVoice(synthesizer, instructions)


def takes_words(
    synthesizer: Synthesizer,
    real_time_factor: float,
    voice: str | None = None,
    language: str | None = None,
) -> bool:
    """The voice takes text while it is written; one that is slower than speech needs to know how
    much it will be."""
    return (
        isinstance(synthesizer, FedSynthesizer)
        and synthesizer.takes_words(voice, language)
        and real_time_factor <= 1
    )


def pace_of(
    synthesizer: Synthesizer, real_time_factor: float, language: str | None = None
) -> float:
    """Seconds of work for a second of sound in `language`, now; real_time_factor: as measured at
    the start."""
    if isinstance(synthesizer, PacedSynthesizer):
        return synthesizer.pace(language)
    return real_time_factor


def speak_written(
    passage: Passage,
    synthesizer: FedSynthesizer,
    language: str,
    *,
    voice: str | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Synthesis:
    """Read aloud what is still being written; otherwise as `speak`."""
    chunks = synthesizer.synthesize_written(passage, voice=voice, language=language, stop=stop)
    return Synthesis(passage, language, chunks)


def language_for(text: str, supported: Sequence[str], wanted: str | None) -> str | None:
    """The language to speak a text in that stands alone.

    Args:
        text: what is to be said.
        supported: ISO 639-1 codes that the backend has, its own first; may be empty.
        wanted: the configured code; None is told from the text.
    """
    if not supported:
        return wanted
    if wanted in supported:
        return wanted
    return StickyLanguage(supported, supported[0]).choose(text, likely_language(text), "")
