"""A text that is made speakable while it is written: the same as all at once, and early."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from s2s.tts.text import Lexicon, SpeakableStream, speakable

PLAIN = {
    "en": "I think that whales are the largest animals in the sea, and they eat very small food. "
    "Well, it isn't easy! Their May march saw a fair Mark; second min Sat down",
    "de": "Ich denke, dass Wale die größten Tiere im Meer sind. Sie fressen kleine Krebse! Mai",
    "fr": "Je pense que les baleines sont très grandes. C'est vrai, l'eau aujourd'hui mars",
    "es": "Creo que las ballenas y los delfines son grandes. ¿Verdad? El mayo pasado",
    "it": "Penso che le balene e l'acqua siano grandi. È vero! Maggio scorso",
    "pt": "Acho que as baleias e os golfinhos são grandes. Não é? Em maio passado",
    "ru": "Я думаю, что киты очень большие и живут в море. Это правда!",
}
ODD_TEXT = """
5 3.5 1st 2019 $5 €3,50 10% 3:30 5-7 -4 1,000 12. 3) V XIV II D. J. U.S. NASA Dr. Mr. St. etc. e.g.
p.m. No. **bold** *it lit* `code() x` [a link](http://a.b/c) https://a.b/c a@b.com # - | --- ```
~~x~~ $x + y$ $$ & < > <b> </b> { } ( ) (so) "quoted" “so” … ... — – -- 😀 :) word/word km kg °C
Jan. Mon Louis Charles Elizabeth Chapter page half ratio score million dollars percent per of the to
"""
ODD = [*ODD_TEXT.split(), "\n", "\n\n", "\n- ", "\n# "]


def split(text: str, cuts: list[int], language: str, lexicon: Lexicon | None = None) -> list[str]:
    """What is said of `text` after each part of it, and at its end."""
    stream = SpeakableStream(language, lexicon)
    ends = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    said = [stream.push(text[a:b]) for a, b in pairwise(ends)]
    return [*said, stream.end()]


def texts(language: str) -> st.SearchStrategy[str]:
    words = st.sampled_from(PLAIN[language].split())
    return st.lists(words | words | st.sampled_from(ODD), max_size=40).map(" ".join)


@pytest.mark.parametrize("language", PLAIN)
def test_any_split_gives_the_text_of_the_whole(language: str) -> None:
    @settings(max_examples=150, deadline=None)
    @given(text=texts(language), cuts=st.lists(st.integers(0, 500), max_size=30))
    def same(text: str, cuts: list[int]) -> None:
        assert "".join(split(text, cuts, language)) == speakable(text, language).text

    same()


@pytest.mark.parametrize("unit", ["km", "kg", "ml"])
@pytest.mark.parametrize("language", PLAIN)
def test_a_unit_that_a_later_number_would_change_waits(unit: str, language: str) -> None:
    word = PLAIN[language].split()[1]
    text = f"{word} {unit} {word} {word} {word} {word} {word} 5"
    assert "".join(split(text, list(range(99)), language)) == speakable(text, language).text


@settings(max_examples=150, deadline=None)
@given(text=texts("en"), cuts=st.lists(st.integers(0, 500), max_size=12))
@example("I think 5 whales are here now today", [8])
def test_what_was_given_stands_at_every_moment(text: str, cuts: list[int]) -> None:
    said = ""
    for new in split(text, cuts, "en"):
        said += new
        assert speakable(text, "en").text.startswith(said)


@pytest.mark.parametrize("language", PLAIN)
def test_plain_words_are_given_one_word_later(language: str) -> None:
    stream = SpeakableStream(language)
    text = " ".join(PLAIN[language].split()[:8]) + " "
    given_until = [(at, stream.push(char)) for at, char in enumerate(text)]
    ends = [at for at, new in given_until if new]
    spaces = [at for at, char in enumerate(text) if char == " "]
    assert ends == spaces[1:]


def test_what_rules_read_together_waits_for_three_plain_words() -> None:
    stream = SpeakableStream("en")
    assert stream.push("There were 5 million ") == "There "
    assert stream.push("US dollars in the ") == ""
    assert stream.push("old bank, ") == "were five million U S dollars in the old "
    assert stream.end() == "bank,"


@pytest.mark.parametrize("opened", ["`code", "[a link", "$$x", "a <b", "{x"])
def test_what_may_be_closed_later_waits(opened: str) -> None:
    stream = SpeakableStream("en")
    said = stream.push(f"Here it is {opened} and so on and on it goes for a ")
    assert said in ("Here it ", "Here it is ")


def test_respellings_of_several_words_wait_for_all_of_them() -> None:
    lexicon = Lexicon({"very small food": "krill", "whales": "wales"})
    text = "The whales eat very small food all day long and "
    said = split(text, list(range(len(text))), "en", lexicon)
    assert "".join(said) == speakable(text, "en", lexicon).text
    assert "krill" in "".join(said[:-1])


def test_what_was_heard_is_told_as_it_was_written() -> None:
    stream = SpeakableStream("en")
    said = stream.push("It cost $5 then, and nothing more than that was ") + stream.end()
    assert said == stream.given == "It cost five dollars then, and nothing more than that was"
    assert stream.heard(len("It cost five")) == "It cost "
    assert stream.heard(len("It cost five dollars then")) == "It cost $5 then"
    assert stream.heard(len(said)) == stream.original


@pytest.mark.parametrize("text", ["", " \n ", "😀 ```x```"])
def test_nothing_to_say_is_nothing(text: str) -> None:
    stream = SpeakableStream("en")
    assert stream.push(text) + stream.end() == ""
