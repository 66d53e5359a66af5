"""Which text has been heard, and how much sound is ahead."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from s2s.tts.marks import SoundAhead, SpokenText, whole_words


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


CHUNKS = st.lists(
    st.tuples(st.integers(0, 50), st.one_of(st.none(), st.integers(0, 60))), max_size=12
)


@given(chars=st.integers(0, 40), expected=st.integers(0, 300), chunks=CHUNKS)
def test_it_only_goes_on_and_ends_with_the_text(
    chars: int, expected: int, chunks: list[tuple[int, int | None]]
) -> None:
    spoken = SpokenText(chars, expected)
    for samples, told in chunks:
        spoken.add(samples, told)
    spoken.finish()
    total = sum(samples for samples, _ in chunks)
    positions = [spoken.at(sample) for sample in range(total + 2)]
    assert positions == sorted(positions)
    assert positions[-1] == chars
    assert all(0 <= position <= chars for position in positions)


def test_what_a_backend_tells_is_kept() -> None:
    spoken = SpokenText(10, 1000)
    spoken.add(100, 4)
    spoken.add(100, 10)
    assert [spoken.at(sample) for sample in (0, 50, 100, 150, 200)] == [0, 2, 4, 7, 10]


def test_what_it_does_not_tell_is_in_proportion() -> None:
    spoken = SpokenText(10, 200)
    spoken.add(100, None)
    assert spoken.at(100) == 5


@given(text=st.text(alphabet="ab ,.", max_size=20), chars=st.integers(-1, 25))
def test_no_word_is_cut(text: str, chars: int) -> None:
    kept = whole_words(text, chars)
    assert text.startswith(kept)
    assert len(kept) <= max(0, chars)
    rest = text[len(kept) :]
    assert not (kept and rest and kept[-1].isalnum() and rest[0].isalnum())
