"""Cutting long texts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from s2s.tts.qwen3.text.segments import MAX_CHARS, segments

TEXT = st.text(st.sampled_from("ab. !?,;。，\n…é你1"), max_size=900)


def letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


@given(TEXT)
def test_nothing_that_is_heard_is_lost_and_no_segment_is_long(text: str) -> None:
    pieces = segments(text)
    assert letters("".join(pieces)) == letters(text)
    assert all(0 < len(piece) <= MAX_CHARS for piece in pieces)
    assert all(letters(piece) for piece in pieces)


@given(st.text(st.sampled_from("ab ,.!"), max_size=MAX_CHARS))
def test_a_short_text_stays_whole(text: str) -> None:
    assert segments(text) == ([text.strip()] if letters(text) else [])


def test_sentences_stay_together_as_long_as_they_fit() -> None:
    assert segments("One two. Three! Four five? Six.", 16) == ["One two. Three!", "Four five? Six."]


def test_without_sentence_ends_it_is_cut_at_commas_then_words_then_anywhere() -> None:
    assert segments("one, two, three", 10) == ["one, two,", "three"]
    assert segments("one two three", 8) == ["one two", "three"]
    assert segments("abcdefgh", 3) == ["abc", "def", "gh"]
    assert segments("今天天气很好。我们去公园吧。", 8) == ["今天天气很好。", "我们去公园吧。"]


def test_punctuation_alone_says_nothing() -> None:
    assert segments("... !? -- 。。") == []


def test_ten_thousand_characters() -> None:
    pieces = segments("x" * 10_000)
    assert [len(piece) for piece in pieces] == [*[MAX_CHARS] * 33, 100]
