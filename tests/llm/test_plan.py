"""How an answer is made: by whose settings, shown what, and what it cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import pytest

from s2s.core.answering import Answering, ResponseRequest, ToolSchema
from s2s.core.items import MessageItem, TextPart
from s2s.core.messages import TokenUsage
from s2s.core.work import Work
from s2s.llm.base import PLAIN, ChatMessage, ChatModel
from s2s.llm.history import ChatHistory
from s2s.llm.plan import AnswerPlan, planned, requested

LOOK = ToolSchema("look")
ASKED = [ChatMessage("system", "Be brief."), ChatMessage("user", "How is it?")]


class Model:
    """Says what it is told to, and notes how it is asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[Sequence[ChatMessage], object]] = []

    def stream(
        self, messages: Sequence[ChatMessage], *, options: object, **_: object
    ) -> Iterator[str]:
        self.asked.append((messages, options))
        yield from ("It ", "rains.")

    def count_tokens(self, text: str) -> int:
        return len(text.split())


class Past:
    def prompt(self, saying: str = "", *, instructions: str | None = None) -> list[ChatMessage]:
        return [ChatMessage("system", instructions or "none"), ChatMessage("user", "earlier")]


@pytest.mark.parametrize(
    ("choice", "tools"), [("none", ()), ("auto", (LOOK,)), ("required", (LOOK,))]
)
def test_tools_are_shown_where_they_may_be_called(
    choice: str, tools: tuple[ToolSchema, ...]
) -> None:
    answering = Answering("Be brief.", (LOOK,), choice, voice="anna", speed=1.5, spoken=False)  # type: ignore[arg-type]
    plan = planned(ASKED, answering)
    assert (plan.options.tools, plan.options.tool_choice) == (tools, choice)
    assert (plan.voice, plan.speed, plan.spoken) == ("anna", 1.5, False)


def test_what_is_asked_for_by_itself_is_shown_alone() -> None:
    past = cast(ChatHistory, Past())
    request = ResponseRequest("r", Answering("Translate."))
    assert [m.content for m in requested(request, past).messages] == ["Translate.", "earlier"]
    item = MessageItem("i", "user", (TextPart("Guten Tag."),))
    alone = ResponseRequest("r", Answering("Translate."), (item,))
    assert [m.content for m in requested(alone, past).messages] == ["Translate.", "Guten Tag."]


@pytest.mark.parametrize(("limit", "limited"), [(None, False), (3, False), (2, True)])
def test_what_it_cost_is_counted_where_somebody_asks(limit: int | None, limited: bool) -> None:
    model = Model()
    chat = cast(ChatModel, model)
    plan = planned(ASKED, Answering("Be brief.", max_output_tokens=limit))
    assert (
        "".join(map(str, plan.stream(chat, lambda: False, lambda: Work.FIRST_SOUND))) == "It rains."
    )
    assert model.asked == [(ASKED, plan.options)]
    assert plan.usage(chat) == TokenUsage(5, 2, limited)
    assert AnswerPlan(ASKED).usage(chat) is None
    assert AnswerPlan(ASKED).options == PLAIN
