"""How loud the assistant's own echo is to be expected in each window of the microphone.

The second line behind a canceller, which leaves more of an echo the worse the loudspeaker is. From
what was really played (after ducking, as it went to the device) and what is left of it in the
microphone, it learns how late and how loud the rest of the echo comes, band by band; from then on
it says of every window by how much it is louder than its echo can explain. A person who speaks is
what cannot be explained. Pure: knows no device, clock or word (docs/decisions/open-speakers.md).
"""

from __future__ import annotations

from collections import deque

import numpy as np
import numpy.typing as npt

from s2s.core.audio import PIPELINE_HZ, Block

Powers = npt.NDArray[np.float64]

HOP_SAMPLES = 128
"""8 ms: how finely the delay is known."""
_FRAME_SAMPLES = 2 * HOP_SAMPLES
_LAGS = 60
"""Delays of up to 480 ms are looked for."""
_BANDS = 14
_LOWEST_BIN = 2
"""125 Hz: what is below is hum."""
_PLAYING = 1e-6
"""Power in all bands from which something is played: -60 dB."""
_AUDIBLE = 4.0
"""An echo is heard from 6 dB above the room's noise."""
_NO_COUPLING_DB = -80.0
_DECAY = 10 ** (-2.0 / 10)
"""Of the sound that stays in the room, 2 dB go in each 8 ms: 60 dB in 0.24 s. Slower ones fit a
room of 0.45 s no better (docs/decisions/open-speakers.md)."""
_SPREAD = np.array([0.15, 0.3, 0.35, 0.2])
"""Around the delay, oldest first: from two hops later than it to one earlier. The canceller's own
delay, of some 15 ms, comes on top."""
_MEMORY_HOPS = 750
"""Six seconds of playback, of which the coupling is the middle."""
_COUPLING_QUANTILE = 0.6
"""Above the middle, since who speaks over it makes it look louder only for a while."""
_BURST_QUANTILE, _BURST_DB = 0.9, 6.0
"""A canceller leaves an echo in bursts, far above the middle: they count but for 6 dB."""
_LEAST_COUPLING = 10 ** (-30 / 10)
"""Where an echo is heard at all, 30 dB below what is played is nobody."""
_HEARD_SHARE = 0.2
"""A band that is above the room's noise more seldom has no echo: headphones, a good canceller."""
_ENOUGH_HOPS = 75
"""0.6 s of playback: from then on the coupling is known well enough to be used."""
_HEADPHONES_HOPS = 190
"""1.5 s of playback of which the microphone shows nothing: there is no echo."""
_PERSON_DB = 8.0
"""A window that is louder than its echo by more is learned from in its fourth part only: it is the
person, or an echo that got louder, which must not stay unknown for ever."""
_GONE = 0.1
"""An echo that is 10 dB below the room's noise is over."""
_DELAY_MEMORY_HOPS = 375.0
"""Three seconds of playback: a delay that drifts by 1 ms a second is followed."""
_SURE_DELAY = 0.35
"""Correlation from which on a delay is believed; without one, any up to 480 ms is possible."""
_NOISE_MEMORY_HOPS = 40
"""A third of a second."""
_NOISE_RISE = 10 ** (0.1 / 125)
"""1 dB a second."""
_JUDGED_EACH = 4
"""Windows: what was learned is put to use every 128 ms, since it takes a while to compute."""


