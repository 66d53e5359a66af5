"""Text to phonemes, in the alphabet a voice was trained on.

eSpeak NG's rules and data come with the package piper-tts, which is GPL-3.0-or-later: it is never
imported unless the user installed it. Without it English still works, through hibari's own
Apache-2.0 dictionary, respelled; and any caller may bring phonemes of its own.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# The package piper has no types, and need not be installed.
from __future__ import annotations

import re
import threading
import unicodedata
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from s2s.tts.pieces import sentences
from s2s.tts.vits.errors import VitsVoiceError
from s2s.tts.vits.voice import VoiceConfig

Sentence = list[str]
"""Phonemes, one symbol each; words are separated by a space."""


class Phonemizer(Protocol):
    """Turns text into phonemes."""

    def sentences(self, text: str) -> list[Sentence]:
        """The sentences of `text`, punctuation kept."""
        ...

    def word(self, text: str) -> str:
        """The phonemes of a word on its own, for finding it again in a sentence."""
        ...


def make_phonemizer(config: VoiceConfig) -> Phonemizer:
    """The phonemiser that a voice needs.

    Raises:
        VitsVoiceError: it is not installed, or there is none for this voice.
    """
    if config.phoneme_type == "text":
        return TextPhonemizer()
    if config.phoneme_type == "letters":
        return LetterPhonemizer()
    if config.phoneme_type != "espeak":
        raise VitsVoiceError(
            "this voice uses a phonemiser of its own, which is not supported; give phonemes instead"
        )
    try:
        return EspeakPhonemizer(config.espeak_voice)
    except ImportError:
        if config.espeak_voice not in ("en", "en-us"):
            raise VitsVoiceError(
                f"phonemes for '{config.espeak_voice}' need eSpeak NG: pip install piper-tts "
                "(GPL-3.0-or-later)"
            ) from None
    try:
        return RespelledEnglish()
    except ImportError:
        raise VitsVoiceError(
            "no phonemiser: pip install piper-tts (eSpeak NG, GPL-3.0-or-later, all languages) "
            "or pip install hibari-tts (Apache-2.0, English)"
        ) from None


class EspeakPhonemizer:
    """eSpeak NG as packaged by piper-tts. Its state is global, so one call runs at a time."""

    _lock = threading.Lock()

    def __init__(self, voice: str) -> None:
        from piper.phonemize_espeak import EspeakPhonemizer as Bridge

        self._bridge = Bridge()
        self._voice = voice
        self._word = lru_cache(maxsize=4096)(self._word_uncached)
        try:
            self.sentences("a")
        except RuntimeError as error:
            file = _file_with(voice)
            if file is None:
                raise VitsVoiceError(
                    f"eSpeak NG has no voice '{voice}'; its voices are the files below "
                    f"{_voices_folder()}"
                ) from error
            self._voice = file

    def sentences(self, text: str) -> list[Sentence]:
        """The sentences of `text`, as eSpeak NG sees them."""
        # Zero bytes end the text for C; other control characters mean nothing to it.
        clean = "".join(" " if unicodedata.category(c) == "Cc" else c for c in text)
        with self._lock:
            return self._bridge.phonemize(self._voice, clean)

    def word(self, text: str) -> str:
        """The phonemes of a word on its own."""
        return self._word(text)

    def _word_uncached(self, text: str) -> str:
        return " ".join("".join(sentence) for sentence in self.sentences(text))


def _voices_folder() -> Path:
    from piper.phonemize_espeak import ESPEAK_DATA_DIR

    return Path(ESPEAK_DATA_DIR) / "lang"


def _file_with(language: str) -> str | None:
    """The name of the file that has a language ("fr-fr") as one of its names, the first choice for
    it if there are several. eSpeak NG of some versions finds files ("fr") alone by itself."""
    found: list[tuple[int, str]] = []
    for path in sorted(filter(Path.is_file, _voices_folder().rglob("*"))):
        for line in path.read_text("utf-8", errors="replace").splitlines():
            words = line.lower().split()
            if words[:2] == ["language", language.lower()]:
                found.append((int(words[2]) if words[2:] else _USUAL_PRIORITY, path.name))
    return min(found)[1] if found else None


_USUAL_PRIORITY = 5
"""Of a file for a language, where it says none; 1 is the first choice."""


class TextPhonemizer:
    """For voices trained on letters: every letter is a phoneme."""

    def sentences(self, text: str) -> list[Sentence]:
        """The sentences of `text`, decomposed into single code points."""
        return [list(unicodedata.normalize("NFD", part)) for part in sentences(text)]

    def word(self, text: str) -> str:
        """The letters of a word."""
        return unicodedata.normalize("NFD", text)


class LetterPhonemizer:
    """For MMS' voices: small letters, composed."""

    def sentences(self, text: str) -> list[Sentence]:
        """The sentences of `text`, letter by letter."""
        return [list(self.word(part)) for part in sentences(text)]

    def word(self, text: str) -> str:
        """The letters of a word."""
        return unicodedata.normalize("NFC", text).lower()


class RespelledEnglish:
    """hibari's English, respelled into eSpeak NG's alphabet.

    It is written in Kokoro's alphabet, which has one letter for each diphthong and affricate and no
    length marks: https://github.com/hexgrad/misaki/blob/main/EN_PHONES.md. Close to eSpeak NG's
    American English, not the same: where it stresses and reduces a word it is another dictionary.
    """

    _SOUNDS = (
        ("A", "eɪ"),
        ("I", "aɪ"),
        ("O", "oʊ"),
        ("W", "aʊ"),
        ("Y", "ɔɪ"),
        ("ʤ", "dʒ"),
        ("ʧ", "tʃ"),
        ("ɜɹ", "ɜː"),
        ("əɹ", "ɚ"),
        ("ᵊ", "ə"),
        ("T", "ɾ"),
        ("ɑ", "ɑː"),
        ("ɔ(?!ɪ)", "ɔː"),
        ("u", "uː"),
        (r"i(?=[^\W\d_])|(?<=ˈ)i|(?<=ˈ\w)i|(?<=ˈ\w\w)i", "iː"),
    )

    def __init__(self) -> None:
        from hibari.g2p import G2P

        self._g2p = G2P()
        self._lock = threading.Lock()

    def sentences(self, text: str) -> list[Sentence]:
        """The sentences of `text`, split at final punctuation."""
        return [
            list(unicodedata.normalize("NFD", self._respelled(part))) for part in sentences(text)
        ]

    def word(self, text: str) -> str:
        """The phonemes of a word on its own."""
        return self._respelled(text)

    def _respelled(self, text: str) -> str:
        with self._lock:
            spoken = str(self._g2p(text))
        for sound, spelling in self._SOUNDS:
            spoken = re.sub(sound, spelling, spoken)
        return spoken
