"""The playback of a client that plays by itself: sound is handed on as fast as it is made.

What the client has played is not told, so it is believed to play in real time from the first block
on, until it says how far it really came (`truncate`). Knows no wire.
"""

from __future__ import annotations

import bisect
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from s2s.core.audio import Block, from_int16, to_int16
from s2s.core.clock import Clock
from s2s.core.messages import ResponseId
from s2s.transport.playback import PlaybackMode, PlaybackTap, Played

AHEAD_S = 30.0
"""Sound that may be handed on before it is believed to be played: of most answers all."""
UNSENT_S = 10.0
"""Sound that may wait to be sent: a client that reads slowly holds up its own answer alone."""
REMEMBERED = 64
"""Responses of which it is known where each word stands in the sound."""
KEPT_SOUND_S = 120.0
"""Sound of answers that is kept to be asked for again: the longest that fits into one message."""


@dataclass(frozen=True, slots=True)
class ClientSound:
    """One block of an answer on its way to the client."""

    response: ResponseId
    block: Block
    """float32 [samples] at the playback's rate."""
    text: str
    """The answer's text that is spoken once this block has been played."""


@dataclass(frozen=True, slots=True)
class SpokenUntil:
    """How far a response was heard."""

    text: str
    at_samples: int
    of_samples: int
    """All that there is of it so far."""


@dataclass(slots=True)
class _Handed:
    """What was handed on of a response."""

    samples: int = 0
    ends: list[int] = field(default_factory=list[int])
    """Samples after which more text has been spoken; ascending."""
    heard_s: list[float] = field(default_factory=list[float])
    """When that is believed to be heard."""
    texts: list[str] = field(default_factory=list[str])
    blocks: list[npt.NDArray[np.int16]] = field(default_factory=list[npt.NDArray[np.int16]])
    whole: bool = True
    """Its sound is kept."""
    is_cut: bool = False
    """The client has said how much it played of it."""

    @property
    def text(self) -> str:
        return self.texts[-1] if self.texts else ""

    def add(self, block: Block, text: str, heard_s: float) -> None:
        if self.is_cut:
            return
        self.samples += len(block)
        if self.whole:
            self.blocks.append(to_int16(block))
        if text != self.text:
            self.ends.append(self.samples)
            self.heard_s.append(heard_s)
            self.texts.append(text)

    def at(self, now_s: float) -> str:
        """The text believed to be heard by then."""
        count = bisect.bisect_right(self.heard_s, now_s)
        return self.texts[count - 1] if count else ""

    def cut(self, samples: int) -> SpokenUntil:
        """There is no more of it than `samples`; what comes is not counted."""
        was, self.samples = self.samples, min(samples, self.samples)
        count = bisect.bisect_right(self.ends, self.samples)
        for each in (self.ends, self.heard_s, self.texts):
            del each[count:]
        if self.blocks:
            self.blocks = [np.concatenate(self.blocks)[: self.samples]]
        self.is_cut = True
        return SpokenUntil(self.text, self.samples, was)


