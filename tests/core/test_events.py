"""Events are plain values, and each sink gets each of them."""

from __future__ import annotations

import dataclasses
import typing

import pytest

from s2s.core import events
from s2s.core.events import Event, Notice, to_all

KINDS = typing.get_args(Event)


def test_every_sink_gets_every_event_in_order() -> None:
    told: list[tuple[str, Event]] = []
    tell = to_all(lambda e: told.append(("a", e)), lambda e: told.append(("b", e)))
    first, second = Notice("one"), Notice("two")
    tell(first)
    tell(second)
    assert told == [("a", first), ("b", first), ("a", second), ("b", second)]
    to_all()(first)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_event_is_frozen_and_says_what_it_is(kind: type) -> None:
    assert kind.__dataclass_params__.frozen  # pyright: ignore[reportAttributeAccessIssue]
    assert "__slots__" in vars(kind)
    assert kind.__doc__
    assert dataclasses.fields(kind)


def test_no_event_is_left_out_of_the_union() -> None:
    made = {
        each
        for each in vars(events).values()
        if isinstance(each, type)
        and dataclasses.is_dataclass(each)
        and each.__module__ == events.__name__
    }
    assert made == set(KINDS)
