"""The language that is spoken: what changes it, and what must not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.stt.base import Transcription
from s2s.stt.languages import LanguageConfig, SpokenLanguage, word_count

LONG = "this is said in a whole sentence"


def heard(language: str, probability: float = 0.99, text: str = LONG) -> Transcription:
    return Transcription(text, language, languages={language: probability})


def told(spoken: SpokenLanguage, *turns: Transcription) -> list[str | None]:
    """What is decided for each of several turns."""
    return [
        spoken.choose(turn, f"t{number}", final=True) for number, turn in enumerate(turns, start=1)
    ]


def test_a_sentence_in_another_language_changes_it_at_once() -> None:
    assert told(SpokenLanguage(LanguageConfig()), heard("en"), heard("de")) == ["en", "de"]


@pytest.mark.parametrize(
    "noise",
    [
        heard("cy", 0.99, "you"),
        heard("de", 0.99, "ja gut"),
        heard("nn", 0.3),
        Transcription(LONG, "de", confidence=-1.7, languages={"de": 0.99}),
    ],
    ids=["one word", "two words", "unsure", "noise"],
)
def test_short_and_noisy_turns_change_nothing(noise: Transcription) -> None:
    spoken = SpokenLanguage(LanguageConfig())
    assert told(spoken, heard("en"), noise, noise, noise, heard("en")) == ["en"] * 5


def test_what_is_only_likely_must_be_heard_in_two_turns_running() -> None:
    likely, english = heard("de", 0.6), heard("en")
    spoken = SpokenLanguage(LanguageConfig())
    assert told(spoken, english, likely, english, likely, likely) == ["en"] * 4 + ["de"]


def test_a_turn_without_evidence_between_the_two_does_not_count() -> None:
    turns = heard("en"), heard("de", 0.6), heard("cy", 0.9, "mm"), heard("de", 0.6)
    assert told(SpokenLanguage(LanguageConfig()), *turns)[-1] == "de"


def test_a_turn_counts_once_however_often_it_is_heard() -> None:
    spoken = SpokenLanguage(LanguageConfig())
    told(spoken, heard("en"))
    for _ in range(4):
        assert spoken.choose(heard("de", 0.6), "later", final=True) == "en"


def test_what_is_heard_of_a_turn_that_goes_on_is_not_remembered() -> None:
    spoken = SpokenLanguage(LanguageConfig())
    told(spoken, heard("en"))
    assert spoken.choose(heard("de"), "later", final=False) == "de"
    assert spoken.choose(heard("en"), "later", final=True) == "en"
    assert spoken.current == "en"


def test_the_first_turn_is_what_it_sounds_like_and_binds_nothing_if_it_is_short() -> None:
    spoken = SpokenLanguage(LanguageConfig())
    assert told(spoken, heard("cy", 0.9, "hello")) == ["cy"]
    assert spoken.current is None
    assert spoken.choose(heard("en", 0.6), "next", final=True) == "en"


def test_a_fixed_language_is_not_heard_but_told() -> None:
    spoken = SpokenLanguage(LanguageConfig(), "de")
    assert spoken.asked == "de"
    assert told(spoken, heard("en")) == ["de"]
    spoken.fix(None)
    assert spoken.asked is None
    assert told(spoken, heard("en")) == ["en"]


def test_one_language_allowed_is_a_fixed_one() -> None:
    assert SpokenLanguage(LanguageConfig(allowed=("fr",))).asked == "fr"


def test_of_several_allowed_the_likeliest_is_chosen() -> None:
    spoken = SpokenLanguage(LanguageConfig(allowed=("de", "en")))
    dutch = Transcription(LONG, "nl", languages={"nl": 0.6, "en": 0.05, "de": 0.3})
    assert told(spoken, dutch) == ["de"]
    unknown = Transcription(LONG, "nl")
    assert told(spoken, heard("en"), unknown) == ["en", "en"]


def test_a_recogniser_that_cannot_tell() -> None:
    assert told(SpokenLanguage(LanguageConfig()), Transcription("hello")) == [None]


def test_a_session_is_forgotten() -> None:
    spoken = SpokenLanguage(LanguageConfig())
    told(spoken, heard("en"))
    spoken.reset()
    assert spoken.current is None


def test_settings_that_make_no_sense() -> None:
    with pytest.raises(ValueError, match=r"likely 0\.9, sure 0\.5"):
        LanguageConfig(likely=0.9, sure=0.5)


def test_words_are_counted_in_scripts_without_spaces_too() -> None:
    assert word_count("Well, it's 3 o'clock.") == 6
    assert word_count("今天天气怎么样") == 4
    assert word_count("ok 好的") == 2
    assert word_count("... ♪") == 0


codes = st.sampled_from(["en", "de", "fr", "zh"])
turns = st.builds(
    heard, codes, st.floats(0.0, 1.0), st.sampled_from(["", "no", "oh well", LONG, LONG + LONG])
)


@given(st.lists(turns, max_size=12), st.sampled_from([(), ("en", "de"), ("fr", "zh", "en")]))
def test_the_language_changes_only_for_a_reason(
    sequence: list[Transcription], allowed: tuple[str, ...]
) -> None:
    """Whatever is heard, in any order: a change has a turn of enough words behind it that is sure
    of the new language, or the second in a row that finds it likely; and only what is allowed is
    ever spoken."""
    config = LanguageConfig(allowed=allowed)
    spoken = SpokenLanguage(config)
    before: str | None = None
    strong: list[str | None] = []
    for number, turn in enumerate(sequence):
        language = spoken.choose(turn, f"t{number}", final=True)
        assert not allowed or language in allowed
        probability = turn.languages[turn.language or ""]
        possible = not allowed or turn.language in allowed
        if possible and word_count(turn.text) >= config.min_words and probability >= config.likely:
            strong.append(turn.language)
        if before is not None and spoken.current != before:
            assert language == turn.language == spoken.current == strong[-1]
            assert probability >= config.sure or strong[-2:] == [language, language]
        before = spoken.current


@given(st.lists(turns, max_size=12), codes)
def test_a_sure_sentence_is_always_followed(sequence: list[Transcription], code: str) -> None:
    spoken = SpokenLanguage(LanguageConfig())
    told(spoken, *sequence)
    assert spoken.choose(heard(code, 0.95), "last", final=True) == code


@given(st.lists(turns, max_size=12), codes)
def test_words_that_are_too_few_are_never_followed(
    sequence: list[Transcription], code: str
) -> None:
    spoken = SpokenLanguage(LanguageConfig())
    told(spoken, heard("en"), *sequence)
    current = spoken.current
    assert spoken.choose(heard(code, 1.0, "well yes"), "last", final=True) == current
