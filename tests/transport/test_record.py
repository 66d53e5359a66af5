"""Recording from a microphone; the fake PortAudio delivers as soon as it is started."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from s2s.core.clock import ManualClock
from s2s.transport.base import DeviceError
from s2s.transport.record import record
from tests.transport.test_local import FakePortAudio, device


class DeliversAtOnce(FakePortAudio):
    """The microphone gives so many seconds of a tone when it is started."""

    def __init__(self, seconds: float) -> None:
        super().__init__([device("Laptop Mic", 1, 0)], default=(0, -1))
        self.seconds = seconds
        self.ended = False

    def _stream(self, kind: str, options: dict[str, Any]) -> object:
        stream = cast(SimpleNamespace, super()._stream(kind, options))
        rate_hz = int(options["samplerate"])

        def start() -> None:
            stream.active = not self.ended
            at = np.arange(int(self.seconds * rate_hz)) / rate_hz
            sound = np.sin(2 * np.pi * 440 * at).astype(np.float32)
            for part in np.split(sound, range(480, len(sound), 480)):
                stream.callback(part[:, np.newaxis], len(part), None, 0)

        stream.start = start
        return stream


def test_as_much_as_asked_at_the_rate_that_is_asked() -> None:
    fake, told = DeliversAtOnce(2.0), list[float]()
    found = record(None, 1.5, 24_000, ManualClock(), told.append, sounddevice=cast(Any, fake))
    assert len(found) == pytest.approx(1.5 * 24_000, abs=2)
    assert found.dtype == np.float32
    spectrum = np.abs(np.fft.rfft(found))
    assert np.argmax(spectrum) * 24_000 / len(found) == pytest.approx(440, abs=1)
    assert told[-1] == 1.5
    assert not fake.streams


def test_a_microphone_that_stops_is_told() -> None:
    fake = DeliversAtOnce(0.5)
    fake.ended = True
    with pytest.raises(DeviceError, match=r"delivered 0\.5 of 1\.5 s and stopped"):
        record(None, 1.5, 24_000, ManualClock(), lambda _: None, sounddevice=cast(Any, fake))
    assert not fake.streams


def test_a_microphone_that_there_is_not_is_told() -> None:
    fake = DeliversAtOnce(1.0)
    with pytest.raises(DeviceError, match="no microphone is called 'USB'"):
        record("USB", 1.0, 24_000, ManualClock(), lambda _: None, sounddevice=cast(Any, fake))
    fake.busy = True
    with pytest.raises(DeviceError, match="cannot be opened"):
        record(None, 1.0, 24_000, ManualClock(), lambda _: None, sounddevice=cast(Any, fake))
