"""Who speaks which language."""

from __future__ import annotations

import pytest

from s2s.tts.backends.kokoro.languages import OFFICIAL, SPEECHES, speaks, speech_of, voice_for


def test_there_are_54_voices_of_nine_kinds_of_speech() -> None:
    assert len(OFFICIAL) == 54
    assert len(SPEECHES) == 9
    for speech in SPEECHES:
        for voice in speech.voices:
            assert voice[0] == speech.letter
            assert voice[1:3] in ("f_", "m_")


@pytest.mark.parametrize(
    ("code", "voice", "letter"),
    [("en", "", "a"), ("en", "bm_lewis", "b"), ("en", "ff_siwis", "a"), ("pt", "bf_emma", "p")],
)
def test_a_heard_language_is_one_of_the_models(code: str, voice: str, letter: str) -> None:
    assert speech_of(code, voice).letter == letter


def test_german_is_none() -> None:
    with pytest.raises(KeyError):
        speech_of("de")


JAPANESE = ("jf_alpha", "jf_gongitsune", "jm_kumo")


@pytest.mark.parametrize(
    ("code", "configured", "here", "who"),
    [
        ("en", None, JAPANESE, "jf_gongitsune"),
        ("en", None, (*JAPANESE, "am_adam"), "am_adam"),
        ("en", None, ("am_adam", "af_heart"), "af_heart"),
        ("en", "bm_lewis", ("af_heart",), "bm_lewis"),
        ("fr", "bm_lewis", ("af_heart", "ff_siwis"), "ff_siwis"),
        ("fr", "bm_lewis", ("af_heart",), "bm_lewis"),
        ("fr", None, ("am_adam", "af_heart"), "af_heart"),
        ("ja", "af_heart", JAPANESE, "jf_gongitsune"),
        ("zh", None, ("mine",), "mine"),
    ],
)
def test_the_voice_follows_the_language(
    code: str, configured: str | None, here: tuple[str, ...], who: str
) -> None:
    assert voice_for(code, configured, here) == who


def test_both_englishes_are_english() -> None:
    assert speaks("af_heart", "en")
    assert speaks("bf_emma", "en")
    assert not speaks("jf_alpha", "en")
    assert not speaks("", "en")
