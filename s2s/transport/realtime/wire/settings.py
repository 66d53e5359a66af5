"""The session as clients write it: `session.update`, client secrets, and overrides of a response.

Every name of the schema is taken and echoed, also where it means nothing to a local server; only
names outside of it and wrong types are refused. `None` of a field that was given means: as it is by
default.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from s2s.transport.realtime.wire.audio_formats import WireFormat
from s2s.transport.realtime.wire.items import InputItem
from s2s.transport.realtime.wire.model import WireModel

Modality = Literal["text", "audio"]
Modalities = Annotated[list[Modality], Field(min_length=1, max_length=1)]
"""One of them: an answer with audio has its text as transcript."""

TokenLimit = Annotated[int, Field(ge=1, le=4096)] | Literal["inf"]


class ServerVadSettings(WireModel):
    """The turn ends after so much silence."""

    type: Literal["server_vad"] = "server_vad"
    threshold: Annotated[float, Field(ge=0, le=1)] | None = None
    prefix_padding_ms: Annotated[int, Field(ge=0)] | None = None
    silence_duration_ms: Annotated[int, Field(ge=0)] | None = None
    idle_timeout_ms: Annotated[int, Field(ge=5000, le=30000)] | None = None
    create_response: bool | None = None
    interrupt_response: bool | None = None
    model_version: str | None = None


class SemanticVadSettings(WireModel):
    """The turn ends when what was said is complete."""

    type: Literal["semantic_vad"] = "semantic_vad"
    eagerness: Literal["low", "medium", "high", "auto"] | None = None
    create_response: bool | None = None
    interrupt_response: bool | None = None
    model_version: str | None = None


TurnDetection = Annotated[ServerVadSettings | SemanticVadSettings, Field(discriminator="type")]


class TranscriptionSettings(WireModel):
    """How the person's words are written down."""

    model: str | None = None
    language: str | None = None
    languages: list[str] | None = None
    prompt: str | None = None
    keywords: list[str] | None = None
    delay: Literal["minimal", "low", "medium", "high", "xhigh"] | None = None


class NoiseReduction(WireModel):
    """Echoed: the hearing copes with noise as it is."""

    type: Literal["near_field", "far_field"] | None = None
    strength: float | None = None


class NamedVoice(WireModel):
    """A voice by its id."""

    id: str


class InputAudioSettings(WireModel):
    """`audio.input`"""

    format: WireFormat | None = None
    transcription: TranscriptionSettings | None = None
    noise_reduction: NoiseReduction | None = None
    turn_detection: TurnDetection | None = None


class OutputAudioSettings(WireModel):
    """`audio.output`"""

    format: WireFormat | None = None
    voice: str | NamedVoice | None = None
    speed: Annotated[float, Field(ge=0.25, le=1.5)] | None = None


class AudioSettings(WireModel):
    """`audio`"""

    input: InputAudioSettings | None = None
    output: OutputAudioSettings | None = None


class FunctionTool(WireModel):
    """A function that the client can call."""

    type: Literal["function"] = "function"
    name: str
    description: str | None = None
    parameters: dict[str, object] | None = None
    """A JSON schema."""
    strict: bool | None = None


class McpTool(WireModel):
    """A server of tools: echoed, not called."""

    type: Literal["mcp"] = "mcp"
    server_label: str
    server_url: str | None = None
    connector_id: str | None = None
    tunnel_id: str | None = None
    authorization: str | None = None
    headers: dict[str, str] | None = None
    allowed_tools: list[str] | dict[str, object] | None = None
    allowed_callers: list[str] | None = None
    defer_loading: bool | None = None
    require_approval: str | dict[str, object] | None = None
    server_description: str | None = None


Tool = Annotated[FunctionTool | McpTool, Field(discriminator="type")]


class ChosenFunction(WireModel):
    """The one tool that is to be called."""

    type: Literal["function"] = "function"
    name: str


class ChosenServer(WireModel):
    """A tool of an MCP server that is to be called."""

    type: Literal["mcp"] = "mcp"
    server_label: str
    name: str | None = None


ToolChoice = (
    Literal["none", "auto", "required"]
    | Annotated[ChosenFunction | ChosenServer, Field(discriminator="type")]
)


class TokenLimits(WireModel):
    """Of a truncation."""

    post_instructions: int | None = None


class RetentionRatio(WireModel):
    """How much of a conversation that is too long is kept."""

    type: Literal["retention_ratio"] = "retention_ratio"
    retention_ratio: Annotated[float, Field(ge=0, le=1)]
    token_limits: TokenLimits | None = None


class Tracing(WireModel):
    """Echoed."""

    group_id: str | None = None
    metadata: dict[str, object] | None = None
    workflow_name: str | None = None


class Reasoning(WireModel):
    """Echoed."""

    effort: Literal["minimal", "low", "medium", "high", "xhigh"] | None = None


class StoredPrompt(WireModel):
    """A prompt kept by the service: echoed."""

    id: str
    version: str | None = None
    variables: dict[str, object] | None = None


Include = list[Literal["item.input_audio_transcription.logprobs"]]


class RealtimeSettings(WireModel):
    """A session that answers."""

    type: Literal["realtime"]
    model: str | None = None
    output_modalities: Modalities | None = None
    instructions: str | None = None
    tools: list[Tool] | None = None
    tool_choice: ToolChoice | None = None
    parallel_tool_calls: bool | None = None
    max_output_tokens: TokenLimit | None = None
    audio: AudioSettings | None = None
    tracing: Literal["auto"] | Tracing | None = None
    truncation: Literal["auto", "disabled"] | RetentionRatio | None = None
    prompt: StoredPrompt | None = None
    reasoning: Reasoning | None = None
    include: Include | None = None
    # Read-only parts of the object, which a client may send back as it got them.
    id: str | None = None
    object: Literal["realtime.session"] | None = None
    expires_at: int | None = None


class TranscriptionAudio(WireModel):
    """`audio` of a transcription session"""

    input: InputAudioSettings | None = None


class TranscribingSettings(WireModel):
    """A session that writes down and does not answer."""

    type: Literal["transcription"]
    audio: TranscriptionAudio | None = None
    include: Include | None = None
    id: str | None = None
    object: Literal["realtime.transcription_session"] | None = None
    expires_at: int | None = None


SessionSettings = Annotated[RealtimeSettings | TranscribingSettings, Field(discriminator="type")]


class ResponseOutputAudio(WireModel):
    """`audio.output` of one response"""

    format: WireFormat | None = None
    voice: str | NamedVoice | None = None


class ResponseAudio(WireModel):
    """`audio` of one response"""

    output: ResponseOutputAudio | None = None


MetadataKey = Annotated[str, Field(max_length=64)]
MetadataValue = Annotated[str, Field(max_length=512)]
Metadata = Annotated[dict[MetadataKey, MetadataValue], Field(max_length=16)]


class ResponseSettings(WireModel):
    """What is other than in the session, for one response."""

    output_modalities: Modalities | None = None
    instructions: str | None = None
    tools: list[Tool] | None = None
    tool_choice: ToolChoice | None = None
    parallel_tool_calls: bool | None = None
    max_output_tokens: TokenLimit | None = None
    audio: ResponseAudio | None = None
    conversation: Literal["auto", "none"] | None = None
    input: list[InputItem] | None = None
    metadata: Metadata | None = None
    prompt: StoredPrompt | None = None
    reasoning: Reasoning | None = None
