"""Answers for which the session's own tools are called: the model is heard, its calls are run, what
they gave is told to it, and it is heard again.

A call has effects: it waits until its turn is certain, and ends with its answer. What is the
client's to call goes on as it is.
"""

from __future__ import annotations

import itertools
import logging
import re
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace

from s2s.core.answering import ToolSchema
from s2s.core.items import ToolItem, call_item_id
from s2s.core.markup import Call, Visible, Withdrawn
from s2s.core.messages import ResponseId, SignOfLife, ToolResult
from s2s.core.state import SessionState
from s2s.core.stop import StopSignal
from s2s.core.tooling import RunningTool, Toolbox, ToolOutcome
from s2s.llm.base import ChatMessage, LlmError, ToolUse
from s2s.llm.calling.choosing import CallChooser, HeldToChoices
from s2s.llm.history import ChatHistory
from s2s.llm.plan import AnswerPlan

log = logging.getLogger(__name__)

STILL_HERE_S = 10.0
"""So often a tool that takes long shows that it is being waited for; it is heard once."""
_REFUSAL = re.compile("tool|function|jinja", re.IGNORECASE)
"""In what servers say whose model, or whose settings, know no tools."""

Given = Visible | Call | Withdrawn
AnswerItem = Given | SignOfLife | ToolResult


@dataclass(frozen=True, slots=True)
class ToolUser:
    """What the answering stage calls tools with."""

    tools: Toolbox
    chooser: CallChooser | None = None
    """Chooses calls for a model that writes none itself."""

    @classmethod
    def of(cls, tools: Toolbox, model: HeldToChoices | None, calling: str) -> ToolUser:
        """`model`: where it can be held to choices. `calling`: as in
        `s2s.tools.config.ToolsConfig`."""
        if calling == "model" or model is None:
            return cls(tools)
        if calling == "auto" and model.calls_tools:
            return cls(tools)
        return cls(tools, CallChooser(model))


@dataclass(frozen=True, slots=True)
class _Used:
    """A call that was run."""

    item: ToolItem
    outcome: ToolOutcome


@dataclass(slots=True)
class _Answering:
    """What a call is made for."""

    response: ResponseId
    language: str | None
    spoken: bool
    stop: StopSignal
    led_in: bool = False


