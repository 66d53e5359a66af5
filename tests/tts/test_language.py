"""Which language is spoken: sticky against mishearing, quick when the answer shows it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.tts.language import StickyLanguage, likely_language, script_languages

GERMAN = "Das ist nicht der Weg, und ich bin auch nicht da."
ENGLISH = "That is not the way, and this is what you can do."
SUPPORTED = ("en", "de", "ja", "zh")


@pytest.fixture
def language() -> StickyLanguage:
    return StickyLanguage(SUPPORTED, "en")


def test_one_misheard_turn_does_not_flip_the_voice(language: StickyLanguage) -> None:
    assert language.choose("Okay!", "de", "1") == "en"
    assert language.choose("Okay!", "en", "2") == "en"
    assert language.choose("Okay!", "de", "3") == "en"


def test_two_turns_running_do(language: StickyLanguage) -> None:
    language.choose("Okay!", "de", "1")
    assert language.choose("Okay!", "de", "2") == "de"


def test_the_pieces_of_one_turn_count_once(language: StickyLanguage) -> None:
    assert [language.choose("Okay!", "de", "1") for _ in range(3)] == ["en"] * 3


def test_an_answer_that_is_written_in_it_flips_at_once(language: StickyLanguage) -> None:
    assert language.choose(GERMAN, "de", "1") == "de"


def test_an_english_answer_stays_english_however_often_german_is_heard(
    language: StickyLanguage,
) -> None:
    for turn in "1234":
        assert language.choose(ENGLISH, "de", turn) == "en"


def test_a_script_the_voice_cannot_read_flips_at_once(language: StickyLanguage) -> None:
    assert language.choose("今日はいい天気です。", None, "1") == "ja"
    assert language.choose("今天天气很好。", "zh", "2") == "ja"
    assert language.choose("今天天气很好。", "zh", "3") == "zh"
    assert language.choose("All right.", None, "4") == "en"


def test_an_unknown_or_unsupported_language_changes_nothing(language: StickyLanguage) -> None:
    for turn in "123":
        assert language.choose("Okay!", None, turn) == "en"
        assert language.choose("Okay!", "fi", turn) == "en"


def test_digits_alone_do_not_decide(language: StickyLanguage) -> None:
    assert language.choose("42", None, "1") == "en"


def test_reset_forgets(language: StickyLanguage) -> None:
    language.choose(GERMAN, "de", "1")
    language.reset()
    assert language.current == "en"


def test_a_default_without_a_voice_is_refused() -> None:
    with pytest.raises(ValueError, match="'fr' has no voice; choose one of en, de"):
        StickyLanguage(("en", "de"), "fr")


class Loads:
    """Loads French and Russian when it is let."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.here = {"en", "de"}

    def offers(self, language: str) -> bool:
        return language in {"en", "de", "fr", "ru"}

    def prepare(self, language: str) -> bool:
        self.asked.append(language)
        return language in self.here


FRENCH = "Je ne sais pas, mais il est dans le jardin avec vous."
RUSSIAN = "Я не знаю."


def test_the_voice_goes_on_until_the_next_one_is_loaded() -> None:
    loads = Loads()
    language = StickyLanguage(("en", "de"), "en", loads)
    assert language.choose(FRENCH, "fr", "1") == "en"
    assert language.choose(FRENCH, "fr", "2") == "en"
    assert loads.asked == ["fr", "fr"]
    loads.here.add("fr")
    assert language.choose(FRENCH, "fr", "3") == "fr"
    assert language.choose("D'accord !", "fr", "4") == "fr", "it stays"
    assert language.choose(ENGLISH, "en", "5") == "en"
    assert language.choose(GERMAN, "de", "6") == "de", "loaded, and asked whether it is"


def test_one_misheard_turn_loads_nothing() -> None:
    loads = Loads()
    language = StickyLanguage(("en", "de"), "en", loads)
    language.choose("Okay!", "fr", "1")
    language.choose("Okay!", "en", "2")
    language.choose(ENGLISH, "fr", "3")
    language.choose(ENGLISH, "fr", "4")
    language.choose("Okay!", "sv", "5")
    language.choose("Okay!", "sv", "6")
    assert loads.asked == []


def test_a_script_that_no_voice_reads_is_loaded_at_once() -> None:
    loads = Loads()
    language = StickyLanguage(("en", "de"), "en", loads)
    assert language.choose(RUSSIAN, "ru", "1") == "en"
    loads.here.add("ru")
    assert language.choose(RUSSIAN, "ru", "1") == "ru"
    assert language.choose("Okay.", "ru", "2") == "en", "Latin letters are not Russian's"
    language.reset()
    assert language.choose(RUSSIAN, None, "1") == "en", "unheard, it is not guessed"


def test_scripts() -> None:
    assert script_languages("123 !") is None
    assert script_languages("Hello 你") == frozenset()
    assert script_languages("漢字かな") == {"ja"}
    assert "ru" in (script_languages("привет") or ())


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (GERMAN, "de"),
        (ENGLISH, "en"),
        ("Je ne sais pas, mais il est dans le jardin avec vous.", "fr"),
        ("No lo sé, pero está en el jardín con los niños.", "es"),
        ("Non lo so, ma è nel giardino con il cane della nonna.", "it"),
        ("Não sei, mas ele está em casa com os meninos e uma amiga.", "pt"),
        ("Ik weet het niet, maar er is ook een hond van mij.", "nl"),
        ("Okay!", None),
    ],
)
def test_likely_language(text: str, code: str | None) -> None:
    assert likely_language(text) == code


@given(
    st.lists(
        st.tuples(st.text(max_size=20), st.sampled_from([None, "fi", *SUPPORTED])), max_size=12
    )
)
def test_it_always_speaks_a_language_it_has(turns: list[tuple[str, str | None]]) -> None:
    language = StickyLanguage(SUPPORTED, "en")
    for turn, (text, heard) in enumerate(turns):
        assert language.choose(text, heard, str(turn)) in SUPPORTED


loading = st.tuples(
    st.sampled_from([FRENCH, RUSSIAN, GERMAN, ENGLISH, "Okay.", "42"]),
    st.sampled_from([None, "en", "de", "fr", "ru", "sv"]),
    st.sampled_from([None, "fr", "ru"]),
)


@given(st.lists(loading, max_size=12))
def test_what_is_not_here_is_never_spoken(turns: list[tuple[str, str | None, str | None]]) -> None:
    loads = Loads()
    language = StickyLanguage(("en", "de"), "en", loads)
    for turn, (text, heard, arrives) in enumerate(turns):
        loads.here |= {arrives} if arrives else set()
        assert language.choose(text, heard, str(turn)) in loads.here
