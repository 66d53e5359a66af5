"""What a language-model backend gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from s2s.core.errors import StageError
from s2s.core.markup import Call
from s2s.core.work import Work

Urgency = Callable[[], Work]
"""How urgent the next words of an answer are; asked again and again."""

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a conversation."""

    role: Role
    content: str


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
    ) -> Iterator[str | Call]:
        """Yield the answer's text as it is generated; pieces are never empty.

        A server that reads calls of tools itself gives them as such; what a model writes around
        its words (thinking, signs of its template, calls) may be in the text.

        Args:
            messages: system message first, the user's last.
            stop: asked at every token; when true generation ends at once and the model is free.
                Closing the iterator does the same.
            work: how urgent the next words are. A model in this process computes accordingly;
                one elsewhere need not ask.

        Raises:
            LlmError: refused, timed out, cut, or the conversation does not fit.
        """
        ...

    def warm(self, messages: Sequence[ChatMessage]) -> None:
        """Evaluate `messages` ahead of time, so that a conversation starting with them is quick."""
        ...

    def ending(self, messages: Sequence[ChatMessage]) -> float | None:
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
