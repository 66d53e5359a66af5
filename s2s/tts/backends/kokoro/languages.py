"""Which Kokoro language a heard one is, and who speaks it by default. Pure.

Names of voices are hexgrad's: language, sex, name (`af_heart` is American, female). The table:
https://huggingface.co/hexgrad/Kokoro-82M/blob/main/VOICES.md
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KokoroSpeech:
    """A language of the model."""

    letter: str
    """How its voices begin."""
    code: str
    """ISO 639-1."""
    espeak: str
    """eSpeak NG's name of it."""
    voices: tuple[str, ...]
    """Everyone who speaks it, the default first."""


def _named(letter: str, women: str, men: str) -> tuple[str, ...]:
    return (
        *(f"{letter}f_{name}" for name in women.split()),
        *(f"{letter}m_{name}" for name in men.split()),
    )


SPEECHES: tuple[KokoroSpeech, ...] = (
    KokoroSpeech(
        "a",
        "en",
        "en-us",
        _named(
            "a",
            "heart bella nicole aoede kore sarah alloy nova sky jessica river",
            "fenrir michael puck adam echo eric liam onyx santa",
        ),
    ),
    KokoroSpeech(
        "b",
        "en",
        "en-gb",
        _named("b", "emma isabella alice lily", "fable george lewis daniel"),
    ),
    KokoroSpeech("e", "es", "es", _named("e", "dora", "alex santa")),
    KokoroSpeech("f", "fr", "fr", _named("f", "siwis", "")),
    KokoroSpeech("h", "hi", "hi", _named("h", "alpha beta", "omega psi")),
    KokoroSpeech("i", "it", "it", _named("i", "sara", "nicola")),
    KokoroSpeech("j", "ja", "ja", _named("j", "gongitsune alpha nezumi tebukuro", "kumo")),
    KokoroSpeech("p", "pt", "pt-br", _named("p", "dora", "alex santa")),
    KokoroSpeech(
        "z",
        "zh",
        "cmn",
        _named("z", "xiaobei xiaoni xiaoxiao xiaoyi", "yunjian yunxi yunxia yunyang"),
    ),
)
"""The model's languages. Gongitsune is the clearest of the Japanese voices in English: none of 37
words misheard by Moonshine, where Alpha had four."""

CODES: tuple[str, ...] = tuple(dict.fromkeys(speech.code for speech in SPEECHES))
OFFICIAL: frozenset[str] = frozenset(name for speech in SPEECHES for name in speech.voices)


def speech_of(code: str, voice: str = "") -> KokoroSpeech:
    """The Kokoro language for a heard one; British English where the voice is British.

    Raises:
        KeyError: the model has no such language.
    """
    fitting = [speech for speech in SPEECHES if speech.code == code]
    if not fitting:
        raise KeyError(code)
    return next((speech for speech in fitting if voice.startswith(speech.letter)), fitting[0])


def speaks(voice: str, code: str) -> bool:
    """The voice was made for this language."""
    return any(voice[:1] == speech.letter for speech in SPEECHES if speech.code == code)


def voice_for(code: str, configured: str | None, here: Sequence[str]) -> str:
    """Who speaks a language.

    Args:
        code: ISO 639-1.
        configured: the voice of the settings; kept where it speaks this language.
        here: the voices on this machine, at least one; the first speaks what nobody else does.
    """
    if configured is not None and speaks(configured, code):
        return configured
    known: Collection[str] = frozenset(here)
    for speech in SPEECHES:
        if speech.code == code:
            for name in speech.voices:
                if name in known:
                    return name
    return configured or next(iter([name for name in _BY_DEFAULT if name in known]), here[0])


_BY_DEFAULT = ("af_heart", "jf_gongitsune")
"""Who speaks with an accent, where no voice of the language is here."""
