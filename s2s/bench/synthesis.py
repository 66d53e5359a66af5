"""How well a voice keeps up with its listener, from when the chunks of an utterance came."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise

from s2s.core.clock import Clock
from s2s.tts.base import AudioChunk


@dataclass(frozen=True, slots=True)
class Arrivals:
    """When the chunks of one utterance came, and how long each sounds. At least one chunk."""

    at_s: tuple[float, ...]
    """Since the call, rising."""
    lasts_s: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.at_s or len(self.at_s) != len(self.lasts_s):
            raise ValueError(f"{len(self.at_s)} arrivals and {len(self.lasts_s)} lengths")

    @property
    def first_audio_s(self) -> float:
        """Time to first audio."""
        return self.at_s[0]

    @property
    def done_s(self) -> float:
        """When the last chunk came."""
        return self.at_s[-1]

    @property
    def audio_s(self) -> float:
        """Length of the speech."""
        return sum(self.lasts_s)

    @property
    def real_time_factor(self) -> float:
        """Compute time over audio time: below 1 is faster than it is spoken."""
        return self.done_s / self.audio_s

    @property
    def uninterrupted_start_s(self) -> float:
        """The earliest moment at which playback can start and never run dry.

        Chunk k must be there when the audio before it has been played.
        """
        played_before = [0.0, *accumulate(self.lasts_s[:-1])]
        return max(at - before for at, before in zip(self.at_s, played_before, strict=True))

    @property
    def gaps_s(self) -> tuple[float, ...]:
        """Time between one chunk and the next."""
        return tuple(later - earlier for earlier, later in pairwise(self.at_s))

    def heard_until(self) -> Iterator[tuple[float, float]]:
        """(moment, seconds of audio there) at each arrival: the staircase of a picture."""
        yield from zip(self.at_s, accumulate(self.lasts_s), strict=True)


def record(chunks: Iterable[AudioChunk], rate_hz: int, clock: Clock) -> Arrivals:
    """Consume one utterance and note when its sound came.

    Raises:
        ValueError: it made no sound.
    """
    started_s = clock.now()
    at_s: list[float] = []
    lasts_s: list[float] = []
    for chunk in chunks:
        if len(chunk.samples):
            at_s.append(clock.now() - started_s)
            lasts_s.append(len(chunk.samples) / rate_hz)
    return Arrivals(tuple(at_s), tuple(lasts_s))
