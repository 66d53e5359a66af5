"""The conversation as both sides know it: what the person said, and what was heard of the answers.

An answer enters when it has been played, up to the last word that was. Nothing marks an
interruption: markers in the text make models imitate them. Safe from any thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

from s2s.core.items import ToolItem
from s2s.core.messages import ResponseId, TurnId
from s2s.llm.base import ChatMessage
from s2s.llm.items import to_messages

NEARLY_FULL = 0.85
"""A history of so much of its tokens has no room for a long turn."""


@dataclass(slots=True)
class _Exchange:
    """A turn and what was heard of the answer to it."""

    turn: TurnId
    user: str
    assistant: str = ""
    used: list[ToolItem] = field(default_factory=list[ToolItem])
    """Tools that were called for the answer: what they did was done, heard or not."""

    def messages(self) -> list[ChatMessage]:
        said = [ChatMessage("user", self.user), *to_messages(self.used)]
        return [*said, ChatMessage("assistant", self.assistant)] if self.assistant else said


class ChatHistory(Protocol):
    """What the answering stage needs of a conversation; `History` says what each does."""

    def user(self, turn: TurnId, text: str) -> None: ...

    def used(self, response: ResponseId, item: ToolItem, *, shown: bool) -> None: ...

    def make_room(self) -> None: ...

    @property
    def heard(self) -> str: ...

    def prompt(self, saying: str = "", *, instructions: str | None = None) -> list[ChatMessage]: ...

    @property
    def has_old_turns(self) -> bool: ...

    def old_turns(self) -> tuple[list[TurnId], list[ChatMessage]]: ...

    def sum_up(self, turns: list[TurnId], summary: str) -> None: ...

    def reset(self) -> None: ...


class History:
    """A bounded conversation, oldest turns first to go.

    Args:
        system: the system prompt; always kept.
        max_turns: turns kept at most.
        max_tokens: tokens of a whole prompt at most, system prompt included.
        count_tokens: tokens of a text.
    """

    def __init__(
        self,
        system: str,
        *,
        max_turns: int,
        max_tokens: int,
        count_tokens: Callable[[str], int],
    ) -> None:
        self.system = system
        self._max_turns = max_turns
        self._max_tokens = max_tokens
        self._count = lru_cache(16 * max_turns)(count_tokens)
        self._lock = threading.Lock()
        self._exchanges: list[_Exchange] = []
        self._summary = ""

    def user(self, turn: TurnId, text: str) -> None:
        """What the person said in `turn`. A later revision of the same turn replaces it."""
        with self._lock:
            for exchange in self._exchanges:
                if exchange.turn.turn_id == turn.turn_id:
                    if turn.turn_revision >= exchange.turn.turn_revision:
                        exchange.turn, exchange.user = turn, text
                    return
            self._exchanges.append(_Exchange(turn, text))
            if len(self._exchanges) > self._max_turns or self._tokens() > self._max_tokens:
                self._drop_older_half()

    def used(self, response: ResponseId, item: ToolItem, *, shown: bool) -> None:
        """A tool was called for the answer; `shown`: the model is to see that later."""
        with self._lock:
            for exchange in self._exchanges:
                if shown and exchange.turn == response.turn:
                    exchange.used.append(item)

    def make_room(self) -> None:
        """Drop the older half now if the next turn would: nobody waits for the model yet."""
        with self._lock:
            turns, tokens = len(self._exchanges), self._tokens()
            if turns >= self._max_turns or tokens > NEARLY_FULL * self._max_tokens:
                self._drop_older_half()

    @property
    def heard(self) -> str:
        """What was heard of the answer to the newest turn."""
        with self._lock:
            return self._exchanges[-1].assistant if self._exchanges else ""

    def forget(self, turn: TurnId) -> None:
        """What the person said in `turn`, in whatever revision, was not meant for it."""
        with self._lock:
            self._exchanges = [e for e in self._exchanges if e.turn.turn_id != turn.turn_id]

    def played(self, response: ResponseId, text: str, complete: bool) -> None:
        """The answer `response` was played up to `text`; `complete` is for information only."""
        del complete
        with self._lock:
            for exchange in self._exchanges:
                if exchange.turn == response.turn:
                    exchange.assistant = text.strip()

    def prompt(self, saying: str = "", *, instructions: str | None = None) -> list[ChatMessage]:
        """The messages for the model: system, then as many of the newest turns as fit.

        Args:
            saying: what the person is saying right now, as if it were complete.
            instructions: in place of the system prompt.
        """
        with self._lock:
            turns = [exchange.messages() for exchange in self._exchanges]
        if saying:
            turns.append([ChatMessage("user", saying)])
        messages: list[ChatMessage] = []
        system = self._system() if instructions is None else instructions
        left = self._max_tokens - self._count(system)
        for turn in reversed(turns):
            left -= sum(self._count(message.content) for message in turn)
            if left < 0 and messages:
                break
            messages[:0] = turn
        return [ChatMessage("system", system), *_merged(messages)]

    @property
    def has_old_turns(self) -> bool:
        """Three quarters of the turns that are kept are there: time to sum up the older half."""
        return 4 * len(self._exchanges) >= 3 * self._max_turns

    def old_turns(self) -> tuple[list[TurnId], list[ChatMessage]]:
        """The older half of the turns, and their words behind the summary so far."""
        with self._lock:
            old = self._exchanges[: len(self._exchanges) // 2]
            said = [message for exchange in old for message in exchange.messages()]
            before = [ChatMessage("user", self._summary)] if self._summary else []
            return [exchange.turn for exchange in old], [*before, *said]

    def sum_up(self, turns: list[TurnId], summary: str) -> None:
        """Let `summary` stand for `turns`, which were not re-opened meanwhile."""
        with self._lock:
            self._summary = summary
            self._exchanges = [e for e in self._exchanges if e.turn not in turns]

    def reset(self) -> None:
        with self._lock:
            self._exchanges.clear()
            self._summary = ""

    def _drop_older_half(self) -> None:
        """Make room for many turns at once: each time the beginning changes, the model has to
        evaluate everything anew (two seconds for a full history on a laptop):
        docs/decisions/history-makes-room-by-halves.md."""
        while len(self._exchanges) > 1 and (
            len(self._exchanges) > self._max_turns // 2 or self._tokens() > self._max_tokens // 2
        ):
            del self._exchanges[0]

    def _tokens(self) -> int:
        messages = [m.content for each in self._exchanges for m in each.messages()]
        return sum(map(self._count, [self._system(), *messages]))

    def _system(self) -> str:
        if not self._summary:
            return self.system
        return f"{self.system}\n\nEarlier in this conversation: {self._summary}"


def _merged(messages: list[ChatMessage]) -> list[ChatMessage]:
    """Join neighbours of one role (a question whose answer was never heard and the next one)."""
    merged: list[ChatMessage] = []
    for message in messages:
        last = merged[-1] if merged else None
        if (
            last is not None
            and last.role == message.role
            and message.role != "tool"
            and not (last.calls or message.calls)
        ):
            merged[-1] = ChatMessage(message.role, f"{last.content}\n{message.content}")
        else:
            merged.append(message)
    return merged
