"""Places: never more held than there are."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from s2s.transport.server.places import Places


def test_the_last_place_is_taken_once_and_can_be_given_back() -> None:
    places = Places(1)
    assert places.take()
    assert places.full
    assert not places.take()
    assert places.taken == 1
    places.leave()
    assert not places.full
    assert places.take()


def test_where_there_are_no_places_nobody_gets_one() -> None:
    none = Places(0)
    assert none.full
    assert not none.take()
    assert none.taken == 0


@given(st.integers(1, 5), st.lists(st.booleans(), max_size=60))
def test_as_many_are_held_as_were_given_and_not_given_back(most: int, takes: list[bool]) -> None:
    places = Places(most)
    held = 0
    for take in takes:
        if take:
            given_one = places.take()
            assert given_one == (held < most)
            held += given_one
        elif held:
            places.leave()
            held -= 1
        assert places.taken == held
        assert places.full == (held == most)
