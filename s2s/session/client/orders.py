"""What a client asks of the turns stage: messages alone."""

from __future__ import annotations

from dataclasses import dataclass

from s2s.core.audio import Block
from s2s.core.control import Hearing
from s2s.core.messages import ResponseAsked, TurnId
from s2s.turns.handler import TurnInput


@dataclass(frozen=True, slots=True)
class HearBy:
    """Detect turns by other settings, from the next turn on."""

    hearing: Hearing


@dataclass(frozen=True, slots=True)
class CommitInput:
    """What was heard since the last turn is one."""


@dataclass(frozen=True, slots=True)
class ClearInput:
    """Forget what was heard since the last turn."""


@dataclass(frozen=True, slots=True)
class GivenSound:
    """A client put something said into the conversation; it is written down like a turn."""

    turn: TurnId
    audio: Block
    """float32 [samples] at 16 kHz."""


ClientInput = TurnInput | ResponseAsked | GivenSound | HearBy | CommitInput | ClearInput
