"""The playback of a call, which is here and not with the client: paced, and cleared to the sample.

Whoever sends the sound asks for the next 20 ms of it, again and again. On one event loop alone;
knows no codec and no network: docs/decisions/calls-are-played-by-the-server.md.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np

from s2s.core.audio import Block, Resampler, empty

CALL_HZ = 48_000
"""Opus counts time in its samples."""
FRAME_SAMPLES = 960
"""20 ms of it."""
FRAMES_PER_S = 50
OPUS_HZ = (8_000, 12_000, 16_000, 24_000, CALL_HZ)
"""Rates that it takes: a voice of one of them is not resampled."""


class CallSound(Protocol):
    """The sound of a call, both ways."""

    def attach(self, playback: ServerPlayback, hear: Callable[[Block], bool]) -> None:
        """The session is there.

        Args:
            playback: what the client is to hear.
            hear: takes what it says, float32 [samples at 16 kHz]; False when there is no room.
        """
        ...


@dataclass(frozen=True, slots=True)
class PlaybackChange:
    """The sound of a response has begun to leave, or all of it has left."""

    what: Literal["started", "stopped"]
    response_id: str


@dataclass(frozen=True, slots=True)
class SoundCut:
    """A response whose sound was cleared."""

    response_id: str
    left: int
    """Samples of it that had left."""


@dataclass(slots=True)
class _Track:
    """The sound of one response."""

    response_id: str
    resampler: Resampler
    blocks: deque[Block] = field(default_factory=deque[Block])
    pending: Block = field(default_factory=empty)
    """Float32 [samples] at the rate of what leaves."""
    taken: int = 0
    """Samples handed on to it."""
    sent: int = 0
    """Samples that have left, at their rate."""
    reported: int = 0
    whole: bool = False
    """No more will come."""
    flushed: bool = False

    def fill(self, samples: int) -> None:
        """Have so many samples ready, as far as there is sound for them."""
        while len(self.pending) < samples and self.blocks:
            self._append(self.resampler.push(self.blocks.popleft()))
        if len(self.pending) < samples and self.whole and not self.flushed:
            self.flushed = True
            self._append(self.resampler.flush())

    def _append(self, block: Block) -> None:
        self.pending = np.concatenate([self.pending, block]) if len(self.pending) else block


class ServerPlayback:
    """Plays the answers of one call.

    Args:
        rate_hz: of the session's sound.
        on_left: told how many samples of it have left, or never will.
        report_samples: so many are told together; the first, the last and cut ones at once. Who is
            told wakes a thread (docs/decisions/cpu-of-a-call.md).
        tell: told when the sound of a response begins, and when it is over.
    """

    def __init__(
        self,
        rate_hz: int,
        on_left: Callable[[int], None],
        tell: Callable[[PlaybackChange], None],
        *,
        report_samples: int = 1,
    ) -> None:
        self.rate_hz = rate_hz
        self.frame_hz = next((hz for hz in OPUS_HZ if hz >= rate_hz), CALL_HZ)
        """Of what leaves."""
        self._frame_samples = self.frame_hz // FRAMES_PER_S
        self._on_left = on_left
        self._tell = tell
        self._report_samples = report_samples
        self._tracks: deque[_Track] = deque()
        self._cut: set[str] = set()
        """Responses that were cleared while they were being made."""
        self.on_sound: Callable[[], None] = lambda: None
        """Called when there is something to play after there was nothing."""

    @property
    def playing(self) -> bool:
        """There is something to be heard."""
        return bool(self._tracks)

    def play(self, response_id: str, block: Block) -> None:
        """More of a response, float32 [samples]. What comes of one that was cleared is dropped."""
        if response_id in self._cut:
            self._on_left(len(block))
            return
        if not self._tracks or self._tracks[-1].response_id != response_id:
            self._tracks.append(_Track(response_id, Resampler(self.rate_hz, self.frame_hz)))
        track = self._tracks[-1]
        track.blocks.append(block)
        track.taken += len(block)
        if len(self._tracks) == 1:
            self.on_sound()

    def ended(self, response_id: str) -> None:
        """No more of a response will come."""
        self._cut.discard(response_id)
        for track in self._tracks:
            if track.response_id == response_id:
                track.whole = True

    def frame(self) -> Block | None:
        """The next 20 ms, float32 [samples] at `frame_hz`, which leave now; None where they are
        silent."""
        while self._tracks:
            track = self._tracks[0]
            track.fill(self._frame_samples)
            if len(track.pending) >= self._frame_samples or (track.flushed and len(track.pending)):
                return self._leave(track)
            if not track.flushed and (len(self._tracks) == 1 or not track.whole):
                return None  # more of it is still being made
            self._tracks.popleft()
            self._report(track, track.taken)
            self._tell(PlaybackChange("stopped", track.response_id))
        return None

    def clear(self) -> list[SoundCut]:
        """Silence from now on; what was cut."""
        cuts: list[SoundCut] = []
        for track in self._tracks:
            cuts.append(SoundCut(track.response_id, self._left(track)))
            self._report(track, track.taken)
            if not track.whole:
                self._cut.add(track.response_id)
        self._tracks.clear()
        return cuts

    def _leave(self, track: _Track) -> Block:
        samples = self._frame_samples
        if not track.sent:
            self._tell(PlaybackChange("started", track.response_id))
        frame, track.pending = track.pending[:samples], track.pending[samples:]
        track.sent += len(frame)
        left = self._left(track)
        if track.reported == 0 or left - track.reported >= self._report_samples:
            self._report(track, left)
        if len(frame) == samples:
            return frame
        return np.concatenate([frame, np.zeros(samples - len(frame), np.float32)])

    def _left(self, track: _Track) -> int:
        return min(track.taken, track.sent * self.rate_hz // self.frame_hz)

    def _report(self, track: _Track, left: int) -> None:
        if left > track.reported:
            self._on_left(left - track.reported)
            track.reported = left
