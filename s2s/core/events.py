"""What a session tells the outside: the terminal, a client, a log. Knows no stage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from s2s.core.items import ToolItem
from s2s.core.messages import ResponseId, TokenUsage, TurnId

ResponseStatus = Literal["completed", "cancelled", "failed", "incomplete"]
"""`incomplete`: the model had reached the most it may write."""

CancelReason = Literal["turn_detected", "client_cancelled"]
"""The person began to speak, or whoever steers the session asked for it."""

Listening = Literal["open", "muted", "asleep", "awake", "waiting", "talking"]
"""What is said is heard; is not; the wake word is waited for, or was said; the talk key is up, or
down."""


@dataclass(frozen=True, slots=True)
class SpeechStarted:
    """The person began to speak."""

    turn: TurnId
    at_s: float


@dataclass(frozen=True, slots=True)
class SpeechStopped:
    """The person paused; the turn may still go on."""

    turn: TurnId
    at_s: float


@dataclass(frozen=True, slots=True)
class Heard:
    """What the person says. `final` once the turn is committed."""

    turn: TurnId
    text: str
    final: bool


@dataclass(frozen=True, slots=True)
class NothingHeard:
    """What the person said held no words, and the wait for more is over: no answer comes, unless
    they go on."""

    turn: TurnId


@dataclass(frozen=True, slots=True)
class StopHeard:
    """All that the person said is a stop phrase: it is no turn, gets no answer and is forgotten.

    Said over an answer it is an `Interruption` instead.
    """

    turn: TurnId
    text: str


@dataclass(frozen=True, slots=True)
class MicrophoneState:
    """What happens from now on with what the microphone hears."""

    state: Listening


@dataclass(frozen=True, slots=True)
class ProvisionalStart:
    """The answer begins to be heard, though the person may still go on. Nothing else is told of it
    until it is certain: then `ResponseStarted` and what was said so far; or `TakenBack`."""

    response: ResponseId


@dataclass(frozen=True, slots=True)
class TakenBack:
    """The person went on: the answer that had begun is silent, and there was none."""

    response: ResponseId
    heard: str
    """What was played of it; nothing knows of it any more."""


@dataclass(frozen=True, slots=True)
class SpeechDropped:
    """What was said is not answered: it seems not to be meant for the assistant. It can be taken
    up after all (`Session.take_up_dropped`)."""

    turn: TurnId
    text: str
    """What is known of its words; "" when they were not written down."""
    reason: str


@dataclass(frozen=True, slots=True)
class ResponseStarted:
    """The assistant answers."""

    response: ResponseId


@dataclass(frozen=True, slots=True)
class AnswerText:
    """A piece of the answer's text, ahead of its sound."""

    response: ResponseId
    text: str
    spoken: bool = True
    """False: it is written alone."""


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """The model wants a tool called, at this place of its answer."""

    response: ResponseId
    name: str
    arguments: str
    """A JSON object, or what the model wrote instead."""
    call_id: str = ""
    """Names the call towards whoever answers it."""


@dataclass(frozen=True, slots=True)
class ToolUsed:
    """A tool of the session's own was called for the answer, and gave something."""

    response: ResponseId
    item: ToolItem


@dataclass(frozen=True, slots=True)
class NothingSpoken:
    """Nothing of the answer could be spoken; the person hears a sentence that says so."""

    response: ResponseId
    text: str
    """The answer, as it is shown."""


@dataclass(frozen=True, slots=True)
class ResponseDone:
    """The one end of a response."""

    response: ResponseId
    status: ResponseStatus
    played: str
    """The part of the answer that was played."""
    error: str | None = None
    reason: CancelReason | None = None
    """Why it was cancelled, where a client is told."""
    usage: TokenUsage | None = None


# --- told in sessions that a client steers (`s2s.core.control`) --------------------------------


@dataclass(frozen=True, slots=True)
class TurnBegan:
    """The person speaks, and it counts: at the onset, or, over an answer that only words or length
    interrupt, once they do. Exactly one `TurnEnded` follows."""

    item_id: str
    audio_start_ms: int
    """From the first sample that was heard; what is put in front of the speech is included."""


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The turn that began is over. `TurnCommitted` follows, unless nothing came of it."""

    item_id: str
    audio_end_ms: int
    """The silence that ended it included."""
    dropped: str = ""
    """Why nothing came of it: it was no speech, or not meant for the assistant."""


@dataclass(frozen=True, slots=True)
class TurnCommitted:
    """What was said is an item of the conversation, and does not change any more. Its words come
    later, or came before."""

    item_id: str
    previous_item_id: str | None
    idle: tuple[int, int] | None = None
    """None; else nobody said anything, and these milliseconds of silence are the turn."""


@dataclass(frozen=True, slots=True)
class TurnTranscript:
    """The words of a turn so far, or all of them."""

    item_id: str
    text: str
    stable: str
    """The beginning that will not change; all of it in the end. Only grows."""
    final: bool
    duration_s: float = 0.0
    """Of the turn's sound."""


@dataclass(frozen=True, slots=True)
class TurnTranscriptFailed:
    """The words of a turn will not come: in place of the final transcript."""

    item_id: str
    error: str


@dataclass(frozen=True, slots=True)
class Interruption:
    """Speech during playback, and what became of it."""

    action: Literal["duck", "restore", "pause", "cancel", "silence"]
    """`silence`: of an answer that began provisionally, as the person may be going on."""
    sample: int
    """Where in the microphone's stream it was decided."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the person should know: a lost device, a slow backend."""

    text: str


Event = (
    SpeechStarted
    | SpeechStopped
    | Heard
    | NothingHeard
    | StopHeard
    | MicrophoneState
    | ProvisionalStart
    | TakenBack
    | SpeechDropped
    | ResponseStarted
    | AnswerText
    | ToolCalled
    | ToolUsed
    | NothingSpoken
    | ResponseDone
    | TurnBegan
    | TurnEnded
    | TurnCommitted
    | TurnTranscript
    | TurnTranscriptFailed
    | Interruption
    | Notice
)

EventSink = Callable[[Event], None]
"""Takes events from any thread; must not block."""


def to_all(*sinks: EventSink) -> EventSink:
    """A sink that gives each event to every one of `sinks`, in their order."""

    def tell(event: Event) -> None:
        for sink in sinks:
            sink(event)

    return tell