class OwnTools:
    """Has answers made with the session's own tools. One thread.

    Args:
        user: the tools and how they are called.
        history: remembers what was called.
        state: of the session.
        call_id: names the next call.
    """

    def __init__(
        self,
        user: ToolUser,
        history: ChatHistory,
        state: SessionState,
        call_id: Callable[[], str] | None = None,
    ) -> None:
        self._tools = user.tools
        self._chooser = user.chooser
        self._history = history
        self._state = state
        self._refused = False
        numbers = itertools.count(1)
        self._call_id = call_id or (lambda: f"call_{next(numbers)}")

    def answer(
        self,
        plan: AnswerPlan,
        heard: Callable[[], Iterator[Given]],
        response: Callable[[], ResponseId | None],
        language: str | None,
    ) -> Iterator[AnswerItem]:
        """What the model says to `plan`, its calls of own tools carried out.

        Args:
            plan: is changed from round to round.
            heard: asks the model and gives what it says.
            response: what is being answered; None once nothing is.
            language: of the person.
        """
        if plan.options.tool_choice == "none" or plan.options.forced_tool is not None:
            yield from heard()
            return
        current = response()
        if current is None:
            return
        answering = _Answering(current, language, plan.spoken, self._stop(response))
        if self._chooser is not None:
            yield from self._by_choice(plan, heard, answering, self._chooser)
            return
        theirs = plan.options.tools
        for _ in range(self._tools.rounds):
            own = self._own(theirs)
            plan.options = replace(plan.options, tools=(*theirs, *own))
            calls: list[Call] = []
            said, passed_on = "", False
            for given in self._heard(plan, heard, theirs):
                if isinstance(given, Call) and any(given.name == each.name for each in own):
                    calls.append(given)
                    continue
                passed_on = passed_on or isinstance(given, Call)
                said = "" if isinstance(given, Withdrawn) else said
                said += given.text if isinstance(given, Visible) else ""
                yield given
            if not calls or answering.stop():
                return
            answering.response = response() or answering.response
            items: list[ToolItem] = []
            for call in calls:
                used = yield from self._carry_out(call, answering)
                if used is None:
                    return
                items.append(used.item)
            if passed_on:
                return  # the client's outputs come first
            plan.messages = [*plan.messages, *told(said, items)]
        plan.options = replace(plan.options, tools=theirs)
        yield from heard()

    def _heard(
        self,
        plan: AnswerPlan,
        heard: Callable[[], Iterator[Given]],
        theirs: tuple[ToolSchema, ...],
    ) -> Iterator[Given]:
        """What the model says. A server whose model takes no tools refuses all of it: it is asked
        without them, and never with them again."""
        begun = False
        try:
            for given in heard():
                begun = True
                yield given
        except LlmError as error:
            offered = len(plan.options.tools) > len(theirs)
            if begun or not offered or not _REFUSAL.search(str(error)):
                raise
            self._refused = True
            log.warning("the language model takes no tools, so none are called: %s", error)
            plan.options = replace(plan.options, tools=theirs)
            yield from heard()

    # --- calls -----------------------------------------------------------------------------------

    def _carry_out(
        self, call: Call, answering: _Answering, *, shown: bool = True
    ) -> Generator[AnswerItem, None, _Used | None]:
        """Run one call once its turn is certain; returns what came of it, None when nothing did.

        `shown`: the model is to see it in later answers.
        """
        if not self._certain(answering):
            return None
        running = self._tools.start(
            call.name, call.arguments, stop=answering.stop, language=answering.language
        )
        outcome = yield from self._wait(running, answering)
        if outcome.cancelled:
            return None
        call_id = self._call_id()
        item = ToolItem(
            call_item_id(call_id),
            call_id,
            call.name,
            call.arguments,
            outcome.text,
            outcome.failed,
            self._tools.origin(call.name),
        )
        self._history.used(answering.response, item, shown=shown)
        yield ToolResult(item, answering.response)
        return _Used(item, outcome)

    def _wait(
        self, running: RunningTool, answering: _Answering
    ) -> Generator[AnswerItem, None, ToolOutcome]:
        lead_in_s = self._tools.lead_in_s
        if lead_in_s > 0 and answering.spoken and not answering.led_in:
            outcome = running.wait(self._state.clock.now() + lead_in_s)
            if outcome is not None:
                return outcome
            answering.led_in = True
        while True:
            until_s = self._state.clock.now() + STILL_HERE_S if answering.led_in else None
            if answering.led_in:
                yield SignOfLife(answering.response, answering.language, "words")
            outcome = running.wait(until_s)
            if outcome is not None:
                return outcome

    def _certain(self, answering: _Answering) -> bool:
        """Wait until the turn can no longer go on; False when the answer is not wanted any more."""
        turns, response = self._state.turns, answering.response
        while turns.is_latest_after_reopen_grace(response.turn, stale=answering.stop):
            if turns.commit(response.turn):
                self._state.mark(response, "committed")
                return not answering.stop()
        return False

    def _own(self, theirs: Sequence[ToolSchema]) -> tuple[ToolSchema, ...]:
        """The own tools whose names the client has not."""
        if self._refused:
            return ()
        taken = {tool.name for tool in theirs}
        return tuple(tool for tool in self._tools.schemas if tool.name not in taken)

    def _stop(self, response: Callable[[], ResponseId | None]) -> StopSignal:
        def stale() -> bool:
            current = response()
            return current is None or self._state.is_stale(current)

        return self._state.stop_when(stale)

    # --- for a model that writes no calls --------------------------------------------------------

    def _by_choice(
        self,
        plan: AnswerPlan,
        heard: Callable[[], Iterator[Given]],
        answering: _Answering,
        chooser: CallChooser,
    ) -> Iterator[AnswerItem]:
        """A call is chosen before the model is heard. What it gave is the answer where it can be
        said as it is; else the model is told it."""
        call = None
        last = plan.messages[-1] if plan.messages else None
        if last is not None and last.role == "user":
            taken = {tool.name for tool in plan.options.tools}
            hints = [each for each in self._tools.hints if each.tool.name not in taken]
            words = last.content.rpartition("\n")[2]
            call = chooser.choose(words, hints, answering.stop)
        if call is None or last is None:
            yield from heard()
            return
        chosen = Call(call.name, call.arguments)
        used = yield from self._carry_out(chosen, answering, shown=False)
        if used is None:
            return
        if used.outcome.sayable or used.outcome.failed:
            yield Visible(used.outcome.text.removeprefix("Error: "), 0)
            return
        shown = f"{last.content}\n({call.name} gives: {used.outcome.text})"
        plan.messages = [*plan.messages[:-1], ChatMessage("user", shown)]
        yield from heard()


def told(said: str, items: Sequence[ToolItem]) -> list[ChatMessage]:
    """Calls and what they gave, as a model is shown them, behind what it had said."""
    uses = tuple(ToolUse(item.call_id, item.name, item.arguments) for item in items)
    outputs = [ChatMessage("tool", item.output, call_id=item.call_id) for item in items]
    return [ChatMessage("assistant", said.strip(), uses), *outputs]
