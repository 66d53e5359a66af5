"""The session's own tools beside those of a client."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

from s2s.core.answering import Answering, ToolSchema
from s2s.core.events import AnswerText, ResponseDone, ResponseStarted, ToolCalled, ToolUsed
from s2s.core.items import OutputItem, ToolItem
from s2s.session.models import Models
from s2s.testing.client_simulator import ClientSimulation
from s2s.testing.simulator import ModelCosts
from s2s.tools.builtin.timers import set_timer
from s2s.tools.config import ToolsConfig
from s2s.tools.tool import made_of, tool_of
from s2s.tools.toolbox import LoadedTools
from s2s.transport.client_playback import ClientSound
from tests.support.client_sessions import QUESTION, user

LAMP = ToolSchema("lamp_on", "Turns on a lamp.")


def call(name: str, **arguments: object) -> str:
    return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"


def clock_now() -> str:
    """Tells the time."""
    return "noon"


def lamp_on() -> str:
    """The server's own lamp."""
    return "the server's lamp is on"


def client(
    *answers: str, clients: str = "told", tools: tuple[ToolSchema, ...] = ()
) -> ClientSimulation:
    left = list(answers)

    def having(models: Models) -> Models:
        timer = tool_of(set_timer)
        assert timer is not None
        config = ToolsConfig(clients=clients)  # type: ignore[arg-type]
        own = LoadedTools(config, [made_of(clock_now), made_of(lamp_on), timer])
        return replace(models, tools=own)

    answer: Callable[[str], str] = lambda _: left.pop(0)  # noqa: E731
    return ClientSimulation(
        [QUESTION],
        answer=answer,
        answering=Answering("Be brief.", tools),
        models=having,
        costs=ModelCosts(),
    )


def test_a_client_is_told_of_a_call_and_has_it_among_its_items() -> None:
    with client(call("clock_now"), "It is noon.").running() as talk:
        talk.say(QUESTION)
        talk.silence_until_done()
        (event,) = talk.all(ToolUsed)
        assert event.item.output == "noon"
        assert talk.session.retrieve(event.item.item_id) == event.item
        assert [e.text for e in talk.all(AnswerText)] == ["It is noon."]
        assert not talk.all(ToolCalled)
        (done,) = talk.all(ResponseDone)
        assert done.status == "completed"
        talk.session.insert(user("item_x", "thank you"))
        shown = talk.session.previous("item_x")
        assert shown is not None
        assert talk.session.previous(shown) == event.item.item_id


def test_a_client_that_is_not_to_be_told_hears_the_answer_alone() -> None:
    with client(call("clock_now"), "It is noon.", clients="untold").running() as talk:
        talk.say(QUESTION)
        talk.silence_until_done()
        assert not talk.all(ToolUsed)
        assert [e.text for e in talk.all(AnswerText)] == ["It is noon."]


def test_by_default_a_client_has_its_own_tools_alone() -> None:
    with client("Hello.", clients="off", tools=(LAMP,)).running() as talk:
        talk.say(QUESTION)
        talk.silence_until_done()
        assert [tool.name for tool in talk.chat.asked[0].tools] == ["lamp_on"]


def test_of_two_tools_of_one_name_the_clients_is_meant() -> None:
    with client(call("lamp_on"), tools=(LAMP,)).running() as talk:
        talk.say(QUESTION)
        talk.silence_until_done()
        (event,) = talk.all(ToolCalled)
        assert event.name == "lamp_on"
        assert not talk.all(ToolUsed)
        tools = talk.chat.asked[0].tools
        assert [tool.name for tool in tools] == ["lamp_on", "clock_now", "set_timer"]
        assert tools[0].description == "Turns on a lamp."


def test_where_a_client_has_to_call_too_its_output_is_waited_for() -> None:
    both = call("clock_now") + call("lamp_on")
    with client(both, "Noon, and light.", tools=(LAMP,)).running() as talk:
        talk.say(QUESTION)
        talk.silence_until_done()
        (used,), (called,) = talk.all(ToolUsed), talk.all(ToolCalled)
        talk.session.insert(OutputItem("item_out", called.call_id, "on"))
        talk.ask("resp_next")
        talk.silence_until_done(2)
        outputs = {m.content for m in talk.chat.prompts[-1] if m.role == "tool"}
        assert outputs == {used.item.output, "on"}


def test_who_wants_no_tool_called_has_none_called() -> None:
    quiet = client("Hello.")
    quiet.answering = Answering("Be brief.", tool_choice="none")
    with quiet.running() as talk:
        talk.say(QUESTION)
        talk.silence_until_done()
        assert talk.chat.asked[0].tools == ()


def test_a_timer_rings_at_a_client_that_sends_nothing_any_more() -> None:
    with client(call("set_timer", duration="20 seconds"), "Set.").running() as talk:
        talk.say(QUESTION)
        talk.silence_until_done()
        before = len(talk.all(ClientSound))
        talk.wait(25.0)
        assert [e.text for e in talk.all(AnswerText)] == ["Set.", "The timer is up."]
        assert len(talk.all(ClientSound)) > before
        assert len(talk.all(ResponseStarted)) == len(talk.all(ResponseDone)) == 2


def test_a_session_that_goes_on_keeps_its_timers() -> None:
    talk = client(call("set_timer", duration="20 seconds"), "Set.")
    with talk.running():
        talk.say(QUESTION)
        talk.silence_until_done()
        kept = talk.session.kept
    with talk.running("a", kept):
        talk.wait(25.0)
        assert talk.all(AnswerText)[-1].text == "The timer is up."


def test_items_of_calls_are_kept_as_they_are() -> None:
    item = ToolItem("item_1", "call_1", "clock_now", "{}", "noon")
    assert (item.failed, item.origin) == (False, "s2s")
