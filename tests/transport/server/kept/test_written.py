"""Conversations as bytes."""

from __future__ import annotations

import zlib

import pytest

from s2s.transport.server.kept.written import TooLong, from_bytes, to_bytes

ENTRIES = [{"item": {"id": f"item_{number}", "text": f"{number * 7919}"}} for number in range(100)]


def test_what_was_written_is_read():
    conversation = {"session": {"instructions": "Sé breve. 短く。"}, "used": 3, "entries": ENTRIES}
    assert from_bytes(to_bytes(conversation)) == conversation


def test_of_one_that_is_too_long_the_newest_items_are_kept():
    whole = len(to_bytes({"used": 1, "entries": ENTRIES}))
    read = from_bytes(to_bytes({"used": 1, "entries": ENTRIES}, whole // 2))
    assert read is not None
    kept = read["entries"]
    assert isinstance(kept, list)
    assert kept
    assert kept == ENTRIES[-len(kept) :]
    assert read["used"] == 1


def test_one_that_is_too_long_without_items_is_refused():
    with pytest.raises(TooLong, match="without its items"):
        to_bytes({"session": "".join(chr(0x4E00 + n) for n in range(5_000)), "entries": []}, 1_000)


@pytest.mark.parametrize(
    "packed",
    [b"", b"nothing", zlib.compress(b"[]"), zlib.compress(b"{"), to_bytes({"a": 1})[:-3]],
    ids=["empty", "no zlib", "no object", "no JSON", "cut off"],
)
def test_what_is_damaged_is_none(packed: bytes):
    assert from_bytes(packed) is None
