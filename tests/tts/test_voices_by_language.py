"""Voices of several backends as one: who speaks what, and that it follows the language heard."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.stt.base import Transcription
from s2s.stt.languages import LanguageConfig, SpokenLanguage
from s2s.tts.language import StickyLanguage
from s2s.tts.voices_by_language import LanguageVoice, VoicesByLanguage
from tests.support.voices import ScriptedVoice


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
