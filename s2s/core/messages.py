"""Every message between stages, and the identity of a response. Knows no stage.

A stream is chunks and exactly one end: `TtsInput`* then `EndOfResponse`; `AudioOut`* then
`AudioResponseDone`. Times ending in `_at_s` are on the session's `Clock`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

from s2s.core.answering import ResponseRequest
from s2s.core.audio import Block
from s2s.core.items import ToolItem


@dataclass(frozen=True, slots=True)
class TurnId:
    """What the person said, and how often it was re-opened."""

    turn_id: str
    turn_revision: int


@dataclass(frozen=True, slots=True)
class ResponseId:
    """Two pieces of work belong to the same response only when all four are equal."""

    turn_id: str
    turn_revision: int
    """Counts re-openings: the speaker went on after a pause. Older revisions are stale."""
    cancel_generation: int
    """Counts interruptions. Older generations are stale."""
    response_key: str | None
    """Names the response towards the client; None when nothing was opened there."""

    @property
    def turn(self) -> TurnId:
        return TurnId(self.turn_id, self.turn_revision)


# --- control -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """Goes through every stage in order: forget the session, keep the models."""

    session_id: str


# --- transport -> turns ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AudioIn:
    """One microphone window."""

    block: Block
    """float32 [512] at 16 kHz."""
    end_sample: int
    """Samples of the session up to and including this block."""
    captured_at_s: float
    """When the last sample of the block was captured."""
    attended: bool = True
    """False: nobody listens yet. It is kept only as what comes before the wake word."""
    over_echo_db: float = math.inf
    """By how much it is louder than the assistant's own echo that is to be expected in it. Infinite
    where none is: only then it tells of the room's noise."""


@dataclass(frozen=True, slots=True)
class TalkKey:
    """The talk key went down or up. While it is down no pause ends the turn; up ends it at once."""

    down: bool


@dataclass(frozen=True, slots=True)
class WakeWord:
    """The wake word was said, and ended at `end_sample` of the session: what follows is a turn."""

    end_sample: int


Order = TalkKey | WakeWord


@dataclass(frozen=True, slots=True)
class TakeUpDropped:
    """Answer what was dropped last, whoever said it."""


# --- turns -> stt ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Speech:
    """Audio of a turn so far, pre-roll included. A final is sent at each provisional end."""

    audio: Block
    """float32 [samples] at 16 kHz: the whole turn with its pauses."""
    turn: TurnId
    cancel_generation: int
    final: bool
    speech_stopped_at_s: float
    """When the last speech in it was captured (so far, for a partial)."""
    answered: bool = True
    """False: it is written down and remembered, and nothing answers it."""


# --- stt -> llm, stt -> turns (partials) ----------------------------------------------


