"""A text that is told to a server while it is written, and again to the next answer."""

from __future__ import annotations

import threading
from contextlib import closing

import pytest

from s2s.system.remote import RemoteError
from s2s.tts.codec_stream.feeding import TextFeed
from s2s.tts.qwen3.interfaces import never
from s2s.tts.qwen3.remote.dictation import Dictation
from tests.support.patience import PATIENCE_S

THREAD = "qwen3-dictation"


class Answer:
    """What one answer was told."""

    def __init__(self) -> None:
        self.text = ""
        self.ended = False
        self.told = threading.Condition()

    def __call__(self, text: str, ended: bool) -> None:
        with self.told:
            assert not self.ended
            self.text += text
            self.ended = ended
            self.told.notify_all()

    def has(self, text: str, *, ended: bool = False) -> bool:
        with self.told:
            return self.told.wait_for(lambda: (self.text, self.ended) == (text, ended), PATIENCE_S)


def threads() -> int:
    return sum(each.name == THREAD for each in threading.enumerate())


def test_an_answer_is_told_the_text_as_it_comes_and_its_end_once() -> None:
    feed, answer = TextFeed(), Answer()
    with closing(Dictation(feed, never)) as dictation:
        dictation.tell(answer)
        feed.push("Hel")
        assert answer.has("Hel")
        assert dictation.goes_on
        feed.push("lo.")
        assert answer.has("Hello.")
        feed.end()
        assert answer.has("Hello.", ended=True)
        dictation.finish()
        assert not dictation.goes_on
    assert threads() == 0


def test_the_next_answer_is_told_all_of_it_and_the_one_before_nothing_more() -> None:
    feed, first, second, third = TextFeed(), Answer(), Answer(), Answer()
    with closing(Dictation(feed, never)) as dictation:
        dictation.tell(first)
        feed.push("Hello")
        assert first.has("Hello")
        dictation.leave()
        feed.push(" you")
        dictation.tell(second)
        assert second.has("Hello you")
        feed.push(".")
        feed.end()
        assert second.has("Hello you.", ended=True)
        dictation.tell(third)
        assert third.has("Hello you.", ended=True)
        assert first.text == "Hello"


def test_who_closes_it_ends_a_text_that_is_waited_for() -> None:
    feed, answer = TextFeed(), Answer()
    dictation = Dictation(feed, never)
    dictation.tell(answer)
    feed.push("Hel")
    assert answer.has("Hel")
    dictation.close()
    dictation.close()
    assert threads() == 0
    feed.push("lo.")
    assert (answer.text, answer.ended) == ("Hel", False)
    assert feed.read(never) is None


def test_a_line_that_is_lost_loses_no_text() -> None:
    feed, answer = TextFeed(), Answer()
    lost = threading.Event()

    def break_off(text: str, ended: bool) -> None:
        lost.set()
        raise RemoteError("ws://test was lost")

    with closing(Dictation(feed, never)) as dictation:
        dictation.tell(break_off)
        feed.push("Hel")
        assert lost.wait(PATIENCE_S)
        feed.push("lo.")
        feed.end()
        dictation.finish()
        dictation.tell(answer)
        assert answer.has("Hello.", ended=True)
        with pytest.raises(RemoteError):
            dictation.tell(break_off)
