"""Packets in order: at once where they come so, and none is waited for too long."""

from __future__ import annotations

from aiortc import rtcrtpreceiver
from aiortc.rtp import RtpPacket
from hypothesis import given
from hypothesis import strategies as st

from s2s.transport.webrtc.packet_order import MOST_HELD, PacketOrder, order_packets

FRAME = 960


def passed(
    numbers: list[int], first: int = 0, samples: int = FRAME, began: int = 0
) -> list[tuple[int, int]]:
    """Which frame was passed on, behind which packet: both counted from the first.

    Args:
        samples: in a packet.
        began: the time stamp of the first.
    """
    order = PacketOrder(16, 4)
    found: list[tuple[int, int]] = []
    for number in numbers:
        packet = RtpPacket(
            payload_type=96,
            sequence_number=(first + number) % 65_536,
            timestamp=(began + number * samples) % (1 << 32),
            payload=str(number).encode(),
        )
        pictures, frame = order.add(packet)
        assert not pictures
        if frame is not None:
            passed_on = int(frame.data)
            assert frame.timestamp == (began + passed_on * samples) % (1 << 32)
            found.append((passed_on, number))
    return found


def test_what_comes_in_order_is_passed_on_at_once() -> None:
    assert passed(list(range(100))) == [(number, number) for number in range(100)]


def test_after_a_loss_all_is_a_little_later_and_no_more() -> None:
    numbers = [number for number in range(200) if number not in (50, 90, 91, 130)]
    found = passed(numbers)
    assert [frame for frame, _ in found] == numbers[: len(found)]
    assert all(behind - frame < MOST_HELD + 2 for frame, behind in found)
    assert len(numbers) - len(found) < MOST_HELD


def test_longer_packets_are_waited_for_no_longer() -> None:
    numbers = [number for number in range(100) if number not in (20, 60)]
    found = passed(numbers, samples=2 * FRAME, began=(1 << 32) - 30 * FRAME)
    assert [frame for frame, _ in found] == numbers[: len(found)]
    assert max(behind - frame for frame, behind in found) == 2


def test_packets_that_were_swapped_are_put_in_order() -> None:
    assert [frame for frame, _ in passed([0, 2, 1, 4, 5, 3, 6, 7])] == [0, 1, 2, 3, 4, 5]


def test_what_comes_twice_or_too_late_is_passed_over() -> None:
    numbers = [0, 1, 1, 3, 4, 5, 6, 2, 7, 8, 9]
    assert [frame for frame, _ in passed(numbers)] == [0, 1, 3, 4, 5, 6]


def test_a_stream_that_begins_anew_is_followed() -> None:
    assert [frame for frame, _ in passed([5_000, 5_001, 10, 11, 12])] == [5_000, 5_001, 10, 11, 12]


@given(
    st.integers(0, 65_535),
    st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=200),
)
def test_frames_rise_and_few_are_held(first: int, fates: list[tuple[int, bool]]) -> None:
    """Each packet may be lost, or be late by some others."""
    sent = [(number + late, number) for number, (late, lost) in enumerate(fates) if not lost]
    numbers = [number for _, number in sorted(sent)]
    frames = [frame for frame, _ in passed(numbers, first)]
    assert frames == sorted(set(frames))
    assert len(numbers) - len(frames) <= 2 * MOST_HELD + sum(late > 0 for late, _ in fates)
    if not any(lost for _, lost in fates) and numbers[:1] == [0]:
        assert frames == list(range(len(frames)))


def test_aiortc_s_receivers_keep_the_order_so() -> None:
    order_packets()
    assert rtcrtpreceiver.JitterBuffer is PacketOrder  # pyright: ignore[reportPrivateImportUsage]
