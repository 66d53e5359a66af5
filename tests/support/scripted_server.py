"""A whole server whose models are scripted, for clients of others: real sessions in real time.

What is said is "what time is it", however it sounds. The answer repeats the question; a question
with "count" in it gets a long one, one with "so far" how many were asked; where there are tools, a
question is answered by calling the first of them, twice where the question says "twice".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from s2s.core.audio import Block
from s2s.core.clock import SystemClock
from s2s.core.work import Work
from s2s.llm.base import PLAIN, ChatMessage, ChatOptions, Urgency
from s2s.session.client.session import ClientSessions
from s2s.session.config import SessionConfig
from s2s.session.models import Models
from s2s.stt.base import Transcription
from s2s.testing.simulator import SYNTH_HZ, EnergyVad, ModelCosts, ScriptedSynthesizer
from s2s.transport.realtime.connection import (
    ConnectionRequest,
    KeptConversation,
    RealtimeService,
)
from s2s.transport.realtime.faults import ClientFault
from s2s.transport.server.handover import ClientOpening, ClientSocket, SessionRefused
from tests.support.serving import fake_server, served

QUESTION = "what time is it"
LONG = " ".join(f"This is sentence number {number} of many." for number in range(1, 30))


class OneQuestion:
    """Hears the same question in everything."""

    def transcribe(
        self,
        audio: Block,
        *,
        language: str | None = None,
        earlier: Transcription | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Transcription:
        return Transcription(QUESTION, language or "en")

    def warm(self) -> None: ...

    def close(self) -> None: ...


@dataclass
class Repeater:
    """Says what it was asked, at length or by calling tools where it is asked to."""

    reads_ahead = True

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        stop: Callable[[], bool] = lambda: False,
        work: Urgency = lambda: Work.FIRST_SOUND,
        options: ChatOptions = PLAIN,
    ) -> Iterator[str]:
        for word in self._answer(messages, options).split(" "):
            if stop():
                return
            yield f"{word} "

    def _answer(self, messages: Sequence[ChatMessage], options: ChatOptions) -> str:
        last = messages[-1]
        if last.role == "tool":
            return f"The tool says {last.content}."
        if options.tools:
            name = options.forced_tool or options.tools[0].name
            call = json.dumps({"name": name, "arguments": {"city": "Paris"}})
            times = 2 if "twice" in last.content else 1
            return " ".join([f"<tool_call>{call}</tool_call>"] * times)
        question = last.content.splitlines()[-1]  # what was not answered stands before it
        if "so far" in question:
            asked = sum(message.role == "user" for message in messages)
            return f"You asked {asked} questions."
        return LONG if "count" in question else f"You said {question}."

    def warm(self, messages: Sequence[ChatMessage], *, options: ChatOptions = PLAIN) -> None: ...

    def ending(
        self, messages: Sequence[ChatMessage], *, options: ChatOptions = PLAIN
    ) -> float | None:
        return None

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def close(self) -> None: ...


def scripted_service() -> RealtimeService:
    """Conversations on scripted models, in real time."""
    clock = SystemClock()
    costs = ModelCosts(first_token_s=0.01, token_s=0.0, tts_rtf=0.02, tts_first_s=0.01)
    synthesizer = ScriptedSynthesizer(clock, costs)
    models = Models(EnergyVad(), None, OneQuestion(), Repeater(), synthesizer)
    return RealtimeService(
        ClientSessions(models, SessionConfig()),
        clock,
        SYNTH_HZ,
        instructions="Be brief.",
        voice="aria",
        voices=frozenset({"aria", "marin"}),
    )


def scripted_server() -> AbstractContextManager[int]:
    """A server on a free port, which is given."""
    service = scripted_service()

    async def converse(socket: ClientSocket, opening: ClientOpening) -> object | None:
        resumed = opening.resumed if isinstance(opening.resumed, KeptConversation) else None
        request = ConnectionRequest(
            opening.model,
            opening.session,
            "transcription" if opening.intent == "transcription" else "realtime",
            resumed,
            opening.may_resume,
            call=opening.call,
        )
        return await service.converse(socket, request)

    def validated(session: Mapping[str, object]) -> Mapping[str, object]:
        try:
            return service.validate_session(session)
        except ClientFault as fault:
            raise SessionRefused(str(fault), param=fault.param, code=fault.code) from fault

    return served(fake_server(converse=converse, validate_session=validated))
