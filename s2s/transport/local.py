"""The machine's own microphone and loudspeaker, through PortAudio.

Both run at their native rates; the samples are resampled here and in the TTS stage. The callbacks
copy samples and return: they never wait for a stage.
"""

from __future__ import annotations

import logging
import platform
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Literal, Protocol

import numpy as np

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block, Framer, Resampler, empty
from s2s.core.clock import Clock
from s2s.core.messages import AudioIn
from s2s.core.setting import setting
from s2s.transport.base import DeviceError
from s2s.transport.echo import DuplexGuard, EchoCanceller, EchoError
from s2s.transport.playback import Playback
from s2s.transport.ring import Ring

log = logging.getLogger(__name__)

STALL_S = 1.0
"""A device that delivers nothing for this long is lost."""

MAX_FAR_AHEAD = PIPELINE_HZ // 10
"""Played samples kept for the canceller beyond what the microphone has reached."""

ECHO_RECORD = "echo.txt"
"""File of the cache folder `audio` with what the last conversation measured."""

RETRY_S = 2.0
"""How often a lost device is looked for."""


@dataclass(frozen=True, slots=True)
class Device:
    """A sound device as PortAudio lists it."""

    index: int
    name: str
    inputs: int
    outputs: int
    rate_hz: int
    default_input: bool
    default_output: bool


@dataclass(frozen=True, slots=True)
class LocalConfig:
    """Microphone and loudspeaker."""

    input_device: str | None = setting(
        None, "Number or part of the name, as `s2s devices` shows it; none: the system's default."
    )
    output_device: str | None = setting(
        None, "Number or part of the name, as `s2s devices` shows it; none: the system's default."
    )
    when_lost: Literal["wait", "end"] = setting("wait", "What to do when a device disappears.")
    echo: Literal["auto", "on", "off"] = setting(
        "auto",
        "Cancel the assistant's own voice in the microphone; auto: where the wheel is installed.",
    )


class Stream(Protocol):
    """What is used of a PortAudio stream."""

    @property
    def active(self) -> bool: ...

    def start(self) -> None: ...

    def close(self) -> None: ...


def portaudio() -> ModuleType:
    """The sounddevice module.

    Raises:
        DeviceError: PortAudio is not installed; the message says the command that brings it.
    """
    try:
        import sounddevice
    except OSError as error:
        remedy = "reinstall the sounddevice package"
        if platform.system() == "Linux":
            remedy = "sudo apt-get install libportaudio2 (or your system's portaudio package)"
        raise DeviceError(f"PortAudio is missing ({error}): {remedy}") from error
    return sounddevice


def list_devices(sounddevice: ModuleType | None = None) -> list[Device]:
    """All sound devices of this machine, asked through `sounddevice` (None: the installed one).

    Raises:
        DeviceError: PortAudio is not installed or cannot be asked.
    """
    sd = sounddevice or portaudio()
    try:
        default_in, default_out = sd.default.device
        return [
            Device(
                index,
                str(entry["name"]),
                int(entry["max_input_channels"]),
                int(entry["max_output_channels"]),
                int(entry["default_samplerate"]),
                index == default_in,
                index == default_out,
            )
            for index, entry in enumerate(sd.query_devices())
        ]
    except sd.PortAudioError as error:
        raise DeviceError(f"sound devices cannot be listed: {error}") from error


def choose(devices: list[Device], wanted: str | None, *, output: bool) -> Device:
    """The device called `wanted` (index or part of the name), or the default one.

    Raises:
        DeviceError: there is none, or more than one fits; the message lists what there is.
    """
    kind = "loudspeaker" if output else "microphone"
    usable = [d for d in devices if (d.outputs if output else d.inputs) > 0]
    names = ", ".join(f"{d.index}: {d.name}" for d in usable) or "none"
    if not usable:
        raise DeviceError(f"no {kind} found on this machine")
    if wanted is None:
        default = [d for d in usable if (d.default_output if output else d.default_input)]
        return default[0] if default else usable[0]
    if wanted.isdigit():
        fitting = [d for d in usable if d.index == int(wanted)]
    else:
        fitting = [d for d in usable if wanted.casefold() in d.name.casefold()]
        exact = [d for d in fitting if d.name.casefold() == wanted.casefold()]
        fitting = exact or fitting
    if len(fitting) != 1:
        problem = "no" if not fitting else "more than one"
        raise DeviceError(f"{problem} {kind} is called '{wanted}'; there are {names}")
    return fitting[0]


