"""A satellite's ears and mouth for tests: a microphone that is told what it hears."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

import numpy as np
from wyoming.event import Event, Eventable

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block, rms_db
from s2s.core.clock import SystemClock
from s2s.core.messages import AudioIn
from s2s.testing.simulator import EnergyVad, tone
from s2s.transport.base import DeviceError
from s2s.transport.playback import Playback
from s2s.transport.wyoming.satellite.config import SatelliteConfig
from s2s.transport.wyoming.satellite.talk import SatelliteTalk
from s2s.turns.base import VadModel, WakeModel

OVER_FOR = 160
"""Samples that the wake word has been over when it is heard."""


def beep(seconds: float = 0.3) -> Block:
    """The wake word: 5 kHz, which the scripted one listens for."""
    at_s = np.arange(int(seconds * PIPELINE_HZ)) / PIPELINE_HZ
    return (0.3 * np.sin(2 * np.pi * 5000 * at_s)).astype(np.float32)


class BeepWord:
    """A wake word that is heard where a beep ends. Each stream keeps its own state."""

    phrase = "beep"

    def __init__(self) -> None:
        self._inside = False

    def open(self) -> BeepWord:
        return BeepWord()

    def heard(self, block: Block) -> int | None:
        spectrum = np.abs(np.fft.rfft(block))
        inside = rms_db(block) > -30 and int(spectrum.argmax()) > len(spectrum) // 2
        ended, self._inside = self._inside and not inside, inside
        return OVER_FOR if ended else None


class FakeSound:
    """Plays nothing, and notes what it was told."""

    def __init__(self) -> None:
        self.sounding = False
        self.told: list[str] = []

    def begin(self) -> None:
        self.told.append("begin")
        self.sounding = True

    def add(self, event: Event) -> None:
        self.told.append("add")

    def end(self) -> None:
        self.told.append("end")

    def cut(self) -> None:
        self.told.append("cut")
        self.sounding = False

    def ring(self) -> None:
        self.told.append("ring")


class Listener:
    """A satellite without a sound card: what it is told, and what it tells."""

    def __init__(
        self,
        config: SatelliteConfig | None = None,
        words: Mapping[str, WakeModel] | None = None,
        vad: VadModel | None = None,
    ) -> None:
        self.sound = FakeSound()
        self.sent: list[Eventable] = []
        self.talk = SatelliteTalk(
            config or SatelliteConfig(),
            words or {"beep": BeepWord()},
            vad or EnergyVad(),
            self.sound,
            self.sent.append,
            echo_bar_db=6.0,
        )
        self._sample = 0

    def hear(
        self, sound: Block, *, own_voice: bool = False, until: Callable[[], bool] = lambda: False
    ) -> None:
        """The microphone hears float32 [samples at 16 kHz], in whole windows, or less."""
        for at in range(0, len(sound) - BLOCK_SAMPLES + 1, BLOCK_SAMPLES):
            self._sample += BLOCK_SAMPLES
            block = sound[at : at + BLOCK_SAMPLES]
            window = AudioIn(block, self._sample, self._sample / PIPELINE_HZ)
            self.talk.hear(window, own_voice=own_voice)
            if until():
                return

    def events(self) -> list[Event]:
        """What was told since the last call."""
        events = [each.event() for each in self.sent]
        self.sent.clear()
        return events


def silence(seconds: float) -> Block:
    return np.zeros(int(seconds * PIPELINE_HZ), np.float32)


def said(seconds: float = 1.0) -> Block:
    """Speech and the silence that ends it."""
    return np.concatenate([tone(seconds), silence(1.0)])


class Room:
    """A transport whose microphone hears what a test says, as fast as it is taken."""

    half_duplex = False
    can_take_back = True

    def __init__(self) -> None:
        self.playback = Playback(SystemClock(), 24_000)
        self.lost = False
        self._said = threading.Condition()
        self._blocks: list[Block] = []
        self._stopped = False
        self._sample = 0
        self.heard_s = 0.0
        """Of sound that was played."""

    def own_voice_heard(self) -> None: ...

    def say(self, sound: Block) -> None:
        """From now on, in whole windows."""
        with self._said:
            whole = len(sound) // BLOCK_SAMPLES * BLOCK_SAMPLES
            self._blocks += np.split(sound[:whole], whole // BLOCK_SAMPLES)
            self._said.notify_all()

    def lose(self) -> None:
        """The sound card is gone."""
        with self._said:
            self.lost = True
            self._said.notify_all()

    def run(self, heard: Callable[[AudioIn], None], tick: Callable[[], bool]) -> None:
        while not self._stopped:
            with self._said:
                if not self._blocks:
                    self._said.wait(0.005)  # as long as a sound card takes for its next samples
                block = self._blocks.pop(0) if self._blocks else None
                if self.lost:
                    raise DeviceError("the sound card is gone")
            if block is not None:
                self._sample += len(block)
                heard(AudioIn(block, self._sample, self._sample / PIPELINE_HZ))
            out = np.empty(240, np.float32)
            self.heard_s += self.playback.pull(out) / 24_000
            tick()

    def stop(self) -> None:
        self._stopped = True
