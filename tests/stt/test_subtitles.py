"""What was said when, in the forms that clients want."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from s2s.stt.base import TimedWord
from s2s.stt.subtitles import SaidSegment, a_word_each, srt, verbose, vtt
from s2s.stt.word_times import words_in

SAID = [
    SaidSegment("Hello there.", 0.5, 1.75, "en", -0.2),
    SaidSegment("Bread <b> & butter --> jam.", 3661.0, 3664.0412),
]


def test_srt():
    assert srt(SAID) == (
        "1\n00:00:00,500 --> 00:00:01,750\nHello there.\n\n"
        "2\n01:01:01,000 --> 01:01:04,041\nBread <b> & butter --> jam.\n"
    )
    assert srt([]) == ""


def test_vtt():
    assert vtt(SAID) == (
        "WEBVTT\n\n00:00:00.500 --> 00:00:01.750\nHello there.\n\n"
        "01:01:01.000 --> 01:01:04.041\nBread &lt;b&gt; &amp; butter --&gt; jam.\n"
    )
    assert vtt([]) == "WEBVTT\n"


def test_verbose():
    told = verbose(SAID[:1], 2.0, "en", words=True)
    assert told["text"] == "Hello there."
    assert told["language"] == "en"
    assert told["duration"] == 2.0
    assert told["words"] == [
        {"word": "Hello", "start": 0.5, "end": 1.077},
        {"word": "there.", "start": 1.077, "end": 1.75},
    ]
    segment = told["segments"][0]  # pyright: ignore[reportIndexIssue]
    assert segment["start"] == 0.5
    assert segment["avg_logprob"] == -0.2
    assert "words" not in verbose(SAID, 2.0, None, words=False)


def test_words_have_the_times_that_were_told():
    timed = (TimedWord("Hello", 0.6, 1.0004), TimedWord("there.", 1.2, 1.7))
    segment = SaidSegment("Hello there.", 0.5, 1.75, timed=timed)
    assert verbose([segment], 2.0, "en", words=True)["words"] == [
        {"word": "Hello", "start": 0.6, "end": 1.0},
        {"word": "there.", "start": 1.2, "end": 1.7},
    ]
    assert [(each.text, each.start_s) for each in a_word_each([segment])] == [
        ("Hello", 0.6),
        ("there.", 1.2),
    ]


@given(st.text(), st.floats(0, 1e5), st.floats(0, 1e3))
def test_words_fill_their_segment_in_order(text: str, start_s: float, lasts_s: float):
    segment = SaidSegment(text, start_s, start_s + lasts_s)
    words = segment.words()
    assert [word.text for word in words] == words_in(text)
    times = [start_s, *(time for word in words for time in (word.start_s, word.end_s))]
    assert all(later >= earlier - 0.001 for earlier, later in itertools.pairwise(times))
    if words:
        assert abs(words[-1].end_s - segment.end_s) < 0.01
