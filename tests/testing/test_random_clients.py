"""What must hold in every session, whatever a client does and when, and however slow the models."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2s.testing.random_clients import client_violations, random_client


@pytest.fixture(autouse=True)
def _quiet_log() -> Iterator[None]:
    """Scripted failures are part of it."""
    log = logging.getLogger("s2s")
    before = log.level
    log.setLevel(logging.CRITICAL)
    yield
    log.setLevel(before)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**9))
def test_nothing_that_may_never_happen_happens_to_a_client(seed: int) -> None:
    assert client_violations(random_client(seed).run()) == []


def test_the_same_seed_is_the_same_session() -> None:
    first, again = (random_client(7).run().simulation.told for _ in "ab")
    assert [(at_s, type(each)) for at_s, each in first] == [
        (at_s, type(each)) for at_s, each in again
    ]
