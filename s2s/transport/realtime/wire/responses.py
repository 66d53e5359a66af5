"""A response as it is written, and the parts of its items."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from s2s.transport.realtime.wire.audio_formats import WireFormat
from s2s.transport.realtime.wire.items import ToldItem
from s2s.transport.realtime.wire.model import WireModel
from s2s.transport.realtime.wire.settings import Modality, TokenLimit


class WrittenPart(WireModel):
    """A part of text."""

    type: Literal["text"] = "text"
    text: str


class SpokenPart(WireModel):
    """A part of speech. It never has its audio, not even as null."""

    type: Literal["audio"] = "audio"
    transcript: str


ContentPart = Annotated[WrittenPart | SpokenPart, Field(discriminator="type")]

FinalStatus = Literal["completed", "cancelled", "incomplete", "failed"]
EndReason = Literal["turn_detected", "client_cancelled", "max_output_tokens", "content_filter"]


class ResponseError(WireModel):
    """Why a response failed."""

    type: str
    code: str | None = None
    message: str | None = None


class StatusDetails(WireModel):
    """Why a response ended as it did."""

    type: FinalStatus
    reason: EndReason | None = None
    error: ResponseError | None = None


class CachedTokens(WireModel):
    """Of the input tokens those that were known from before."""

    text_tokens: int
    audio_tokens: int
    image_tokens: int


class InputTokens(WireModel):
    """What the input tokens are."""

    text_tokens: int
    audio_tokens: int
    image_tokens: int
    cached_tokens: int
    cached_tokens_details: CachedTokens


class OutputTokens(WireModel):
    """What the output tokens are."""

    text_tokens: int
    audio_tokens: int


class WireUsage(WireModel):
    """What a response cost."""

    total_tokens: int
    input_tokens: int
    output_tokens: int
    input_token_details: InputTokens
    output_token_details: OutputTokens


class SpokenAs(WireModel):
    """Format and voice of a response."""

    format: WireFormat
    voice: str


class SpokenOutput(WireModel):
    """`audio` of a response"""

    output: SpokenAs


class ResponseObject(WireModel):
    """A response, as it begins and as it ended."""

    object: Literal["realtime.response"] = "realtime.response"
    id: str
    status: FinalStatus | Literal["in_progress"]
    status_details: StatusDetails | None
    output: list[ToldItem]
    conversation_id: str | None
    output_modalities: list[Modality]
    max_output_tokens: TokenLimit
    audio: SpokenOutput
    usage: WireUsage | None
    metadata: dict[str, str] | None
