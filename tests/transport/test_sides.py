"""A side of the sound card: at which rate it opens, when it is lost, and what passes through it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

from s2s.core.audio import Block
from s2s.core.clock import ManualClock
from s2s.core.messages import ResponseId
from s2s.transport.base import DeviceError
from s2s.transport.devices import Device
from s2s.transport.playback import Playback
from s2s.transport.sides import STALL_S, Loudspeaker, Microphone
from tests.transport.test_local import FakePortAudio, PortAudioError

ANSWER = ResponseId("t", 0, 0, "a")
MIC = Device(0, "Mic", 2, 0, 48_000, True, False)
BOX = Device(1, "Box", 0, 6, 48_000, False, True)


def microphone(fake: FakePortAudio, clock: ManualClock, device: Device = MIC) -> Microphone:
    return Microphone(cast(Any, fake), clock, device)


def loudspeaker(
    fake: FakePortAudio, clock: ManualClock, played: Callable[[Block], None] = lambda _: None
) -> tuple[Loudspeaker, Playback]:
    playback = Playback(clock, 48_000)
    return Loudspeaker(cast(Any, fake), clock, BOX, playback, played), playback


def test_a_device_is_opened_at_its_own_rate_and_the_best_number_of_channels() -> None:
    fake = FakePortAudio([])
    side = microphone(fake, ManualClock())
    assert side.lost
    side.open()
    (stream,) = fake.streams
    assert (stream.samplerate, stream.channels, stream.device) == (48_000, 2, 0)
    assert side.is_open
    assert not side.delivers
    side.close()
    side.close()
    assert not side.is_open


def test_a_device_that_refuses_its_rate_is_opened_at_another() -> None:
    fake = FakePortAudio([])
    fake.refused_hz = {48_000, 44_100}
    side = microphone(fake, ManualClock())
    side.open()
    assert side.rate_hz == 16_000
    (stream,) = fake.streams
    stream.callback(np.full((1600, 2), 0.25, np.float32), 1600, None, 0)
    frames, pending = side.frames(0.0)
    assert sum(map(len, frames)) + pending == pytest.approx(1600, abs=64)


def test_a_device_that_cannot_be_opened_says_what_to_do() -> None:
    fake = FakePortAudio([])
    fake.busy = True
    with pytest.raises(DeviceError, match=r"'Box' cannot be opened .*audio\.output_device"):
        loudspeaker(fake, ManualClock())[0].open()
    with pytest.raises(DeviceError, match=r"'Mic' cannot be opened .*audio\.input_device"):
        microphone(fake, ManualClock()).open()


def test_a_device_is_lost_when_nothing_comes_from_it_for_long() -> None:
    clock, fake = ManualClock(), FakePortAudio([])
    side = microphone(fake, clock)
    side.open()
    clock.wait_until(STALL_S)
    assert not side.lost
    fake.cycle(np.zeros(480, np.float32))
    clock.wait_until(2 * STALL_S)
    assert side.delivers
    assert not side.lost
    clock.wait_until(2 * STALL_S + 0.1)
    assert side.lost


def test_a_device_is_lost_when_its_stream_has_ended_or_cannot_be_asked() -> None:
    fake = FakePortAudio([])
    side = microphone(fake, ManualClock())
    side.open()
    fake.streams[0].active = False
    assert side.lost

    class Gone:
        @property
        def active(self) -> bool:
            raise PortAudioError("gone")

        def start(self) -> None: ...

        def close(self) -> None:
            raise PortAudioError("gone")

    fake.InputStream = lambda **_: Gone()  # type: ignore[method-assign]
    side.open()
    assert side.lost
    side.close()  # nothing is left to be closed


def test_what_the_microphone_lost_is_counted() -> None:
    fake = FakePortAudio([])
    side = microphone(fake, ManualClock())
    side.open()
    fake.streams[0].callback(np.zeros((480, 2), np.float32), 480, None, 1)
    assert side.overruns == 1
    assert len(side.raw(0.0)) == 480


def test_stopping_wakes_who_waits_for_sound() -> None:
    clock, fake = ManualClock(), FakePortAudio([])
    side = microphone(fake, clock)
    side.open()
    waiting = clock.start(side.wait_for_sound, "waits")
    clock.wait_until(1.0)
    side.stop()
    waiting.join()
    assert clock.now() == 1.0


def test_a_loudspeaker_plays_to_all_channels_and_tells_what() -> None:
    clock, fake, told = ManualClock(), FakePortAudio([]), list[Block]()
    side, playback = loudspeaker(fake, clock, lambda block: told.append(block.copy()))
    side.open()
    assert fake.streams[0].channels == 2
    playback.write(np.full(480, 0.25, np.float32), ANSWER, "", stale=lambda: False)
    played = fake.cycle(np.zeros(480, np.float32))
    assert np.array_equal(played, np.full((480, 2), 0.25, np.float32))
    assert np.array_equal(told[0], played[:, 0])


@pytest.mark.parametrize("rate_hz", [44_100, 16_000])
def test_at_another_rate_the_sound_is_as_long(rate_hz: int) -> None:
    clock, fake = ManualClock(), FakePortAudio([])
    fake.refused_hz = {48_000, 44_100} - {rate_hz}
    side, playback = loudspeaker(fake, clock)
    side.open()
    assert side.rate_hz == rate_hz
    playback.write(np.full(48_000, 0.25, np.float32), ANSWER, "", stale=lambda: False)
    played = np.concatenate(
        [fake.cycle(np.zeros(441, np.float32))[:, 0] for _ in range(2 * rate_hz // 441)]
    )
    loud = np.count_nonzero(np.abs(played) > 0.125)
    assert loud / rate_hz == pytest.approx(1.0, abs=0.02)


def test_without_a_device_the_answer_passes_in_its_own_time() -> None:
    clock, fake = ManualClock(), FakePortAudio([])
    side, playback = loudspeaker(fake, clock)
    playback.write(np.full(48_000, 0.25, np.float32), ANSWER, "", stale=lambda: False)
    side.play_to_nobody()
    assert playback.waiting_samples == 48_000
    clock.wait_until(0.25)
    side.play_to_nobody()
    assert playback.waiting_samples == 36_000
    side.open()
    clock.wait_until(9.0)
    side.close()
    side.play_to_nobody()  # what passed while it had a device does not count
    assert playback.waiting_samples == 36_000
