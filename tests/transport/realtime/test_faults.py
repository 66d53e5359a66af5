"""Codes and texts of errors that clients look at."""

from __future__ import annotations

import inspect

import pytest

from s2s.transport.realtime import faults
from s2s.transport.realtime.wire.parse import CLIENT_EVENT_TYPES

GIVEN = {
    "found_ms": 12.5,
    "known": CLIENT_EVENT_TYPES,
    "doing": "retrieve",
    "audio_end_ms": 5,
    "total_ms": 4,
    "most": 3,
}
EVERY = [
    make
    for _, make in inspect.getmembers(faults, inspect.isfunction)
    if make.__module__ == faults.__name__
]
FATAL = {
    "insufficient_quota",
    "credit_balance_exhausted",
    "invalid_api_key",
    "account_deactivated",
    "billing_hard_limit_reached",
}


@pytest.mark.parametrize("make", EVERY, ids=lambda make: make.__name__)
def test_no_fault_ends_a_client_or_is_blamed_on_its_last_response(make):
    names = inspect.signature(make).parameters
    by_kind = {name: 7 if each.annotation == "int" else "x" for name, each in names.items()}
    given = {name: GIVEN.get(name, value) for name, value in by_kind.items()}
    fault = make(**given)
    assert fault.code not in FATAL
    assert "response_create" not in fault.code
    assert "response.create" not in fault.message
    assert fault.message.strip()


def test_what_clients_look_for():
    assert faults.nothing_to_cancel().message.startswith("Cancellation failed")
    assert "resp_7" in faults.response_is_active("resp_7").message
    assert "12.50ms" in faults.too_little_audio(12.5).message
    for doing in ("retrieve", "delete", "truncate"):
        fault = faults.no_such_item(doing, "item_7")
        assert fault.code == f"item_{doing}_invalid_item_id"
        assert "item_7" in fault.message
        assert "does not exist" in fault.message
