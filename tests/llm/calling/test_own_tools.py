"""Answers for which tools are called: one answer at a time, without a session around it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest

from s2s.core.answering import ToolSchema
from s2s.core.cancel import CancelScope
from s2s.core.clock import ManualClock
from s2s.core.items import ToolItem
from s2s.core.markup import Call, Visible, Withdrawn
from s2s.core.messages import ResponseId, ToolResult, TurnId
from s2s.core.metrics import Metrics
from s2s.core.speculation import SpeculativeTurns
from s2s.core.state import SessionState
from s2s.llm.base import PLAIN, ChatMessage, ChatOptions, LlmError
from s2s.llm.calling.choosing import CallChooser
from s2s.llm.calling.own_tools import AnswerItem, Given, OwnTools, ToolUser, told
from s2s.llm.history import History
from s2s.llm.plan import AnswerPlan
from s2s.tools.config import ToolsConfig
from s2s.tools.tool import made_of
from s2s.tools.toolbox import LoadedTools, SessionTools

TURN = TurnId("t", 0)
RESPONSE = ResponseId("t", 0, 0, "r")


def lamp(room: str = "hall") -> str:
    """Turns on a lamp."""
    return f"the lamp in the {room} is on"


def book() -> str:
    """Reads a book."""
    return "line\n" * 3


class Held:
    """A model that is held to what a test says."""

    calls_tools = False

    def __init__(self, likelihood: Callable[[str], float]) -> None:
        self.likelihood = likelihood

    def choose(
        self, prompt: str, options: Sequence[str], *, stop: Callable[[], bool] = lambda: False
    ) -> tuple[int, float] | None:
        return 0, 1.0

    def log_probability(
        self, prompt: str, text: str, *, stop: Callable[[], bool] = lambda: False
    ) -> float | None:
        return self.likelihood(prompt)


class Rig:
    def __init__(self, chooser: CallChooser | None = None) -> None:
        self.clock = ManualClock()
        turns = SpeculativeTurns(self.clock)
        self.state = SessionState(
            CancelScope(self.clock), turns, self.clock, Metrics(), lambda event: None
        )
        turns.observe(TURN, grace_until_s=self.clock.now() + 0.5)
        self.history = History("sys", max_turns=9, max_tokens=99, count_tokens=lambda text: 1)
        self.history.user(TURN, "turn it on")
        tools = LoadedTools(ToolsConfig(lead_in_s=0.0), [made_of(lamp), made_of(book)])
        self.tools: SessionTools = tools.open(self.clock)
        self.own = OwnTools(ToolUser(self.tools, chooser), self.history, self.state)
        self.asked: list[tuple[list[ChatMessage], tuple[str, ...]]] = []

    def answer(
        self,
        *rounds: list[Given] | LlmError,
        options: ChatOptions = PLAIN,
        words: str = "x",
    ) -> list[AnswerItem]:
        plan = AnswerPlan([ChatMessage("user", words)], options)
        left = list(rounds)

        def heard() -> Iterator[Given]:
            self.asked.append((list(plan.messages), tuple(t.name for t in plan.options.tools)))
            said = left.pop(0)
            if isinstance(said, LlmError):
                raise said
            yield from said

        return list(self.own.answer(plan, heard, lambda: RESPONSE, "en"))


def test_a_call_is_run_once_it_is_certain_and_the_model_is_heard_again() -> None:
    rig = Rig()
    out = rig.answer([Visible("So.", 0), Call("lamp", "{}")], [Visible("Done.", 0)])
    assert [type(each) for each in out] == [Visible, ToolResult, Visible]
    assert rig.clock.now() == 0.5
    assert [names for _, names in rig.asked] == [("lamp", "book")] * 2
    assert [m.content for m in rig.asked[1][0]] == ["x", "So.", "the lamp in the hall is on"]
    assert len(rig.history.prompt()) == 4


def test_nothing_is_run_for_an_answer_that_is_not_wanted_any_more() -> None:
    rig = Rig()
    rig.state.scope.cancel()
    assert rig.answer([Call("lamp", "{}")]) == []
    assert rig.clock.now() == 0.0


def test_a_tool_of_nobodys_and_one_of_the_clients_go_on_as_they_are() -> None:
    calls: list[Given] = [Call("lamp", "{}"), Call("other", "{}")]
    mine = ChatOptions((ToolSchema("lamp", "The client's."),))
    assert Rig().answer(calls, options=mine) == calls


@pytest.mark.parametrize(
    "options",
    [ChatOptions(tool_choice="none"), ChatOptions(tool_choice="required", forced_tool="other")],
)
def test_who_wants_none_or_one_of_their_own_is_offered_none(options: ChatOptions) -> None:
    rig = Rig()
    rig.answer([Visible("Hello.", 0)], options=options)
    assert rig.asked[0][1] == ()


def test_text_that_was_withdrawn_is_not_what_was_said_before_the_call() -> None:
    rig = Rig()
    rig.answer(
        [Visible("Hm.", 0), Withdrawn(), Visible("So.", 0), Call("lamp", "{}")], [Visible("On.", 0)]
    )
    assert rig.asked[1][0][1].content == "So."


def test_a_server_whose_model_takes_no_tools_is_asked_without_them() -> None:
    rig = Rig()
    refusal = LlmError("400: gemma does not support tools")
    assert rig.answer(refusal, [Visible("Hello.", 0)]) == [Visible("Hello.", 0)]
    rig.answer([Visible("Again.", 0)])
    assert [names for _, names in rig.asked] == [("lamp", "book"), (), ()]
    with pytest.raises(LlmError, match="is not there"):
        Rig().answer(LlmError("the server is not there"))


def test_what_a_model_is_shown_of_its_calls() -> None:
    item = ToolItem("item_1", "call_1", "lamp", "{}", "on")
    calls, output = told(" So. ", [item])
    assert (calls.role, calls.content, calls.calls[0].call_id) == ("assistant", "So.", "call_1")
    assert output == ChatMessage("tool", "on", call_id="call_1")


def chooser(wanted: str) -> CallChooser:
    held = Held(lambda prompt: 0.0 if wanted in prompt else -9.0)
    return CallChooser(held, cued=False)


def test_for_a_model_that_writes_no_calls_what_the_tool_gave_is_the_answer() -> None:
    rig = Rig(chooser("Turns on a lamp."))
    out = rig.answer(words="and before\nturn on the lamp")
    assert isinstance(out[0], ToolResult)
    assert out[1] == Visible("the lamp in the hall is on", 0)
    assert rig.asked == []
    assert [m.role for m in rig.history.prompt()] == ["system", "user"]


def test_what_cannot_be_said_as_it_is_is_told_to_the_model() -> None:
    rig = Rig(chooser("Reads a book."))
    out = rig.answer([Visible("It is about lines.", 0)], words="read the book")
    assert out[-1] == Visible("It is about lines.", 0)
    (message,) = rig.asked[0][0]
    assert message.content == "read the book\n(book gives: line\nline\nline)"


def test_where_nothing_is_asked_of_a_tool_the_model_answers() -> None:
    rig = Rig(chooser("nothing at all"))
    assert rig.answer([Visible("Hello.", 0)]) == [Visible("Hello.", 0)]
    assert rig.asked[0][1] == ()


def test_who_writes_calls_is_decided_by_the_model_unless_it_is_said() -> None:
    rig, held = Rig(), Held(lambda prompt: 0.0)
    assert ToolUser.of(rig.tools, None, "auto").chooser is None
    assert ToolUser.of(rig.tools, held, "auto").chooser is not None
    assert ToolUser.of(rig.tools, held, "model").chooser is None
    held.calls_tools = True
    assert ToolUser.of(rig.tools, held, "auto").chooser is None
    assert ToolUser.of(rig.tools, held, "chosen").chooser is not None
