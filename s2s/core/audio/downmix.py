"""Several channels to one, so that nothing that is audible in any of them is lost.

The mean of two opposite channels is silence, and a microphone on one of six channels is 16 dB too
quiet in it. So a channel that runs against the loudest one is turned over first, a silent one does
not count, and where the others would still cancel the loudest, that is taken alone. For channels
that agree, it is the mean to the bit. Pure; knows nothing about files or devices.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from s2s.core.arrays import Floats

_Matrix = npt.NDArray[np.float64]

SEGMENT_S = 0.5
"""Which way round a channel runs is decided this often: recordings are cut together."""
FADE_S = 0.02
"""From one mix to the next, so that the change does not click."""
OPPOSITE = -0.5
"""Correlation with the loudest channel below which a channel is turned over."""
SILENT = 1e-6
"""A channel of less than this share of the loudest one's power (-60 dB) does not count."""
CANCELLED = 0.5
"""A mean with less than this share of the power that the loudest channel gives it is cancelled."""
LOST = 0.5
"""A mean of less than this share of the loudest channel's power (-3 dB) is made louder."""
_MEMORY_S = 0.15
"""Of a stream, what is older hardly counts."""


def downmix(samples: Floats, rate_hz: int) -> Floats:
    """Mix a recording float32 [samples, channels] down to float32 [samples]."""
    count, channels = samples.shape
    if channels == 1:
        return np.ascontiguousarray(samples[:, 0])
    step = max(1, int(SEGMENT_S * rate_hz))
    moments = [_Moments.of(samples[start : start + step]) for start in range(0, count, step)]
    whole = sum(moments, start=_Moments.nothing(channels)).covariance
    loudest = int(whole.diagonal().argmax())
    mixes = _mixes([each.covariance for each in moments], whole, loudest)
    mono = np.empty(count, dtype=np.float32)
    fade = max(1, int(FADE_S * rate_hz))
    before = mixes[0] if mixes else None
    for index, mix in enumerate(mixes):
        part = samples[index * step : (index + 1) * step]
        mono[index * step : (index + 1) * step] = _mixed(part, before, mix, fade)
        before = mix
    return mono * _louder(mono, whole, loudest)


class StreamDownmix:
    """The same for a stream, such as a microphone's, whose future is not known."""

    def __init__(self, channels: int, rate_hz: int) -> None:
        self._rate_hz = rate_hz
        self._moments = _Moments.nothing(channels)
        self._mix = _mean(channels)
        self._reference = 0
        """The channel that is never turned over: the loudest, until another is twice as loud."""

    def push(self, block: Floats) -> Floats:
        """Mix the next float32 [samples, channels] down to float32 [samples]."""
        if block.shape[1] == 1:
            return np.ascontiguousarray(block[:, 0])
        if not len(block):
            return np.zeros(0, dtype=np.float32)
        kept = float(np.exp(-len(block) / (_MEMORY_S * self._rate_hz)))
        self._moments = self._moments.scaled(kept) + _Moments.of(block)
        covariance = self._moments.covariance
        powers = covariance.diagonal()
        if powers.max() > 2.0 * powers[self._reference]:
            self._reference = int(powers.argmax())
        before, self._mix = self._mix, _mix(covariance, self._reference)
        return _mixed(block, before, self._mix, len(block))


class _Moments:
    """Sums over samples, from which the covariance of the channels follows."""

    def __init__(self, count: float, sums: _Matrix, products: _Matrix) -> None:
        self._count = count
        self._sums = sums
        self._products = products

    @classmethod
    def nothing(cls, channels: int) -> _Moments:
        return cls(0.0, np.zeros(channels), np.zeros((channels, channels)))

    @classmethod
    def of(cls, samples: Floats) -> _Moments:
        exact = np.nan_to_num(samples).astype(np.float64)
        return cls(float(len(exact)), exact.sum(axis=0), exact.T @ exact)

    def scaled(self, factor: float) -> _Moments:
        return _Moments(self._count * factor, self._sums * factor, self._products * factor)

    def __add__(self, other: _Moments) -> _Moments:
        return _Moments(
            self._count + other._count, self._sums + other._sums, self._products + other._products
        )

    @property
    def covariance(self) -> _Matrix:
        """float64 [channels, channels], a constant offset aside."""
        count = max(self._count, 1.0)
        means = self._sums / count
        return self._products / count - np.outer(means, means)


def _mixes(segments: list[_Matrix], whole: _Matrix, loudest: int) -> list[_Matrix]:
    """The mix of each segment; a silent one keeps that before it, the first ones that after."""
    floor = SILENT * whole[loudest, loudest]
    found = [
        _mix(covariance, loudest) if covariance.diagonal().max() > floor else None
        for covariance in segments
    ]
    mixes: list[_Matrix] = []
    last = next((mix for mix in found if mix is not None), _mean(len(whole)))
    for mix in found:
        last = last if mix is None else mix
        mixes.append(last)
    return mixes


def _mix(covariance: _Matrix, reference: int) -> _Matrix:
    """Weights float64 [channels] by the covariance of the channels.

    Args:
        covariance: float64 [channels, channels].
        reference: the channel that is never turned over, unless it is silent here.
    """
    powers = covariance.diagonal()
    loudest = int(powers.argmax())
    if powers[loudest] <= 1e-12:
        return _mean(len(powers))
    if powers[reference] < SILENT * powers[loudest]:
        reference = loudest
    counted = powers >= SILENT * powers[loudest]
    scale = np.sqrt(np.maximum(powers * powers[reference], 1e-30))
    turned = covariance[reference] / scale < OPPOSITE
    weights = np.where(counted, np.where(turned, -1.0, 1.0), 0.0) / counted.sum()
    share = powers[loudest] / counted.sum() ** 2
    if weights @ covariance @ weights < CANCELLED * share:
        weights = np.zeros(len(powers))
        weights[loudest] = 1.0
    return weights


def _mean(channels: int) -> _Matrix:
    return np.full(channels, 1.0 / channels)


def _mixed(samples: Floats, before: _Matrix | None, mix: _Matrix, fade: int) -> Floats:
    """`samples` float32 [samples, channels] by `mix`, beginning with `before`."""
    mono = _weighted(samples, mix)
    if before is not None and not np.array_equal(before, mix):
        fade = min(fade, len(samples))
        ramp = np.linspace(0.0, 1.0, fade, endpoint=False, dtype=np.float32)
        mono[:fade] = _weighted(samples[:fade], before) * (1 - ramp) + mono[:fade] * ramp
    return mono


def _weighted(samples: Floats, mix: _Matrix) -> Floats:
    if np.array_equal(mix, _mean(len(mix))):
        return samples.mean(axis=1, dtype=np.float32)
    return samples @ mix.astype(np.float32)


def _louder(mono: Floats, covariance: _Matrix, loudest: int) -> np.float32:
    """The factor that gives `mono` the loudest channel's level where the mean lost more than 3 dB
    of it, as far as full scale allows."""
    power = float(np.var(mono, dtype=np.float64)) if len(mono) else 0.0
    wanted = float(covariance[loudest, loudest])
    if power <= 0.0 or power >= LOST * wanted:
        return np.float32(1.0)
    peak = float(np.abs(mono).max())
    return np.float32(max(1.0, min(np.sqrt(wanted / power), 1.0 / peak if peak else 1.0)))
