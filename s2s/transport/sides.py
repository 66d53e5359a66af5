"""The two sides of a sound card, each with a PortAudio stream of its own: what one does, the other
does not feel. The callbacks copy samples and return: they never wait for a stage.

A device may be slow: PortAudio's first callback comes after as much as two seconds where a sound
server wakes up or Bluetooth connects. It is lost when its stream has ended, or after `STALL_S`.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable
from types import ModuleType
from typing import Protocol

import numpy as np

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block, Framer, Resampler, empty
from s2s.core.audio.downmix import StreamDownmix
from s2s.core.clock import Clock
from s2s.transport.base import DeviceError
from s2s.transport.devices import Device
from s2s.transport.playback import Playback
from s2s.transport.ring import Ring

log = logging.getLogger(__name__)

STALL_S = 5.0
"""A device that does nothing for this long, at its start or later, is lost
(docs/decisions/slow-devices.md)."""

KEPT_S = 10
"""Seconds of the microphone that wait while the other side is being opened, which may take long."""

OTHER_RATES_HZ = (48_000, 44_100, 16_000)
"""Tried where a device cannot be opened at the rate that it says is its own."""


class Stream(Protocol):
    """What is used of a PortAudio stream."""

    @property
    def active(self) -> bool: ...

    def start(self) -> None: ...

    def close(self) -> None: ...


class Side:
    """A device's stream, and whether it lives. One thread opens, asks and closes it."""

    kind = ""
    setting = ""

    def __init__(self, sd: ModuleType, clock: Clock, device: Device) -> None:
        self.device = device
        self.rate_hz = device.rate_hz
        """Of the stream that is open, or was last."""
        self._sd = sd
        self._clock = clock
        self._stream: Stream | None = None
        self._opened_s = 0.0
        self._last_s: float | None = None
        """When the callback last came since it was opened. Written by PortAudio's thread."""

    @property
    def is_open(self) -> bool:
        return self._stream is not None

    @property
    def delivers(self) -> bool:
        """The callback has come since the stream was opened."""
        return self._last_s is not None

    @property
    def lost(self) -> bool:
        """Its stream has ended, or nothing came from it for too long."""
        if self._stream is None:
            return True
        try:
            if not self._stream.active:
                return True
        except self._sd.PortAudioError:
            return True
        last_s = self._opened_s if self._last_s is None else self._last_s
        return self._clock.now() - last_s > STALL_S

    def open(self) -> None:
        """Open and start the stream of `device`.

        Raises:
            DeviceError: it cannot be opened; the message says why and what to do.
        """
        reasons: list[str] = []
        rates = dict.fromkeys((self.device.rate_hz, *OTHER_RATES_HZ))
        for rate_hz, channels in itertools.product(rates, self._channels()):
            self._last_s = None
            self._opened_s = self._clock.now()
            try:
                stream = self._made(rate_hz, channels)
                stream.start()
            except self._sd.PortAudioError as error:
                reasons.append(str(error))
                continue
            self._stream, self.rate_hz = stream, rate_hz
            self._opened_s = self._clock.now()
            return
        raise DeviceError(
            f"'{self.device.name}' cannot be opened ({reasons[0]}): close the program that uses "
            f"it, or choose another with --set audio.{self.setting} (see `python -m s2s devices`)"
        )

    def close(self) -> None:
        """Close the stream; one that is gone already too."""
        stream, self._stream = self._stream, None
        if stream is not None:
            try:
                stream.close()
            except self._sd.PortAudioError as error:
                log.debug("closing a lost device: %s", error)

    def _channels(self) -> list[int]:
        """Numbers of channels to open it with, best first."""
        raise NotImplementedError

    def _made(self, rate_hz: int, channels: int) -> Stream:
        raise NotImplementedError


