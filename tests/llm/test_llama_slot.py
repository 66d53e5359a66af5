"""Which place goes on with which conversation. No model."""

from __future__ import annotations

import pytest

from s2s.core.work import Unlimited
from s2s.llm.base import LlmError
from s2s.llm.llama_slot import LlamaSlot, LlamaSlots
from s2s.system.fair_lock import FairLock
from s2s.system.llama_context import LlamaContext

SYSTEM = [1, 2, 3]


def slots(most: int) -> LlamaSlots:
    context = object.__new__(LlamaContext)  # nothing is computed here
    return LlamaSlots(lambda: LlamaSlot(context, 64, 1, Unlimited(), FairLock()), most)


def test_a_conversation_goes_on_where_it_was_and_another_gets_a_place_of_its_own() -> None:
    kept = slots(2)
    first, second = [*SYSTEM, 10, 11, 12, 13], [*SYSTEM, 20, 21, 22, 23]
    with kept.taken(first) as one:
        assert one is not None
        one.held = list(first)
    with kept.taken(second) as two:
        assert two is not None
        assert two is not one
        two.held = list(second)
    for prompt, slot in ((first, one), (second, two)):
        with kept.taken([*prompt, 30]) as again:
            assert again is slot
    assert len(kept) == 2


def test_without_room_for_more_the_conversation_that_was_silent_longest_is_lost() -> None:
    kept = slots(2)
    prompts = [[*SYSTEM, *range(n, n + 5)] for n in (10, 20, 30)]
    places = []
    for prompt in prompts:
        with kept.taken(prompt) as slot:
            assert slot is not None
            slot.held = list(prompt)
            places.append(slot)
    assert places[2] is places[0]
    assert places[1] is not places[0]


def test_nobody_takes_what_is_taken() -> None:
    kept = slots(1)
    with kept.taken(SYSTEM) as slot:
        assert slot is not None
        with kept.taken(SYSTEM, wait=False) as other:
            assert other is None
    with kept.taken(SYSTEM, wait=False) as slot:
        assert slot is not None


def test_what_is_closed_is_not_used() -> None:
    kept = slots(1)
    assert len(kept.close()) == 1
    assert kept.close() == []
    with pytest.raises(LlmError), kept.taken(SYSTEM):
        pass