@dataclass(frozen=True, slots=True)
class PartialTranscript:
    """What the speaker seems to say. `stable` only grows within one revision."""

    text: str
    stable: str
    turn: TurnId
    audio_samples: int
    """Samples of the turn that were heard for it; 0 while the rest of its words are written."""
    confidence: float | None = None
    """Mean natural logarithm of the probability of what was written; None when not known."""
    language: str | None = None
    """ISO 639-1 code heard or configured; None when unknown."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """What the speaker said in one revision of a turn. Empty text is a valid result."""

    text: str
    language: str | None
    """ISO 639-1 code heard or configured; None when unknown."""
    turn: TurnId
    cancel_generation: int
    speech_stopped_at_s: float
    answered: bool = True
    """As in `Speech`."""


@dataclass(frozen=True, slots=True)
class TranscriptFailed:
    """The turn could not be written down: the response to it fails, audibly."""

    error: str
    turn: TurnId
    cancel_generation: int
    speech_stopped_at_s: float
    answered: bool = True
    """As in `Speech`."""


# --- client -> llm, behind what was said before -------------------------------------------------


@dataclass(frozen=True, slots=True)
class ResponseAsked:
    """A client wants a response; nobody spoke for it."""

    request: ResponseRequest
    response: ResponseId
    """It has a turn of its own, which is committed."""


@dataclass(frozen=True, slots=True)
class Announcement:
    """Something is to be said that nobody asked for now: a timer is up."""

    name: str
    """Of the timer; "" for none."""
    response: ResponseId
    """It has a turn of its own, which is committed."""


# --- llm -> turns ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TextEnding:
    """Whether what the speaker said is complete, by the language model that reads along."""

    turn: TurnId
    text: str | None
    """What was judged, as the transcript has it; None when there is no transcript to judge."""
    log_odds: float | None
    """Of "complete"; None where the model does not tell."""


# --- llm -> tts --------------------------------------------------------------------------------


class Ends(IntEnum):
    """What is over where a piece of text ends."""

    WORD = 0
    CLAUSE = 1
    SENTENCE = 2


@dataclass(frozen=True, slots=True)
class AssistantText:
    """Text as the client sees it. Travels in order, ahead of its audio."""

    text: str
    response: ResponseId
    instead_of: str | None = None
    """The answer of which nothing could be spoken, where this sentence is said in its place."""
    spoken: bool = True
    """False: it is shown alone, no sound follows."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the model wants called. Travels in order with the text; none is called yet."""

    name: str
    """Of the tool; "" when the model wrote none that could be read."""
    arguments: str
    """A JSON object; the text as the model wrote it when it could not be read."""
    response: ResponseId
    call_id: str = ""
    """Names the call towards whoever answers it; "" where nobody does."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A tool of the session's own was called, and gave this. Travels in order with the text."""

    item: ToolItem
    response: ResponseId


@dataclass(frozen=True, slots=True)
class TtsInput:
    """A piece of the answer to be spoken."""

    text: str
    """As the client sees it; what cannot be spoken is dealt with by the TTS stage."""
    response: ResponseId
    language: str | None
    speech_stopped_at_s: float
    voice: str | None = None
    speed: float = 1.0
    """Of the voice's own pace."""
    system_note: bool = False
    """Spoken, but no part of the answer: an apology does not enter the history."""
    ends: Ends = Ends.SENTENCE
    """What is over with this piece."""


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """What a response cost, in tokens of the language model."""

    input_tokens: int
    output_tokens: int
    limited: bool = False
    """It ended because it may not be longer."""


@dataclass(frozen=True, slots=True)
class EndOfResponse:
    """The one end of a response's text. Never dropped: a stale one goes on as `cleanup_only`."""

    response: ResponseId
    error: str | None = None
    cleanup_only: bool = False
    language: str | None = None
    """ISO 639-1 code of what the person speaks; None when unknown."""
    spoken: bool = True
    """False: nothing of it is to be spoken."""
    usage: TokenUsage | None = None
    """Where it was asked for."""


# --- tts -> sender -----------------------------------------------------------------------------


SignKind = Literal["usual", "words", "ring"]
"""As the settings say; in words, once for each answer; as a timer rings."""


@dataclass(frozen=True, slots=True)
class SignOfLife:
    """Something is heard before the answer, and is no part of it: it takes long to start, or it is
    what rings."""

    response: ResponseId
    language: str | None
    """Of the person; None when unknown."""
    kind: SignKind = "usual"


@dataclass(frozen=True, slots=True)
class AudioOut:
    """One block of the answer's sound."""

    block: Block
    """float32 [512] at the transport's output rate; the last one is padded with zeros."""
    response: ResponseId
    text: str
    """The response's text that has been spoken once this block has been played."""


@dataclass(frozen=True, slots=True)
class AudioResponseDone:
    """The one end of a response's audio."""

    response: ResponseId
    error: str | None = None
    cleanup_only: bool = False
    usage: TokenUsage | None = None


SttInput = Speech | Transcript | ResponseAsked | SessionEnd
"""A transcript was typed: there is nothing to write down."""
LlmInput = (
    PartialTranscript | Transcript | TranscriptFailed | ResponseAsked | Announcement | SessionEnd
)
TtsMessage = (
    AssistantText | ToolCall | ToolResult | TtsInput | SignOfLife | EndOfResponse | SessionEnd
)
SenderInput = AssistantText | ToolCall | ToolResult | AudioOut | AudioResponseDone | SessionEnd
