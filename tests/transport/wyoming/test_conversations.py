"""Conversations by the client's ids: what was said before is known, and of no other."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import aclosing

import pytest

from s2s.llm.base import LlmError
from s2s.transport.wyoming.conversations import AnswerFailed, Conversations
from s2s.transport.wyoming.services import JobThreads
from tests.support.serving import Writer
from tests.support.wyoming import WAIT_S, fake_wyoming


def run(writer: Writer, main: Callable[[Conversations], Awaitable[None]], most: int = 8) -> None:
    async def whole() -> None:
        threads = JobThreads(8)
        try:
            made = Conversations(fake_wyoming(writer), threads, most)
            await asyncio.wait_for(main(made), WAIT_S)
        finally:
            threads.close()

    asyncio.run(whole())


async def ask(conversations: Conversations, text: str, name: str | None) -> str:
    return "".join([piece async for piece in conversations.answer(text, name, None)])


def asked(writer: Writer) -> list[list[str]]:
    """What the model was shown each time, without the system's message."""
    return [[each.content for each in messages[1:]] for messages in writer.asked]


def test_a_conversation_goes_on_and_others_do_not_know_of_it() -> None:
    writer = Writer(("Yes.",))

    async def main(conversations: Conversations) -> None:
        assert await ask(conversations, "one", "a") == "Yes."
        await ask(conversations, "two", "b")
        await ask(conversations, "three", "a")
        await ask(conversations, "four", None)
        await ask(conversations, "five", None)

    run(writer, main)
    assert asked(writer) == [
        ["one"],
        ["two"],
        ["one", "Yes.", "three"],
        ["four"],
        ["five"],
    ]
    assert "Be brief." in writer.asked[0][0].content


def test_the_one_that_rested_longest_is_forgotten() -> None:
    writer = Writer(("Yes.",))

    async def main(conversations: Conversations) -> None:
        for name in ("a", "b", "a", "c", "a", "b"):
            await ask(conversations, f"to {name}", name)

    run(writer, main, most=2)
    assert len(asked(writer)[4]) == 5
    assert asked(writer)[5] == ["to b"]


def test_questions_of_one_conversation_wait_for_each_other() -> None:
    writer = Writer(("Yes.",))

    async def main(conversations: Conversations) -> None:
        await asyncio.gather(*(ask(conversations, f"{n}", "a") for n in range(4)))

    run(writer, main)
    assert [len(each) for each in asked(writer)] == [1, 3, 5, 7]


def test_an_answer_that_fails_is_told_and_the_next_is_answered() -> None:
    writer = Writer(("Yes.",), error=LlmError("not today"))

    async def main(conversations: Conversations) -> None:
        with pytest.raises(AnswerFailed, match="not today"):
            await ask(conversations, "one", "a")
        writer.error = None
        assert await ask(conversations, "two", "a") == "Yes."

    run(writer, main)


def test_an_answer_that_nobody_reads_on_ends_its_session() -> None:
    writer = Writer(tuple(f"word{n} " for n in range(100_000)))
    before = threading.active_count()

    async def main(conversations: Conversations) -> None:
        async with aclosing(conversations.answer("one", "a", None)) as pieces:
            async for _ in pieces:
                break

    run(writer, main)
    assert threading.active_count() <= before + 8  # those of the pool, which end by themselves