class _EchoPath:
    """What was played, on its way to the canceller, and whether both sides may speak at once."""

    def __init__(
        self,
        mode: Literal["auto", "on", "off"],
        output_hz: int,
        clock: Clock,
        notice: Callable[[str], None],
    ) -> None:
        self.played = Ring(clock, output_hz)
        """Written by the loudspeaker's callback."""
        self._clock = clock
        self._notice = notice
        self._resampler = Resampler(output_hz, PIPELINE_HZ)
        self._far = empty()
        self._guard = DuplexGuard()
        self._canceller: EchoCanceller | None = None
        if mode != "off":
            try:
                self._canceller = EchoCanceller()
            except EchoError:
                if mode == "on":
                    raise
                log.info("no echo canceller installed: use headphones, or the extra 'echo'")

    @property
    def half_duplex(self) -> bool:
        return self._guard.half_duplex

    @property
    def erle_db(self) -> float | None:
        """What the canceller takes out of the microphone, dB; None when no echo was heard."""
        return self._guard.erle_db

    def own_voice_heard(self) -> None:
        self._tell(self._guard.self_heard())

    def clean(self, near: Block) -> Block:
        """Take the loudspeaker out of the microphone's window `near`, float32 [512] at 16 kHz."""
        far = self._played_meanwhile(len(near))
        cleaned = near if self._canceller is None else self._canceller.process(near, far)
        self._tell(self._guard.hear(near, far, cleaned))
        return cleaned

    def _played_meanwhile(self, count: int) -> Block:
        new = self.played.read(0, deadline_s=self._clock.now())
        self._far = np.concatenate([self._far, self._resampler.push(new)])
        surplus = len(self._far) - count - MAX_FAR_AHEAD
        if surplus > 0:  # the two devices' clocks drift, or the microphone started late
            self._far = self._far[surplus:]
        far = np.zeros(count, dtype=np.float32)
        taken = min(count, len(self._far))
        far[:taken] = self._far[:taken]
        self._far = self._far[taken:]
        return far

    def _tell(self, text: str | None) -> None:
        if text is not None:
            self._notice(text)


