"""The rules by which conversations are kept: what goes when there is too much."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from s2s.transport.server.kept.shelf import OVERHEAD_BYTES, Shelf
from s2s.transport.server.kept.store import Holder
from tests.support.stores import Time

MOST, MOST_BYTES = 5, 4 * OVERHEAD_BYTES


def shelf() -> tuple[Shelf, Time]:
    time = Time()
    return Shelf(time, MOST, MOST_BYTES), time


def keep(on: Shelf, name: str, state: bytes, keep_s: float = 60.0) -> Holder:
    holder = Holder(name, "a", on.claim(name, "a", keep_s).claim.epoch)
    assert on.write(holder, state, keep_s) == "kept"
    return holder


def test_those_that_were_written_longest_ago_go_first():
    kept, _ = shelf()
    holders = [keep(kept, f"{number}", b"x") for number in range(3)]
    kept.write(holders[0], None, 60.0)
    keep(kept, "3", b"x")
    assert [kept.state(f"{number}") for number in range(4)] == [b"x", None, b"x", b"x"]


def test_the_newest_is_kept_whatever_its_length():
    kept, _ = shelf()
    keep(kept, "small", b"x")
    keep(kept, "big", bytes(2 * MOST_BYTES))
    assert kept.state("small") is None
    assert len(kept) == 1


def test_age_is_counted_from_the_last_writing():
    kept, time = shelf()
    holder = keep(kept, "a", b"x", keep_s=10.0)
    time.now_s += 9.0
    assert kept.write(holder, None, 10.0) == "kept"
    time.now_s += 9.0
    kept.forget_old()
    assert kept.state("a") == b"x"
    time.now_s += 1.5
    assert kept.write(holder, None, 10.0) == "unknown"
    assert (len(kept), kept.size) == (0, 0)
    keep(kept, "a", b"x", keep_s=10.0)
    time.now_s += 11.0
    kept.forget_old()
    assert (len(kept), kept.size) == (0, 0)


def test_epochs_grow_also_after_everything_was_lost():
    time = Time()
    before = Shelf(time).claim("a", "a", 60.0).claim
    again = Shelf(time)
    time.now_s += 0.001
    assert again.claim("a", "b", 60.0).claim.epoch > before.epoch
    assert again.claim("a", "c", 60.0).claim.epoch > before.epoch + 1


names = st.sampled_from(["a", "b", "c", "d", "e", "f"])
steps = st.lists(
    st.tuples(
        st.sampled_from(["claim", "write", "keep", "leave", "done", "wait", "tidy"]),
        names,
        st.sampled_from(["one", "two"]),
        st.integers(0, 2 * OVERHEAD_BYTES),
    ),
    max_size=60,
)


@given(steps)
def test_whatever_happens_there_is_no_more_than_allowed_and_the_newest_wins(
    steps: list[tuple[str, str, str, int]],
):
    kept, time = shelf()
    held: dict[tuple[str, str], Holder] = {}
    newest: dict[str, Holder] = {}
    for what, name, replica, length in steps:
        holder = held.get((name, replica))
        match what:
            case "claim":
                claim = kept.claim(name, replica, 60.0).claim
                assert claim.epoch > claim.previous
                newest[name] = held[name, replica] = Holder(name, replica, claim.epoch)
            case "wait":
                time.now_s += length / 50
            case "tidy":
                kept.forget_old()
            case "leave" | "done" if holder is not None:
                kept.leave(holder, bytes(length) if what == "leave" else None, 60.0)
            case _ if holder is not None:
                became = kept.write(holder, bytes(length) if what == "write" else None, 60.0)
                if holder is newest[name]:
                    assert became != "taken"
            case _:
                pass
        assert len(kept) <= MOST
        assert kept.size <= MOST_BYTES or len(kept) == 1
        assert kept.size >= len(kept) * OVERHEAD_BYTES
