"""The machine's own microphone and loudspeaker, through PortAudio.

One loop moves what the microphone delivers and looks after both devices: one that is lost is
opened again, while the other goes on.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Literal

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ
from s2s.core.audio.gain import MicrophoneGain
from s2s.core.clock import Clock
from s2s.core.messages import AudioIn
from s2s.core.setting import setting
from s2s.transport.base import DeviceError
from s2s.transport.devices import Device, choose, list_devices, look_again, portaudio
from s2s.transport.echo_path import EchoPath
from s2s.transport.noise import NoiseSuppressor
from s2s.transport.playback import Playback
from s2s.transport.sides import STALL_S, Loudspeaker, Microphone, Side

__all__ = [
    "ECHO_RECORD",
    "STALL_S",
    "Device",
    "LocalConfig",
    "LocalTransport",
    "choose",
    "list_devices",
    "portaudio",
]

log = logging.getLogger(__name__)

ECHO_RECORD = "echo.txt"
"""File of the cache folder `audio` with what the last conversation measured."""

RETRY_S = 2.0
"""How often a lost device is opened again."""

LOOK_AGAIN_EVERY = 5
"""While the other device works, only each so many tries look for new devices: for that every
stream must be closed."""

WAIT_S = 0.1
"""How long the loop waits for the microphone before it looks after the devices."""


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
    listening_sound: bool = setting(
        False, "A short sound when it begins to listen, and when it ends: wake word, keys."
    )
    suppress_noise: bool = setting(
        False, "Take steady noise (a fan, hum) out of the microphone's sound."
    )


class _Loss:
    """What is known of a side that was lost, until it works again."""

    def __init__(self) -> None:
        self.lost = False
        self.tries = 0
        self.retry_s = 0.0

    @property
    def gone(self) -> bool:
        """Opening it again at once did not help."""
        return self.lost and self.tries > 1


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
        devices = list_devices(self._sd)
        microphone = choose(devices, config.input_device, output=False)
        loudspeaker = choose(devices, config.output_device, output=True)
        self._playback = Playback(clock, loudspeaker.rate_hz)
        self._echo = EchoPath(config.echo, loudspeaker.rate_hz, clock, notice)
        self._suppressor = NoiseSuppressor() if config.suppress_noise else None
        self._gain = MicrophoneGain()
        self._samples = 0
        """Heard so far, at 16 kHz."""
        self._ears = Microphone(self._sd, clock, microphone)
        self._mouth = Loudspeaker(
            self._sd, clock, loudspeaker, self._playback, self._echo.played.write
        )
        self._losses: dict[Side, _Loss] = {self._ears: _Loss(), self._mouth: _Loss()}

    @property
    def input(self) -> Device:
        return self._ears.device

    @property
    def output(self) -> Device:
        return self._mouth.device

    @property
    def playback(self) -> Playback:
        return self._playback

    @property
    def overruns(self) -> int:
        return self._ears.overruns

    @property
    def underruns(self) -> int:
        return self._playback.underruns

    @property
    def half_duplex(self) -> bool:
        return self._echo.half_duplex

    @property
    def can_take_back(self) -> bool:
        return True

    @property
    def erle_db(self) -> float | None:
        """Echo return loss enhancement measured in this conversation, dB; None without echo."""
        return self._echo.erle_db

    def own_voice_heard(self) -> None:
        self._echo.own_voice_heard()

    def stop(self) -> None:
        self._stopped = True
        self._ears.stop()

    def run(self, heard: Callable[[AudioIn], None], tick: Callable[[], bool]) -> None:
        try:
            self._open()
            while not self._stopped:
                self._move(heard)
                tick()
                for side in (self._ears, self._mouth):
                    self._look_after(side)
                if self._losses[self._mouth].gone:
                    self._mouth.play_to_nobody()
        finally:
            self.close()

    def listen(self) -> None:
        """Open the devices and wait until the microphone delivers, so that nothing is lost of what
        is said from then on: it waits for `run`.

        Raises:
            DeviceError: one of them cannot be opened.
        """
        self._open()
        self._ears.wait_for_sound()

    def close(self) -> None:
        """Close the devices, if `run` has not. Idempotent."""
        for side in (self._ears, self._mouth):
            side.close()

    def _open(self) -> None:
        for side in (self._mouth, self._ears):
            if not side.is_open:
                side.open()

    def _move(self, heard: Callable[[AudioIn], None]) -> None:
        """Hand on what the microphone has delivered."""
        frames, behind = self._ears.frames(self._clock.now() + WAIT_S)
        now_s = self._clock.now()
        for left, frame in zip(range(len(frames) - 1, -1, -1), frames, strict=True):
            self._samples += len(frame)
            captured_s = now_s - (behind + left * BLOCK_SAMPLES) / PIPELINE_HZ
            cleaned = self._echo.clean(frame)
            block = cleaned.block
            if self._suppressor is not None:  # of noise: behind the echo, which must come unchanged
                block = self._suppressor.process(block)
            over_db = cleaned.over_echo_db
            block = self._gain.process(block, echo=over_db < math.inf)
            heard(AudioIn(block, self._samples, captured_s, over_echo_db=over_db))
        if frames and (hint := self._gain.hint(self.input.name)) is not None:
            self._notice(hint)

    # --- lost devices --------------------------------------------------------------------------

    def _look_after(self, side: Side) -> None:
        loss = self._losses[side]
        if self._stopped:
            return
        if side.lost:
            if side.is_open or not loss.lost:
                self._close_lost(side, loss)
            if self._clock.now() >= loss.retry_s:
                self._reopen(side, loss)
        elif loss.lost and side.delivers:
            self._losses[side] = _Loss()
            if not any(each.lost for each in self._losses.values()):
                self._notice(f"sound is back: {self.input.name}, {self.output.name}")

    def _close_lost(self, side: Side, loss: _Loss) -> None:
        side.close()
        loss.retry_s = self._clock.now()
        if loss.lost:
            return
        loss.lost = True
        does = "delivers no more sound" if side is self._ears else "plays no more sound"
        text = f"'{side.device.name}' {does} (unplugged or in use?)"
        if self._config.when_lost == "end":
            raise DeviceError(f"{text}; ending, as audio.when_lost says")
        self._notice(f"{text}: waiting for it. Ctrl-C ends.")

    def _reopen(self, side: Side, loss: _Loss) -> None:
        """Try once: as it was, then with whatever device there is by now."""
        other = self._mouth if side is self._ears else self._ears
        often = not other.is_open or loss.tries % LOOK_AGAIN_EVERY == 1
        loss.retry_s = self._clock.now() + RETRY_S
        loss.tries += 1
        try:
            if loss.tries > 1 and often:
                self._look_for_devices(other)
            side.open()
        except DeviceError as error:
            log.debug("still no %s: %s", side.kind, error)

    def _look_for_devices(self, other: Side) -> None:
        """Have PortAudio list the devices anew, and choose among them."""
        worked = other.is_open
        other.close()
        try:
            look_again(self._sd)
            devices = list_devices(self._sd)
            self._ears.device = choose(devices, self._config.input_device, output=False)
            self._mouth.device = choose(devices, self._config.output_device, output=True)
        finally:
            if worked:
                other.open()
