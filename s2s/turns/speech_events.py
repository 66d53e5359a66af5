"""What the segmenter tells of a stream of speech: messages alone."""

from __future__ import annotations

from dataclasses import dataclass

from s2s.core.audio import Block


@dataclass(frozen=True, slots=True)
class Onset:
    """Something like speech begins. It has started or continued nothing yet."""

    sample: int
    """First sample of the first window above the threshold."""


@dataclass(frozen=True, slots=True)
class FalseStart:
    """What began at the last `Onset` ended too soon to be speech: nothing has changed."""

    sample: int
    """One past the last sample that was like speech."""


@dataclass(frozen=True, slots=True)
class Started:
    """A new turn: there was enough active speech."""

    start_sample: int
    """First sample of the turn's audio, pre-roll included."""
    onset_sample: int
    """First sample of its speech."""


@dataclass(frozen=True, slots=True)
class ProvisionalEnd:
    """The speaker pauses or is done. The turn stays open."""

    end_sample: int
    """One past the last sample of speech."""


@dataclass(frozen=True, slots=True)
class Resumed:
    """Speech came back after a provisional end of the open turn, long enough to continue it."""

    sample: int
    """First sample of the speech that came back."""


@dataclass(frozen=True, slots=True)
class TurnCut:
    """The turn grew beyond the maximum and was cut. What follows goes on as the next turn, which
    is already speaking: no `Started` comes for it."""

    cut_sample: int
    """First sample of the next turn."""
    audio: Block
    """The finished turn, float32 [samples], up to the cut."""


@dataclass(frozen=True, slots=True)
class TurnClosed:
    """The pause of an open turn grew beyond the maximum; the next speech is a new turn."""

    sample: int


@dataclass(frozen=True, slots=True)
class TurnWithdrawn:
    """All that the open turn consists of was withdrawn: there is none."""

    audio: Block
    """What it was, float32 [samples]."""


SegmenterEvent = (
    Onset | FalseStart | Started | ProvisionalEnd | Resumed | TurnCut | TurnClosed | TurnWithdrawn
)