class LocalTransport:
    """Microphone and loudspeaker.

    Args:
        config: which devices.
        clock: the session's clock.
        notice: tells the person what happens to the devices.
        sounddevice: the PortAudio binding; another one for tests.
    """

    def __init__(
        self,
        config: LocalConfig,
        clock: Clock,
        notice: Callable[[str], None],
        *,
        sounddevice: ModuleType | None = None,
    ) -> None:
        self._sd = sounddevice or portaudio()
        self._config = config
        self._clock = clock
        self._notice = notice
        self._stopped = False
        self._streams: list[Stream] = []
        self._retry = clock.condition()
        self.overruns = 0
        devices = list_devices(self._sd)
        self.input = choose(devices, config.input_device, output=False)
        self.output = choose(devices, config.output_device, output=True)
        self._playback = Playback(clock, self.output.rate_hz)
        self._ring = Ring(clock, 2 * self.input.rate_hz)
        self._echo = _EchoPath(config.echo, self.output.rate_hz, clock, notice)

    @property
    def playback(self) -> Playback:
        return self._playback

    @property
    def underruns(self) -> int:
        return self._playback.underruns

    @property
    def half_duplex(self) -> bool:
        return self._echo.half_duplex

    @property
    def erle_db(self) -> float | None:
        """Echo return loss enhancement measured in this conversation, dB; None without echo."""
        return self._echo.erle_db

    def own_voice_heard(self) -> None:
        self._echo.own_voice_heard()

    def stop(self) -> None:
        self._stopped = True
        self._ring.close()
        with self._retry:
            self._retry.notify_all()

    def run(self, heard: Callable[[AudioIn], None], tick: Callable[[], bool]) -> None:
        samples = 0
        while not self._stopped:
            try:
                self._open()
                samples = self._pump(samples, heard, tick)
            finally:
                self._close()
            if not self._stopped:
                self._wait_for_device()

    # --- streams -------------------------------------------------------------------------------

    def _open(self) -> None:
        def on_input(data: Block, _frames: int, _when: object, status: object) -> None:
            if status:
                self.overruns += 1
            self._ring.write(data[:, 0])

        def on_output(data: Block, _frames: int, _when: object, _status: object) -> None:
            self._playback.pull(data[:, 0])
            self._echo.played.write(data[:, 0])
            if data.shape[1] > 1:
                data[:, 1:] = data[:, :1]

        try:
            self._streams = [
                self._sd.OutputStream(
                    samplerate=self.output.rate_hz,
                    device=self.output.index,
                    channels=min(2, self.output.outputs),
                    dtype="float32",
                    latency="low",
                    callback=on_output,
                ),
                self._sd.InputStream(
                    samplerate=self.input.rate_hz,
                    device=self.input.index,
                    channels=1,
                    dtype="float32",
                    latency="low",
                    callback=on_input,
                ),
            ]
            for stream in self._streams:
                stream.start()
        except self._sd.PortAudioError as error:
            raise DeviceError(
                f"'{self.input.name}' or '{self.output.name}' cannot be opened ({error}): "
                "close the program that uses it, or choose another with --set audio.input_device "
                "and audio.output_device (see `python -m s2s devices`)"
            ) from error

    def _close(self) -> None:
        streams, self._streams = self._streams, []
        for stream in streams:
            try:
                stream.close()
            except self._sd.PortAudioError as error:
                log.debug("closing a lost device: %s", error)

    def _pump(
        self, samples: int, heard: Callable[[AudioIn], None], tick: Callable[[], bool]
    ) -> int:
        """Move microphone samples on until stopped or the device is lost; samples so far."""
        resampler = Resampler(self.input.rate_hz, PIPELINE_HZ)
        framer = Framer(BLOCK_SAMPLES)
        step = max(1, self.input.rate_hz // 100)
        while not self._stopped:
            block = self._ring.read(step, deadline_s=self._clock.now() + STALL_S)
            tick()
            if not len(block):
                return samples
            now_s = self._clock.now()
            frames = list(framer.push(resampler.push(block)))
            behind = framer.pending_samples
            for left, frame in zip(range(len(frames) - 1, -1, -1), frames, strict=True):
                samples += len(frame)
                frame = self._echo.clean(frame)
                captured_s = now_s - (behind + left * BLOCK_SAMPLES) / PIPELINE_HZ
                heard(AudioIn(frame, samples, captured_s))
        return samples

    def _wait_for_device(self) -> None:
        """The device is gone: wait until one is there again, or end, as configured."""
        self._playback.clear()
        lost = f"'{self.input.name}' delivers no more sound (unplugged or in use?)"
        if self._config.when_lost == "end":
            raise DeviceError(f"{lost}; ending, as audio.when_lost says")
        self._notice(f"{lost}: waiting for it. Ctrl-C ends.")
        while not self._stopped:
            with self._retry:
                self._retry.wait(RETRY_S)
            try:
                devices = list_devices(self._sd)
                self.input = choose(devices, self._config.input_device, output=False)
                found = choose(devices, self._config.output_device, output=True)
            except DeviceError as error:
                log.debug("still no device: %s", error)
                continue
            if found.rate_hz == self._playback.rate_hz:
                self.output = found
                self._notice(f"sound is back: {self.input.name}, {self.output.name}")
                return
