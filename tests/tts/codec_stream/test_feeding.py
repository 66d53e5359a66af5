"""A text that is fed: read as it comes, and waited for without computing."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from s2s.tts.codec_stream.feeding import TextFeed, all_of
from tests.support.patience import PATIENCE_S


def going_on() -> bool:
    return False


def test_what_was_written_is_read_at_once_and_its_end_is_empty() -> None:
    feed = TextFeed()
    assert feed.quiet
    feed.push("Hel")
    feed.push("lo.")
    assert not feed.quiet
    assert feed.read(going_on) == "Hello."
    feed.end()
    assert feed.read(going_on) == ""
    with pytest.raises(ValueError, match="comes too late"):
        feed.push("more")


def test_what_is_closed_or_stale_is_read_no_further() -> None:
    feed = TextFeed()
    feed.push("Hel")
    assert feed.read(lambda: True) is None
    feed.close()
    feed.push("lo.")
    assert feed.read(going_on) is None


def test_while_it_is_waited_for_nothing_is_computed() -> None:
    waiting, said = threading.Event(), list[str | None]()
    inside: list[bool] = []

    @contextmanager
    def waits() -> Generator[None]:
        inside.append(True)
        waiting.set()
        yield
        inside.pop()

    feed = TextFeed(waits)
    reader = threading.Thread(target=lambda: said.append(feed.read(going_on)))
    reader.start()
    assert waiting.wait(PATIENCE_S)
    assert inside == [True]
    feed.push("Hi.")
    reader.join()
    assert said == ["Hi."]
    assert inside == []
    feed.push("Not waited for.")
    waiting.clear()
    assert feed.read(going_on) == "Not waited for."
    assert not waiting.is_set()


def test_all_of_a_text_is_there_once_it_has_ended() -> None:
    feed = TextFeed()
    feed.push("Hello.")
    writer = threading.Thread(target=lambda: (feed.push(" All"), feed.push("."), feed.end()))
    writer.start()
    assert all_of(feed, going_on) == "Hello. All."
    writer.join()
    feed = TextFeed()
    feed.push("Hello.")
    feed.close()
    assert all_of(feed, going_on) is None