class ClientPlayback:
    """`s2s.transport.output.SoundOutput` of a client. Safe from any thread.

    Args:
        clock: the session's.
        rate_hz: of the sound, as the wire wants it.
        on_sound: takes each block, in order; called under the lock, so that nothing comes of a
            response after it was cut. Must not wait, nor call back.
        on_report: called when there is something in `reports`; must not wait.
    """

    def __init__(
        self,
        clock: Clock,
        rate_hz: int,
        on_sound: Callable[[ClientSound], None],
        on_report: Callable[[], None],
    ) -> None:
        if rate_hz < 1:
            raise ValueError(f"needs a positive rate, got {rate_hz}")
        self.rate_hz = rate_hz
        self.tap: PlaybackTap | None = None
        self.on_shortened: Callable[[ResponseId, str], None] = lambda _response, _text: None
        """Told of a response that was whole and is believed to have been silenced before its
        end: what was heard of it."""
        self._clock = clock
        self._on_sound = on_sound
        self._on_report = on_report
        self._changed = clock.condition()
        self._known: OrderedDict[ResponseId, _Handed] = OrderedDict()
        self._open: list[ResponseId] = []
        self._reports: deque[Played] = deque()
        self._plays_until_s = 0.0
        self._handed = 0
        self._unsent = 0
        self._closed = False

    @property
    def capacity_samples(self) -> int:
        return round(UNSENT_S * self.rate_hz)

    @property
    def played_samples(self) -> int:
        """As the client is believed to play."""
        with self._changed:
            waiting_s = max(0.0, self._plays_until_s - self._clock.now())
            return self._handed - round(waiting_s * self.rate_hz)

    @property
    def playing(self) -> bool:
        with self._changed:
            return bool(self._open) or self._clock.now() < self._plays_until_s

    @property
    def plays_until_s(self) -> float:
        """When the client is believed to have played all that it has."""
        return self._plays_until_s

    @property
    def heard_text(self) -> str:
        with self._changed:
            newest = next(reversed(self._known.values()), None)
            return "" if newest is None else newest.at(self._clock.now())

    def write(
        self, block: Block, response: ResponseId, text: str, *, stale: Callable[[], bool]
    ) -> bool:
        """Hand on a block, waiting while too much is unsent or too far ahead; False when it was
        stale or the session is over: nothing was handed on."""
        with self._changed:
            while not (stale() or self._closed) and (wait := self._full()) is not None:
                self._changed.wait(wait or None)
            if stale() or self._closed:
                return False
            self._hand_on(block, response, text)
            return True

    def write_beside(
        self, block: Block, response: ResponseId, text: str, *, stale: Callable[[], bool]
    ) -> bool:
        """Hand on a block of a response out of band: it is no part of what is believed to play."""
        with self._changed:
            while not (stale() or self._closed) and self._unsent > UNSENT_S * self.rate_hz:
                self._changed.wait()
            if stale() or self._closed:
                return False
            self._unsent += len(block)
            self._on_sound(ClientSound(response, block, text))
            return True

    def finish(self, response: ResponseId) -> bool:
        with self._changed:
            if response not in self._open:
                return False
            self._open.remove(response)
            self._report(response, "finished", self._known[response].text)
            return True

    def sent(self, samples: int) -> None:
        """So many samples have left for the client."""
        with self._changed:
            self._unsent = max(0, self._unsent - samples)
            self._changed.notify_all()

    def wake(self) -> None:
        """Let who waits to write look at `stale` again."""
        with self._changed:
            self._changed.notify_all()

    def reports(self) -> list[Played]:
        with self._changed:
            reports = list(self._reports)
            self._reports.clear()
            return reports

    def set_output(self, output: PlaybackMode) -> None:
        """Nothing: the loudspeaker is the client's."""

    def clear(self) -> None:
        """The client is silent from now on."""
        with self._changed:
            now_s, shortened = self._clock.now(), list[tuple[ResponseId, str]]()
            if now_s < self._plays_until_s:
                for response, handed in self._known.items():
                    if response not in self._open and (heard := handed.at(now_s)) != handed.text:
                        shortened.append((response, heard))
            for response in self._open:
                self._report(response, "cut", self._known[response].at(now_s))
            self._open.clear()
            self._plays_until_s = min(now_s, self._plays_until_s)
            if self.tap is not None:
                self.tap.silenced(now_s)
            for handed in self._known.values():
                handed.heard_s = [s if s <= now_s else np.inf for s in handed.heard_s]
            self._changed.notify_all()
        for response, heard in shortened:
            self.on_shortened(response, heard)

    def drop(self, unwanted: Callable[[ResponseId], bool]) -> None:
        with self._changed:
            wanted = not any(unwanted(response) for response in self._open)
        if not wanted:
            self.clear()

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    # --- what was handed on ----------------------------------------------------------------------

    def truncate(self, response: ResponseId, audio_end_ms: int) -> SpokenUntil | None:
        """The client played so many milliseconds of `response` and no more: what had been spoken by
        then. None when there is no sound of it, or it is not known any more."""
        with self._changed:
            handed = self._known.get(response)
            if handed is None or not (handed.samples or handed.is_cut):
                return None
            if response not in self._open and response == next(reversed(self._known)):
                self._plays_until_s = min(self._clock.now(), self._plays_until_s)
            return handed.cut(audio_end_ms * self.rate_hz // 1000)

    def sound(self, response: ResponseId) -> Block | None:
        """What was handed on of `response`, float32 [samples]; None when it is not kept."""
        with self._changed:
            handed = self._known.get(response)
            if handed is None or not handed.whole or not handed.blocks:
                return None
            return from_int16(np.concatenate(handed.blocks))

    def forget(self, response: ResponseId) -> None:
        """Nobody will ask for `response` again."""
        with self._changed:
            if response not in self._open:
                self._known.pop(response, None)

    # --- inside ----------------------------------------------------------------------------------

    def _full(self) -> float | None:
        """None while there is room; else for how many seconds to wait, 0 for a notification."""
        if self._unsent > UNSENT_S * self.rate_hz:
            return 0.0
        ahead_s = self._plays_until_s - self._clock.now()
        return None if ahead_s <= AHEAD_S else ahead_s - AHEAD_S

    def _hand_on(self, block: Block, response: ResponseId, text: str) -> None:
        handed = self._known.get(response)
        if handed is None:
            handed = self._known[response] = _Handed()
            self._open.append(response)
            self._report(response, "started", "")
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        starts_s = max(self._clock.now(), self._plays_until_s)
        ends_s = starts_s + len(block) / self.rate_hz
        if self.tap is not None:
            self.tap.played(block, self.rate_hz, starts_s)
        handed.add(block, text, ends_s)
        self._plays_until_s = ends_s
        self._handed += len(block)
        self._unsent += len(block)
        self._keep_less()
        self._on_sound(ClientSound(response, block, text))

    def _keep_less(self) -> None:
        """Let go of the oldest sound beyond what is kept."""
        kept = [handed for handed in self._known.values() if handed.blocks]
        samples = sum(handed.samples for handed in kept)
        for handed in kept:
            if samples <= KEPT_SOUND_S * self.rate_hz:
                return
            samples -= handed.samples
            handed.whole = False
            handed.blocks.clear()

    def _report(
        self, response: ResponseId, what: Literal["started", "finished", "cut"], text: str
    ) -> None:
        self._reports.append(Played(response, what, text, self._clock.now()))
        self._on_report()


class BesidePlayback:
    """`SoundOutput` of one response out of band: handed on between the conversation's sound, and
    never believed to play."""

    def __init__(self, playback: ClientPlayback) -> None:
        self.rate_hz = playback.rate_hz
        self.capacity_samples = playback.capacity_samples
        self.played_samples = 0
        self.playing = False
        self.heard_text = ""
        self._playback = playback

    def write(
        self, block: Block, response: ResponseId, text: str, *, stale: Callable[[], bool]
    ) -> bool:
        return self._playback.write_beside(block, response, text, stale=stale)

    def finish(self, response: ResponseId) -> bool:
        """False always: it is over when it is handed on, and nothing reports that it was heard."""
        return False

    def reports(self) -> list[Played]:
        return []

    def set_output(self, output: PlaybackMode) -> None:
        """Nothing: the loudspeaker is the client's."""

    def clear(self) -> None:
        """Nothing of it waits here."""

    def drop(self, unwanted: Callable[[ResponseId], bool]) -> None:
        """Likewise."""

    def close(self) -> None:
        """Likewise."""
