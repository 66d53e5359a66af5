"""Wake words in one stream."""

from __future__ import annotations

import pytest

from s2s.testing.simulator import tone
from s2s.transport.wyoming.framing import WireFault
from s2s.transport.wyoming.waking import WakeListening, Woken
from tests.support.wyoming import LoudWord, fake_wyoming, silence, spoken

TWO = {"loud": LoudWord(), "other": LoudWord()}


def test_the_words_that_are_asked_for_are_told_with_their_time() -> None:
    listening = WakeListening(fake_wyoming(wake_words=TWO), ["other"])
    assert listening.hear(silence(0.32)) == []
    assert listening.hear(tone(0.5)) == [Woken("other", 342)]
    assert listening.hear(spoken((silence, 0.5), (tone, 0.5))) == []


def test_without_names_all_are_listened_for() -> None:
    listening = WakeListening(fake_wyoming(wake_words=TWO), [])
    assert {woken.name for woken in listening.hear(tone(0.5))} == {"loud", "other"}


def test_a_word_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(WireFault, match="No wake word 'x'; there are loud, other"):
        WakeListening(fake_wyoming(wake_words=TWO), ["x"])
    with pytest.raises(WireFault, match="none are installed"):
        WakeListening(fake_wyoming(wake_words={}), ["x"])
    with pytest.raises(WireFault, match=r"s2s\[wake-word\]"):
        WakeListening(fake_wyoming(wake_words={}), [])
