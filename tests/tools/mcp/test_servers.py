"""Servers of the official package, over stdio and HTTP: there, failing, killed, hanging, back."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from s2s.core.clock import SystemClock
from s2s.core.stop import Listeners, StopSignal
from s2s.core.tooling import RunningTool, ToolOutcome
from s2s.tools.config import McpServerConfig, ToolsConfig
from s2s.tools.mcp.servers import McpServers
from s2s.tools.toolbox import LoadedTools, SessionTools

pytest.importorskip("mcp")
SERVER = Path(__file__).parents[2] / "support" / "mcp_server.py"
PATIENCE_S = 100.0
"""A busy machine takes long to start a server."""
WANTED = StopSignal(lambda: False)


class Home:
    """The tools of some servers, as a session has them, and what was told of the servers."""

    def __init__(self, **servers: McpServerConfig) -> None:
        self.notices: list[str] = []
        self.servers = McpServers(servers, patience_s=PATIENCE_S, notice=self.notices.append)
        self.loaded = LoadedTools(ToolsConfig(timeout_s=PATIENCE_S), [], [self.servers])
        self.session: SessionTools = self.loaded.open(SystemClock())

    def start(self, tool: str, stop: StopSignal = WANTED, **arguments: object) -> RunningTool:
        return self.session.start(tool, json.dumps(arguments), stop=stop, language="en")

    def call(self, tool: str, **arguments: object) -> ToolOutcome:
        outcome = self.start(tool, **arguments).wait()
        assert outcome is not None
        return outcome

    def names(self) -> list[str]:
        return [schema.name for schema in self.session.schemas]


@contextmanager
def home(**servers: McpServerConfig) -> Iterator[Home]:
    made = Home(**servers)
    try:
        made.loaded.connect()
        yield made
    finally:
        made.loaded.close()
        made.loaded.close()


def program(*tools: str) -> McpServerConfig:
    command = (sys.executable, "-P", str(SERVER), "stdio")
    return McpServerConfig(command=command, env={"LAMPS": "three"}, tools=tools)


@pytest.fixture(scope="module")
def stdio() -> Generator[Home]:
    with home(lamps=program()) as found:
        yield found


def test_what_a_server_offers_is_there_under_its_name(stdio: Home) -> None:
    assert stdio.notices == []
    assert stdio.names() == ["lamp_on", "broken", "die", "hang", "secret"]
    lamp = stdio.session.schemas[0]
    assert lamp.description == "Turns on the lamp of a room."
    assert lamp.parameters["required"] == ["room"]
    assert stdio.session.origin("lamp_on") == "lamps"
    assert stdio.call("lamp_on", room="hall") == ToolOutcome(
        "the lamp in the hall is on", sayable=True
    )
    assert stdio.call("secret", variable="LAMPS").text == "three"


def test_a_tool_that_fails_is_told_and_so_are_arguments_that_do_not_fit(stdio: Home) -> None:
    outcome = stdio.call("broken")
    assert outcome.failed
    assert "broken" in outcome.text
    outcome = stdio.call("lamp_on")
    assert outcome.failed
    assert "room" in outcome.text


def test_a_server_that_dies_is_told_and_is_there_again_for_the_next_call(stdio: Home) -> None:
    outcome = stdio.call("die")
    assert outcome.failed
    assert outcome.text.startswith("Error: the server lamps failed: ")
    assert stdio.names()[0] == "lamp_on"
    assert stdio.call("lamp_on", room="cellar").text == "the lamp in the cellar is on"


def test_a_server_that_hangs_is_left_when_nobody_waits_any_more(stdio: Home) -> None:
    listeners, unwanted = Listeners(), [False]
    running = stdio.start("hang", StopSignal(lambda: unwanted[0], listeners))
    assert running.wait(SystemClock().now() + 0.2) is None
    unwanted[0] = True
    listeners.tell()
    outcome = running.wait()
    assert outcome is not None
    assert outcome.cancelled
    assert stdio.call("lamp_on", room="attic").text == "the lamp in the attic is on"


def test_only_the_tools_that_are_named_are_offered() -> None:
    with home(lamps=program("lamp_on")) as found:
        assert found.names() == ["lamp_on"]


def test_what_is_no_server_is_told_and_the_others_work() -> None:
    nothing = McpServerConfig(command=("no-such-program-anywhere",))
    ends = McpServerConfig(command=(sys.executable, "-c", "pass"))
    with home(nothing=nothing, ends=ends) as found:
        assert found.names() == []
        assert len(found.notices) >= 2
        assert all("cannot be reached" in each for each in found.notices)


@contextmanager
def serving(port: int = 0) -> Iterator[tuple[subprocess.Popen[str], int]]:
    command = [sys.executable, "-P", str(SERVER), "http", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process, int(process.stdout.readline())
        finally:
            process.kill()


def test_over_http_a_server_that_was_killed_is_told_and_used_again_when_it_is_back() -> None:
    with serving() as (process, port):
        address = f"http://127.0.0.1:{port}/mcp"
        with home(lamps=McpServerConfig(url=address, headers={"X-Home": "$HOME"})) as found:
            assert found.call("lamp_on", room="hall").text == "the lamp in the hall is on"
            process.kill()
            process.wait()
            outcome = found.call("lamp_on", room="hall")
            assert outcome.failed
            assert "the server lamps" in outcome.text
            with serving(port):
                assert found.call("lamp_on", room="attic").text == "the lamp in the attic is on"


def test_a_program_that_says_nothing_is_given_up() -> None:
    silent = McpServerConfig(command=(sys.executable, "-c", "import sys; sys.stdin.read()"))
    notices: list[str] = []
    servers = McpServers({"silent": silent}, patience_s=0.3, notice=notices.append)
    try:
        servers.connect()
        assert notices == ["The server silent did not answer within 0.3 s."]
        assert list(servers.tools()) == []
    finally:
        servers.close()
