"""One stream of sound in which wake words are listened for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block, Framer
from s2s.transport.wyoming.framing import WireFault
from s2s.transport.wyoming.services import WyomingServices


@dataclass(frozen=True, slots=True)
class Woken:
    """A wake word was said."""

    name: str
    at_ms: int
    """When it was over, since the stream began."""


class WakeListening:
    """Listens for some words. Not thread-safe.

    Raises:
        WireFault: there is no such word.
    """

    def __init__(self, services: WyomingServices, names: Iterable[str]) -> None:
        known = services.wake_words
        wanted = tuple(names) or tuple(known)
        if missing := [name for name in wanted if name not in known]:
            there = f"there are {', '.join(known)}" if known else "none are installed"
            raise WireFault("no_such_wake_word", f"No wake word {missing[0][:60]!r}; {there}.")
        if not wanted:
            raise WireFault(
                "no_wake_words", "No wake words: pip install 's2s[wake-word]' where s2s runs."
            )
        self._streams = {name: known[name].open() for name in wanted}
        self._framer = Framer(BLOCK_SAMPLES)
        self._sample = 0

    def hear(self, sound: Block) -> list[Woken]:
        """More of it, float32 [samples at 16 kHz]."""
        found: list[Woken] = []
        for block in self._framer.push(sound):
            self._sample += len(block)
            for name, stream in self._streams.items():
                if (over_for := stream.heard(block)) is not None:
                    found.append(Woken(name, 1000 * (self._sample - over_for) // PIPELINE_HZ))
        return found
