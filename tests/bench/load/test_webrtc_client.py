"""A call's microphone sends silence as browsers do; calls themselves: test_calls.py."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("aiortc")

from s2s.bench.load.webrtc_client import CALL_HZ, QUIET_ROOM, QuietMicrophone


def test_packets_follow_each_other_without_a_gap_and_are_as_long_as_is_asked_for() -> None:
    async def sent() -> list[tuple[int, bytes]]:
        microphone = QuietMicrophone()
        first = await microphone.recv()
        microphone.packet_ms = 40
        packets = [first, await microphone.recv(), await microphone.recv()]
        return [(packet.pts or 0, bytes(packet)) for packet in packets]

    (at, single), (then, double), (last, _) = asyncio.run(sent())
    assert (at, then, last) == (0, CALL_HZ // 50, CALL_HZ // 50 + CALL_HZ // 25)
    assert single == QUIET_ROOM
    assert len(double) == 2 * len(QUIET_ROOM) - 1