class Microphone(Side):
    """Fills a ring with mono samples at 16 kHz, in frames of 512 once they are taken out."""

    kind = "microphone"
    setting = "input_device"

    def __init__(self, sd: ModuleType, clock: Clock, device: Device) -> None:
        super().__init__(sd, clock, device)
        self.overruns = 0
        self._ring = Ring(clock, KEPT_S * max(48_000, device.rate_hz))
        self._resampler = Resampler(device.rate_hz, PIPELINE_HZ)
        self._framer = Framer(BLOCK_SAMPLES)

    def frames(self, deadline_s: float) -> tuple[list[Block], int]:
        """The frames that are complete, and how many samples at 16 kHz wait for the rest of theirs;
        waits for a hundredth of a second of sound until the deadline."""
        block = self._ring.read(max(1, self.rate_hz // 100), deadline_s=deadline_s)
        frames = list(self._framer.push(self._resampler.push(block)))
        return frames, self._framer.pending_samples

    def raw(self, deadline_s: float) -> Block:
        """The samples that wait, as delivered: mono, at `rate_hz`. For who reads no `frames`."""
        return self._ring.read(max(1, self.rate_hz // 100), deadline_s=deadline_s)

    def wait_for_sound(self) -> None:
        """Wait until the microphone delivers, or has had its time."""
        self._ring.wait_for_samples(self._clock.now() + STALL_S)

    def stop(self) -> None:
        """Wake who waits in `frames`, for good. Safe from a signal handler."""
        self._ring.close()

    def open(self) -> None:
        super().open()
        if self._resampler.in_hz != self.rate_hz:
            self._resampler = Resampler(self.rate_hz, PIPELINE_HZ)

    def _channels(self) -> list[int]:
        return [2, 1] if self.device.inputs > 1 else [1]

    def _made(self, rate_hz: int, channels: int) -> Stream:
        mixer = StreamDownmix(channels, rate_hz)

        def on_input(data: Block, _frames: int, _when: object, status: object) -> None:
            self._last_s = self._clock.now()
            if status:
                self.overruns += 1
            self._ring.write(mixer.push(data))

        return self._sd.InputStream(
            samplerate=rate_hz,
            device=self.device.index,
            channels=channels,
            dtype="float32",
            latency="low",
            callback=on_input,
        )


class Loudspeaker(Side):
    """Plays from a playback buffer, whatever rate the device has by now.

    Args:
        played: takes each block that leaves the buffer, at the buffer's rate.
    """

    kind = "loudspeaker"
    setting = "output_device"

    def __init__(
        self,
        sd: ModuleType,
        clock: Clock,
        device: Device,
        playback: Playback,
        played: Callable[[Block], None],
    ) -> None:
        super().__init__(sd, clock, device)
        self._playback = playback
        self._played = played
        self._silent_until_s: float | None = None

    def play_to_nobody(self) -> None:
        """While there is no device, let the buffer run on in its own time: called now and then. So
        the conversation goes on in writing."""
        now_s = self._clock.now()
        since_s, self._silent_until_s = self._silent_until_s, now_s
        if since_s is not None:
            count = max(1, int((now_s - since_s) * self._playback.rate_hz))
            self._playback.pull(np.zeros(count, dtype=np.float32))

    def open(self) -> None:
        super().open()
        self._silent_until_s = None

    def _channels(self) -> list[int]:
        return [min(2, self.device.outputs)]

    def _made(self, rate_hz: int, channels: int) -> Stream:
        fill = _Filling(self._playback, rate_hz, self._played)

        def on_output(data: Block, _frames: int, _when: object, _status: object) -> None:
            self._last_s = self._clock.now()
            fill(data[:, 0])
            if data.shape[1] > 1:
                data[:, 1:] = data[:, :1]

        return self._sd.OutputStream(
            samplerate=rate_hz,
            device=self.device.index,
            channels=channels,
            dtype="float32",
            latency="low",
            callback=on_output,
        )


class _Filling:
    """Fills a device's blocks from a playback buffer, resampled where the rates differ."""

    def __init__(self, playback: Playback, rate_hz: int, played: Callable[[Block], None]) -> None:
        self._playback = playback
        self._played = played
        self._same = rate_hz == playback.rate_hz
        self._resampler = Resampler(playback.rate_hz, rate_hz)
        self._rest = empty()

    def __call__(self, out: Block) -> None:
        if self._same:
            self._playback.pull(out)
            self._played(out)
            return
        while len(self._rest) < len(out):
            block = np.empty(self._playback.rate_hz // 100, dtype=np.float32)
            self._playback.pull(block)
            self._played(block)
            self._rest = np.concatenate([self._rest, self._resampler.push(block)])
        out[:] = self._rest[: len(out)]
        self._rest = self._rest[len(out) :]
