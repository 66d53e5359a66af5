"""How a text is spoken, by the conversation and by the command `say` alike.

A backend gets speakable text in a language that it has: no markup, no signs, numbers as words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from s2s.tts.base import AudioChunk, Synthesizer
from s2s.tts.language import StickyLanguage, likely_language
from s2s.tts.text import Lexicon, Spoken, speakable


@dataclass(frozen=True, slots=True)
class Synthesis:
    """One call of a synthesizer."""

    spoken: Spoken
    """What the voice says, with its way back to the text as it was written."""
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
