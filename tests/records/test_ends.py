"""A recorded transport is the one inside it, and a tap takes what it hears and plays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from s2s.core.clock import ManualClock
from s2s.core.messages import AudioIn
from s2s.records.ends import RecordedTransport
from s2s.testing.simulator import tone
from s2s.transport.playback import Playback
from s2s.transport.wav import Line, Script, WavTransport


class Tap:
    """Takes everything, and gives silence to hear."""

    def __init__(self) -> None:
        self.windows: list[AudioIn] = []
        self.sound = 0

    def heard(self, window: AudioIn) -> AudioIn:
        self.windows.append(window)
        return replace(window, block=np.zeros_like(window.block))

    def played(self, block: np.ndarray, rate_hz: int, at_s: float) -> None:
        self.sound += len(block)

    def silenced(self, at_s: float) -> None: ...


def test_what_is_heard_comes_from_the_tap() -> None:
    clock = ManualClock()
    playback, tap = Playback(clock, 16_000), Tap()
    inner = WavTransport(Script([Line(tone(0.5), None)], end_quiet_s=0.1), playback, clock)
    transport = RecordedTransport(inner, playback, tap)
    heard: list[AudioIn] = []
    transport.run(heard.append, lambda: True)
    assert len(heard) == len(tap.windows) > 10
    assert any(window.block.any() for window in tap.windows)
    assert not any(window.block.any() for window in heard)
    assert tap.sound == len(heard) * 512


def test_all_else_is_that_of_the_transport_inside() -> None:
    clock = ManualClock()
    playback = Playback(clock, 16_000)
    inner = WavTransport(Script([Line(tone(9.0), None)]), playback, clock)
    transport = RecordedTransport(inner, playback, Tap())
    assert transport.playback is playback
    assert (transport.half_duplex, transport.can_take_back) == (False, True)
    transport.own_voice_heard()
    transport.stop()
    transport.run(lambda _: None, lambda: False)
