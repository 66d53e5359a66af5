"""The token budget: the documented formula, term by term."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.tts.speech_time import (
    cjk_chars,
    estimate_seconds,
    frame_cap,
    head_start_s,
    token_budget,
)


def test_words_decide_for_short_words() -> None:
    assert estimate_seconds("a b c d e f g h i j k l m") == pytest.approx(13 / 2.6 + 1.0)


def test_characters_decide_for_long_words() -> None:
    assert estimate_seconds("x" * 140) == pytest.approx(140 / 14 + 1.0)


def test_cjk_characters_decide_for_chinese() -> None:
    assert estimate_seconds("你" * 55) == pytest.approx(55 / 5.5 + 1.0)


def test_every_punctuation_mark_is_half_a_second() -> None:
    assert estimate_seconds("a, b.") - estimate_seconds("a b") == pytest.approx(1.0)


def test_kana_and_hangul_count_as_cjk() -> None:
    assert cjk_chars("漢かカ한 a。") == 4


def test_tokens_are_seconds_times_rate_times_safety_rounded_up_to_chunks() -> None:
    text = "word " * 120
    budget = token_budget(text, chunk_frames=8)
    exact = math.ceil((120 / 2.6 + 1.0) * 12.5 * 1.35)
    assert budget.tokens == math.ceil(exact / 8) * 8
    assert not budget.is_cut


def test_at_least_360_tokens() -> None:
    assert token_budget("Hi.", chunk_frames=8).tokens == 360


def test_the_maximum_cuts_and_says_so() -> None:
    budget = token_budget("word " * 400, chunk_frames=8, max_new_tokens=1536)
    assert budget.tokens == 1536
    assert budget.is_cut


def test_bad_limits_are_refused() -> None:
    with pytest.raises(ValueError, match="chunk_frames 0"):
        token_budget("x", chunk_frames=0)


def test_frame_cap_follows_the_text() -> None:
    assert frame_cap(0) == 50
    assert frame_cap(3) == 50
    assert frame_cap(10) == 105
    assert frame_cap(10, frames_per_token=6) == 85


def test_a_cap_for_less_than_no_text_is_refused() -> None:
    with pytest.raises(ValueError, match="-1"):
        frame_cap(-1)


@given(text=st.text(max_size=300), more=st.text(max_size=50), chunk=st.integers(1, 32))
def test_more_text_never_gets_less(text: str, more: str, chunk: int) -> None:
    budget = token_budget(text, chunk_frames=chunk)
    assert 360 <= budget.tokens <= 1536
    assert estimate_seconds(f"{text} {more}") >= estimate_seconds(text)


@pytest.mark.parametrize(("pace", "wanted_s"), [(0.0, 0.0), (0.9, 0.0), (1.0, 0.0), (2.0, 2.0)])
def test_a_voice_that_is_slower_than_speech_needs_a_head_start(
    pace: float, wanted_s: float
) -> None:
    assert head_start_s(4.0, pace) == wanted_s
