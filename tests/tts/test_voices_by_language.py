"""Voices of several backends as one: who speaks what, and that it follows the language heard."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.stt.base import Transcription
from s2s.stt.languages import LanguageConfig, SpokenLanguage
from s2s.tts.base import (
    FedSynthesizer,
    InstructedSynthesizer,
    LanguageLoader,
    PacedSynthesizer,
)
from s2s.tts.language import StickyLanguage
from s2s.tts.speak import instructed, pace_of, takes_words
from s2s.tts.voices_by_language import LanguageVoice, VoicesByLanguage
from tests.support.voices import AbleVoice, ScriptedVoice


def test_each_language_has_its_backend_and_voice() -> None:
    english = ScriptedVoice("en", voices=("ann",))
    german = ScriptedVoice("de", rate_hz=16_000, voices=("eva", "max"))
    voices = VoicesByLanguage(english, {"de": LanguageVoice(german, "max")})
    list(voices.synthesize("hello", language="en"))
    list(voices.synthesize("hallo", language="de"))
    list(voices.synthesize("hallo", voice="eva", language="de"))
    list(voices.synthesize("hallo", voice="ann", language="de"))
    list(voices.synthesize("hello"))
    assert english.asked == [("hello", None, "en"), ("hello", None, None)]
    assert german.asked == [("hallo", voice, "de") for voice in ("max", "eva", "max")]


def test_what_they_can_do_together() -> None:
    both = ScriptedVoice("en", "fr", voices=("ann",))
    german = ScriptedVoice("de", rate_hz=16_000, voices=("eva",))
    voices = VoicesByLanguage(both, {"de": LanguageVoice(german), "fr": LanguageVoice(both, "ann")})
    able = voices.capabilities
    assert able.languages == ("en", "fr", "de")
    assert able.voices == ("ann", "eva")
    assert able.sample_rate_hz == 24_000
    voices.warm()
    voices.close()
    assert [(each.warmed, each.closed) for each in (both, german)] == [(1, 1), (1, 1)]
    assert voices.synthesizers == (both, german)


@pytest.mark.parametrize("rate_hz", [16_000, 22_050, 24_000])
def test_all_sound_has_one_rate(rate_hz: int) -> None:
    voices = VoicesByLanguage(
        ScriptedVoice("en"), {"de": LanguageVoice(ScriptedVoice("de", rate_hz=rate_hz))}
    )
    chunks = list(voices.synthesize("hallo", language="de"))
    assert abs(sum(len(chunk.samples) for chunk in chunks) - 24_000) <= 2
    assert [chunk.spoken_chars for chunk in chunks][:2] == [2, 5]
    assert chunks[-1].spoken_chars == 5


def test_it_stops() -> None:
    voices = VoicesByLanguage(
        ScriptedVoice("en"), {"de": LanguageVoice(ScriptedVoice("de", rate_hz=16_000))}
    )
    made = sum(
        len(chunk.samples) for chunk in voices.synthesize("hallo", language="de", stop=lambda: True)
    )
    assert made == 0


class Words:
    """A text that comes in these parts."""

    quiet = False

    def __init__(self, *parts: str) -> None:
        self.parts = list(parts)
        self.closed = False

    def read(self, stale: Callable[[], bool]) -> str | None:
        return self.parts.pop(0) if self.parts else ""

    def close(self) -> None:
        self.closed = True


def test_text_is_spoken_while_it_is_written_by_a_voice_that_does_so() -> None:
    english = ScriptedVoice("en", voices=("ann",))
    german = AbleVoice("de", rate_hz=16_000, voices=("eva", "whole"))
    voices = VoicesByLanguage(english, {"de": LanguageVoice(german, "eva")})
    assert isinstance(voices, FedSynthesizer)
    assert voices.takes_words(None, "de")
    assert voices.takes_words("ann", "de"), "another language's voice: then it is the language's"
    assert not voices.takes_words("whole", "de")
    assert not voices.takes_words(None, "en")
    assert voices.takes_words(), "of no certain language: one of them does"
    assert takes_words(voices, 0.5, None, "de")
    assert not takes_words(voices, 1.5, None, "de")
    words = Words("hallo ", "du")
    chunks = list(voices.synthesize_written(words, language="de"))
    assert german.asked == [("hallo ", "eva", "de"), ("du", "eva", "de")]
    assert abs(sum(len(chunk.samples) for chunk in chunks) - 48_000) <= 2, "at the rate of all"
    assert words.closed
    words = Words("hello")
    with pytest.raises(TypeError, match="ScriptedVoice does not take text"):
        voices.synthesize_written(words, language="en")
    assert words.closed
    plain = VoicesByLanguage(english, {"de": LanguageVoice(ScriptedVoice("de"))})
    assert not plain.takes_words()


def test_the_pace_is_that_of_who_speaks() -> None:
    english, german = ScriptedVoice("en"), AbleVoice("de")
    voices = VoicesByLanguage(english, {"de": LanguageVoice(german)})
    assert isinstance(voices, PacedSynthesizer)
    assert voices.pace("en") == 0.0
    assert voices.measure(lambda each: 0.3 if each is english else 1.8) == 1.8
    assert (voices.pace("en"), voices.pace()) == (0.3, 0.3)
    assert voices.pace("de") == 0.5, "one that knows its pace is asked now"
    german.now = 1.2
    assert pace_of(voices, 0.0, "de") == 1.2
    assert pace_of(english, 0.7, "de") == 0.7


def test_instructions_reach_who_heeds_them() -> None:
    english, german = ScriptedVoice("en"), AbleVoice("de", rate_hz=16_000)
    voices = VoicesByLanguage(english, {"de": LanguageVoice(german)})
    assert isinstance(voices, InstructedSynthesizer)
    assert voices.takes_instructions
    told = instructed(voices, "cheerful")
    made = list(told.synthesize("hallo", language="de"))
    assert abs(sum(len(chunk.samples) for chunk in made) - 24_000) <= 2
    list(told.synthesize("hello", language="en"))
    assert german.instructions == ["cheerful"]
    assert english.asked == [("hello", None, "en")]
    plain = VoicesByLanguage(english, {"de": LanguageVoice(ScriptedVoice("de"))})
    assert not plain.takes_instructions


def test_a_language_that_the_main_voice_can_load_is_loaded_by_it() -> None:
    main, german = AbleVoice("en", loads=("fr",)), ScriptedVoice("de")
    voices = VoicesByLanguage(main, {"de": LanguageVoice(german), "pt": LanguageVoice(german)})
    assert isinstance(voices, LanguageLoader)
    assert [voices.offers(code) for code in ("en", "fr", "de", "pt", "es")] == [
        True, True, True, True, False,
    ]  # fmt: skip
    assert voices.prepare("de")
    assert voices.prepare("pt"), "set for it, whatever it says that it speaks"
    assert not voices.prepare("fr")
    main.loaded.add("fr")
    assert voices.prepare("fr")
    list(voices.synthesize("bonjour", language="fr"))
    assert main.asked == [("bonjour", None, "fr")]
    assert main.wanted == ["fr"]


ANSWERS = {
    "en": "The answer is that it is on the table and not in the garden.",
    "de": "Die Antwort ist, dass es auf dem Tisch und nicht in der Küche ist.",
    "fr": "La réponse est que les clés sont sur la table et pas dans le jardin.",
}
codes = st.sampled_from(sorted(ANSWERS))
heard = st.tuples(codes, st.floats(0.0, 1.0), st.sampled_from(["mm", "oh no", "a whole sentence"]))


@given(st.lists(heard, min_size=1, max_size=12))
def test_the_voice_is_that_of_the_language_heard(turns: list[tuple[str, float, str]]) -> None:
    """Whatever is heard, and the model answering in the language that counts: each answer is
    spoken by the voice of its language, and the voice changes only where the language did."""
    backends = {code: ScriptedVoice(code) for code in ANSWERS}
    others = {code: LanguageVoice(backends[code]) for code in ("de", "fr")}
    voices = VoicesByLanguage(backends["en"], others)
    spoken = SpokenLanguage(LanguageConfig(allowed=("en", "de", "fr")))
    sticky = StickyLanguage(voices.capabilities.languages, "en")
    for number, (code, probability, words) in enumerate(turns):
        turn = f"t{number}"
        transcription = Transcription(words, code, languages={code: probability})
        language = spoken.choose(transcription, turn, final=True)
        assert language is not None
        text = ANSWERS[language]
        chosen = sticky.choose(text, language, turn)
        list(voices.synthesize(text, language=chosen))
        assert backends[language].asked[-1] == (text, None, language)


@given(st.lists(codes, min_size=1, max_size=12))
def test_noise_between_sentences_never_changes_the_voice(noises: list[str]) -> None:
    """A model that cannot tell answers in the same language all the time."""
    spoken = SpokenLanguage(LanguageConfig())
    sticky = StickyLanguage(("en", "de", "fr"), "en")
    sentence = Transcription("a whole sentence", "en", languages={"en": 0.99})
    spoken.choose(sentence, "first", final=True)
    for number, code in enumerate(noises):
        noise = Transcription("mm", code, languages={code: 0.99})
        language = spoken.choose(noise, f"t{number}", final=True)
        assert sticky.choose("OK.", language, f"t{number}") == "en"
