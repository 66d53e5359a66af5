"""What a voice says for what a client sees: a table of cases, and promises for any text."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2s.llm.sentences import SentenceStream, TextPiece
from s2s.tts.text import Lexicon, Spoken, speakable
from s2s.tts.text.speakable import guess_language

TABLE = Path(__file__).parents[1] / "data" / "spoken.tsv"
LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "zh", "ja", "ru", "ko")


@dataclass(frozen=True)
class Case:
    """One line of the table."""

    language: str
    text: str
    spoken: str
    reported_in: str


def unescape(field: str) -> str:
    return re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], field)


def read_table() -> list[Case]:
    lines = TABLE.read_text(encoding="utf-8").splitlines()[1:]
    return [Case(lang, unescape(text), said, src) for lang, text, said, src in (
        line.split("\t") for line in lines
    )]  # fmt: skip


CASES = read_table()


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.language}:{case.text}")
def test_table(case: Case) -> None:
    assert speakable(case.text, case.language).text == case.spoken


def test_the_table_is_as_large_as_promised() -> None:
    assert len(CASES) >= 150
    assert sum(bool(case.reported_in) for case in CASES) >= 60
    assert len({(case.language, case.text) for case in CASES}) == len(CASES)


@pytest.mark.parametrize(
    "text", ["", "  \n", "😀 👍", "```\nx = 1\n```", "***", "![](a.png)", "..."]
)
def test_nothing_to_say_is_an_empty_text_that_was_heard_at_once(text: str) -> None:
    spoken = speakable(text)
    assert spoken.text == ""
    assert spoken.heard(0) == text


# --- the way back ------------------------------------------------------------------------------


def test_a_word_is_heard_when_it_was_spoken() -> None:
    spoken = speakable("Hello **big** world.")
    assert spoken.text == "Hello big world."
    assert spoken.heard(0) == ""
    assert spoken.heard(len("Hello")) == "Hello"
    assert spoken.heard(len("Hello big")) == "Hello **big**"
    assert spoken.heard(len(spoken.text)) == "Hello **big** world."


def test_a_rewritten_piece_is_heard_when_all_of_it_was_spoken() -> None:
    spoken = speakable("It is $5 now.")
    assert spoken.text == "It is five dollars now."
    assert spoken.heard(len("It is five doll")) == "It is "
    assert spoken.heard(len("It is five dollars")) == "It is $5"


@pytest.mark.parametrize(("language", "text", "number"), [
    ("en", "It is -5 °C now.", "-5 °C"), ("en", "It is −$5.50 now.", "−$5.50"), ("en",
    "It is $-5 now.", "$-5"),
    ("de", "Es sind -3,5 °C jetzt.", "-3,5 °C"), ("fr", "Il fait ±2 % ici.", "±2 %"), ("zh",
    "气温是-5°C。", "-5°C"),
    ("en", "Call 136-2468-0135 now.", "136-2468-0135"), ("de", "Ludwig XIV. war hier.", "XIV."),
])  # fmt: skip
def test_a_number_is_heard_with_its_sign_and_unit_at_once(
    language: str, text: str, number: str
) -> None:
    spoken = speakable(text, language)
    start, end = text.index(number), text.index(number) + len(number)
    ends = {len(spoken.heard(n)) for n in range(len(spoken.text) + 1)}
    assert not ends & set(range(start + 1, end)), sorted(ends)
    assert ends & {start, start - 1}
    assert end in ends


def test_what_is_never_spoken_is_heard_with_what_follows() -> None:
    spoken = speakable("Look:\n```\ncode\n```\nDone it is.")
    assert spoken.text == "Look: Done it is."
    assert spoken.heard(len("Look: Done")) == "Look:\n```\ncode\n```\nDone"


# --- the lexicon and languages -----------------------------------------------------------------


def test_the_lexicon_comes_last_and_spares_its_words_from_spelling() -> None:
    lexicon = Lexicon({"SQL": "sequel", "five": "fife"})
    assert speakable("SQL for 5 and API", "en", lexicon).text == "sequel for fife and A P I"


@pytest.mark.parametrize(
    ("text", "language"),
    [("今天", "zh"), ("今日は", "ja"), ("Hello", "en"), ("Hello 你 there", "en"), ("5", "en")],
)
def test_an_unknown_language_is_told_from_the_script(text: str, language: str) -> None:
    assert guess_language(text) == language


def test_regions_do_not_matter() -> None:
    assert speakable("3,5 km", "pt-BR").text == speakable("3,5 km", "pt_PT").text


def test_other_languages_get_their_cardinals() -> None:
    assert speakable("У меня 5 книг", "ru").text == "У меня пять книг"
    assert speakable("kod 5a-12", "pl").text == "kod 5a-12"


# --- any text ----------------------------------------------------------------------------------

PIECES = [case.text for case in CASES]
ANY_TEXT = (
    st.lists(st.sampled_from(PIECES) | st.text(max_size=6), max_size=6).map(" ".join)
    | st.text(max_size=80)
    | st.text(alphabet="0123456789.,:/-–$€%x ^()'\"[]*_#`|<>\n", max_size=40)
)


def check(spoken: Spoken, text: str) -> None:
    assert spoken.original == text
    assert len(spoken.origin) == len(spoken.text) + 1
    assert all(a <= b for a, b in pairwise(spoken.origin))
    assert spoken.heard(len(spoken.text)) == text
    assert all(text.startswith(spoken.heard(n)) for n in range(0, len(spoken.text), 7))


@settings(max_examples=400, deadline=None)
@given(text=ANY_TEXT, language=st.sampled_from(LANGUAGES))
def test_any_text_has_a_way_back_and_nothing_written_for_the_eye(text: str, language: str) -> None:
    spoken = speakable(text, language)
    check(spoken, text)
    assert not re.search(r"[*_#`|\[\]{}<>\\]|\s\s|[\n\t]", spoken.text)
    assert spoken.text == spoken.text.strip()


@settings(max_examples=300, deadline=None)
@given(text=ANY_TEXT)
def test_no_digit_is_left_in_english(text: str) -> None:
    assert not re.search("[0-9]", speakable(text, "en").text)


@settings(max_examples=100, deadline=None)
@given(text=st.text(alphabet="कतनमसखगािीुेोंँ्ॉสวัดีครับไทยَُِّمرحباهل ", max_size=60))
def test_combining_marks_are_kept(text: str) -> None:
    def marks(chars: str) -> list[str]:
        return [char for char in chars if unicodedata.category(char).startswith("M")]

    assert marks(speakable(text, "hi").text) == marks(text.strip()) or not any(
        char.isalpha() for char in text
    )


@settings(max_examples=100, deadline=None)
@given(texts=st.lists(st.sampled_from(PIECES), min_size=1, max_size=8), data=st.data())
def test_how_the_stream_was_split_does_not_change_what_is_said(
    texts: list[str], data: st.DataObject
) -> None:
    text = ". ".join(texts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=10)))
    stream = SentenceStream()
    pieces: list[TextPiece] = []
    for a, b in pairwise([0, *cuts, len(text)]):
        pieces += stream.push(text[a:b])
    pieces += stream.flush()
    whole = SentenceStream()
    expected = whole.push(text) + whole.flush()
    said = [[speakable(p.text, "en").text for p in each] for each in (pieces, expected)]
    assert said[0] == said[1]
