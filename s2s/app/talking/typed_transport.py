"""A conversation without a microphone: lines that are typed, answers through the loudspeaker.

Where there is no loudspeaker either, what would be played runs on in its own time, in writing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

import numpy as np

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block
from s2s.core.clock import Clock
from s2s.core.messages import AudioIn
from s2s.transport.base import DeviceError
from s2s.transport.devices import Device, choose, list_devices, portaudio
from s2s.transport.local import LocalConfig
from s2s.transport.playback import Playback
from s2s.transport.sides import Loudspeaker
from s2s.transport.wav import Script

AFTER_QUIET_S = 0.3
"""A line that was there before is sent when it has been quiet for so long."""
END_QUIET_S = 1.0
SILENT_HZ = 24_000
"""Rate of what is played to nobody."""


def _to_nobody(_line: str) -> None:
    """Until the conversation takes lines."""


class TypedScript(Script):
    """Lines in place of utterances, each sent when the answer to the one before was played.

    Args:
        lines: what there is; the script ends behind them. None: they come from a keyboard, and the
            script never ends by itself.
    """

    def __init__(self, lines: Iterable[str] | None) -> None:
        super().__init__([])
        self.send: Callable[[str], None] = _to_nobody
        """Takes a line."""
        self._ends = lines is not None
        self._lines = deque(line.strip() for line in lines or () if line.strip())

    def next_window(self, start_sample: int, quiet_s: float) -> Block | None:
        """Silence, or None at the end."""
        del start_sample
        if self._lines:
            if quiet_s >= AFTER_QUIET_S:
                self.send(self._lines.popleft())
        elif self._ends and quiet_s >= END_QUIET_S:
            return None
        return np.zeros(BLOCK_SAMPLES, dtype=np.float32)


class TypedTransport:
    """A loudspeaker, if there is one, and nothing that hears.

    Args:
        script: when lines that were there before are sent, and when the conversation ends.
        clock: the session's clock.
        config: which loudspeaker.
        notice: tells the person what happens to it.
    """

    def __init__(
        self,
        script: TypedScript,
        clock: Clock,
        config: LocalConfig,
        notice: Callable[[str], None],
    ) -> None:
        self._script = script
        self._clock = clock
        self._notice = notice
        self._stopped = False
        self._mouth: Loudspeaker | None = None
        try:
            sd = portaudio()
            device = choose(list_devices(sd), config.output_device, output=True)
        except DeviceError as error:
            self._playback = Playback(clock, SILENT_HZ)
            notice(f"{error}. The answers are written alone.")
        else:
            self._playback = Playback(clock, device.rate_hz)
            self._mouth = Loudspeaker(sd, clock, device, self._playback, lambda _: None)

    @property
    def output(self) -> Device | None:
        """The loudspeaker; None where there is none."""
        return None if self._mouth is None else self._mouth.device

    @property
    def playback(self) -> Playback:
        return self._playback

    @property
    def half_duplex(self) -> bool:
        return False

    @property
    def can_take_back(self) -> bool:
        return True

    def own_voice_heard(self) -> None:
        """Nothing is heard."""

    def stop(self) -> None:
        self._stopped = True

    def run(self, heard: Callable[[AudioIn], None], tick: Callable[[], bool]) -> None:
        del heard
        try:
            self._open()
            self._run(tick)
        finally:
            if self._mouth is not None:
                self._mouth.close()

    def _run(self, tick: Callable[[], bool]) -> None:
        start_s, sample, quiet_since = self._clock.now(), 0, 0
        while not self._stopped:
            if self._script.next_window(sample, (sample - quiet_since) / PIPELINE_HZ) is None:
                return
            quiet = tick()
            sample += BLOCK_SAMPLES
            self._clock.wait_until(start_s + sample / PIPELINE_HZ)
            if self._mouth is None:
                self._playback.pull(np.empty(self._samples(sample), dtype=np.float32))
            elif self._mouth.lost:
                self._lose(f"'{self._mouth.device.name}' plays no more sound")
            if not quiet:
                quiet_since = sample

    def _samples(self, end: int) -> int:
        """Output samples of the window that ends at `end`, a sample at 16 kHz."""
        rate_hz = self._playback.rate_hz
        return end * rate_hz // PIPELINE_HZ - (end - BLOCK_SAMPLES) * rate_hz // PIPELINE_HZ

    def _open(self) -> None:
        if self._mouth is not None:
            try:
                self._mouth.open()
            except DeviceError as error:
                self._lose(str(error))

    def _lose(self, why: str) -> None:
        if self._mouth is not None:
            self._mouth.close()
            self._mouth = None
        self._notice(f"{why}: the answers go on in writing")
