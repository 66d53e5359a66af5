"""Which text has been heard, and how much sound is ahead."""

from __future__ import annotations

from s2s.tts.marks import SoundAhead, SpokenText


def test_a_text_that_grows_is_told_in_proportion_and_never_beyond_what_was_said() -> None:
    marks = SpokenText(0, 0)
    marks.reads_on(10, 1000)
    marks.add(500, None)
    assert marks.at(500) == 5
    marks.reads_on(30, 3000)
    marks.add(1000, None)
    assert marks.at(1500) == 15
    assert marks.at(1000) == 10
    marks.add(9000, None)
    assert marks.at(10_500) == 30
    marks.finish()
    assert marks.at(10_500) == 30


def test_sound_is_enough_when_the_next_chunk_can_take_twice_as_long_as_the_last() -> None:
    ahead = SoundAhead(1000)
    assert not ahead.is_enough(5.0)
    ahead.leaves(1000, 5.0)
    assert ahead.is_enough(5.0)
    assert not ahead.is_enough(5.8)
    ahead.took(0.5)
    assert not ahead.is_enough(5.0)
    ahead.leaves(500, 5.0)
    assert ahead.is_enough(5.0)


def test_sound_that_ran_dry_does_not_count_twice() -> None:
    ahead = SoundAhead(1000)
    ahead.leaves(1000, 0.0)
    ahead.leaves(400, 9.0)
    assert ahead.is_enough(9.0)
    assert not ahead.is_enough(9.2)
