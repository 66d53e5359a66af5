"""Tools that the assistant calls itself, in whole conversations in simulated time."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from s2s.core.clock import Clock
from s2s.core.events import AnswerText, Interruption, ResponseDone, ResponseStarted, ToolUsed
from s2s.session.config import SessionConfig
from s2s.session.models import Models
from s2s.session.session import stages_alive
from s2s.testing.random_conversations import conversation, violations
from s2s.testing.simulator import SYNTH_HZ, ModelCosts, Said, Simulation, tone, with_pauses
from s2s.tools import Tool, ToolContext, ToolError
from s2s.tools.builtin.timers import cancel_timer, list_timers, set_timer
from s2s.tools.config import ToolsConfig
from s2s.tools.tool import made_of, tool_of
from s2s.tools.toolbox import LoadedTools
from s2s.turns.config import TurnsConfig
from s2s.turns.provisional import ProvisionalConfig
from tests.scenarios.conversations import QUESTION, audible_s, said_after, statuses

LATER = Said(tone(1.2, 200), "and what about tomorrow then", 6.0)


def call(name: str, **arguments: object) -> str:
    written = json.dumps({"name": name, "arguments": arguments})
    return f"<tool_call>{written}</tool_call>"


@dataclass
class Lamp:
    """A tool that takes a while, and what was done with it."""

    takes_s: float = 0.0
    clock: Clock | None = None
    turned_on_s: list[float] = field(default_factory=list[float])
    seen: list[ToolContext] = field(default_factory=list[ToolContext])

    def tool(self) -> Tool:
        def lamp_on(room: str, context: ToolContext) -> str:
            """Turns on a lamp.

            Args:
                room: where.
            """
            assert self.clock is not None
            self.turned_on_s.append(self.clock.now())
            self.seen.append(context)
            self.clock.wait_until(self.clock.now() + self.takes_s)
            if room == "cellar":
                raise ToolError("the cellar has no lamp")
            return f"the lamp in the {room} is on"

        return made_of(lamp_on)


def having(
    *tools: Tool, lamp: Lamp | None = None, **settings: object
) -> Callable[[Models, Clock], Models]:
    """The scripted models with these tools."""

    def models(scripted: Models, clock: Clock) -> Models:
        config = ToolsConfig(**settings)  # type: ignore[arg-type]
        every = list(tools)
        if lamp is not None:
            lamp.clock = clock
            every.append(lamp.tool())
        return replace(scripted, tools=LoadedTools(config, every))

    return models


def asks_for(*rounds: str) -> Callable[[str], str]:
    """A model that says one of `rounds` after the other."""
    left = list(rounds)
    return lambda _last: left.pop(0)


def held(simulation: Simulation) -> Simulation:
    """The conversation, held; and tools that were left to themselves have come back."""
    simulation.run()
    simulation.clock.wait_until(simulation.clock.now() + 60.0)
    return simulation


def used(simulation: Simulation) -> list[ToolUsed]:
    return [event for _, event in simulation.events if isinstance(event, ToolUsed)]


def texts(simulation: Simulation) -> str:
    return "".join(e.text for _, e in simulation.events if isinstance(e, AnswerText))


def built_in(*functions: object) -> list[Tool]:
    found = [tool_of(function) for function in functions]
    return [each for each in found if each is not None]


def test_a_call_is_run_and_the_model_answers_with_what_it_gave() -> None:
    lamp = Lamp()
    simulation = held(
        Simulation(
            [QUESTION],
            answer=asks_for(call("lamp_on", room="hall"), "There is light in the hall."),
            models=having(lamp=lamp),
        )
    )
    assert statuses(simulation) == ["completed"]
    assert texts(simulation) == "There is light in the hall."
    (event,) = used(simulation)
    assert (event.item.name, event.item.output) == ("lamp_on", "the lamp in the hall is on")
    asked, told = simulation.chat.prompts
    assert [tool.name for tool in simulation.chat.asked[0].tools] == ["lamp_on"]
    assert told[: len(asked)] == asked
    assert [(m.role, m.content) for m in told[len(asked) :]] == [
        ("assistant", ""), ("tool", "the lamp in the hall is on"),
    ]  # fmt: skip
    assert told[-2].calls[0].call_id == told[-1].call_id
    roles = [m.role for m in simulation.session.history.prompt()]
    assert roles == ["system", "user", "assistant", "tool", "assistant"]
    assert len(lamp.turned_on_s) == 1


def test_what_is_said_before_a_call_is_spoken_before_it() -> None:
    simulation = held(
        Simulation(
            [QUESTION],
            answer=asks_for(f"Let me see. {call('lamp_on', room='hall')}", "It is on."),
            models=having(lamp=Lamp(takes_s=5.0)),
        )
    )
    assert " ".join(texts(simulation).split()) == "Let me see. It is on."
    kinds = [type(e) for _, e in simulation.events if isinstance(e, AnswerText | ToolUsed)]
    assert kinds == [AnswerText, ToolUsed, AnswerText]
    assert simulation.chat.prompts[1][-2].content == "Let me see."
    assert " ".join(simulation.session.history.heard.split()) == "Let me see. It is on."


def test_a_slow_tool_is_led_in_by_words_once() -> None:
    spoken: list[str] = []

    def models(scripted: Models, clock: Clock) -> Models:
        made = having(lamp=lamp)(scripted, clock)
        synthesizer = made.synthesizer
        inner = synthesizer.synthesize

        class Listening:
            capabilities = synthesizer.capabilities
            warm, close = synthesizer.warm, synthesizer.close

            def synthesize(self, text: str, **options: object) -> object:
                spoken.append(text)
                return inner(text, **options)  # type: ignore[arg-type]

        return replace(made, synthesizer=Listening())  # type: ignore[arg-type]

    lamp = Lamp(takes_s=3.0)
    twice = [call("lamp_on", room="hall"), call("lamp_on", room="kitchen")]
    simulation = held(
        Simulation([QUESTION], answer=asks_for(*twice, "Both are on."), models=models)
    )
    assert spoken == ["One moment.", "Both are on."]
    assert len(lamp.turned_on_s) == 2
    heard_s = audible_s(simulation)
    assert any(lamp.turned_on_s[0] + 1.0 <= at_s <= lamp.turned_on_s[0] + 2.5 for at_s in heard_s)
    assert simulation.session.history.heard == "Both are on.", "the words are no part of the answer"


def test_a_tool_may_take_longer_than_an_answer_may_stand_still() -> None:
    simulation = held(
        Simulation(
            [QUESTION],
            answer=asks_for(call("lamp_on", room="hall"), "It is on."),
            models=having(lamp=Lamp(takes_s=50.0), timeout_s=60.0),
        )
    )
    assert texts(simulation) == "It is on."
    assert statuses(simulation) == ["completed"]


def test_a_quick_tool_needs_no_words() -> None:
    simulation = held(
        Simulation(
            [QUESTION],
            answer=asks_for(call("lamp_on", room="hall"), "It is on."),
            models=having(lamp=Lamp(takes_s=0.9)),
        )
    )
    (started_s,) = [at for at, e in simulation.events if isinstance(e, ResponseStarted)]
    assert texts(simulation) == "It is on."
    assert min(audible_s(simulation)) > started_s


@pytest.mark.parametrize(
    ("written", "lamp", "told"),
    [
        (call("lamp_on", room="cellar"), Lamp(), "Error: the cellar has no lamp"),
        (call("lamp_on"), Lamp(), "Error: lamp_on was not called. room: Field required"),
        (call("lamp_on", room="hall"), Lamp(20.0), "Error: it gave nothing for 10 s."),
    ],
    ids=["fails", "misses an argument", "hangs"],
)
def test_a_failing_tool_is_told_to_the_model_and_shown(written: str, lamp: Lamp, told: str) -> None:
    simulation = held(
        Simulation(
            [QUESTION], answer=asks_for(written, "Sorry, that failed."), models=having(lamp=lamp)
        )
    )
    assert simulation.chat.prompts[1][-1].content == told
    (event,) = used(simulation)
    assert event.item.failed
    assert texts(simulation) == "Sorry, that failed."
    assert statuses(simulation) == ["completed"]


def test_a_model_that_never_stops_calling_is_asked_for_words_in_the_end() -> None:
    calls = [call("lamp_on", room="hall")] * 3
    simulation = held(
        Simulation(
            [QUESTION], answer=asks_for(*calls, "Enough."), models=having(lamp=Lamp(), rounds=3)
        )
    )
    assert texts(simulation) == "Enough."
    assert [len(each.tools) for each in simulation.chat.asked] == [1, 1, 1, 0]


def test_an_interrupted_answer_cancels_its_tool() -> None:
    lamp = Lamp(takes_s=8.0)
    simulation = held(
        Simulation(
            [QUESTION, said_after(2.5, "no wait tell me something else", 2.0)],
            answer=asks_for(f"Let me see. {call('lamp_on', room='hall')}", "Something else."),
            models=having(lamp=lamp, lead_in_s=0.0),
        )
    )
    assert len(lamp.turned_on_s) == 1
    assert lamp.seen[0].stopped()
    assert used(simulation) == []
    assert texts(simulation).split()[-2:] == ["Something", "else."]
    assert not stages_alive()


def test_a_turn_that_goes_on_has_its_tool_called_once_and_only_when_it_is_over() -> None:
    lamp = Lamp()
    question = with_pauses(QUESTION, (0.4, 0.7), (0.8, 0.5))
    simulation = held(
        Simulation(
            [question],
            answer=lambda last: "Done." if "lamp in" in last else call("lamp_on", room="hall"),
            models=having(lamp=lamp),
        )
    )
    ended_s = len(question.audio) / 16_000 + 0.6
    assert len(lamp.turned_on_s) == 1
    assert lamp.turned_on_s[0] >= ended_s
    assert len(simulation.chat.prompts) > 2, "the model was asked before it was certain"


def test_a_provisional_answer_that_is_taken_back_has_called_nothing() -> None:
    lamp = Lamp()
    early = ProvisionalConfig(enabled=True, lead=6.0)
    question = with_pauses(Said(tone(3.0), "turn on the lamp in the hall please now"), (0.6, 1.4))
    simulation = held(Simulation(
        [question],
        answer=lambda last: (
            "Done." if "lamp in the hall is on" in last
            else f"I will do that for you now. {call('lamp_on', room='hall')}"
        ),
        models=having(lamp=lamp),
        config=SessionConfig(TurnsConfig(provisional=early)),
    ))  # fmt: skip
    assert len(lamp.turned_on_s) == 1
    assert lamp.turned_on_s[0] >= len(question.audio) / 16_000 + 0.6
    assert statuses(simulation) == ["completed"]


@pytest.mark.parametrize("seed", range(16))
def test_whatever_happens_no_tool_is_called_twice_for_a_turn(seed: int) -> None:
    simulation = conversation(seed)
    before = simulation.models
    lamp = Lamp(takes_s=[0.0, 0.4, 2.5][seed % 3])
    wanted: list[str] = []

    def answer(last: str) -> str:
        if last.startswith("the lamp in"):
            return "It is on now, as you wanted."
        wanted.append(last)
        return call("lamp_on", room=str(len(wanted)))

    simulation.models = lambda models, clock: having(lamp=lamp)(before(models, clock), clock)
    simulation.answer = answer
    held(simulation)
    assert violations(simulation) == []
    turns = [event.response.turn_id for event in used(simulation)]
    assert len(turns) == len(set(turns))
    done = {
        event.response.turn_id for _, event in simulation.events if isinstance(event, ResponseDone)
    }
    assert set(turns) <= done


# --- timers --------------------------------------------------------------------------------------


def rings_s(simulation: Simulation) -> list[float]:
    """When the bell is heard: its stroke is higher than the voice that hums."""
    sound = simulation.transport.assistant()
    step = SYNTH_HZ // 50
    whole = sound[: len(sound) // step * step].reshape(-1, step)
    spectrum = np.abs(np.fft.rfft(whole * np.hanning(step), axis=1))
    bin_hz = SYNTH_HZ / step
    bell = spectrum[:, int(850 / bin_hz) : int(1150 / bin_hz) + 1].max(axis=1)
    return [float(at) / 50 for at in np.flatnonzero(bell > 5.0)]


def timer_conversation(*said: Said, answers: tuple[str, ...]) -> Simulation:
    tools = built_in(set_timer, list_timers, cancel_timer)
    return Simulation(said, answer=asks_for(*answers), models=having(*tools)).run()


SET = call("set_timer", duration="8 seconds")
QUIET = Said(tone(1.2, 200), "that was all thank you", 12.0)


def test_a_timer_rings_and_is_spoken() -> None:
    simulation = timer_conversation(
        QUESTION, QUIET, answers=(SET, "It is set.", "You are welcome.")
    )
    (event,) = used(simulation)
    set_s = next(at for at, e in simulation.events if isinstance(e, ToolUsed))
    first_s = rings_s(simulation)[0]
    assert set_s + 8.0 <= first_s <= set_s + 8.3
    assert texts(simulation) == "It is set.The timer is up.You are welcome."
    assert statuses(simulation) == ["completed"] * 3
    assert event.item.output == "The timer is set for 8 seconds."


def test_a_timer_survives_that_its_answer_is_interrupted() -> None:
    long = " ".join(["It is set now, and will ring when it is time."] * 6)
    simulation = timer_conversation(
        QUESTION,
        said_after(3.0, "no wait stop that now please", 2.0),
        replace(QUIET, after_quiet_s=9.0),
        answers=(SET, long, "Fine.", "You are welcome."),
    )
    assert any(isinstance(e, Interruption) for _, e in simulation.events)
    assert "The timer is up." in texts(simulation)
    assert rings_s(simulation)


def test_a_timer_does_not_ring_into_what_is_being_said() -> None:
    talk = Said(tone(12.0, 210), " ".join(["and so on it goes without an end"] * 6), 1.0)
    simulation = timer_conversation(
        QUESTION, talk, replace(QUIET, after_quiet_s=6.0), answers=(SET, "Set.", "I see.", "Bye.")
    )
    set_s = next(at for at, e in simulation.events if isinstance(e, ToolUsed))
    assert rings_s(simulation)[0] > set_s + 10.0
    assert texts(simulation).index("I see.") < texts(simulation).index("The timer is up.")


def test_timers_are_listed_and_cancelled_and_do_not_ring_then() -> None:
    simulation = timer_conversation(
        QUESTION,
        Said(tone(1.0, 220), "cancel it please now", 1.0),
        QUIET,
        answers=(SET, "Set.", call("list_timers") + call("cancel_timer"), "Gone.", "Bye."),
    )
    outputs = [event.item.output for event in used(simulation)]
    assert outputs[1].startswith("The timer of 8 seconds has ")
    assert outputs[2] == "The timer of 8 seconds is cancelled."
    assert not rings_s(simulation)
    assert "The timer is up." not in texts(simulation)


def test_the_model_is_slow_and_still_called_once() -> None:
    lamp = Lamp(takes_s=0.2)
    simulation = held(
        Simulation(
            [QUESTION],
            answer=asks_for(call("lamp_on", room="hall"), "It is on."),
            costs=ModelCosts(first_token_s=3.0),
            models=having(lamp=lamp),
        )
    )
    assert len(lamp.turned_on_s) == 1
    assert texts(simulation) == "It is on."
