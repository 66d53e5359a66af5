"""The events that a server sends.

`None` is written as null; what is not given is left out (some clients drop an event for either).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from s2s.transport.realtime.wire.items import ToldItem
from s2s.transport.realtime.wire.mcp_events import (
    McpArgumentsDelta,
    McpArgumentsDone,
    McpCallCompleted,
    McpCallFailed,
    McpCallInProgress,
)
from s2s.transport.realtime.wire.model import ServerEventModel, WireModel
from s2s.transport.realtime.wire.responses import ContentPart, ResponseObject


class ErrorDetail(WireModel):
    """What was wrong."""

    type: Literal["invalid_request_error", "server_error"]
    code: str | None
    message: str
    param: str | None
    event_id: str | None
    """Of the event that was wrong, where it had one."""


class ErrorEvent(ServerEventModel):
    """An event of the client was not obeyed."""

    type: Literal["error"] = "error"
    error: ErrorDetail


class SessionCreated(ServerEventModel):
    """The first event."""

    type: Literal["session.created"] = "session.created"
    session: dict[str, object]


class SessionUpdated(ServerEventModel):
    """The whole session as it is from now on."""

    type: Literal["session.updated"] = "session.updated"
    session: dict[str, object]


class AudioCommitted(ServerEventModel):
    """What was heard is an item."""

    type: Literal["input_audio_buffer.committed"] = "input_audio_buffer.committed"
    item_id: str
    previous_item_id: str | None


class AudioCleared(ServerEventModel):
    """What was appended is forgotten."""

    type: Literal["input_audio_buffer.cleared"] = "input_audio_buffer.cleared"


class InputSpeechStarted(ServerEventModel):
    """The person speaks."""

    type: Literal["input_audio_buffer.speech_started"] = "input_audio_buffer.speech_started"
    audio_start_ms: int
    item_id: str


class InputSpeechStopped(ServerEventModel):
    """The person has spoken."""

    type: Literal["input_audio_buffer.speech_stopped"] = "input_audio_buffer.speech_stopped"
    audio_end_ms: int
    item_id: str


class OutputStarted(ServerEventModel):
    """The sound of a response begins to leave; over WebRTC alone."""

    type: Literal["output_audio_buffer.started"] = "output_audio_buffer.started"
    response_id: str


class OutputStopped(ServerEventModel):
    """All of it has left."""

    type: Literal["output_audio_buffer.stopped"] = "output_audio_buffer.stopped"
    response_id: str


class OutputCleared(ServerEventModel):
    """The rest of it never will."""

    type: Literal["output_audio_buffer.cleared"] = "output_audio_buffer.cleared"
    response_id: str


class TimeoutTriggered(ServerEventModel):
    """Nobody spoke for so long."""

    type: Literal["input_audio_buffer.timeout_triggered"] = "input_audio_buffer.timeout_triggered"
    audio_start_ms: int
    audio_end_ms: int
    item_id: str


class ItemAdded(ServerEventModel):
    """An item entered the conversation."""

    type: Literal["conversation.item.added"] = "conversation.item.added"
    item: ToldItem
    previous_item_id: str | None


class ItemDone(ServerEventModel):
    """An item is as it stays."""

    type: Literal["conversation.item.done"] = "conversation.item.done"
    item: ToldItem
    previous_item_id: str | None


class ItemRetrieved(ServerEventModel):
    """The item that was asked for."""

    type: Literal["conversation.item.retrieved"] = "conversation.item.retrieved"
    item: ToldItem


class ItemTruncated(ServerEventModel):
    """The item ends there."""

    type: Literal["conversation.item.truncated"] = "conversation.item.truncated"
    item_id: str
    content_index: int
    audio_end_ms: int


class ItemDeleted(ServerEventModel):
    """The item is gone."""

    type: Literal["conversation.item.deleted"] = "conversation.item.deleted"
    item_id: str


class TranscriptionDelta(ServerEventModel):
    """More of the person's words."""

    type: Literal["conversation.item.input_audio_transcription.delta"] = (
        "conversation.item.input_audio_transcription.delta"
    )
    item_id: str
    content_index: int
    delta: str


class DurationUsage(WireModel):
    """What a transcription cost."""

    type: Literal["duration"] = "duration"
    seconds: float


class TranscriptionCompleted(ServerEventModel):
    """The person's words."""

    type: Literal["conversation.item.input_audio_transcription.completed"] = (
        "conversation.item.input_audio_transcription.completed"
    )
    item_id: str
    content_index: int
    transcript: str
    usage: DurationUsage


