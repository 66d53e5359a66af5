"""The tools of a session."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from s2s.core.clock import ManualClock
from s2s.core.stop import StopSignal
from s2s.tools import Tool, ToolContext
from s2s.tools.config import ToolsConfig
from s2s.tools.running import MOST_LEFT
from s2s.tools.tool import made_of
from s2s.tools.toolbox import LoadedTools

WANTED = StopSignal(lambda: False)


def hello(context: ToolContext, name: str = "you") -> str:
    """Greets."""
    context.alarms.set(5.0, name)
    return f"hello {name} ({context.language})"


def other() -> str:
    """Does something else."""
    return "else"


class Server:
    """A source whose tools change."""

    def __init__(self) -> None:
        self.offers: list[Tool] = []
        self.closed = 0
        self.asked = 0

    def tools(self) -> Iterable[Tool]:
        return self.offers

    def connect(self) -> None:
        self.asked += 1

    def close(self) -> None:
        self.closed += 1


def test_a_call_is_run_with_what_the_session_knows() -> None:
    clock = ManualClock()
    session = LoadedTools(ToolsConfig(), [made_of(hello)]).open(clock)
    outcome = session.start("hello", '{"name": "Ann"}', stop=WANTED, language="de").wait()
    assert outcome is not None
    assert outcome.text == "hello Ann (de)"
    assert [alarm.name for alarm in session.alarms.all()] == ["Ann"]
    assert not LoadedTools(ToolsConfig(), []).open(clock).alarms.all(), "each has its own"


def test_a_tool_that_is_not_there_is_told() -> None:
    session = LoadedTools(ToolsConfig(), [made_of(hello)]).open(ManualClock())
    outcome = session.start("goodbye", "{}", stop=WANTED, language=None).wait()
    assert outcome is not None
    assert (outcome.text, outcome.failed) == ("Error: there is no tool 'goodbye'.", True)


def test_too_many_calls_that_hang_end_in_none() -> None:
    clock = ManualClock()

    def hang() -> str:
        """Hangs."""
        clock.wait_until(1e6)
        return "at last"

    session = LoadedTools(ToolsConfig(timeout_s=1.0), [made_of(hang)]).open(clock)
    for _ in range(MOST_LEFT):
        session.start("hang", "", stop=WANTED, language=None).wait()
    outcome = session.start("hang", "", stop=WANTED, language=None).wait(clock.now())
    assert outcome is not None
    assert "No tool can be called now" in outcome.text
    clock.wait_until(2e6)


def test_servers_may_change_what_they_offer_and_come_behind_other_tools() -> None:
    server = Server()
    tools = LoadedTools(ToolsConfig(), [made_of(hello)], [server])
    session = tools.open(ManualClock())
    assert [schema.name for schema in session.schemas] == ["hello"]
    server.offers = [made_of(other, name="hello"), made_of(other)]
    assert [schema.name for schema in session.schemas] == ["hello", "other"]
    outcome = session.start("hello", "{}", stop=WANTED, language="en").wait()
    assert outcome is not None
    assert outcome.text == "hello you (en)"
    tools.connect()
    tools.close()
    assert (server.asked, server.closed) == (1, 1)


def test_two_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two tools of the name hello"):
        LoadedTools(ToolsConfig(), [made_of(hello), made_of(other, name="hello")])


def test_clients_have_tools_only_where_they_are_given_them() -> None:
    clock = ManualClock()
    assert LoadedTools(ToolsConfig(), []).open_for_client(clock) is None
    told = LoadedTools(ToolsConfig(clients="told"), []).open_for_client(clock)
    assert told is not None
    assert told.told
