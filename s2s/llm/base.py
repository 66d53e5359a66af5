"""What a language-model backend gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from s2s.core.answering import ToolChoice, ToolSchema
from s2s.core.errors import StageError
from s2s.core.markup import Call
from s2s.core.work import Work

Urgency = Callable[[], Work]
"""How urgent the next words of an answer are; asked again and again."""

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool that was called."""

    call_id: str
    name: str
    arguments: str
    """A JSON object, or what the model wrote instead."""


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a conversation."""

    role: Role
    content: str
    calls: tuple[ToolUse, ...] = ()
    """What the assistant called; each is answered by a message of the role "tool" behind it."""
    call_id: str = ""
    """Which call a message of the role "tool" answers."""


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """What an answer may be."""

    tools: tuple[ToolSchema, ...] = ()
    tool_choice: ToolChoice = "auto"
    forced_tool: str | None = None
    """The one tool that must be called; with `tool_choice` "required"."""
    max_tokens: int | None = None
    """At most; the model's own bound holds too."""


PLAIN = ChatOptions()
"""Words alone, as many as the model is configured to write."""


class LlmError(StageError):
    """The model could not answer. The message says what failed and what to do."""


def estimate_tokens(text: str) -> int:
    """Tokens of `text`, rarely too few: one for every 3 bytes of UTF-8."""
    return -(-len(text.encode()) // 3)


class ChatModel(Protocol):
    """Answers a conversation, piece by piece."""

    @property
    def reads_ahead(self) -> bool:
        """`warm` with half a question saves time and costs nothing: no server is paid for it."""
        ...

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        stop: Callable[[], bool] = lambda: False,
        work: Urgency = lambda: Work.FIRST_SOUND,
        options: ChatOptions = PLAIN,
    ) -> Iterator[str | Call]:
        """Yield the answer's text as it is generated; pieces are never empty.

        A server that reads calls of tools itself gives them as such; what a model writes around
        its words (thinking, signs of its template, calls) may be in the text.

        Args:
            messages: system message first, mostly the user's last.
            stop: asked at every token; when true generation ends at once and the model is free.
                Closing the iterator does the same.
            work: how urgent the next words are. A model in this process computes accordingly;
                one elsewhere need not ask.
            options: tools it may want called, and how long it may be.

        Raises:
            LlmError: refused, timed out, cut, or the conversation does not fit.
        """
        ...

    def warm(self, messages: Sequence[ChatMessage], *, options: ChatOptions = PLAIN) -> None:
        """Evaluate `messages` ahead of time, so that a conversation starting with them is quick."""
        ...

    def ending(
        self, messages: Sequence[ChatMessage], *, options: ChatOptions = PLAIN
    ) -> float | None:
        """Log-odds that what the user says, the last of `messages`, is complete as it is.

        None where the model does not tell probabilities, or computes for another. Never waits for
        an answer that is being written; what an answer to `messages` needs stays evaluated.

        Raises:
            LlmError: the conversation does not fit, or the model failed.
        """
        ...

    def count_tokens(self, text: str) -> int:
        """Tokens of `text`, exact where the backend has its tokenizer, else a safe estimate."""
        ...

    def close(self) -> None:
        """Free the model. Idempotent."""
        ...
