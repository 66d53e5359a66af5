"""How an answer is made: to a turn by the session's settings, to a request by its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from s2s.core.answering import Answering, ResponseRequest
from s2s.core.markup import Call
from s2s.core.messages import TokenUsage
from s2s.llm.base import PLAIN, ChatMessage, ChatModel, ChatOptions, Urgency
from s2s.llm.history import ChatHistory
from s2s.llm.items import to_messages


@dataclass(slots=True)
class AnswerPlan:
    """One answer."""

    messages: Sequence[ChatMessage]
    options: ChatOptions = PLAIN
    voice: str | None = None
    speed: float = 1.0
    spoken: bool = True
    counts: bool = False
    """What it costs is counted."""
    pieces: int = field(default=0, init=False)
    """Tokens that came so far, about."""

    def stream(
        self, model: ChatModel, stop: Callable[[], bool], work: Urgency
    ) -> Iterator[str | Call]:
        """The model's words; see `s2s.llm.base.ChatModel`."""
        for given in model.stream(self.messages, stop=stop, work=work, options=self.options):
            self.pieces += 1
            yield given

    def usage(self, model: ChatModel) -> TokenUsage | None:
        """What it cost so far; None where nobody asks."""
        if not self.counts:
            return None
        limit = self.options.max_tokens
        shown = sum(model.count_tokens(message.content) for message in self.messages)
        return TokenUsage(shown, self.pieces, limit is not None and self.pieces >= limit)


Planning = Callable[[Sequence[ChatMessage]], AnswerPlan]
"""How the answer to a turn is made, that is shown these messages."""


def planned(messages: Sequence[ChatMessage], answering: Answering) -> AnswerPlan:
    """An answer as `answering` wants it."""
    tools = answering.tools if answering.tool_choice != "none" else ()
    return AnswerPlan(
        messages,
        ChatOptions(
            tools, answering.tool_choice, answering.forced_tool, answering.max_output_tokens
        ),
        answering.voice,
        answering.speed,
        answering.spoken,
        counts=True,
    )


def requested(request: ResponseRequest, history: ChatHistory) -> AnswerPlan:
    """The answer that was asked for."""
    system = request.answering.instructions
    if request.given is None:
        messages = history.prompt(instructions=system)
    else:
        messages = [ChatMessage("system", system), *to_messages(request.given)]
    return planned(messages, request.answering)
