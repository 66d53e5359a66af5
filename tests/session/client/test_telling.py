"""What a client is told of a turn: once each, in order, whoever finds out first."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from s2s.core.events import (
    Event,
    TurnBegan,
    TurnCommitted,
    TurnEnded,
    TurnTranscript,
    TurnTranscriptFailed,
)
from s2s.core.messages import TurnId
from s2s.session.client.telling import MAX_TURNS, TurnTelling


def turn(number: int, revision: int = 0) -> TurnId:
    return TurnId(f"t{number}", revision)


class Told:
    """A telling whose turns become items one behind the other."""

    def __init__(self, *, transcribes: bool = True) -> None:
        self.events: list[Event] = []
        self.items: list[str] = []
        self.telling = TurnTelling(self.events.append, self._commit, lambda: transcribes)

    def _commit(self, turn: TurnId) -> str | None:
        before = self.items[-1] if self.items else None
        self.items.append(f"item_{turn.turn_id}")
        return before

    def take(self) -> list[Event]:
        events = list(self.events)
        self.events.clear()
        return events


def test_a_turn_is_told_from_its_beginning_to_its_words() -> None:
    told = Told()
    told.telling.began("t1", 700)
    told.telling.sent(turn(1), 1.5, answered=True)
    assert told.take() == [TurnBegan("item_t1", 700)]
    assert told.telling.waiting == [turn(1)]
    told.telling.now_ms = 2500
    told.telling.committed(turn(1))
    assert told.take() == [TurnEnded("item_t1", 2500), TurnCommitted("item_t1", None)]
    told.telling.words(turn(1), " hello there ")
    assert told.take() == [TurnTranscript("item_t1", "hello there", "hello there", True, 1.5)]


def test_nothing_is_told_twice() -> None:
    told = Told()
    for _ in range(2):
        told.telling.began("t1", 0)
    told.telling.sent(turn(1), 1.0, answered=False)
    for _ in range(2):
        told.telling.committed(turn(1))
    for _ in range(2):
        told.telling.words(turn(1), "hi")
        told.telling.failed(turn(1), "too late")
    told.telling.began("t1", 9)
    told.telling.dropped("t1", "no speech")
    names = [type(each).__name__ for each in told.take()]
    assert names == ["TurnBegan", "TurnEnded", "TurnCommitted", "TurnTranscript"]


def test_a_beginning_is_never_before_the_stream() -> None:
    told = Told()
    told.telling.began("t1", -300)
    assert told.take() == [TurnBegan("item_t1", 0)]


def test_words_that_came_first_are_told_behind_the_commit() -> None:
    told = Told()
    told.telling.began("t1", 0)
    told.telling.sent(turn(1), 1.0, answered=True)
    told.telling.words(turn(1), "hello")
    assert len(told.take()) == 1
    told.telling.committed(turn(1))
    assert [type(each) for each in told.take()] == [TurnEnded, TurnCommitted, TurnTranscript]


def test_words_of_an_older_revision_are_not_those_of_the_turn() -> None:
    told = Told()
    told.telling.began("t1", 0)
    told.telling.sent(turn(1, 1), 2.0, answered=True)
    told.telling.words(turn(1, 0), "turn on")
    told.telling.committed(turn(1, 1))
    assert not any(isinstance(each, TurnTranscript) for each in told.take())
    told.telling.words(turn(1, 1), "turn on the light")
    told.telling.words(turn(1, 0), "turn on")
    (final,) = told.take()
    assert isinstance(final, TurnTranscript)
    assert final.text == "turn on the light"


def test_words_that_do_not_come_are_told_in_their_place() -> None:
    told = Told()
    told.telling.began("t1", 0)
    told.telling.sent(turn(1), 1.0, answered=True)
    told.telling.failed(turn(1), "deaf today")
    told.telling.committed(turn(1))
    assert told.take()[-1] == TurnTranscriptFailed("item_t1", "deaf today")
    assert told.telling.owed == ["t1"]  # its answer fails, audibly


def test_partial_words_only_grow_in_what_is_stable() -> None:
    told = Told()
    told.telling.partial(turn(1), "who", "who")
    assert told.take() == []  # nobody was told that it began
    told.telling.began("t1", 0)
    told.take()
    for text, stable in (
        ("turn", ""),
        ("turn on", "turn"),
        ("burn on", ""),
        ("turn on the", "turn on"),
    ):
        told.telling.partial(turn(1), text, stable)
    seen = [(each.text, each.stable) for each in told.take() if isinstance(each, TurnTranscript)]
    assert seen == [
        ("turn", ""),
        ("turn on", "turn"),
        ("burn on", "turn"),
        ("turn on the", "turn on"),
    ]


def test_behind_the_last_words_no_partial_ones_come() -> None:
    told = Told()
    told.telling.began("t1", 0)
    told.telling.sent(turn(1), 1.0, answered=True)
    told.telling.committed(turn(1))
    told.telling.words(turn(1), "hi")
    told.take()
    told.telling.partial(turn(1), "hi th", "")
    assert told.take() == []


def test_without_transcription_turns_are_told_and_words_are_not() -> None:
    told = Told(transcribes=False)
    told.telling.began("t1", 0)
    told.telling.sent(turn(1), 1.0, answered=True)
    told.telling.partial(turn(1), "h", "")
    told.telling.committed(turn(1))
    told.telling.words(turn(1), "hi")
    assert [type(each) for each in told.take()] == [TurnBegan, TurnEnded, TurnCommitted]
    told.telling.settled("t1")
    assert told.telling.owed == []


def test_a_turn_of_which_nothing_came_ends_with_the_reason() -> None:
    told = Told()
    told.telling.began("t1", 0)
    told.telling.now_ms = 900
    told.telling.dropped("t1", "no speech")
    assert told.take()[-1] == TurnEnded("item_t1", 900, "no speech")
    told.telling.dropped("t2", "no speech")
    assert told.take() == []
    told.telling.sent(turn(1), 1.0, answered=True)
    told.telling.committed(turn(1))
    assert told.take() == []
    assert told.telling.has_begun("t1")
    assert told.telling.begun == []


def test_a_commit_of_what_nobody_knows_is_not_told() -> None:
    told = Told()
    told.telling.committed(turn(1))
    assert told.take() == []
    assert told.items == []


def test_a_turn_that_the_client_committed_has_no_end_that_was_heard() -> None:
    told = Told()
    told.telling.sent(turn(1), 0.0, answered=False)
    told.telling.committed(turn(1), (1000, 6000))
    assert told.take() == [TurnCommitted("item_t1", None, (1000, 6000))]


# --- answers that are owed -----------------------------------------------------------------------


def test_an_answer_is_owed_from_the_commit_until_it_begins() -> None:
    told = Told()
    told.telling.sent(turn(1), 1.0, answered=True)
    assert told.telling.owed == []
    told.telling.committed(turn(1))
    assert told.telling.owed == ["t1"]
    told.telling.words(turn(1), "hi")
    assert told.telling.owed == ["t1"]
    told.telling.settled("t1")
    assert told.telling.owed == []
    told.telling.settled("t1")
    told.telling.settled("nobody")


def test_nothing_is_owed_to_silence_nor_where_nothing_is_to_answer() -> None:
    told = Told()
    told.telling.sent(turn(1), 1.0, answered=True)
    told.telling.committed(turn(1))
    told.telling.words(turn(1), "  ")
    assert told.telling.owed == []
    told.telling.sent(turn(2), 1.0, answered=True)
    told.telling.unanswered("t2")
    told.telling.unanswered("nobody")
    told.telling.committed(turn(2))
    assert told.telling.owed == []


def test_what_is_on_its_way_is_known_until_it_is_committed() -> None:
    told = Told()
    assert told.telling.sent_revision("t1") is None
    told.telling.began("t1", 0)
    assert told.telling.sent_revision("t1") is None
    assert told.telling.begun == ["t1"]
    told.telling.sent(turn(1, 2), 1.0, answered=True)
    assert told.telling.sent_revision("t1") == turn(1, 2)
    told.telling.committed(turn(1, 2))
    assert told.telling.sent_revision("t1") is None
    assert told.telling.begun == []
    assert told.telling.waiting == []


def test_so_many_turns_are_remembered() -> None:
    told = Told()
    for number in range(MAX_TURNS + 1):
        told.telling.sent(turn(number), 1.0, answered=True)
    assert len(told.telling.waiting) == MAX_TURNS
    assert told.telling.sent_revision("t0") is None


TOLD = (TurnBegan, TurnEnded, TurnCommitted, TurnTranscript, TurnTranscriptFailed)
STEPS: dict[str, Callable[[TurnTelling, TurnId], None]] = {
    "began": lambda telling, turn: telling.began(turn.turn_id, 0),
    "sent": lambda telling, turn: telling.sent(turn, 1.0, answered=turn.turn_revision == 0),
    "committed": lambda telling, turn: telling.committed(turn),
    "dropped": lambda telling, turn: telling.dropped(turn.turn_id, "why"),
    "partial": lambda telling, turn: telling.partial(turn, "wo", ""),
    "words": lambda telling, turn: telling.words(turn, "words"),
    "failed": lambda telling, turn: telling.failed(turn, "error"),
    "settled": lambda telling, turn: telling.settled(turn.turn_id),
}


@given(
    st.lists(
        st.tuples(st.sampled_from(sorted(STEPS)), st.integers(1, 3), st.integers(0, 2)),
        max_size=40,
    )
)
def test_in_whatever_order_things_are_found_out_a_client_is_told_them_in_one(
    steps: list[tuple[str, int, int]],
) -> None:
    told = Told()
    for step, number, revision in steps:
        STEPS[step](told.telling, turn(number, revision))
    for item_id in ("item_t1", "item_t2", "item_t3"):
        own = [each for each in told.events if isinstance(each, TOLD) and each.item_id == item_id]
        order = [
            ("TurnBegan", "TurnEnded", "TurnCommitted").index(name)
            for name in (type(each).__name__ for each in own)
            if name in ("TurnBegan", "TurnEnded", "TurnCommitted")
        ]
        assert order == sorted(set(order))
        last = [
            at
            for at, each in enumerate(own)
            if isinstance(each, TurnTranscriptFailed)
            or (isinstance(each, TurnTranscript) and each.final)
        ]
        assert len(last) <= 1
        if last:
            assert any(isinstance(each, TurnCommitted) for each in own[: last[0]])
            assert not own[last[0] + 1 :]


def test_who_answers_instead_takes_over_what_is_on_its_way_and_not_committed() -> None:
    told = Told()
    for number, answered in ((1, True), (2, False), (3, True), (4, True)):
        told.telling.began(f"t{number}", 0)
        told.telling.sent(turn(number), 1.0, answered=answered)
    told.telling.committed(turn(4))
    assert told.telling.take_over() == ["t1", "t3"]
    assert told.telling.take_over() == []
    told.telling.committed(turn(1))
    assert told.telling.owed == ["t4"]
