"""A session's language: the voice's own, what was heard, and what is loaded on the way."""

from __future__ import annotations

from s2s.tts.voice_language import VoiceLanguage
from tests.support.voices import AbleVoice, ScriptedVoice

FRENCH = "Je ne sais pas, mais il est dans le jardin avec vous."


def test_a_voice_of_one_language_has_no_choice() -> None:
    told: list[str] = []
    language = VoiceLanguage(ScriptedVoice("en"), told.append)
    assert language.choose(FRENCH, "fr", "1") == "en"
    assert language.current("fr") == "fr", "what was heard, for a voice that does not follow"
    unnamed = VoiceLanguage(ScriptedVoice(), told.append)
    assert unnamed.choose(FRENCH, "fr", "1") == "fr"
    assert unnamed.choose(FRENCH, None, "1") is None
    language.reset()
    assert (language.languages, unnamed.languages) == (("en",), ())
    assert told == []


def test_several_are_followed() -> None:
    told: list[str] = []
    language = VoiceLanguage(ScriptedVoice("en", "fr"), told.append)
    assert language.current("fr") == "en"
    assert language.choose(FRENCH, "fr", "1") == "fr"
    assert language.current(None) == "fr"
    language.reset()
    assert language.current(None) == "en"
    assert told == []


def test_one_that_is_not_loaded_is_told_once_and_followed_once_it_is() -> None:
    told: list[str] = []
    voice = AbleVoice("en", loads=("fr",))
    language = VoiceLanguage(voice, told.append)
    for turn in "12":
        assert language.choose(FRENCH, "fr", turn) == "en"
    assert told == ["the voice for fr is not loaded yet; until it is, en goes on"]
    voice.loaded.add("fr")
    assert language.choose(FRENCH, "fr", "3") == "fr"
    assert len(told) == 1
    assert language.languages == ("en", "fr"), "an apology may be in it, too"
    language.reset()
    assert language.languages == ("en",)
    assert language.choose("Okay.", "fr", "1") == "en"
    assert language.choose(FRENCH, "sv", "2") == "en"


def test_a_voice_that_loads_nothing_offers_nothing() -> None:
    language = VoiceLanguage(ScriptedVoice("en"), lambda text: None)
    assert not language.offers("fr")
    assert language.prepare("fr")
