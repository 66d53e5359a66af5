"""How much of the loudspeaker the microphone hears: a sweep is played and what comes back measured.

`echo_of` is pure; `measured` plays and records.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

import numpy as np

from s2s.app.doctor.report import Finding
from s2s.core.audio import PIPELINE_HZ, Block, resample
from s2s.core.clock import Clock, SystemClock
from s2s.transport.base import DeviceError
from s2s.transport.devices import choose, list_devices, portaudio
from s2s.transport.local import LocalConfig
from s2s.transport.playback import Playback
from s2s.transport.sides import Loudspeaker, Microphone

SWEEP_S = 0.5
LISTEN_S = 2.0
LEVEL = 0.1
LOW_HZ, HIGH_HZ = 300.0, 5000.0
"""What small loudspeakers play and every microphone hears."""
CERTAIN = 8.0
"""The echo stands out of what else is like the sweep by at least so much."""
AROUND_S = 0.05
"""Reflections that count as the echo."""
_READ_S = 0.1


@dataclass(frozen=True, slots=True)
class EchoHeard:
    """What came back."""

    delay_ms: float
    level_db: float
    """Of what was heard against what was played."""


def sweep(rate_hz: int) -> Block:
    """A rising tone, float32 [samples], without clicks."""
    t = np.arange(int(SWEEP_S * rate_hz)) / rate_hz
    growth = np.log(HIGH_HZ / LOW_HZ)
    phase = 2 * np.pi * LOW_HZ * SWEEP_S / growth * (np.exp(t / SWEEP_S * growth) - 1)
    fade = np.minimum(1.0, np.minimum(t, t[::-1]) / 0.02)
    return (LEVEL * fade * np.sin(phase)).astype(np.float32)


def echo_of(played: Block, heard: Block, rate_hz: int) -> EchoHeard | None:
    """The echo of `played` in `heard`, float32 [samples] at one rate that begin together; None:
    nothing of it is certain."""
    if len(heard) <= len(played) or not played.any() or not heard.any():
        return None
    size = 1 << (len(played) + len(heard) - 1).bit_length()
    spectrum = np.fft.rfft(heard, size) * np.conj(np.fft.rfft(played, size))
    like = np.fft.irfft(spectrum, size)[: len(heard) - len(played)] / float(played @ played)
    at = int(np.abs(like).argmax())
    around = max(1, int(AROUND_S * rate_hz))
    elsewhere = np.concatenate([like[: max(0, at - around)], like[at + around :]])
    floor = float(np.sqrt(np.mean(elsewhere**2))) if len(elsewhere) else 0.0
    peak = float(np.abs(like[at]))
    if peak <= 0.0 or peak < CERTAIN * floor:
        return None
    part = heard[at : at + len(played)]
    power = float(np.mean(part.astype(np.float64) ** 2) / np.mean(played.astype(np.float64) ** 2))
    return EchoHeard(1000 * at / rate_hz, 10 * float(np.log10(power)))


def measured(
    config: LocalConfig, clock: Clock | None = None, sounddevice: ModuleType | None = None
) -> Finding:
    """Play the sweep through the loudspeaker, and say what of it the microphone hears.

    Args:
        config: which devices.
        clock: None: the system's.
        sounddevice: the PortAudio binding; another one for tests.
    """
    clock = clock or SystemClock()
    try:
        sd = sounddevice or portaudio()
        devices = list_devices(sd)
        mouth = choose(devices, config.output_device, output=True)
        ears = choose(devices, config.input_device, output=False)
        playback = Playback(clock, mouth.rate_hz)
        heard = _heard(Microphone(sd, clock, ears), Loudspeaker(
            sd, clock, mouth, playback, lambda _: None
        ), playback, clock)  # fmt: skip
    except DeviceError as error:
        return Finding("warning", f"echo: not measured: {error}", area="echo")
    return echo_finding(echo_of(sweep(PIPELINE_HZ), heard, PIPELINE_HZ), mouth.name, ears.name)


def _heard(ears: Microphone, mouth: Loudspeaker, playback: Playback, clock: Clock) -> Block:
    """What the microphone delivers from the start of the sweep on: float32 [samples at 16 kHz]."""
    try:
        mouth.open()
        ears.open()
        ears.wait_for_sound()
        ears.raw(clock.now())  # what was there before
        playback.cue(sweep(playback.rate_hz))
        parts: list[Block] = []
        until_s = clock.now() + LISTEN_S
        while clock.now() < until_s and not ears.lost:
            parts.append(ears.raw(clock.now() + _READ_S))
        return resample(np.concatenate(parts), ears.rate_hz, PIPELINE_HZ)
    finally:
        ears.close()
        mouth.close()


def echo_finding(echo: EchoHeard | None, mouth: str, ears: str) -> Finding:
    """What is to be said of an echo between two devices."""
    values: dict[str, str | float | bool | None] = {"loudspeaker": mouth, "microphone": ears}
    if echo is None:
        return Finding(
            "ok",
            f"echo: {ears} hears nothing of {mouth}: headphones, or one of them is off",
            "",
            "echo",
            values | {"heard": False, "delay_ms": None, "level_db": None},
        )
    return Finding(
        "ok",
        f"echo: {ears} hears {mouth} at {echo.level_db:.0f} dB after {echo.delay_ms:.0f} ms",
        "" if echo.level_db < 0 else "turn the loudspeaker down, or move it away",
        "echo",
        values
        | {
            "heard": True,
            "delay_ms": round(echo.delay_ms, 1),
            "level_db": round(echo.level_db, 1),
        },
    )
