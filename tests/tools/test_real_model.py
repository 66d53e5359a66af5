"""Tools called for the embedded language model, in a conversation on the simulated clock."""

from __future__ import annotations

from dataclasses import replace

import pytest

from s2s.core.clock import Clock
from s2s.core.events import AnswerText, ResponseDone, ToolUsed
from s2s.llm.llama import LlamaChat, LlamaConfig
from s2s.models.resources import Resources
from s2s.session.models import Models
from s2s.testing.simulator import Said, Simulation, tone
from s2s.tools.config import ToolsConfig
from s2s.tools.loading import load_tools


@pytest.mark.models
def test_the_small_model_calls_what_is_asked_for_and_nothing_else(resources: Resources) -> None:
    chat = LlamaChat(LlamaConfig(), resources)

    def models(scripted: Models, _clock: Clock) -> Models:
        return replace(scripted, chat=chat, held=chat, tools=load_tools(ToolsConfig()))

    simulation = Simulation(
        [
            Said(tone(1.5), "What is seventeen times twenty three?"),
            Said(tone(1.5, 200), "Set a timer for four seconds, please."),
            Said(tone(1.2, 190), "What is the capital of France?", 9.0),
        ],
        models=models,
    )
    try:
        simulation.run()
    finally:
        chat.close()
    used = [event.item for _, event in simulation.events if isinstance(event, ToolUsed)]
    assert [item.name for item in used] == ["calculate", "set_timer"]
    done = [event.played for _, event in simulation.events if isinstance(event, ResponseDone)]
    assert done[:3] == [
        "17 times 23 is 391.", "The timer is set for 4 seconds.", "The timer is up.",
    ]  # fmt: skip
    said = [event.text for _, event in simulation.events if isinstance(event, AnswerText)]
    assert "Paris" in said[-1]
    assert all(not message.calls for message in simulation.session.history.prompt())
