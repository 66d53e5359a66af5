"""Records from a microphone for some seconds, at the rate that is asked for."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import numpy as np

from s2s.core.audio import Block, Resampler
from s2s.core.clock import Clock
from s2s.transport.base import DeviceError
from s2s.transport.devices import choose, list_devices, portaudio
from s2s.transport.sides import Microphone

_READ_S = 0.2


def record(
    wanted: str | None,
    seconds: float,
    rate_hz: int,
    clock: Clock,
    progress: Callable[[float], None],
    *,
    sounddevice: ModuleType | None = None,
) -> Block:
    """float32 [samples] of the microphone called `wanted`, or of the default one.

    progress: told the seconds that are there, now and then. sounddevice: the PortAudio binding;
    another one for tests.

    Raises:
        DeviceError: there is no such microphone, it cannot be opened, or it stopped delivering.
    """
    sd = sounddevice or portaudio()
    microphone = Microphone(sd, clock, choose(list_devices(sd), wanted, output=False))
    microphone.open()
    try:
        parts: list[Block] = []
        count = 0
        while count < seconds * microphone.rate_hz:
            part = microphone.raw(clock.now() + _READ_S)
            parts.append(part)
            count += len(part)
            progress(min(seconds, count / microphone.rate_hz))
            if not len(part) and microphone.lost:
                raise DeviceError(
                    f"'{microphone.device.name}' delivered {count / microphone.rate_hz:.1f} of "
                    f"{seconds:g} s and stopped; choose another with --input-device (see "
                    "`python -m s2s devices`)"
                )
    finally:
        microphone.close()
    heard = np.concatenate(parts)[: int(seconds * microphone.rate_hz)]
    resampler = Resampler(microphone.rate_hz, rate_hz)
    return np.concatenate([resampler.push(heard), resampler.flush()])
