"""The history holds what was said and what was heard, and stays within its bounds."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from s2s.core.messages import ResponseId, TurnId
from s2s.llm.base import ChatMessage
from s2s.llm.history import History


def history(max_turns: int = 10, max_tokens: int = 1000) -> History:
    return History(
        "sys", max_turns=max_turns, max_tokens=max_tokens, count_tokens=lambda t: len(t.split())
    )


def turn(number: int, revision: int = 0) -> TurnId:
    return TurnId(f"t{number}", revision)


def response(of: TurnId) -> ResponseId:
    return ResponseId(of.turn_id, of.turn_revision, 0, "r")


def roles(messages: list[ChatMessage]) -> str:
    return "".join(message.role[0] for message in messages)


def test_an_answer_enters_up_to_what_was_heard_without_any_mark() -> None:
    kept = history()
    kept.user(turn(1), "hello")
    kept.played(response(turn(1)), "Good day to ", complete=False)
    assert [m.content for m in kept.prompt()] == ["sys", "hello", "Good day to"]


def test_a_reopened_turn_replaces_its_words_and_an_older_revision_changes_nothing() -> None:
    kept = history()
    kept.user(turn(1, 0), "turn on the")
    kept.user(turn(1, 1), "turn on the lights")
    kept.user(turn(1, 0), "turn on the")
    assert [m.content for m in kept.prompt()][1:] == ["turn on the lights"]


def test_an_answer_to_a_stale_revision_leaves_nothing() -> None:
    kept = history()
    kept.user(turn(1, 0), "turn on the")
    kept.user(turn(1, 1), "turn on the lights")
    kept.played(response(turn(1, 0)), "Which one?", complete=True)
    assert roles(kept.prompt()) == "su"


def test_questions_whose_answer_was_never_heard_are_joined() -> None:
    kept = history()
    kept.user(turn(1), "hello")
    kept.user(turn(2), "are you there")
    assert [m.content for m in kept.prompt()] == ["sys", "hello\nare you there"]


def test_what_is_being_said_can_be_read_along_without_being_kept() -> None:
    kept = history()
    kept.user(turn(1), "hello")
    kept.played(response(turn(1)), "Hi.", complete=True)
    assert [m.content for m in kept.prompt("what ti")] == ["sys", "hello", "Hi.", "what ti"]
    assert roles(kept.prompt()) == "sua"


def test_room_is_made_for_many_turns_at_once_so_that_the_beginning_seldom_changes() -> None:
    kept = history(max_turns=8)
    beginnings = []
    for number in range(40):
        kept.user(turn(number), f"q{number}")
        beginnings.append(kept.prompt()[1].content.split()[0])
    assert len(set(beginnings)) <= 40 // 4


def test_reset_keeps_the_system_prompt_alone() -> None:
    kept = history()
    kept.user(turn(1), "hello")
    kept.reset()
    assert roles(kept.prompt()) == "s"


@given(
    sizes=st.lists(st.tuples(st.integers(1, 40), st.integers(0, 40)), min_size=1, max_size=15),
    max_turns=st.integers(1, 8),
    max_tokens=st.integers(1, 120),
)
def test_prompts_are_bounded_whole_exchanges_newest_last(
    sizes: list[tuple[int, int]], max_turns: int, max_tokens: int
) -> None:
    kept = history(max_turns, max_tokens)
    for number, (asked, answered) in enumerate(sizes):
        kept.user(turn(number), f"q{number} " * asked)
        kept.played(response(turn(number)), f"a{number} " * answered, complete=True)
    messages = kept.prompt()
    assert messages[0] == ChatMessage("system", "sys")
    assert f"q{len(sizes) - 1}" in " ".join(m.content for m in messages[-2:])
    total = sum(len(m.content.split()) for m in messages)
    newest = sum(sizes[-1])
    assert total <= max(max_tokens, 1 + newest)
    assert all(a.role != b.role for a, b in pairwise(messages))
    asked_in_order = [
        w for m in messages if m.role == "user" for w in dict.fromkeys(m.content.split())
    ]
    assert asked_in_order == [f"q{n}" for n in range(len(sizes) - len(asked_in_order), len(sizes))]


def test_room_is_made_before_the_turn_that_would_need_it() -> None:
    kept = history(max_turns=4)
    for number in range(4):
        kept.user(turn(number), f"question {number}")
        assert kept.heard == ""
        kept.played(response(turn(number)), f"answer {number} ", complete=True)
        assert kept.heard == f"answer {number}"
    kept.make_room()
    before = kept.prompt()
    assert roles(before) == "suaua"
    kept.make_room()
    kept.user(turn(4), "question 4")
    assert kept.prompt()[:-1] == before


def test_room_is_made_where_a_long_turn_would_not_fit_and_only_there() -> None:
    kept, full = history(max_tokens=20), history(max_tokens=18)
    for each in (kept, full):
        each.user(turn(0), "one two three")
        each.user(turn(1), " ".join("abcdefghijkl"))
        each.make_room()
    assert kept.prompt()[-1].content.startswith("one two three")
    assert full.prompt()[-1].content.startswith("a b c")
