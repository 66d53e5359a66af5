"""What a session is given of the models."""

from __future__ import annotations

from s2s.core.clock import ManualClock
from s2s.session.models import answer_voice, tool_user
from s2s.testing.simulator import Said, Simulation, tone
from s2s.tools.config import ToolsConfig
from s2s.tools.toolbox import LoadedTools


def test_the_voice_and_the_tools_of_an_answer() -> None:
    simulation = Simulation([Said(tone(0.5), "yes")])
    seen: list[object] = []

    def look(models: object, clock: object) -> object:
        seen.append(models)
        return models

    simulation.models = look  # type: ignore[assignment]
    simulation.run()
    (models,) = seen
    voice = answer_voice(models)  # type: ignore[arg-type]
    assert (voice.by_word, voice.languages) == (False, ("en",))
    tools = LoadedTools(ToolsConfig(), []).open(ManualClock())
    user = tool_user(models, tools)  # type: ignore[arg-type]
    assert user.tools is tools
    assert user.chooser is None, "the scripted model writes its calls"
