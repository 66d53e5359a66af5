"""Recordings instead of a person, and a file instead of a loudspeaker, in simulated time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from s2s.core.audio import PIPELINE_HZ, read_wav
from s2s.core.clock import ManualClock
from s2s.core.messages import AudioIn, ResponseId
from s2s.transport.playback import Playback
from s2s.transport.wav import Line, Script, WavTransport

HZ = 24_000
ANSWER = ResponseId("t", 0, 0, "a")


def words(seconds: float, level: float = 0.5) -> np.ndarray:
    return np.full(int(seconds * PIPELINE_HZ), level, np.float32)


def test_a_script_says_each_line_when_it_has_been_quiet_for_long_enough() -> None:
    script = Script([Line(words(0.032), 0.6, "a"), Line(words(0.05), None, "b")])
    assert not script.next_window(0, 0.5).any()  # type: ignore[union-attr]
    assert script.next_window(512, 0.6).all()  # type: ignore[union-attr]
    assert not script.speaking
    second = script.next_window(1024, 0.0)  # at once
    assert second is not None
    assert second.all()
    assert script.speaking
    rest = script.next_window(1536, 0.0)
    assert rest is not None
    assert np.count_nonzero(rest) == 800 - 512
    assert [(at, line.name) for at, line in script.said] == [(512, "a"), (1024, "b")]


def test_it_ends_after_the_last_line_once_it_is_quiet() -> None:
    script = Script([], end_quiet_s=1.0)
    assert script.next_window(0, 0.9) is not None
    assert script.next_window(512, 1.0) is None


class Rig:
    def __init__(self, *lines: Line) -> None:
        self.clock = ManualClock()
        self.playback = Playback(self.clock, HZ)
        self.transport = WavTransport(Script(lines), self.playback, self.clock)
        self.heard: list[AudioIn] = []

    def run(self) -> None:
        self.transport.run(self.heard.append, lambda: not self.playback.playing)


def test_windows_come_in_their_time_with_their_place() -> None:
    rig = Rig(Line(words(0.5), 0.1))
    rig.run()
    assert [each.end_sample for each in rig.heard] == [512 * (n + 1) for n in range(len(rig.heard))]
    for each in rig.heard:
        assert each.captured_at_s == pytest.approx(each.end_sample / PIPELINE_HZ)
    assert np.count_nonzero(rig.transport.person()) == 8000
    assert rig.clock.now() == pytest.approx(len(rig.heard) * 0.032)


def test_an_answer_is_recorded_where_it_was_heard() -> None:
    rig = Rig(Line(words(0.2), 0.0))

    def answer() -> None:
        rig.clock.wait_until(0.5)
        rig.playback.write(np.full(HZ // 10, 0.25, np.float32), ANSWER, "Yes.", stale=lambda: False)
        rig.playback.finish(ANSWER)

    rig.clock.start(answer, "answer")
    rig.run()
    sound = rig.transport.assistant()
    audible = np.flatnonzero(sound)
    assert len(audible) == HZ // 10
    assert audible[0] / HZ == pytest.approx(0.5, abs=0.02)
    quiet_s = len(rig.transport.person()) / PIPELINE_HZ - 0.6
    assert quiet_s == pytest.approx(1.0, abs=0.1)  # counted from the end of the answer


def test_both_are_saved_left_and_right(tmp_path: Path) -> None:
    rig = Rig(Line(words(0.3), 0.0))
    rig.run()
    both = rig.transport.stereo()
    assert both.shape[1] == 2
    assert both[: HZ // 10, 0].any()
    assert not both[:, 1].any()
    rig.transport.save(tmp_path / "both.wav")
    rig.transport.save(tmp_path / "one.wav", stereo=False)
    assert read_wav(tmp_path / "both.wav")[1] == HZ
    assert not read_wav(tmp_path / "one.wav")[0].any()


def test_it_can_be_stopped() -> None:
    rig = Rig(Line(words(60.0), 0.0))
    rig.clock.start(lambda: (rig.clock.wait_until(1.0), rig.transport.stop()), "person")
    rig.run()
    assert rig.clock.now() == pytest.approx(1.0, abs=0.07)
    assert not rig.transport.half_duplex
    assert rig.transport.can_take_back
