"""Speech at another pace and the same pitch, or at another sample rate, as it comes. Knows nothing
about models.

Pace by WSOLA (Verhelst and Roelands, ICASSP 1993): windows of sound overlap-added at a constant
step are taken from the input at another one, each from the place nearby where it best continues
what is there. Any split into chunks gives the same samples.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from dataclasses import replace

import numpy as np

from s2s.core.audio import Block, Resampler, empty
from s2s.core.audio.manner import PLAIN_MANNER, SpeakingManner
from s2s.tts.base import AudioChunk
from s2s.tts.level import amplify

SLOWEST, FASTEST = 0.5, 2.0
_STEP_S = 0.015
_SEARCH_S = 0.008
"""Longer than half a period of a low voice (70 Hz: 14 ms), so that some place always fits."""


def check_speed(speed: float) -> None:
    """
    Raises:
        ValueError: nothing can be spoken at that many times its pace.
    """
    if not SLOWEST <= speed <= FASTEST:
        raise ValueError(f"speed must be from {SLOWEST} to {FASTEST}, got {speed}")


def paced(
    chunks: Iterable[AudioChunk], rate_hz: int, speed: float, manner: SpeakingManner = PLAIN_MANNER
) -> Iterator[AudioChunk]:
    """`chunks` at `speed` times their pace, as far as that goes, and in `manner`; closing it closes
    them."""
    speed *= manner.speed
    if speed == 1.0 and not manner.volume_db:
        yield from chunks
        return
    tempo = Tempo(rate_hz, min(max(speed, SLOWEST), FASTEST))
    try:
        for chunk in chunks:
            yield replace(chunk, samples=_louder(tempo.push(chunk.samples), manner.volume_db))
        yield AudioChunk(_louder(tempo.flush(), manner.volume_db))
    finally:
        if isinstance(chunks, Generator):
            chunks.close()


def at_rate(chunks: Iterable[AudioChunk], rate_hz: int, wanted_hz: int) -> Iterator[AudioChunk]:
    """`chunks` of `rate_hz` samples a second, at `wanted_hz`: of the same length, and each as far
    in the text as it was."""
    if rate_hz == wanted_hz:
        yield from chunks
        return
    resampler = Resampler(rate_hz, wanted_hz)
    last = None
    for chunk in chunks:
        yield replace(chunk, samples=resampler.push(chunk.samples))
        last = chunk.spoken_chars
    rest = resampler.flush()
    if len(rest):
        yield AudioChunk(rest, last)


def _louder(samples: Block, gain_db: float) -> Block:
    return amplify(samples, gain_db) if gain_db else samples


class Tempo:
    """One utterance, float32 [samples] in, the same at ``speed`` times the pace out."""

    def __init__(self, rate_hz: int, speed: float) -> None:
        """Raises ValueError for a speed outside `SLOWEST` to `FASTEST`."""
        check_speed(speed)
        self._speed = speed
        self._step = round(rate_hz * _STEP_S)
        self._search = round(rate_hz * _SEARCH_S)
        self._fade_in = np.sin(np.pi / 2 * (np.arange(self._step) + 0.5) / self._step) ** 2
        self._input: Block = empty()
        self._dropped = 0  # samples of the input that are no longer kept
        self._windows = 0
        self._tail: Block | None = None  # the second half of the last window, as it would go on

    def push(self, samples: Block) -> Block:
        """What can be given out by now."""
        if self._speed == 1:
            return samples
        self._input = np.concatenate([self._input, samples])
        out: list[Block] = []
        while (place := self._place()) + self._search + 2 * self._step <= self._end:
            out.append(self._window(place))
        self._forget()
        return np.concatenate(out) if out else empty()

    def flush(self) -> Block:
        """The rest; afterwards it may begin anew."""
        if self._speed == 1:
            return empty()
        wanted = round(self._end / self._speed) - self._windows * self._step
        padding = np.zeros(2 * (self._search + 2 * self._step), np.float32)
        rest = self.push(np.concatenate([padding, padding])) if wanted > 0 else empty()
        self._input, self._dropped, self._windows, self._tail = empty(), 0, 0, None
        return rest[: max(wanted, 0)]

    @property
    def _end(self) -> int:
        return self._dropped + len(self._input)

    def _place(self) -> int:
        """Where in the input the next window would begin if nothing had to fit."""
        return round(self._windows * self._step * self._speed)

    def _window(self, place: int) -> Block:
        """The next step of the output: the last window fading into the next."""
        start = place if self._tail is None else self._best(place, self._tail)
        at = start - self._dropped
        first, second = self._input[at : at + self._step], self._input[at + self._step :]
        made = first
        if self._tail is not None:
            made = (self._tail + self._fade_in * (first - self._tail)).astype(np.float32)
        self._tail = second[: self._step]
        self._windows += 1
        return made

    def _best(self, place: int, tail: Block) -> int:
        """Near ``place``, where the input is most like ``tail``: the largest correlation, by the
        energy of what it is with."""
        low = max(self._dropped, place - self._search)
        part = self._input[low - self._dropped : place + self._search + self._step - self._dropped]
        products = np.correlate(part.astype(np.float64), tail.astype(np.float64), "valid")
        squares = np.concatenate([[0.0], np.cumsum(part.astype(np.float64) ** 2)])
        energy = squares[self._step :] - squares[: len(squares) - self._step]
        return low + int(np.argmax(products / np.sqrt(energy + 1e-9)))

    def _forget(self) -> None:
        """Drop input that no window can begin in any more."""
        keep_from = max(self._dropped, self._place() - self._search)
        self._input = self._input[keep_from - self._dropped :]
        self._dropped = keep_from
