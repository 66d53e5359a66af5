"""The satellite's loudspeaker: what comes is played in order, told when it was heard, and cut."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import numpy as np
import pytest
from wyoming.audio import AudioChunk

from s2s.core.audio import Block, to_int16
from s2s.core.clock import ManualClock
from s2s.testing.simulator import tone
from s2s.transport.playback import Playback
from s2s.transport.wyoming.satellite.loudspeaker import SatelliteSound, rung

HZ = 24_000
TICK = 240
CHUNK = 1024


class Room:
    """A loudspeaker in simulated time."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.playback = Playback(self.clock, HZ)
        self.told = 0
        self.sound = SatelliteSound(self.playback, self.clock, self._played)

    def _played(self) -> None:
        self.told += 1

    def close(self) -> None:
        self.sound.close()

    def say(self, sound: Block, rate_hz: int = 16_000, *, channels: int = 1) -> None:
        """Home Assistant sends it, as fast as it goes."""
        self.sound.begin()
        pcm = np.repeat(to_int16(sound), channels)
        for at in range(0, len(pcm), CHUNK):
            chunk = AudioChunk(rate_hz, 2, channels, pcm[at : at + CHUNK].tobytes())
            self.sound.add(chunk.event())
        self.sound.end()

    def play(self, seconds: float) -> Block:
        """What is heard: float32 [samples] at 24 kHz."""
        heard: list[Block] = []
        for _ in range(int(seconds * HZ / TICK)):
            self.clock.wait_until(self.clock.now() + TICK / HZ)
            out = np.empty(TICK, np.float32)
            self.playback.pull(out)
            self.sound.look()
            heard.append(out)
        return np.concatenate(heard)


@pytest.fixture
def room() -> Iterator[Room]:
    with closing(Room()) as made:
        yield made


def loud_s(sound: Block) -> float:
    return float(np.count_nonzero(np.abs(sound) > 0.001)) / HZ


@pytest.mark.parametrize(("rate_hz", "channels"), [(16_000, 1), (22_050, 1), (48_000, 2)])
def test_sound_of_any_format_is_played_whole_and_told_once(
    room: Room, rate_hz: int, channels: int
) -> None:
    sound = np.full(3 * rate_hz, 0.5, np.float32)  # more than the buffer takes
    room.say(sound, rate_hz, channels=channels)
    assert room.sound.sounding
    before = room.play(2.5)
    assert room.told == 0
    assert loud_s(np.concatenate([before, room.play(1.5)])) == pytest.approx(3.0, abs=0.05)
    assert room.told == 1
    assert not room.sound.sounding


def test_one_sound_is_played_behind_another(room: Room) -> None:
    room.say(tone(1.0))
    room.say(tone(1.0))
    room.play(1.5)
    assert room.told == 1
    room.play(1.0)
    assert room.told == 2


def test_what_is_cut_is_silent_at_once_and_told_by_who_cut_it(room: Room) -> None:
    room.say(tone(3.0))
    room.play(1.0)
    room.sound.cut()
    assert not room.sound.sounding
    assert loud_s(room.play(3.0)) == 0
    assert room.told == 0


def test_what_still_comes_of_a_sound_that_was_cut_is_not_played(room: Room) -> None:
    chunk = AudioChunk(16_000, 2, 1, to_int16(tone(1.0)).tobytes()).event()
    room.sound.begin()
    room.sound.add(chunk)
    room.sound.cut()
    room.sound.add(chunk)
    room.sound.end()
    assert loud_s(room.play(2.0)) == 0
    assert room.told == 0
    room.say(tone(1.0))
    room.play(1.5)
    assert room.told == 1


def test_a_sound_without_samples_has_been_played(room: Room) -> None:
    room.sound.begin()
    room.sound.end()
    assert room.told == 1


def test_sound_that_cannot_be_is_not_played(room: Room) -> None:
    room.sound.begin()
    room.sound.add(AudioChunk(1, 2, 1, b"ab").event())
    room.sound.end()
    assert not room.sound.sounding
    assert room.told == 0


def test_a_timer_rings_and_nobody_waits_for_its_end(room: Room) -> None:
    room.sound.ring()
    heard = room.play(3.0)
    assert loud_s(heard) == pytest.approx(loud_s(rung()), abs=0.05)
    assert np.abs(heard).max() < 0.25
    assert room.told == 0
