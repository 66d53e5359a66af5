"""Events off the wire: what the official package writes is read, whole and split anyhow."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wyoming.event import Event, write_event

from s2s.transport.wyoming.framing import HEADER_BYTES, WireFault, read_event

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.just("a"), inner, max_size=2),
    max_leaves=5,
)


def read(data: bytes, most: int = 1_000) -> list[Event]:
    """All events in `data`."""

    async def main() -> list[Event]:
        reader = asyncio.StreamReader(limit=HEADER_BYTES)
        reader.feed_data(data)
        reader.feed_eof()
        found: list[Event] = []
        while (event := await read_event(reader, most)) is not None:
            found.append(event)
        return found

    return asyncio.run(main())


@settings(max_examples=30)
@given(
    st.lists(
        st.builds(
            Event,
            st.text(min_size=1, max_size=8),
            st.dictionaries(st.text(max_size=3), JSON, max_size=3),
            st.none() | st.binary(min_size=1, max_size=20),
        ),
        max_size=3,
    )
)
def test_what_the_official_package_writes_is_read(events: list[Event]) -> None:
    written = io.BytesIO()
    for event in events:
        write_event(event, written)
    assert read(written.getvalue()) == events


def test_data_in_the_line_and_behind_it_are_one() -> None:
    more = b'{"b": 2, "c": 3}'
    head = {"type": "x", "data": {"a": 1, "b": 1}, "data_length": len(more)}
    (event,) = read(json.dumps(head).encode() + b"\n" + more)
    assert event.data == {"a": 1, "b": 2, "c": 3}


@given(st.binary(max_size=60))
def test_anything_else_is_a_fault_and_nothing_worse(data: bytes) -> None:
    with contextlib.suppress(WireFault):
        assert read(data) == []


def test_a_payload_beyond_the_limit_is_not_read() -> None:
    with pytest.raises(WireFault, match="4 bytes are the most"):
        read(b'{"type": "x", "payload_length": 5}\nabcde', 4)
