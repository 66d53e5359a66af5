"""A conversation made of items: what a client sees of it, and what the model is shown."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.control import DuplicateItem, UnknownItem
from s2s.core.items import ROOT, MessageItem, OutputItem, SoundPart, TextPart, answer_item_id
from s2s.core.messages import ResponseId, TurnId
from s2s.llm.conversation import FORGOTTEN, MAX_ITEMS, ConversationItems, answer_call


def conversation(max_turns: int = 10, max_tokens: int = 1000) -> ConversationItems:
    return ConversationItems(
        "sys", max_turns=max_turns, max_tokens=max_tokens, count_tokens=lambda t: len(t.split())
    )


def turn(number: int, revision: int = 0) -> TurnId:
    return TurnId(f"t{number}", revision)


def response(number: int) -> ResponseId:
    return ResponseId(f"t{number}", 0, 0, f"resp_{number}")


def typed(item_id: str, text: str) -> MessageItem:
    return MessageItem(item_id, "user", (TextPart(text),))


def system(item_id: str, text: str) -> MessageItem:
    return MessageItem(item_id, "system", (TextPart(text),))


def shown(kept: ConversationItems, saying: str = "") -> list[tuple[str, str]]:
    return [(m.role, m.content) for m in kept.prompt(saying)]


def ids(kept: ConversationItems) -> list[str]:
    return [item.item_id for item in kept.items()]


def status(kept: ConversationItems, item_id: str) -> str:
    return kept.get(item_id).status


# --- what the person says ------------------------------------------------------------------------


def test_a_turn_is_an_item_before_its_words_are_known_and_is_shown_with_them() -> None:
    kept = conversation()
    assert kept.committed(turn(1)) is None
    item = kept.get("item_t1")
    assert isinstance(item, MessageItem)
    assert item.parts == (SoundPart(None),)
    assert shown(kept) == [("system", "sys")]
    kept.user(turn(1), "hello")
    assert shown(kept)[1:] == [("user", "hello")]
    assert kept.committed(turn(1)) is None
    assert ids(kept) == ["item_t1"]


def test_a_reopened_turn_replaces_its_words_and_an_older_revision_changes_nothing() -> None:
    kept = conversation()
    kept.user(turn(1, 1), "turn on the lights")
    kept.user(turn(1, 0), "turn on the")
    assert shown(kept)[1:] == [("user", "turn on the lights")]
    kept.user(turn(1, 2), "turn on the lights please")
    assert shown(kept)[1:] == [("user", "turn on the lights please")]
    assert ids(kept) == ["item_t1"]


def test_words_that_come_late_are_where_the_turn_was() -> None:
    kept = conversation()
    kept.committed(turn(1))
    assert kept.committed(turn(2)) == "item_t1"
    kept.user(turn(2), "second")
    kept.user(turn(1), "first")
    assert shown(kept)[1:] == [("user", "first\nsecond")]


def test_what_was_forgotten_does_not_come_back_with_its_words() -> None:
    kept = conversation()
    kept.user(turn(1), "hello")
    kept.forget(turn(1))
    kept.user(turn(1, 1), "hello there")
    assert ids(kept) == []
    kept.committed(turn(2))
    kept.delete("item_t2")
    kept.user(turn(2), "late words")
    assert ids(kept) == []


def test_so_many_forgotten_turns_are_remembered() -> None:
    kept = conversation()
    for number in range(FORGOTTEN + 1):
        kept.forget(turn(number))
    kept.user(turn(1), "still none")
    assert ids(kept) == []
    kept.user(turn(0), "too long ago")
    assert ids(kept) == ["item_t0"]


# --- what is answered ----------------------------------------------------------------------------


def test_a_spoken_answer_is_shown_to_the_model_as_far_as_it_was_heard() -> None:
    kept = conversation()
    kept.user(turn(1), "hi")
    kept.told(response(1), "Good day ")
    kept.told(response(1), "to you.")
    assert shown(kept)[1:] == [("user", "hi")]
    assert kept.heard == ""
    item = kept.get("msg_1")
    assert isinstance(item, MessageItem)
    assert (item.text, item.status) == ("Good day to you.", "in_progress")
    kept.played(response(1), "Good day ", complete=False)
    kept.done(response(1), whole=False)
    assert shown(kept)[1:] == [("user", "hi"), ("assistant", "Good day")]
    assert kept.heard == "Good day"
    assert status(kept, "msg_1") == "incomplete"


def test_of_a_written_answer_all_counts() -> None:
    kept = conversation()
    kept.told(response(1), "Read ", spoken=False)
    kept.told(response(1), "this.", spoken=False)
    item = kept.get("msg_1")
    assert isinstance(item, MessageItem)
    assert item.parts == (TextPart("Read this."),)
    kept.done(response(1), whole=True)
    assert shown(kept)[1:] == [("assistant", "Read this.")]
    assert status(kept, "msg_1") == "completed"


def test_what_is_told_of_unknown_answers_changes_nothing() -> None:
    kept = conversation()
    kept.played(response(1), "who said that", complete=True)
    kept.done(response(1), whole=True)
    assert kept.items() == []
    assert kept.heard == ""


def test_an_answer_of_which_nothing_was_heard_is_not_shown() -> None:
    kept = conversation()
    kept.user(turn(1), "hi")
    kept.told(response(1), "Good day.")
    kept.played(response(1), "", complete=False)
    kept.done(response(1), whole=False)
    kept.user(turn(2), "hello?")
    assert shown(kept)[1:] == [("user", "hi\nhello?")]


def test_what_the_client_says_it_heard_is_final() -> None:
    kept = conversation()
    kept.told(response(1), "One two three.")
    kept.cut("msg_1", " One ")
    kept.told(response(1), " Four.")
    kept.played(response(1), "One two three. Four.", complete=True)
    item = kept.get("msg_1")
    assert isinstance(item, MessageItem)
    assert (item.text, item.status) == ("One", "in_progress")
    kept.done(response(1), whole=False)
    assert shown(kept)[1:] == [("assistant", "One")]
    assert status(kept, "msg_1") == "incomplete"


def test_a_response_finds_its_item_and_an_item_its_response() -> None:
    kept = conversation()
    kept.told(response(1), "Hi.")
    kept.committed(turn(1))
    assert kept.response_of(answer_item_id("resp_1")) == response(1)
    assert kept.response_of("item_t1") is None
    with pytest.raises(UnknownItem):
        kept.response_of("msg_2")


def test_a_call_is_shown_once_its_output_is_there() -> None:
    kept = conversation()
    kept.user(turn(1), "weather?")
    kept.called(answer_call("call_1", "weather", "{}"))
    assert ids(kept) == ["item_t1", "item_call_1"]
    assert shown(kept)[1:] == [("user", "weather?")]
    kept.insert(OutputItem("out", "call_1", "sunny"), None)
    _, asked, called, given = kept.prompt()
    assert (asked.role, called.role, given.role) == ("user", "assistant", "tool")
    assert [(use.call_id, use.name) for use in called.calls] == [("call_1", "weather")]
    assert (given.call_id, given.content) == ("call_1", "sunny")


# --- what a client does --------------------------------------------------------------------------


def test_items_are_put_in_front_behind_and_at_the_end() -> None:
    kept = conversation()
    assert kept.insert(typed("a", "a"), None) is None
    assert kept.insert(typed("b", "b"), None) == "a"
    assert kept.insert(typed("c", "c"), "a") == "a"
    assert kept.insert(typed("d", "d"), ROOT) is None
    assert ids(kept) == ["d", "a", "c", "b"]
    assert [kept.previous(each) for each in ids(kept)] == [None, "d", "a", "c"]
    assert kept.previous("nobody") is None


def test_what_cannot_be_put_in_changes_nothing_and_says_which() -> None:
    kept = conversation()
    kept.insert(typed("a", "a"), None)
    with pytest.raises(DuplicateItem, match="'a'"):
        kept.insert(typed("a", "again"), None)
    with pytest.raises(UnknownItem, match="'z'"):
        kept.insert(typed("b", "b"), "z")
    assert ids(kept) == ["a"]


@pytest.mark.parametrize("name", ["get", "delete", "response_of"])
def test_an_item_that_is_not_there_is_unknown(name: str) -> None:
    kept = conversation()
    does = {"get": kept.get, "delete": kept.delete, "response_of": kept.response_of}
    with pytest.raises(UnknownItem, match="'z'"):
        does[name]("z")
    with pytest.raises(UnknownItem, match="'z'"):
        kept.cut("z", "")


def test_the_sound_that_a_client_puts_in_gets_its_words() -> None:
    kept = conversation()
    sound = MessageItem("mine", "user", (SoundPart(None),))
    kept.insert(sound, None, turn=turn(7))
    kept.user(turn(7), "what I said")
    assert ids(kept) == ["mine"]
    assert shown(kept)[1:] == [("user", "what I said")]


# --- what the model is shown ---------------------------------------------------------------------


def test_what_is_being_said_ends_the_prompt_and_is_no_item() -> None:
    kept = conversation()
    kept.user(turn(1), "one")
    assert shown(kept, "and two")[1:] == [("user", "one\nand two")]
    assert ids(kept) == ["item_t1"]


def test_instructions_of_one_response_stand_in_for_the_usual_ones() -> None:
    kept = conversation()
    assert [m.content for m in kept.prompt(instructions="other")] == ["other"]
    assert [m.content for m in kept.prompt(instructions="")] == [""]
    assert [m.content for m in kept.prompt()] == ["sys"]


def test_what_the_system_says_first_is_joined_to_the_instructions() -> None:
    kept = conversation()
    kept.insert(system("s", "Be kind."), None)
    kept.user(turn(1), "hi")
    assert shown(kept) == [("system", "sys\n\nBe kind."), ("user", "hi")]
    assert shown(kept, "more") == [("system", "sys\n\nBe kind."), ("user", "hi\nmore")]


def talk(kept: ConversationItems, turns: int) -> None:
    for number in range(turns):
        kept.user(turn(number), f"question {number}")
        kept.told(response(number), f"answer {number}")
        kept.played(response(number), f"answer {number}", complete=True)
        kept.done(response(number), whole=True)


def test_the_older_half_is_hidden_from_the_model_and_stays_with_the_client() -> None:
    kept = conversation(max_turns=4)
    talk(kept, 5)
    assert [content for role, content in shown(kept) if role == "user"] == ["question 3",
                                                                          "question 4"]  # fmt: skip
    assert len(kept.items()) == 10
    assert shown(kept)[1][0] == "user"  # no answer is left without its question


def test_room_is_made_before_the_next_turn_needs_it() -> None:
    kept = conversation(max_turns=4)
    talk(kept, 4)
    assert len(shown(kept)) == 1 + 8
    kept.make_room()
    assert len(shown(kept)) == 1 + 4
    kept.make_room()
    assert len(shown(kept)) == 1 + 4


def test_the_only_turn_is_shown_however_long_it_is() -> None:
    kept = conversation(max_tokens=5)
    kept.user(turn(1), "a b c d e f g h i")
    assert shown(kept)[1:] == [("user", "a b c d e f g h i")]


def test_what_the_system_says_is_never_hidden() -> None:
    kept = conversation(max_turns=2)
    kept.insert(system("s", "Be kind."), None)
    talk(kept, 8)
    assert shown(kept)[0] == ("system", "sys\n\nBe kind.")


def test_a_call_is_hidden_with_its_output() -> None:
    kept = conversation(max_turns=2)
    kept.user(turn(0), "weather?")
    kept.called(answer_call("c", "weather", "{}"))
    kept.insert(OutputItem("out", "c", "sunny"), None)
    kept.user(turn(1), "and now?")
    kept.user(turn(2), "and then?")
    assert shown(kept)[1:] == [("user", "and then?")]
    assert len(kept.items()) == 5


def test_the_oldest_items_are_forgotten_beyond_so_many() -> None:
    kept = conversation(max_turns=10**6, max_tokens=10**9)
    for number in range(MAX_ITEMS + 3):
        kept.insert(typed(f"i{number}", "x"), None)
    assert len(kept.items()) == MAX_ITEMS
    assert ids(kept)[0] == "i3"


def test_a_reset_forgets_every_item() -> None:
    kept = conversation()
    talk(kept, 2)
    kept.reset()
    assert kept.items() == []
    assert shown(kept) == [("system", "sys")]
    assert not kept.has_old_turns
    assert kept.old_turns() == ([], [])


@given(
    st.lists(st.tuples(st.sampled_from("utisc"), st.integers(0, 9)), max_size=60),
    st.integers(1, 5),
    st.integers(3, 40),
)
def test_whatever_happens_the_prompt_is_one_that_servers_take(
    steps: list[tuple[str, int]], max_turns: int, max_tokens: int
) -> None:
    kept = conversation(max_turns, max_tokens)
    for at, (step, number) in enumerate(steps):
        match step:
            case "u":
                kept.user(turn(number), f"words {number}")
            case "t":
                kept.told(response(number), "some words ")
                kept.played(response(number), "some words", complete=False)
            case "i":
                kept.insert(typed(f"i{at}", "typed"), ROOT if number % 2 else None)
            case "s":
                kept.insert(OutputItem(f"o{at}", f"c{number}", "given"), None)
            case _:
                kept.called(answer_call(f"c{number}", "tool", "{}"))
    messages = kept.prompt()
    assert messages[0].role == "system"
    assert messages[0].content.startswith("sys")
    called: set[str] = set()
    for earlier, later in pairwise(messages):
        assert later.role != "system"
        assert earlier.role != later.role or later.role == "tool"
        called |= {use.call_id for use in earlier.calls}
        assert later.role != "tool" or later.call_id in called
    in_a_row = [item.item_id for item in kept.items() if item.item_id.startswith("item_t")]
    assert len(set(in_a_row)) == len(in_a_row)


def test_another_process_goes_on_with_the_items_and_what_the_model_is_shown():
    kept = conversation(max_turns=2)
    for number in range(4):
        kept.user(turn(number), f"question {number}")
        kept.told(response(number), f"answer {number}")
        kept.played(response(number), f"answer {number}", True)
        kept.done(response(number), whole=True)
    kept.forget(turn(9))
    kept.told(response(5), "It is noon in London.")
    kept.played(response(5), "It is noon", False)
    before = kept.changes
    written = kept.plain()
    assert kept.changes == before
    again = conversation(max_turns=2)
    entries, forgotten = written["entries"], written["forgotten"]
    assert isinstance(entries, list)
    assert isinstance(forgotten, list)
    again.restore(entries, forgotten)
    assert ids(again) == ids(kept)
    assert shown(again) == shown(kept)
    assert status(again, answer_item_id("resp_5")) == "incomplete"
    again.user(turn(9), "not meant for it")
    assert ids(again) == ids(kept)


def test_whatever_happens_to_the_items_is_a_change():
    kept = conversation()
    found: list[int] = [kept.changes]
    for happens in (
        lambda: kept.committed(turn(1)),
        lambda: kept.user(turn(1), "hello"),
        lambda: kept.told(response(1), "yes"),
        lambda: kept.played(response(1), "yes", True),
        lambda: kept.called(answer_call("c", "tool", "{}")),
        lambda: kept.done(response(1), whole=True),
        lambda: kept.insert(typed("item_x", "typed"), None),
        lambda: kept.cut(answer_item_id("resp_1"), "y"),
        lambda: kept.delete("item_x"),
        lambda: kept.forget(turn(1)),
        kept.reset,
    ):
        happens()
        found.append(kept.changes)
    assert found == sorted(set(found))
