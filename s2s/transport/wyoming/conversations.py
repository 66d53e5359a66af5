"""What is written down is answered: conversations that are told apart by the client's own ids.

An answer is made by a session like any other, which is opened for it and goes on with what the
conversation's last one left: docs/decisions/wyoming-answers-are-sessions.md.
"""

from __future__ import annotations

import asyncio
import itertools
import secrets
from collections import OrderedDict
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

from s2s.core.clock import SystemClock
from s2s.core.control import Answering, Hearing, ResponseRequest, SessionControl
from s2s.core.errors import StageError
from s2s.core.events import AnswerText, Event, ResponseDone
from s2s.core.items import MessageItem, TextPart
from s2s.transport.client_transport import ClientTransport
from s2s.transport.wyoming.services import JobThreads, WyomingServices


class AnswerFailed(StageError):
    """There is no answer. The message says why."""


@dataclass(slots=True)
class _Conversation:
    """One of them."""

    session_id: str = field(default_factory=lambda: secrets.token_hex(5))
    numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    kept: object | None = None
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    """One question at a time."""


class Conversations:
    """Those of one server, on its event loop.

    Args:
        most: as many are kept; the one that rested longest is forgotten.
    """

    def __init__(self, services: WyomingServices, threads: JobThreads, most: int) -> None:
        self._services = services
        self._threads = threads
        self._most = most
        self._known: OrderedDict[str, _Conversation] = OrderedDict()

    async def answer(
        self, text: str, conversation_id: str | None, language: str | None
    ) -> AsyncGenerator[str]:
        """The answer to `text`, as it is written. To be closed.

        Args:
            conversation_id: the client's name for it; None: it has no past and no future.

        Raises:
            AnswerFailed: the language model failed.
        """
        conversation = self._conversation(conversation_id)
        async with conversation.turn:
            number = next(conversation.numbers)
            news: asyncio.Queue[Event] = asyncio.Queue()
            control = self._opened(conversation, news, language)
            key = f"resp_{conversation.session_id}-q{number}"
            try:
                item_id = f"item_{conversation.session_id}-q{number}"
                control.insert(MessageItem(item_id, "user", (TextPart(text),)))
                control.respond(ResponseRequest(key, self._answering))
                async for piece in _told(news, key):
                    yield piece
            finally:
                control.cancel(key)
                await asyncio.shield(self._threads.call(lambda _: control.close()))
                conversation.kept = control.kept

    @property
    def _answering(self) -> Answering:
        return Answering(self._services.instructions, spoken=False)

    def _conversation(self, conversation_id: str | None) -> _Conversation:
        if conversation_id is None:
            return _Conversation()
        conversation = self._known.setdefault(conversation_id, _Conversation())
        self._known.move_to_end(conversation_id)
        while len(self._known) > self._most:
            self._known.popitem(last=False)
        return conversation

    def _opened(
        self, conversation: _Conversation, news: asyncio.Queue[Event], language: str | None
    ) -> SessionControl:
        loop = asyncio.get_running_loop()

        def told(event: Event) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(news.put_nowait, event)

        rate_hz = self._services.synthesizer.capabilities.sample_rate_hz
        transport = ClientTransport(SystemClock(), rate_hz, lambda _sound: None)
        hearing = Hearing(None, answers=False, transcribes=False, language=language)
        return self._services.open_session(
            transport,
            told,
            session_id=conversation.session_id,
            answering=self._answering,
            hearing=hearing,
            kept=conversation.kept,
        )


async def _told(news: asyncio.Queue[Event], key: str) -> AsyncGenerator[str]:
    """The words of a response, to its end."""
    while True:
        match await news.get():
            case AnswerText(response=response, text=text) if response.response_key == key:
                if text:
                    yield text
            case ResponseDone(response=response) as done if response.response_key == key:
                if done.status == "failed":
                    raise AnswerFailed(done.error or "The language model failed.")
                return
            case _:
                pass
