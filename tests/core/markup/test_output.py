"""What is left of an answer is put together: gaps, calls, text that was thinking after all."""

from __future__ import annotations

from s2s.core.markup.calls import WrittenCall
from s2s.core.markup.output import Output, Visible, Withdrawn


def text_of(items: list[object]) -> str:
    return "".join(each.text for each in items if isinstance(each, Visible))


def test_words_around_a_gap_stay_apart() -> None:
    out = Output(held=False)
    out.keep("one", 0)
    out.leave_gap()
    out.keep("two", 20)
    assert out.take() == [Visible("one", 0), Visible(" two", 20, spaced=True)]
    assert out.take() == []


def test_a_gap_beside_white_space_or_a_full_stop_adds_nothing() -> None:
    out = Output(held=False)
    out.keep("one ", 0)
    out.leave_gap()
    out.keep("  two", 9)
    out.leave_gap()
    out.keep(".", 30)
    assert out.take() == [Visible("one ", 0), Visible("two", 11), Visible(".", 30)]


def test_a_gap_between_chinese_characters_adds_nothing() -> None:
    out = Output(held=False)
    out.keep("你", 0)
    out.leave_gap()
    out.keep("好", 9)
    assert text_of(list(out.take())) == "你好"


def test_held_text_that_was_thinking_is_dropped_and_its_calls_stay() -> None:
    out = Output(held=True)
    out.keep("I look. ", 0)
    out.call(WrittenCall("{}", "look"))
    assert out.take() == []
    out.end_unopened_thought()
    out.keep("Paris.", 30)
    assert out.take() == [WrittenCall("{}", "look"), Visible("Paris.", 30)]
    assert out.unopened


def test_held_text_is_the_answer_where_no_thought_ends() -> None:
    out = Output(held=True)
    out.keep("Paris.", 0)
    assert text_of(list(out.finish())) == "Paris."
    assert not out.unopened


def test_text_before_an_unopened_end_is_withdrawn_once_more_follows() -> None:
    out = Output(held=False)
    out.keep("I look.", 0)
    out.end_unopened_thought()
    assert out.take() == [Visible("I look.", 0)]
    out.keep("\n", 20)
    out.keep("Paris.", 21)
    assert out.take()[-2:] == [Withdrawn(), Visible("Paris.", 21)]
    assert out.unopened


def test_nothing_after_an_unopened_end_withdraws_nothing() -> None:
    out = Output(held=False)
    out.keep("Paris.", 0)
    out.end_unopened_thought()
    out.keep("\n", 20)
    assert Withdrawn() not in out.finish()


def test_a_thought_that_was_opened_ends_without_doubt() -> None:
    out = Output(held=False)
    out.keep("Well. ", 0)
    out.open_thought()
    out.end_unopened_thought()
    out.keep("Paris.", 40)
    assert Withdrawn() not in out.take()
