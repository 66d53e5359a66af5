"""A recorded transport is the one inside it, and a tap takes what it hears and plays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from s2s.config.schema import Config
from s2s.core.clock import ManualClock
from s2s.core.messages import AudioIn
from s2s.records.ends import RecordedTransport
from s2s.records.folder import read_record
from s2s.records.recorder import RecordPlan, SessionRecorder
from s2s.testing.simulator import tone
from s2s.transport.playback import Playback
from s2s.transport.wav import Line, Script, WavTransport
from tests.records.test_recorder import models
from tests.transport.test_local import DEVICES, RESPONSE, FakePortAudio, transport


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


def test_what_a_sound_card_hears_and_plays_at_a_moment_lies_together(tmp_path: Path) -> None:
    """Half a second of silence, then both voices at once, for a quarter of a second."""
    clock, fake = ManualClock(), FakePortAudio(DEVICES)
    local = transport(fake, clock)
    recorder = SessionRecorder(
        RecordPlan(tmp_path, "talk", Config()), models(clock), clock, pytest.fail
    )
    recorded = RecordedTransport(local, local.playback, recorder)
    worker = clock.start(lambda: recorded.run(lambda _: None, lambda: True), "transport")
    clock.wait_until(0.001)
    voice = tone(0.25, 440.0)
    loud = np.repeat(voice, 3)  # at the card's 48 kHz
    for number in range(150):
        clock.wait_until(0.001 + (number + 1) * 0.01)
        at = (number - 50) * 480
        if at == 0:
            local.playback.write(loud, RESPONSE, "hello", stale=lambda: False)
        heard = loud[at : at + 480] if 0 <= at < len(loud) else np.zeros(480, dtype=np.float32)
        fake.cycle(heard)
    recorded.stop()
    fake.cycle(np.zeros(480, dtype=np.float32))
    worker.join()
    recorder.close()
    recorder.wait()
    both = np.concatenate(list(read_record(recorder.folder).sound())).astype(float)
    begins = [int(np.flatnonzero(np.abs(each) > 1000)[0]) for each in both.T]
    ends = [int(np.flatnonzero(np.abs(each) > 1000)[-1]) for each in both.T]
    assert begins[1] == pytest.approx(0.5 * 16_000, abs=400)
    assert begins[0] == pytest.approx(begins[1], abs=800), "within 50 ms"
    assert ends[1] - begins[1] == pytest.approx(4000, abs=200)
