"""No words lie over others, whatever is said when."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.records.report.layout import LEAST_PX, SpokenWords, placed, rows_of, wrapped

SPOKEN = st.lists(
    st.builds(SpokenWords, st.floats(0, 60), st.floats(0, 60), st.text(max_size=80)), max_size=20
)


@given(SPOKEN, st.floats(50, 2000), st.floats(1, 20))
def test_words_never_overlap_and_stay_in_the_picture(
    spoken: list[SpokenWords], width_px: float, char_px: float
) -> None:
    spoken.sort(key=lambda each: each.at_s)
    found = placed(spoken, (10.0, 20.0), width_px, char_px=char_px)
    for one, other in itertools.pairwise(found):
        assert one.left_px + one.width_px <= other.left_px
    for each in found:
        assert 0 <= each.left_px <= each.left_px + each.width_px <= width_px + 1e-6
        assert each.width_px >= LEAST_PX
        assert 1 <= len(each.lines) <= 3
        assert all(len(line) * char_px <= max(each.width_px, char_px) for line in each.lines)


def test_words_are_where_they_were_said() -> None:
    first, second = placed(
        [SpokenWords(1.0, 2.0, "what is it"), SpokenWords(3.0, 4.0, "and now")],
        (0.0, 10.0),
        1000.0,
        char_px=6,
    )
    assert (first.left_px, second.left_px) == (100.0, 300.0)
    assert first.lines == ("what is it",)


def test_words_without_room_are_left_out() -> None:
    crowd = [SpokenWords(1.0 + number / 100, 1.5, "word") for number in range(10)]
    assert len(placed(crowd, (0.0, 10.0), 1000.0, char_px=6)) == 1
    assert placed([SpokenWords(30.0, 31.0, "later")], (0.0, 10.0), 1000.0, char_px=6) == []
    assert placed([SpokenWords(1.0, 2.0, "before")], (5.0, 10.0), 1000.0, char_px=6) == []


def test_words_that_go_on_from_the_row_before_are_at_its_beginning() -> None:
    (found,) = placed([SpokenWords(8.0, 14.0, "a long answer")], (10.0, 20.0), 1000.0, char_px=6)
    assert found.left_px == 0.0


def test_lines() -> None:
    assert wrapped("one two three four five six", 9, 2) == ("one two", "three…")
    assert wrapped("W" * 30, 10, 3) == ("W" * 10, "W" * 10, "W" * 10)
    assert wrapped("", 10, 3) == ()


@pytest.mark.parametrize(
    ("duration_s", "rows"), [(0.0, 1), (9.9, 1), (10.0, 1), (10.1, 2), (30.0, 3)]
)
def test_rows(duration_s: float, rows: int) -> None:
    found = rows_of(duration_s, 10.0)
    assert len(found) == rows
    assert found[0] == (0.0, 10.0)
