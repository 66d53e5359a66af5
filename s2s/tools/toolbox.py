"""The tools of a configuration, loaded once, and those of each session, with its alarms.

What a server of tools offers may change while a session runs; a name that two have belongs to the
first of them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from s2s.core.answering import ToolSchema
from s2s.core.clock import Clock
from s2s.core.stop import StopSignal
from s2s.core.tooling import Alarms, RunningTool, ToolHints, ToolOutcome
from s2s.tools.config import ToolsConfig
from s2s.tools.running import LeftCalls, ReadyOutcome, WorkingTool
from s2s.tools.tool import Tool, ToolContext

log = logging.getLogger(__name__)


class ToolSource(Protocol):
    """Where tools come from that may change: a server."""

    def tools(self) -> Iterable[Tool]:
        """Those that it offers now. Never waits."""
        ...

    def connect(self) -> None:
        """Begin to ask it which it has, and wait for that, not for long."""
        ...

    def close(self) -> None:
        """Let go of it. Idempotent."""
        ...


class LoadedTools:
    """All tools of a configuration. Safe from any thread.

    Raises:
        ValueError: two of `tools` have one name.
    """

    def __init__(
        self, config: ToolsConfig, tools: Sequence[Tool], sources: Sequence[ToolSource] = ()
    ) -> None:
        self.config = config
        self._tools = tuple(tools)
        self._sources = tuple(sources)
        names = [each.name for each in tools]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"tools.use has two tools of the name {', '.join(twice)}")

    def tools(self) -> dict[str, Tool]:
        """Those that there are now, by name."""
        found: dict[str, Tool] = {}
        for tool in (*self._tools, *(each for source in self._sources for each in source.tools())):
            found.setdefault(tool.name, tool)
        return found

    def connect(self) -> None:
        """Ask the servers which tools they have."""
        for source in self._sources:
            source.connect()

    def open(self, clock: Clock) -> SessionTools:
        """Those of a session."""
        return SessionTools(self.config, self.tools, clock)

    def open_for_client(self, clock: Clock) -> SessionTools | None:
        """Those of a session of a client; None where clients have none."""
        return None if self.config.clients == "off" else self.open(clock)

    def close(self) -> None:
        """Let go of the servers. Idempotent."""
        for source in self._sources:
            source.close()


class SessionTools:
    """`s2s.core.tooling.Toolbox` of a session."""

    def __init__(
        self, config: ToolsConfig, tools: Callable[[], dict[str, Tool]], clock: Clock
    ) -> None:
        self.alarms = Alarms(clock.now)
        """What rings in the session."""
        self._config = config
        self._tools = tools
        self._clock = clock
        self._left = LeftCalls()

    @property
    def schemas(self) -> Sequence[ToolSchema]:
        return [tool.schema for tool in self._tools().values()]

    @property
    def hints(self) -> Sequence[ToolHints]:
        return [tool.hints for tool in self._tools().values()]

    @property
    def lead_in_s(self) -> float:
        return self._config.lead_in_s

    @property
    def rounds(self) -> int:
        return self._config.rounds

    @property
    def told(self) -> bool:
        """Clients are told of calls."""
        return self._config.clients == "told"

    @property
    def calling(self) -> str:
        """As in the settings."""
        return self._config.calling

    def origin(self, name: str) -> str:
        tool = self._tools().get(name)
        return tool.origin if tool is not None else "s2s"

    def start(
        self, name: str, arguments: str, *, stop: StopSignal, language: str | None
    ) -> RunningTool:
        tool = self._tools().get(name)
        if tool is None:
            return _failed(f"Error: there is no tool {name!r}.")
        if self._left.too_many:
            return _failed("Error: too many calls have not come back. No tool can be called now.")

        def work(stopped: StopSignal) -> ToolOutcome:
            context = ToolContext(stopped, language, self.alarms)
            outcome = tool.call(arguments, context)
            if outcome.failed:
                log.warning("%s(%s): %s", name, arguments, outcome.text)
            return outcome

        return WorkingTool(work, self._clock, self._config.timeout_s, stop, self._left)


def _failed(why: str) -> ReadyOutcome:
    return ReadyOutcome(ToolOutcome(why, failed=True))
