"""The events of a call that the server makes itself."""

from __future__ import annotations

from typing import Literal

from s2s.transport.realtime.wire.items import McpCall
from s2s.transport.realtime.wire.model import ServerEventModel


class McpArgumentsDelta(ServerEventModel):
    """More of the arguments of a call that the server makes itself."""

    type: Literal["response.mcp_call_arguments.delta"] = "response.mcp_call_arguments.delta"
    response_id: str
    item_id: str
    output_index: int
    delta: str
    obfuscation: str = ""


class McpArgumentsDone(ServerEventModel):
    """All of them."""

    type: Literal["response.mcp_call_arguments.done"] = "response.mcp_call_arguments.done"
    response_id: str
    item_id: str
    output_index: int
    arguments: str


class _OfMcpCall(ServerEventModel):
    item_id: str
    output_index: int


class McpCallInProgress(_OfMcpCall):
    """The server calls a tool."""

    type: Literal["response.mcp_call.in_progress"] = "response.mcp_call.in_progress"


class McpCallCompleted(_OfMcpCall):
    """The tool gave something."""

    type: Literal["response.mcp_call.completed"] = "response.mcp_call.completed"


class McpCallFailed(_OfMcpCall):
    """It gave nothing."""

    type: Literal["response.mcp_call.failed"] = "response.mcp_call.failed"


McpEvent = (
    McpArgumentsDelta | McpArgumentsDone | McpCallInProgress | McpCallCompleted | McpCallFailed
)


def call_events(call: McpCall, response_id: str, index: int) -> list[McpEvent]:
    """What is told between the beginning and the end of its item, which is the output `index`."""
    item_id = call.id
    ended = McpCallCompleted if call.error is None else McpCallFailed
    return [
        McpArgumentsDelta(
            response_id=response_id,
            item_id=item_id,
            output_index=index,
            delta=call.arguments,
            obfuscation="",
        ),
        McpArgumentsDone(
            response_id=response_id, item_id=item_id, output_index=index, arguments=call.arguments
        ),
        McpCallInProgress(item_id=item_id, output_index=index),
        ended(item_id=item_id, output_index=index),
    ]
