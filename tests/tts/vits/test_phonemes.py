"""Text to phonemes: letters, eSpeak NG where it is installed, respelled English where it is not."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from s2s.tts.vits import Scales, VitsVoice, VitsVoiceError, load_voice
from s2s.tts.vits.phonemes import (
    LetterPhonemizer,
    RespelledEnglish,
    TextPhonemizer,
    make_phonemizer,
)
from s2s.tts.vits.voice import VoiceConfig
from tests.support.vits import voice_folder


def make_voice(folder: Path, name: str = "plain", **fields: object) -> VitsVoice:
    return load_voice(voice_folder(folder, name, **fields), threads=1)


@pytest.fixture
def voice(tmp_path: Path) -> VitsVoice:
    return make_voice(tmp_path / "voice")


def config(voice: str) -> VoiceConfig:
    return VoiceConfig(
        22050, {"a": (1,)}, {}, "espeak", voice, "en", {}, 1, Scales(), 0.2, {}, None  # type: ignore[arg-type]
    )  # fmt: skip


def test_letters_are_decomposed_and_split_into_sentences() -> None:
    assert TextPhonemizer().sentences("Né. Oui !") == [list("Ne\u0301."), list("Oui !")]
    assert TextPhonemizer().word("é") == "e\u0301"


def test_small_letters_are_composed() -> None:
    assert LetterPhonemizer().sentences("Ne\u0301. OUI!") == [list("né."), list("oui!")]
    assert LetterPhonemizer().word("E\u0301") == "é"


def test_without_espeak_other_languages_say_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "piper.phonemize_espeak", None)
    with pytest.raises(VitsVoiceError, match=r"'de' need eSpeak NG: pip install piper-tts"):
        make_phonemizer(config("de"))


def test_without_any_phonemizer_both_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "piper.phonemize_espeak", None)
    monkeypatch.setitem(sys.modules, "hibari.g2p", None)
    with pytest.raises(VitsVoiceError, match=r"piper-tts.*hibari-tts"):
        make_phonemizer(config("en-us"))


def test_english_without_espeak_is_respelled(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("hibari.g2p")
    monkeypatch.setitem(sys.modules, "piper.phonemize_espeak", None)
    phonemizer = make_phonemizer(config("en-us"))
    assert isinstance(phonemizer, RespelledEnglish)
    spoken = ["".join(sentence) for sentence in phonemizer.sentences("The judge says: boy! Now.")]
    assert spoken == ["ðə dʒˈʌdʒ sˈɛz: bˈɔɪ!", "nˈaʊ."]


@pytest.fixture
def espeak_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An eSpeak NG that finds voices by the names of their files alone, as some versions do."""
    files = {"roa/fr": "name French\nlanguage fr-fr\nlanguage fr\n", "gmw/en": "language en-gb 2\n",
             "gmw/en-US": "language en-us 2\nlanguage en-gb 3\n"}  # fmt: skip
    for name, text in files.items():
        path = tmp_path / "lang" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    class Bridge:
        def phonemize(self, voice: str, text: str) -> list[list[str]]:
            if voice not in ("fr", "en", "en-US"):
                raise RuntimeError("Failed to set voice")
            return [[voice, text]]

    module = ModuleType("piper.phonemize_espeak")
    module.__dict__.update(EspeakPhonemizer=Bridge, ESPEAK_DATA_DIR=tmp_path)
    monkeypatch.setitem(sys.modules, "piper", ModuleType("piper"))
    monkeypatch.setitem(sys.modules, "piper.phonemize_espeak", module)


@pytest.mark.usefixtures("espeak_of_files")
@pytest.mark.parametrize(
    ("voice", "file"), [("fr", "fr"), ("fr-fr", "fr"), ("en-gb", "en"), ("EN-us", "en-US")]
)
def test_a_language_is_found_by_each_of_its_names(voice: str, file: str) -> None:
    assert make_phonemizer(config(voice)).sentences("a") == [[file, "a"]]


@pytest.mark.usefixtures("espeak_of_files")
def test_a_language_that_there_is_not_is_told_with_where_they_lie() -> None:
    with pytest.raises(VitsVoiceError, match=r"no voice 'xx'; its voices are .*lang"):
        make_phonemizer(config("xx"))