class TranscriptionError(WireModel):
    """Why there are no words."""

    type: str
    message: str
    code: str | None = None


class TranscriptionFailed(ServerEventModel):
    """There will be no words of this item."""

    type: Literal["conversation.item.input_audio_transcription.failed"] = (
        "conversation.item.input_audio_transcription.failed"
    )
    item_id: str
    content_index: int
    error: TranscriptionError


class ResponseCreated(ServerEventModel):
    """The assistant begins."""

    type: Literal["response.created"] = "response.created"
    response: ResponseObject


class ResponseEnded(ServerEventModel):
    """The one end of a response."""

    type: Literal["response.done"] = "response.done"
    response: ResponseObject


class _OfItem(ServerEventModel):
    response_id: str
    output_index: int
    item: ToldItem


class OutputItemAdded(_OfItem):
    """A response has one more item."""

    type: Literal["response.output_item.added"] = "response.output_item.added"


class OutputItemDone(_OfItem):
    """An item of a response is as it stays."""

    type: Literal["response.output_item.done"] = "response.output_item.done"


class _OfPart(ServerEventModel):
    response_id: str
    item_id: str
    output_index: int
    content_index: int


class ContentPartAdded(_OfPart):
    """A part of an item begins."""

    type: Literal["response.content_part.added"] = "response.content_part.added"
    part: ContentPart


class ContentPartDone(_OfPart):
    """A part of an item is as it stays."""

    type: Literal["response.content_part.done"] = "response.content_part.done"
    part: ContentPart


class TextDelta(_OfPart):
    """More text."""

    type: Literal["response.output_text.delta"] = "response.output_text.delta"
    delta: str


class TextDone(_OfPart):
    """All of the text."""

    type: Literal["response.output_text.done"] = "response.output_text.done"
    text: str


class TranscriptDelta(_OfPart):
    """More of what is being said."""

    type: Literal["response.output_audio_transcript.delta"] = (
        "response.output_audio_transcript.delta"
    )
    delta: str
    start_time: float | None = None
    """When it is said, in seconds of the item's audio. In no schema; LiveKit reads it."""


class TranscriptDone(_OfPart):
    """All that was said."""

    type: Literal["response.output_audio_transcript.done"] = "response.output_audio_transcript.done"
    transcript: str


class AudioDelta(_OfPart):
    """More sound."""

    type: Literal["response.output_audio.delta"] = "response.output_audio.delta"
    delta: str


class AudioDone(_OfPart):
    """No more sound."""

    type: Literal["response.output_audio.done"] = "response.output_audio.done"


class _OfCall(ServerEventModel):
    response_id: str
    item_id: str
    output_index: int
    call_id: str


class ArgumentsDelta(_OfCall):
    """More of a call's arguments."""

    type: Literal["response.function_call_arguments.delta"] = (
        "response.function_call_arguments.delta"
    )
    delta: str


class ArgumentsDone(_OfCall):
    """All of a call's arguments."""

    type: Literal["response.function_call_arguments.done"] = "response.function_call_arguments.done"
    name: str
    arguments: str


class RateLimit(WireModel):
    """One of the limits."""

    name: Literal["requests", "tokens"]
    limit: int
    remaining: int
    reset_seconds: float


class RateLimitsUpdated(ServerEventModel):
    """What is left; a local server has no limits, and says so with large ones."""

    type: Literal["rate_limits.updated"] = "rate_limits.updated"
    rate_limits: list[RateLimit]


ServerEvent = (
    ErrorEvent
    | SessionCreated
    | SessionUpdated
    | AudioCommitted
    | AudioCleared
    | InputSpeechStarted
    | InputSpeechStopped
    | OutputStarted
    | OutputStopped
    | OutputCleared
    | TimeoutTriggered
    | ItemAdded
    | ItemDone
    | ItemRetrieved
    | ItemTruncated
    | ItemDeleted
    | TranscriptionDelta
    | TranscriptionCompleted
    | TranscriptionFailed
    | ResponseCreated
    | ResponseEnded
    | OutputItemAdded
    | OutputItemDone
    | ContentPartAdded
    | ContentPartDone
    | TextDelta
    | TextDone
    | TranscriptDelta
    | TranscriptDone
    | AudioDelta
    | AudioDone
    | ArgumentsDelta
    | ArgumentsDone
    | McpArgumentsDelta
    | McpArgumentsDone
    | McpCallInProgress
    | McpCallCompleted
    | McpCallFailed
    | RateLimitsUpdated
)

AnyServerEvent = Annotated[ServerEvent, Field(discriminator="type")]
