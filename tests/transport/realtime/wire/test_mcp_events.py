"""What is told of a call that the server makes itself."""

from __future__ import annotations

import pytest

from s2s.transport.realtime.wire.items import McpCall, ToolFault
from s2s.transport.realtime.wire.mcp_events import call_events

CALL = McpCall(id="item_1", server_label="s2s", name="time", arguments="{}", output="noon")


@pytest.mark.parametrize(
    ("call", "end"),
    [
        (CALL, "response.mcp_call.completed"),
        (
            CALL.model_copy(update={"output": None, "error": ToolFault(message="no")}),
            "response.mcp_call.failed",
        ),
    ],
)
def test_arguments_then_work_then_what_came_of_it(call: McpCall, end: str) -> None:
    events = [event.written() for event in call_events(call, "resp_1", 2)]
    assert [event["type"] for event in events] == [
        "response.mcp_call_arguments.delta",
        "response.mcp_call_arguments.done",
        "response.mcp_call.in_progress",
        end,
    ]
    assert {event["item_id"] for event in events} == {"item_1"}
    assert {event["output_index"] for event in events} == {2}
    assert [event.get("response_id") for event in events[:2]] == ["resp_1", "resp_1"]
    assert events[1]["arguments"] == "{}"
