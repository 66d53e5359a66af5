"""A room with an open loudspeaker, in simulated time: the microphone hears the assistant too.

The loudspeaker is small and driven too hard (no bass, clipped, unevenly); its sound reaches the
microphone late, by a delay that drifts, and with reverberation. What happens to it there is the
same code as on a sound card: the canceller, the expected echo, the gain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block, Resampler, empty
from s2s.core.audio.gain import MicrophoneGain
from s2s.core.clock import Clock
from s2s.core.messages import AudioIn
from s2s.transport.echo_path import EchoPath
from s2s.transport.playback import Playback
from s2s.transport.wav import Script, WavTransport

_Samples = npt.NDArray[np.float64]

_BASS_TAPS = 129
_LATEST_MS = 600.0
"""More than any delay of a path comes to."""
_FAR_ABOVE_DB = 60.0
"""Of a window that no bar holds back."""

Defence = Literal["threshold", "noise"]
"""Lines behind the canceller: the bar that rises with the expected echo, and quietens what is below
it; the noise floor that is frozen during playback."""


@dataclass(frozen=True, slots=True)
class LoudspeakerPath:
    """From what is played to what a microphone hears of it."""

    delay_ms: float = 80.0
    drift_ppm: float = 0.0
    """By how much the delay grows: 1000 are 1 ms a second."""
    clip: float = 1.0
    """The cone stops moving at this; speech is played with peaks of about 0.6."""
    bass_hz: float = 300.0
    """Nothing below it is played."""
    reverberation_s: float = 0.3
    """Until it has fallen by 60 dB."""
    gain_db: float = 0.0
    noise_db: float = -66.0
    """Of the room, dB of full scale."""
    seed: int = 0


class OpenLoudspeaker:
    """A path with its memory: one stream of float32 at 16 kHz, in blocks of any size."""

    def __init__(self, path: LoudspeakerPath) -> None:
        self._path = path
        self._random = np.random.default_rng(path.seed)
        self._cone = _Fir(_no_bass(path.bass_hz))
        self._room = _Fir(self._response() * 10 ** (path.gain_db / 20))
        self._late = np.zeros(int(_LATEST_MS * PIPELINE_HZ / 1000), dtype=np.float64)
        """The newest sound in the room, before the delay."""
        self._samples = 0

    def echo(self, played: Block) -> Block:
        """What arrives while float32 [samples] are played, without the room's noise."""
        moved = self._cone.push(played.astype(np.float64))
        limit = self._path.clip
        moved = np.where(moved > 0, _bent(moved, limit), _bent(moved, 0.8 * limit))
        self._late = np.concatenate([self._late, self._room.push(moved)])[-len(self._late) :]
        count = len(played)
        position = self._samples + np.arange(count)
        delay = self._path.delay_ms / 1000 * PIPELINE_HZ + position * self._path.drift_ppm * 1e-6
        self._samples += count
        at = len(self._late) - count + np.arange(count) - delay
        return np.interp(at, np.arange(len(self._late)), self._late).astype(np.float32)

    def noise(self, count: int) -> Block:
        level = 10 ** (self._path.noise_db / 20)
        return (level * self._random.standard_normal(count)).astype(np.float32)

    def _response(self) -> _Samples:
        """Direct sound, then reverberation 9 dB below it in all: float64 [samples]."""
        count = max(1, int(self._path.reverberation_s * PIPELINE_HZ))
        t = np.arange(count) / PIPELINE_HZ
        tail = self._random.standard_normal(count) * 10 ** (-3.0 * t / self._path.reverberation_s)
        tail[: PIPELINE_HZ // 500] = 0.0
        tail *= np.sqrt(0.125 / max(1e-12, float(np.sum(tail**2))))
        tail[0] = 1.0
        return tail


class EchoRoom(WavTransport):
    """`WavTransport` with an open loudspeaker in front of the microphone."""

    def __init__(
        self,
        script: Script,
        playback: Playback,
        clock: Clock,
        *,
        path: LoudspeakerPath,
        canceller: Literal["auto", "on", "off"] = "auto",
        longest_s: float = 90.0,
        without: Defence | None = None,
    ) -> None:
        """`without`: a line of defence that is switched off, to see what it is worth."""
        super().__init__(script, playback, clock)
        self.echo_path = EchoPath(
            canceller, playback.rate_hz, clock, lambda _: None, frozen_noise=without != "noise"
        )
        self._without = without
        self.loudspeaker = OpenLoudspeaker(path)
        self.heard: list[Block] = []
        """What the session hears."""
        self.cancelled: list[Block] = []
        """What the canceller left of the echo, and the person."""
        self._longest_samples = longest_s * PIPELINE_HZ
        self._gain = MicrophoneGain()
        self._resampler = Resampler(playback.rate_hz, PIPELINE_HZ)
        self._played = empty()
        self._taken = 0

    @property
    def half_duplex(self) -> bool:
        return self.echo_path.half_duplex

    def own_voice_heard(self) -> None:
        self.echo_path.own_voice_heard()

    def _hear(self, window: Block, end_sample: int, at_s: float) -> AudioIn:
        if end_sample > self._longest_samples:  # an assistant that answers itself has no end
            self.stop()
        for block in self._assistant[self._taken :]:
            self.echo_path.played.write(block)
            self._played = np.concatenate([self._played, self._resampler.push(block)])
        self._taken = len(self._assistant)
        played = np.zeros(BLOCK_SAMPLES, dtype=np.float32)
        count = min(BLOCK_SAMPLES, len(self._played))
        played[:count] = self._played[:count]
        self._played = self._played[count:]
        near = window + self.loudspeaker.echo(played) + self.loudspeaker.noise(len(window))
        near = np.clip(near, -1.0, 1.0).astype(np.float32)
        cleaned = self.echo_path.clean(near)
        block, over_echo_db = cleaned.block, cleaned.over_echo_db
        if self._without == "threshold" and over_echo_db < math.inf:
            block, over_echo_db = cleaned.cancelled, _FAR_ABOVE_DB
        block = self._gain.process(block, echo=over_echo_db < math.inf)
        self.heard.append(block)
        self.cancelled.append(cleaned.cancelled)
        return AudioIn(block, end_sample, at_s, over_echo_db=over_echo_db)


class _Fir:
    """A filter over a stream: float64 in and out."""

    def __init__(self, taps: _Samples) -> None:
        self._taps = taps
        self._size = 1 << int(np.ceil(np.log2(len(taps) + 2 * BLOCK_SAMPLES)))
        self._spectrum = np.fft.rfft(taps, self._size)
        self._before = np.zeros(len(taps) - 1)

    def push(self, samples: _Samples) -> _Samples:
        joined = np.concatenate([self._before, samples])
        size = self._size
        if len(joined) > size:
            raise ValueError(f"blocks of {len(samples)} samples are too long for this filter")
        filtered = np.fft.irfft(np.fft.rfft(joined, size) * self._spectrum, size)
        self._before = joined[len(joined) - len(self._before) :]
        return filtered[len(self._before) : len(joined)]


def _no_bass(hz: float) -> _Samples:
    """A high-pass, float64 [taps]."""
    n = np.arange(_BASS_TAPS) - _BASS_TAPS // 2
    low = 2 * hz / PIPELINE_HZ * np.sinc(2 * hz / PIPELINE_HZ * n) * np.hanning(_BASS_TAPS)
    taps = -low / max(1e-9, low.sum())
    taps[_BASS_TAPS // 2] += 1.0
    return taps


def _bent(moved: _Samples, limit: float) -> _Samples:
    return moved / (1.0 + np.abs(moved / limit) ** 4) ** 0.25
