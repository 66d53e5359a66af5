"""What a server sends is played here: in order, item by item, and how much of each was heard.

The server is ahead of the loudspeaker, often by whole sentences; what waits, waits here, so that
the socket is read on while something plays.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from s2s.core.audio import Block, Resampler
from s2s.core.channel import Channel, Closed
from s2s.core.clock import Clock
from s2s.core.messages import ResponseId
from s2s.transport.output import SoundOutput

WIRE_HZ = 24_000
WAITING = 6000
"""Pieces of sound that wait: ten minutes of usual ones. A server that is further ahead waits."""
BLOCK_S = 0.25
"""Sound goes to the loudspeaker's buffer in blocks of at most this long."""
JOIN_S = 2.0
"""What the end waits for a block that is being written."""


@dataclass(frozen=True, slots=True)
class _Sound:
    """A piece of an item's sound, or its end."""

    item: ResponseId
    generation: int
    block: Block | None
    text: str = ""


@dataclass(slots=True)
class _Place:
    """Where an item is in the samples that were written."""

    start: int
    samples: int = 0


class RemoteSpeech:
    """The items of a server's answers on their way to `playback`. Safe from any thread."""

    def __init__(self, playback: SoundOutput, clock: Clock) -> None:
        self._playback = playback
        self._waiting: Channel[_Sound] = Channel(WAITING, clock=clock, name="remote sound")
        self._resampler = Resampler(WIRE_HZ, playback.rate_hz)
        self._changed = clock.condition()
        self._generation = 0
        self._written = 0
        self._places: dict[ResponseId, _Place] = {}
        self._unfinished: dict[ResponseId, None] = {}
        """Items that have sound and have not been written whole."""
        self._worker = clock.start(self._write_all, "s2s-remote-speech")

    def add(self, item: ResponseId, block: Block, text: str) -> None:
        """More of an item: float32 [samples] at 24 kHz, and the text that is said with it."""
        with self._changed:
            self._unfinished[item] = None
            generation = self._generation
        self._put(_Sound(item, generation, block, text))

    def end(self, item: ResponseId) -> None:
        """No more of an item comes."""
        with self._changed:
            generation = self._generation
        self._put(_Sound(item, generation, None))

    @property
    def sounding(self) -> bool:
        """Something of it is played or waits."""
        return bool(self._unfinished) or self._playback.playing

    def cut(self) -> dict[ResponseId, int]:
        """Silence at once. Returns, of each item that was not heard to its end, the ms that were
        heard of it."""
        with self._changed:
            self._generation += 1
            self._waiting.discard(lambda _: True)
            played = self._playback.played_samples
            cut: dict[ResponseId, int] = {}
            for item in [*self._places, *self._unfinished]:
                place = self._places.get(item)
                heard = 0 if place is None else max(0, min(played - place.start, place.samples))
                if item in self._unfinished or (place is not None and heard < place.samples):
                    cut[item] = 1000 * heard // self._playback.rate_hz
            self._unfinished.clear()
            self._places.clear()
            self._playback.clear()
            self._resampler.reset()
            return cut

    def close(self) -> None:
        """Nothing more is played, and its thread has ended."""
        with self._changed:
            self._generation += 1
        self._waiting.close(discard=True)
        self._playback.close()
        self._worker.join(JOIN_S)

    def _put(self, sound: _Sound) -> None:
        with suppress(Closed):  # the conversation is over
            self._waiting.put(sound)

    def _write_all(self) -> None:
        for sound in self._waiting:
            if sound.block is None:
                self._finish(sound)
            else:
                self._write(sound, self._resampled(sound, sound.block))

    def _resampled(self, sound: _Sound, block: Block) -> Block:
        with self._changed:
            if sound.generation != self._generation:
                return block[:0]
            return self._resampler.push(block)

    def _finish(self, sound: _Sound) -> None:
        with self._changed:
            if sound.generation != self._generation:
                return
            tail = self._resampler.flush()
        self._write(sound, tail)
        with self._changed:
            if sound.generation == self._generation:
                self._unfinished.pop(sound.item, None)
                self._playback.finish(sound.item)
                self._forget_heard()

    def _write(self, sound: _Sound, block: Block) -> None:
        step = max(1, int(BLOCK_S * self._playback.rate_hz))
        for at in range(0, len(block), step):
            piece = block[at : at + step]
            with self._changed:
                if sound.generation != self._generation:
                    return
                place = self._places.setdefault(sound.item, _Place(self._written))
                place.samples += len(piece)
                self._written += len(piece)
            if not self._playback.write(
                piece, sound.item, sound.text, stale=lambda: sound.generation != self._generation
            ):
                self._take_back(sound, len(piece))
                return

    def _take_back(self, sound: _Sound, samples: int) -> None:
        """What was counted was not written: it was cut meanwhile."""
        with self._changed:
            self._written -= samples
            place = self._places.get(sound.item)
            if place is not None and sound.generation == self._generation:
                place.samples -= samples

    def _forget_heard(self) -> None:
        played = self._playback.played_samples
        for item, place in list(self._places.items()):
            if item not in self._unfinished and place.start + place.samples <= played:
                del self._places[item]
