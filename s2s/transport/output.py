"""Where an answer's sound goes, as a session sees it: a loudspeaker's buffer, or a client's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from s2s.core.audio import Block
from s2s.core.messages import AudioIn, ResponseId
from s2s.transport.playback import PlaybackMode, PlaybackTap, Played


class SoundTap(PlaybackTap, Protocol):
    """Takes what is heard of both voices, beside the conversation; none of its calls waits."""

    def heard(self, window: AudioIn) -> AudioIn:
        """Take a window of the person's; returns the window that the session is to hear."""
        ...


class SoundOutput(Protocol):
    """Takes an answer's sound, and knows how much of it was heard. Safe from any thread."""

    @property
    def rate_hz(self) -> int: ...

    @property
    def capacity_samples(self) -> int:
        """Samples that may wait in it."""
        ...

    @property
    def played_samples(self) -> int:
        """Samples of answers that were heard since the session began."""
        ...

    @property
    def playing(self) -> bool:
        """An answer is heard, or a response has not ended yet."""
        ...

    @property
    def heard_text(self) -> str:
        """The part of the newest answer that was heard until now."""
        ...

    def write(
        self, block: Block, response: ResponseId, text: str, *, stale: Callable[[], bool]
    ) -> bool:
        """Take float32 [samples], waiting for room; see `s2s.transport.playback.Playback`."""
        ...

    def finish(self, response: ResponseId) -> bool:
        """No more samples of `response` will come; False when none ever came."""
        ...

    def reports(self) -> list[Played]:
        """What happened since the last call, in order."""
        ...

    def set_output(self, output: PlaybackMode) -> None:
        """Duck, pause, or go on."""
        ...

    def clear(self) -> None:
        """Silence at once. What is cut is reported."""
        ...

    def drop(self, unwanted: Callable[[ResponseId], bool]) -> None:
        """Silence the newest responses, as far back as they are `unwanted`."""
        ...

    def close(self) -> None:
        """Nothing more is heard: writers give up."""
        ...
