"""Texts that are spoken."""

from __future__ import annotations

import pytest

from s2s.transport.wyoming.framing import WireFault
from s2s.transport.wyoming.speaking import SentenceFeed, SpokenTexts, plain
from tests.support.serving import Voice
from tests.support.wyoming import fake_wyoming


def test_a_voice_is_asked_for_by_name_or_left_to_the_server() -> None:
    voice = Voice()
    services = fake_wyoming(synthesizer=voice)
    for asked in ({"name": "ben"}, {"name": "default"}, {}, {"language": "en_US"}):
        list(SpokenTexts(services, asked).sound(["hello there"], lambda: False))
    assert [each[1] for each in voice.spoken] == ["ben", None, None, None]
    assert {each[2] for each in voice.spoken} == {"en"}
    with pytest.raises(WireFault, match="No voice 'eve'; there is ada, ben"):
        SpokenTexts(services, {"name": "eve"})


def test_one_text_follows_another_and_markup_is_not_spoken() -> None:
    voice = Voice()
    spoken = SpokenTexts(fake_wyoming(synthesizer=voice), {})
    blocks = list(spoken.sound(["**one** two", "5 €"], lambda: False))
    assert [each[0] for each in voice.spoken] == ["one two", "five euros"]
    assert sum(len(block) for block in blocks) == 4 * spoken.rate_hz // 10
    assert list(spoken.sound(["three"], lambda: True)) == []


def test_sentences_leave_while_the_text_is_written() -> None:
    feed = SentenceFeed()
    feed.push("This is the first sentence. This")
    sentences = iter(feed)
    assert next(sentences) == "This is the first sentence. "
    feed.push(" is the second")
    feed.end()
    feed.end()
    assert list(sentences) == ["This is the second"]
    assert feed.characters == 46


def test_ssml_is_read_without_its_marks() -> None:
    assert plain("a <b>", "text") == "a <b>"
    ssml = "<speak>one &amp; <break time='1s'/>two</speak>"
    assert plain(ssml, "ssml").split() == ["one", "&", "two"]
