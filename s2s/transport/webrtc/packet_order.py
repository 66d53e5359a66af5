"""The order of the packets of a call: what comes in order is passed on at once, what is missing is
waited for while a few more come.

aiortc's own buffer holds four packets back from the beginning (80 ms), and after the first loss
fourteen, for the rest of the call (280 ms). That is for a loudspeaker, which must not run dry; what
is only listened to may come as it comes: docs/decisions/hearing-needs-no-jitter-buffer.md.
"""

from __future__ import annotations

from aiortc import rtcrtpreceiver
from aiortc.jitterbuffer import JitterBuffer, JitterFrame
from aiortc.rtp import RtpPacket

MOST_LATE = 80 * 48
"""Samples behind the last frame that may come while one is missing; with more it is lost."""
MOST_HELD = 4
"""Packets, likewise."""
_NUMBERS = 1 << 16
_SAMPLES = 1 << 32
_LATE = 100
"""A packet that is further behind begins another stream."""


class PacketOrder(JitterBuffer):
    """One stream of sound, each of whose packets is a frame of its own.

    The arguments are those that aiortc gives; none of them matters here.
    """

    def __init__(self, capacity: int, prefetch: int = 0, is_video: bool = False) -> None:
        super().__init__(capacity, prefetch, is_video)
        self._wanted: int | None = None
        """Number of the packet that comes next."""
        self._passed: int | None = None
        """Time stamp of the last frame."""
        self._held: dict[int, RtpPacket] = {}

    def add(self, packet: RtpPacket) -> tuple[bool, JitterFrame | None]:
        """Another one has come; the frame that is next, and never that a picture is missing."""
        number = packet.sequence_number
        if self._wanted is None:
            self._wanted = number
        behind = (self._wanted - number) % _NUMBERS
        if 0 < behind <= _LATE:
            return False, None  # it was given up, or came twice
        if _LATE < behind < _NUMBERS // 2:
            self._held.clear()
            self._wanted, self._passed = number, None
        self._held[number] = packet
        if self._wanted not in self._held:
            if len(self._held) < MOST_HELD and not self._too_late(packet):
                return False, None
            self._wanted = min(self._held, key=self._ahead)
        first = self._held.pop(self._wanted)
        self._wanted = (self._wanted + 1) % _NUMBERS
        self._passed = first.timestamp
        return False, JitterFrame(first.payload, first.timestamp)

    def _too_late(self, newest: RtpPacket) -> bool:
        """What is missing was said too long before this."""
        if self._passed is None:
            return False
        return MOST_LATE < (newest.timestamp - self._passed) % _SAMPLES < _SAMPLES // 2

    def _ahead(self, number: int) -> int:
        assert self._wanted is not None
        return (number - self._wanted) % _NUMBERS


def order_packets() -> None:
    """Have the receivers that aiortc makes from now on keep the order so; they offer no other way
    to it. Calls of this server have sound alone."""
    rtcrtpreceiver.JitterBuffer = PacketOrder  # pyright: ignore[reportPrivateImportUsage]
