"""What must hold in every conversation, whatever is said when and however slow the models are."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2s.testing.random_conversations import conversation, violations

COUNT = 400 if os.environ.get("TESTS_FULL_DAMAGE") else 40


@pytest.fixture(autouse=True)
def _quiet_log() -> Iterator[None]:
    """Scripted failures are part of it; without them the log is thousands of lines."""
    log = logging.getLogger("s2s")
    before = log.level
    log.setLevel(logging.CRITICAL)
    yield
    log.setLevel(before)


@settings(max_examples=COUNT, deadline=None)
@given(st.integers(0, 10**9))
def test_nothing_that_may_never_happen_happens(seed: int) -> None:
    assert violations(conversation(seed).run()) == []


def test_the_same_seed_is_the_same_conversation() -> None:
    first, again = (conversation(7).run() for _ in "ab")
    assert [at_s for at_s, _ in first.events] == [at_s for at_s, _ in again.events]
    assert first.transport.assistant().tobytes() == again.transport.assistant().tobytes()