def _bands() -> npt.NDArray[np.int64]:
    """Borders in bins of the spectrum, int64 [bands + 1]: narrow ones below, as in hearing."""
    last = _FRAME_SAMPLES // 2
    curve = np.linspace(0.0, 1.0, _BANDS + 1) ** 1.7 * (last - _LOWEST_BIN) + _LOWEST_BIN
    return np.maximum.accumulate(np.round(curve).astype(np.int64) + np.arange(_BANDS + 1) // 99)


_BORDERS = np.unique(_bands())
_WINDOW = np.hanning(_FRAME_SAMPLES)
_SCALE = 2.0 / (float(np.sum(_WINDOW**2)) * _FRAME_SAMPLES)


class _Spectrum:
    """Powers of a stream in bands, a row each 8 ms."""

    def __init__(self) -> None:
        self._before = np.zeros(HOP_SAMPLES, dtype=np.float64)

    def push(self, block: Block) -> Powers:
        """float64 [hops, bands] of float32 [samples], a multiple of 128."""
        joined = np.concatenate([self._before, block])
        self._before = joined[-HOP_SAMPLES:]
        frames = np.lib.stride_tricks.sliding_window_view(joined, _FRAME_SAMPLES)[::HOP_SAMPLES]
        power = np.abs(np.fft.rfft(frames * _WINDOW, axis=1)) ** 2 * _SCALE
        return np.add.reduceat(power[:, : _BORDERS[-1]], _BORDERS[:-1], axis=1)

    def skip(self, block: Block) -> None:
        """Go on behind `block`, whose powers are not needed."""
        self._before = block[-HOP_SAMPLES:].astype(np.float64)


class EchoDelay:
    """The delay from what is played to its echo, by the course of both in all bands."""

    def __init__(self) -> None:
        self._products = np.zeros(_LAGS)
        self._far_squares = np.zeros(_LAGS)
        self._near_squares = 0.0
        self._far_mean: Powers | None = None
        self._near_mean: Powers | None = None
        self._hops = 0
        self._lag: int | None = None

    @property
    def lag(self) -> int | None:
        """In hops of 8 ms; None while it is not known."""
        return self._lag

    def learn(self, near: Powers, far: Powers) -> None:
        """Take one hop into account.

        Args:
            near: what the microphone hears, float64 [bands].
            far: what was played up to then, newest first, float64 [lags, bands].
        """
        heard, played = np.log10(near + 1e-9), np.log10(far + 1e-7)
        if self._near_mean is None or self._far_mean is None:
            self._near_mean, self._far_mean = heard, played.mean(axis=0)
        step = max(1.0 / _DELAY_MEMORY_HOPS, 1.0 / (self._hops + 1))
        self._near_mean = self._near_mean + step * (heard - self._near_mean)
        self._far_mean = self._far_mean + step * (played.mean(axis=0) - self._far_mean)
        heard, played = heard - self._near_mean, played - self._far_mean
        keep = 1.0 - 1.0 / _DELAY_MEMORY_HOPS
        self._products = keep * self._products + played @ heard
        self._far_squares = keep * self._far_squares + np.sum(played**2, axis=1)
        self._near_squares = keep * self._near_squares + float(heard @ heard)
        self._hops += 1

    def judge(self) -> None:
        """Find the delay anew, now and then."""
        if self._hops < _ENOUGH_HOPS:
            return
        scale = np.sqrt(np.maximum(self._far_squares * self._near_squares, 1e-12))
        alike = self._products / scale
        best = int(np.argmax(alike))
        if alike[best] >= _SURE_DELAY:
            self._lag = best
        elif self._lag is not None and alike[self._lag] < _SURE_DELAY / 2:
            self._lag = None


class ExpectedEcho:
    """What is left of the echo, learned and expected. Not thread-safe."""

    def __init__(self, *, frozen_noise: bool = True) -> None:
        """`frozen_noise`: while something is played nothing is learned of the room's noise. False
        shows what that is worth (`benchmark_open_speakers.py --without noise`)."""
        self._frozen_noise = frozen_noise
        bands = len(_BORDERS) - 1
        self._delay = EchoDelay()
        self._near, self._far, self._left = _Spectrum(), _Spectrum(), _Spectrum()
        self._played = np.zeros((_LAGS + 8, bands))
        """Oldest first."""
        self._past: deque[tuple[Powers, Powers]] = deque(maxlen=_MEMORY_HOPS + len(self._played))
        """What was played and what was left, hop by hop."""
        self._reverberation = np.zeros(bands)
        self._ratios = np.full((_MEMORY_HOPS, bands), _NO_COUPLING_DB)
        self._audible = np.zeros((_MEMORY_HOPS, bands), dtype=np.bool_)
        self._count = 0
        """Hops of playback that were learned from."""
        self._coupling = np.zeros(bands)
        """Left over of what was played, as a factor of power."""
        self._noise = np.full(bands, 1e-7 / bands)
        self._noise_hops = 0
        self._windows = 0

    @property
    def known(self) -> bool:
        """Enough was played to expect an echo, or none."""
        enough = _HEADPHONES_HOPS if self._delay.lag is None else _ENOUGH_HOPS
        return self._count >= enough

    @property
    def delay_ms(self) -> float | None:
        """From what is played to its echo; None while nothing is known, or no echo is heard."""
        lag = self._delay.lag
        return None if lag is None else 1000.0 * lag * HOP_SAMPLES / PIPELINE_HZ

    @property
    def noise_db(self) -> float:
        """Of the room while nothing is played, dB of full scale."""
        return 10.0 * float(np.log10(self._noise.sum()))

    def hear(self, near: Block, far: Block, left: Block) -> float:
        """Take one window into account.

        Args:
            near: what the microphone heard, float32 [512] at 16 kHz.
            far: what was played meanwhile, float32 [512].
            left: what the canceller left of `near`.

        Returns:
            by how many dB `left` is louder than the echo that was to be expected in it, and the
            room's noise; infinite where no echo is expected, minus infinite while nothing is known.
        """
        if not far.any() and not self._played.any():
            self._near.skip(near)
            self._far.skip(far)
            for rest in self._left.push(left):
                self._hear_noise(rest)
            return float("inf")
        nears, fars, lefts = self._near.push(near), self._far.push(far), self._left.push(left)
        bounds: list[Powers] = []
        for heard, played, rest in zip(nears, fars, lefts, strict=True):
            self._played = np.concatenate([self._played[1:], played[np.newaxis]])
            self._past.append((played, rest))
            bounds.append(self._bound(self._played))
            sounding = float(bounds[-1].sum()) > _PLAYING
            if sounding:
                self._delay.learn(heard, self._played[: -_LAGS - 1 : -1])
            quiet = not sounding and float(self._played.sum()) < _PLAYING
            if quiet or not self._frozen_noise:
                self._hear_noise(rest)
        over_db = self._over_db(lefts, np.array(bounds))
        self._windows += 1
        for hop, (rest, bound) in enumerate(zip(lefts, bounds, strict=True)):
            person = _PERSON_DB < over_db < float("inf") and hop > 0
            if float(bound.sum()) > _PLAYING and not person:
                self._learn(rest, bound)
        if self._windows % _JUDGED_EACH == 0:
            self._judge_delay()
            self._relearn()
        return over_db

    def _over_db(self, lefts: Powers, bounds: Powers) -> float:
        """What `hear` returns, of a window whose rest, and whose echo at a coupling of 0 dB, are
        float64 [hops, bands]."""
        if float(bounds.sum(axis=1).max()) <= _PLAYING:
            return float("inf")
        if self._delay.lag is None:  # nothing in the microphone is like what is played
            return float("inf" if self._count >= _HEADPHONES_HOPS else "-inf")
        if not self.known:
            return float("-inf")
        noise = len(lefts) * float(self._noise.sum())
        expected = float((bounds @ self._coupling).sum())
        if expected < _GONE * noise:
            return float("inf")
        return 10.0 * float(np.log10((lefts.sum() + 1e-12) / (expected + noise)))

    def _bound(self, played: Powers) -> Powers:
        """What may be heard at the end of what was `played`, at a coupling of 0 dB: float64 [bands]
        of float64 [hops, bands]."""
        lag = self._delay.lag
        if lag is None:
            direct = played[-_LAGS:].max(axis=0)
        else:
            newest = len(played) - max(1, lag)
            direct = _SPREAD @ played[newest - 3 : newest + 1]
        self._reverberation = direct + _DECAY * self._reverberation
        return self._reverberation

    def _learn(self, left: Powers, bound: Powers) -> None:
        ratio = 10.0 * np.log10((left + 1e-12) / (bound + 1e-12))
        loud = bound > _PLAYING / len(bound)
        row, before = self._count % _MEMORY_HOPS, (self._count - 1) % _MEMORY_HOPS
        self._ratios[row] = np.where(loud, ratio, self._ratios[before])
        audible = left > _AUDIBLE * self._noise
        self._audible[row] = np.where(loud, audible, self._audible[before])
        self._count += 1

    def _judge_delay(self) -> None:
        """Find the delay anew; where it was another, all of the coupling is learned again."""
        before = self._delay.lag
        self._delay.judge()
        lag = self._delay.lag
        if lag == before or (lag is not None and before is not None and abs(lag - before) <= 1):
            return
        self._count = 0
        self._reverberation = np.zeros_like(self._reverberation)
        played = np.array([each for each, _ in self._past])
        for end in range(len(self._played), len(played) + 1):
            bound = self._bound(played[end - len(self._played) : end])
            if float(bound.sum()) > _PLAYING:
                self._learn(self._past[end - 1][1], bound)

    def _relearn(self) -> None:
        if self._count:
            ratios = self._ratios[: min(self._count, _MEMORY_HOPS)]
            middle, high = np.quantile(ratios, (_COUPLING_QUANTILE, _BURST_QUANTILE), axis=0)
            found = 10 ** (np.maximum(middle, high - _BURST_DB) / 10)
            heard = self._audible[: len(ratios)].mean(axis=0) >= _HEARD_SHARE
            least = 0.0 if self._delay.lag is None else _LEAST_COUPLING
            self._coupling = np.where(heard, np.maximum(found, least), least)

    def _hear_noise(self, left: Powers) -> None:
        """The room while nothing is played: down at once, up slowly, for what is louder may be the
        person. Frozen during playback."""
        self._noise_hops += 1
        quieter = self._noise + (left - self._noise) / _NOISE_MEMORY_HOPS
        if self._noise_hops <= _NOISE_MEMORY_HOPS:
            louder = self._noise + (np.minimum(left, 4.0 * self._noise) - self._noise) / 3.0
        else:
            louder = np.minimum(left, self._noise * _NOISE_RISE)
        found = np.where(left < self._noise, quieter, louder)
        self._noise = np.maximum(1e-12, found)
