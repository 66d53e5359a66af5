"""The playback of a call: what leaves when, what was cut, and what is told."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.audio import Block
from s2s.transport.realtime.server_playback import (
    FRAMES_PER_S,
    OPUS_HZ,
    PlaybackChange,
    ServerPlayback,
    SoundCut,
)

RATE_HZ = 24_000
FRAME = RATE_HZ // 50


class Played:
    """A playback, and what it told."""

    def __init__(self, rate_hz: int = RATE_HZ) -> None:
        self.left = 0
        self.told: list[tuple[str, str]] = []
        self.playback = ServerPlayback(rate_hz, self._left, self._told)

    def _left(self, samples: int) -> None:
        assert samples > 0
        self.left += samples

    def _told(self, change: PlaybackChange) -> None:
        self.told.append((change.what, change.response_id))

    def frames(self, most: int = 10_000) -> list[Block]:
        """What leaves until there is silence."""
        found: list[Block] = []
        while len(found) < most and (frame := self.playback.frame()) is not None:
            found.append(frame)
        return found


def hum(samples: int) -> Block:
    return np.sin(np.arange(samples) / 20).astype(np.float32)


def test_an_answer_leaves_frame_by_frame_and_its_beginning_and_end_are_told() -> None:
    played = Played()
    played.playback.play("a", hum(5 * FRAME))
    assert played.told == []
    frames = played.frames(3)
    assert played.told == [("started", "a")]
    assert 2 * FRAME <= played.left <= 3 * FRAME
    played.playback.ended("a")
    frames += played.frames()
    assert played.told == [("started", "a"), ("stopped", "a")]
    assert played.left == 5 * FRAME
    assert {len(frame) for frame in frames} == {FRAME}
    assert not played.playback.playing
    heard = np.concatenate(frames)
    assert abs(len(heard) - 5 * FRAME) <= FRAME
    assert float(np.abs(heard).max()) == pytest.approx(1.0, abs=0.05)


def test_what_left_is_told_together_and_at_once_where_it_counts() -> None:
    told: list[int] = []
    playback = ServerPlayback(RATE_HZ, told.append, lambda _: None, report_samples=10 * FRAME)
    playback.play("a", hum(100 * FRAME))
    for _ in range(25):
        assert playback.frame() is not None
    assert told == [FRAME, 10 * FRAME, 10 * FRAME]
    assert playback.clear() == [SoundCut("a", 25 * FRAME)]
    assert sum(told) == 100 * FRAME
    told.clear()
    playback.play("b", hum(3 * FRAME))
    playback.ended("b")
    while playback.frame() is not None:
        pass
    assert sum(told) == 3 * FRAME


def test_an_answer_that_is_still_made_waits_and_goes_on() -> None:
    played = Played()
    played.playback.play("a", hum(FRAME // 2))
    assert played.frames() == []
    assert played.playback.playing
    played.playback.play("a", hum(2 * FRAME))
    assert played.frames()
    assert played.told == [("started", "a")]


def test_what_is_cleared_is_told_to_the_sample_that_left() -> None:
    played = Played()
    played.playback.play("a", hum(100 * FRAME))
    played.playback.play("b", hum(FRAME))
    assert len(played.frames(10)) == 10
    assert played.playback.clear() == [SoundCut("a", 10 * FRAME), SoundCut("b", 0)]
    assert played.left == 101 * FRAME
    assert played.playback.frame() is None
    assert played.playback.clear() == []


def test_what_still_comes_of_a_cleared_answer_is_dropped_and_the_next_is_played() -> None:
    played = Played()
    played.playback.play("a", hum(10 * FRAME))
    played.frames(1)
    played.playback.clear()
    played.playback.play("a", hum(10 * FRAME))
    assert not played.playback.playing
    assert played.left == 20 * FRAME
    played.playback.ended("a")
    played.playback.play("b", hum(10 * FRAME))
    assert played.frames(2)
    assert played.told == [("started", "a"), ("started", "b")]


def test_answers_follow_each_other() -> None:
    played = Played()
    for name in ("a", "b"):
        played.playback.play(name, hum(3 * FRAME))
        played.playback.ended(name)
    played.frames()
    assert played.told == [("started", "a"), ("stopped", "a"), ("started", "b"), ("stopped", "b")]
    assert played.left == 6 * FRAME


def test_who_sends_is_woken_once_there_is_something() -> None:
    played = Played()
    woken: list[int] = []
    played.playback.on_sound = lambda: woken.append(1)
    played.playback.play("a", hum(FRAME))
    played.playback.ended("a")
    played.frames()
    played.playback.play("b", hum(FRAME))
    assert len(woken) == 2


@given(
    st.sampled_from([16_000, 22_050, 24_000, 48_000]),
    st.lists(st.integers(1, 3_000), min_size=1, max_size=6),
    st.integers(0, 20),
)
def test_all_that_comes_leaves_or_is_cut(rate_hz: int, sizes: list[int], frames: int) -> None:
    played = Played(rate_hz)
    for size in sizes:
        played.playback.play("a", hum(size))
    frame_hz = played.playback.frame_hz
    assert frame_hz in OPUS_HZ
    assert rate_hz <= frame_hz
    leaving = played.frames(frames)
    assert {len(frame) for frame in leaving} <= {frame_hz // FRAMES_PER_S}
    left = len(leaving)
    cuts = played.playback.clear()
    assert played.left == sum(sizes)
    if cuts:
        assert cuts[0].left == min(sum(sizes), left * rate_hz // FRAMES_PER_S)
