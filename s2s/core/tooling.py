"""Tools that the assistant calls itself, as the stages see them: which there are, a call at work,
what came of it, and alarms that ring later. Knows no tool by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from s2s.core.answering import ToolSchema
from s2s.core.stop import StopSignal


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What came of a call."""

    text: str
    """What the model is told: what the tool gave, or why it gave nothing."""
    failed: bool = False
    cancelled: bool = False
    """Nobody waits for it any more."""
    sayable: bool = False
    """`text` is a sentence or two that can be said to the person as they are."""


def _fits_always(_name: str, _value: object) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class ToolHints:
    """What a model that cannot call tools by itself is helped with."""

    tool: ToolSchema
    wish: str = ""
    """What a person wants who means it, as it follows "to": "set a timer"."""
    cues: tuple[str, ...] = ()
    """Regular expressions; only words that hold one of them can mean this tool. None: any words."""
    examples: tuple[tuple[str, str], ...] = ()
    """What a person may say, and the arguments that are meant, as JSON."""
    written: str = ""
    """The one argument that the person's words are copied into; "" for none."""
    fits: Callable[[str, object], bool] = _fits_always
    """Whether the argument of that name can have that value."""


class RunningTool(Protocol):
    """A call at work."""

    def wait(self, until_s: float | None = None) -> ToolOutcome | None:
        """What came of it; None when nothing has by `until_s` on the session's clock. A call that
        takes too long, or was cancelled, comes to its end here."""
        ...


class Toolbox(Protocol):
    """The tools of one session."""

    @property
    def schemas(self) -> Sequence[ToolSchema]:
        """The tools that there are now."""
        ...

    @property
    def hints(self) -> Sequence[ToolHints]:
        """The same for models that cannot call."""
        ...

    @property
    def lead_in_s(self) -> float:
        """A call that takes longer is led in by some words; 0: none is."""
        ...

    @property
    def rounds(self) -> int:
        """How often a model may call tools for one answer."""
        ...

    def origin(self, name: str) -> str:
        """Who has the tool: the label of a server, or "s2s"."""
        ...

    def start(
        self, name: str, arguments: str, *, stop: StopSignal, language: str | None
    ) -> RunningTool:
        """Begin a call. Arguments that do not fit are an outcome like any other."""
        ...


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something that rings at its time."""

    number: int
    due_s: float
    """On the session's clock."""
    seconds: float
    """From when it was set."""
    name: str = ""


@dataclass(slots=True)
class Alarms:
    """The alarms of one session. Safe from any thread: each method is one look or one change."""

    now: Callable[[], float]
    _alarms: list[Alarm] = field(default_factory=list[Alarm])
    _count: int = 0

    def set(self, seconds: float, name: str = "") -> Alarm:
        """Ring in so many seconds."""
        self._count += 1
        alarm = Alarm(self._count, self.now() + seconds, seconds, name)
        self._alarms = sorted([*self._alarms, alarm], key=lambda each: each.due_s)
        return alarm

    def all(self) -> list[Alarm]:
        """Those that have not rung, the next one first."""
        return list(self._alarms)

    def cancel(self, alarm: Alarm) -> bool:
        """Let it not ring; False when it has, or was cancelled."""
        left = [each for each in self._alarms if each.number != alarm.number]
        found = len(left) < len(self._alarms)
        self._alarms = left
        return found

    @property
    def next(self) -> Alarm | None:
        """The one that rings next; it stays until it is cancelled."""
        return next(iter(self._alarms), None)
