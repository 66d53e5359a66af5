"""What is written means this for the session behind the wire."""

from __future__ import annotations

from s2s.core.control import SemanticVad, ServerVad, ToolSchema
from tests.support.realtime_client import WireClient
from tests.transport.realtime.test_session_object import TOOL


def opened() -> WireClient:
    client = WireClient()
    client.events()
    return client


def test_what_a_session_means_for_hearing():
    client = opened()
    given = {
        "type": "server_vad",
        "threshold": 0.7,
        "prefix_padding_ms": 100,
        "silence_duration_ms": 400,
        "idle_timeout_ms": 5000,
        "create_response": False,
        "interrupt_response": False,
    }
    client.update(audio={"input": {"turn_detection": given}})
    hearing = client.session.hearing
    assert hearing is not None
    assert hearing.detection == ServerVad(0.7, 100, 400, 5000)
    assert (hearing.answers, hearing.interrupts, hearing.transcribes) == (False, False, False)
    for eagerness, meant in (("low", "low"), ("auto", "medium"), ("high", "high")):
        detection = {"type": "semantic_vad", "eagerness": eagerness}
        client.update(
            audio={"input": {"turn_detection": detection, "transcription": {"languages": ["fr"]}}}
        )
        hearing = client.session.hearing
        assert hearing.detection == SemanticVad(meant)
        assert (hearing.answers, hearing.interrupts, hearing.transcribes) == (True, True, True)
        assert hearing.language == "fr"
    client.update(audio={"input": {"turn_detection": None, "transcription": None}})
    hearing = client.session.hearing
    assert hearing.detection is None
    assert (hearing.answers, hearing.interrupts, hearing.transcribes) == (False, False, False)


def test_what_a_session_and_a_response_mean_for_answers():
    client = opened()
    client.update(
        tools=[TOOL], max_output_tokens=100, audio={"output": {"voice": "nobody", "speed": 1.25}}
    )
    answering = client.session.answering
    assert answering is not None
    assert answering.instructions == "Be brief."
    assert answering.tools == (ToolSchema("look", "Looks.", TOOL["parameters"]),)
    assert (answering.max_output_tokens, answering.spoken, answering.speed) == (100, True, 1.25)
    assert answering.voice is None  # there is none of this name: the default one speaks
    (created,) = client.send(
        "response.create",
        response={
            "instructions": "",
            "tool_choice": {"type": "function", "name": "look"},
            "max_output_tokens": "inf",
            "audio": {"output": {"voice": "marin", "format": {"type": "audio/pcma"}}},
        },
    )
    response = created["response"]
    assert response["audio"]["output"] == {"format": {"type": "audio/pcma"}, "voice": "marin"}
    assert response["max_output_tokens"] == "inf"
    asked = client.session.asked[0].answering
    assert (asked.instructions, asked.voice, asked.max_output_tokens) == ("", "marin", None)
    assert (asked.tool_choice, asked.forced_tool) == ("required", "look")
    assert asked.tools == answering.tools
