"""Words are told just before their sound."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from s2s.transport.realtime.captions import Captions


def test_a_word_is_told_when_the_one_before_it_has_been_said():
    captions = Captions()
    captions.announce("One two three.")
    assert captions.before("") == "One"
    assert captions.before("") == ""
    assert captions.before("One") == ""  # it is said in this block; "two" begins behind it
    assert captions.before("One") == " two"
    assert captions.before("One two three.") == " three."
    assert captions.rest() == ""


def test_what_has_no_sound_is_told_in_the_end():
    captions = Captions()
    captions.announce("Hm. ")
    captions.announce("Yes")
    assert captions.before("Hm.") == "Hm."
    assert captions.told == "Hm."
    assert captions.rest() == " Yes"
    assert captions.told == "Hm. Yes"


@given(
    st.lists(st.text(alphabet="ab \n漢.", max_size=8), max_size=6),
    st.lists(st.integers(0, 60), max_size=20),
)
def test_what_was_told_is_a_beginning_of_the_text_and_in_the_end_all(pieces, said):
    captions = Captions()
    told = ""
    text = ""
    steps = [*[("announce", p) for p in pieces], *[("said", n) for n in sorted(said)]]
    for kind, value in steps:
        if kind == "announce":
            captions.announce(value)
            text += value
        else:
            told += captions.before(text[:value])
            assert text.startswith(told)
            assert len(told) >= min(value, len(text))
    assert told + captions.rest() == text
