"""Calls are found again by what was asked, or by what is most like it."""

from __future__ import annotations

from s2s.core.markup import Call
from s2s.records.keys import of_text
from s2s.records.replay.memory import CallMemory, answered, pieces_of, told_chunks


def answer(
    at_s: float, said: str, *pieces: object, key: str = "", whole: bool = True
) -> dict[str, object]:
    told = [[0.1, piece] for piece in pieces]
    return {
        "call": "answer", "key": key or said, "at_s": at_s, "took_s": 0.1 * len(told),
        "said": said, "pieces": told, "whole": whole,
    }  # fmt: skip


def spoken(at_s: float, text: str, *counts: int, whole: bool = True) -> dict[str, object]:
    chunks = [[0.05, count, len(text) // len(counts), 0.2] for count in counts]
    return {
        "call": "speak", "key": of_text(text), "at_s": at_s, "took_s": 1.0, "text": text,
        "chunks": chunks, "whole": whole,
    }  # fmt: skip


def test_a_question_is_answered_as_often_as_it_was_asked() -> None:
    calls = [
        {"call": "end_of_turn", "key": "k", "at_s": at_s, "took_s": 0.1, "value": value}
        for at_s, value in ((2.0, 0.5), (1.0, 0.25))
    ]
    memory = CallMemory(calls)
    values = [note.value for _ in range(3) if (note := memory.next("end_of_turn", "k"))]
    assert values == [0.25, 0.5, 0.5], "in the order in which it was asked"
    assert memory.next("end_of_turn", "other") is None
    assert memory.next("own_voice", "k") is None
    assert memory.typical_s("end_of_turn") == 0.1
    assert memory.typical_s("own_voice") == 0.0


def test_an_answer_is_found_by_the_words_most_like_it() -> None:
    memory = CallMemory(
        [
            answer(1.0, "what is the weather in london", "Rain."),
            answer(5.0, "and in paris", "Sun."),
            answer(9.0, "and in paris", "More ", "sun.", key="later"),
        ]
    )
    found = memory.answer("unknown", "what's the weather in London", 4.0)
    assert found is not None
    assert answered(found) == "Rain."
    longest = memory.answer("unknown", "and in paris", 4.0)
    assert longest is not None
    assert answered(longest) == "More sun."
    assert memory.answer("unknown", "tell me a story", 4.0) is None
    exact = memory.answer("later", "whatever", 0.0)
    assert exact is not None
    assert exact.at_s == 9.0


def test_an_answer_that_was_given_up_goes_on_as_another_to_the_same_question() -> None:
    memory = CallMemory(
        [
            answer(1.0, "why", "One ", "two", key="k", whole=False),
            answer(2.0, "why", "One ", "two three ", "four.", key="k"),
        ]
    )
    note = memory.next("answer", "k")
    assert note is not None
    assert [text for _, text in memory.rest_of(note)] == [" three ", "four."]
    alone = CallMemory([answer(1.0, "why", "One", key="k", whole=False)])
    note = alone.next("answer", "k")
    assert note is not None
    assert alone.rest_of(note) == []


def test_a_call_of_a_tool_is_followed_by_what_was_said_then() -> None:
    call = {"name": "look", "arguments": "{}"}
    memory = CallMemory([answer(1.0, "why", "Let me see. ", call), answer(3.0, "why", "So.")])
    note = memory.answer("why", "why", 0.0)
    assert note is not None
    assert pieces_of(note)[1][1] == Call("look", "{}")
    later = memory.after_call(note)
    assert later is not None
    assert answered(later) == "So."
    assert memory.after_call(later) is None


def test_how_a_voice_speaks_what_it_did_not_speak_then() -> None:
    memory = CallMemory([spoken(1.0, "x" * 10, 1000, 1000), spoken(2.0, "y", 5, whole=False)])
    assert memory.pace() == (200.0, 0.05, 0.05 / 2000)
    assert CallMemory([]).pace() == (1600.0, 0.0, 0.0)
    first = memory.beginning_with("xx")
    assert first is not None
    assert [chunk.samples for chunk in told_chunks(first)] == [1000, 1000]
    assert memory.beginning_with("z") is None


def test_what_is_damaged_is_left_out() -> None:
    memory = CallMemory([{}, {"call": "answer"}, {**answer(1.0, "why", "So."), "pieces": [1, [2]]}])
    note = memory.answer("why", "why", 0.0)
    assert note is not None
    assert pieces_of(note) == []
    assert told_chunks(note) == []
    assert memory.tokens("none") is None
