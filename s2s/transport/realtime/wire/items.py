"""Items of a conversation as they are written, and the content of messages."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from s2s.transport.realtime.wire.model import WireModel

ItemStatus = Literal["in_progress", "completed", "incomplete"]


class InputText(WireModel):
    """Text from the client."""

    type: Literal["input_text"] = "input_text"
    text: str


class InputAudio(WireModel):
    """What the person said."""

    type: Literal["input_audio"] = "input_audio"
    audio: str | None = None
    """base64; only where the item is retrieved, or created by the client."""
    transcript: str | None = None
    """Always written by the server: null until it is known."""


class InputImage(WireModel):
    """A picture from the client."""

    type: Literal["input_image"] = "input_image"
    image_url: str
    detail: Literal["auto", "low", "high"] | None = None


class OutputText(WireModel):
    """Text of the assistant."""

    type: Literal["output_text"] = "output_text"
    text: str


class OutputAudio(WireModel):
    """Speech of the assistant."""

    type: Literal["output_audio"] = "output_audio"
    audio: str | None = None
    transcript: str | None = None


UserContent = Annotated[InputText | InputAudio | InputImage, Field(discriminator="type")]
AssistantContent = Annotated[OutputText | OutputAudio, Field(discriminator="type")]
SystemContent = Annotated[InputText, Field()]


class _Item(WireModel):
    id: str | None = Field(default=None, min_length=1, max_length=64)
    object: Literal["realtime.item"] = "realtime.item"


class SystemMessage(_Item):
    """Instructions within the conversation."""

    type: Literal["message"] = "message"
    role: Literal["system"] = "system"
    status: ItemStatus | None = None
    content: list[SystemContent]


class UserMessage(_Item):
    """What the person said or wrote."""

    type: Literal["message"] = "message"
    role: Literal["user"] = "user"
    status: ItemStatus | None = None
    content: list[UserContent]


class AssistantMessage(_Item):
    """What the assistant said."""

    type: Literal["message"] = "message"
    role: Literal["assistant"] = "assistant"
    status: ItemStatus | None = None
    content: list[AssistantContent]


class FunctionCall(_Item):
    """A tool that the assistant wants called."""

    type: Literal["function_call"] = "function_call"
    status: ItemStatus | None = None
    name: str
    call_id: str | None = None
    arguments: str
    """JSON as text."""


class FunctionCallOutput(_Item):
    """What came of a tool."""

    type: Literal["function_call_output"] = "function_call_output"
    status: ItemStatus | None = None
    call_id: str
    output: str


class ToolFault(WireModel):
    """Why a tool of the server's gave nothing."""

    type: Literal["tool_execution_error"] = "tool_execution_error"
    message: str


class McpCall(WireModel):
    """A tool that the server called itself, and what it gave. Never from a client."""

    id: str
    type: Literal["mcp_call"] = "mcp_call"
    server_label: str
    name: str
    arguments: str
    """JSON as text."""
    approval_request_id: str | None = None
    output: str | None = None
    error: ToolFault | None = None


class ItemReference(WireModel):
    """An item of the conversation, named in the input of a response."""

    type: Literal["item_reference"] = "item_reference"
    id: str


Message = Annotated[SystemMessage | UserMessage | AssistantMessage, Field(discriminator="role")]
Item = Annotated[Message | FunctionCall | FunctionCallOutput, Field(discriminator="type")]
ToldItem = Annotated[
    Message | FunctionCall | FunctionCallOutput | McpCall, Field(discriminator="type")
]
"""What the server tells of: a client makes no `mcp_call`."""
InputItem = Annotated[
    Message | FunctionCall | FunctionCallOutput | ItemReference, Field(discriminator="type")
]
