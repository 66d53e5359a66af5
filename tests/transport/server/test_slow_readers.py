"""Clients that do not read what they asked for."""

from __future__ import annotations

import asyncio

import pytest
from starlette.types import Message, Receive, Scope, Send

from s2s.transport.server.slow_readers import SlowReadersGo


async def answers(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "first"})
    await send({"type": "second"})


def served(kind: str, *, reads: int) -> list[str]:
    """What reaches a client that takes so many pieces and then stands still."""
    taken: list[str] = []

    async def send(message: Message) -> None:
        if len(taken) == reads:
            await asyncio.Event().wait()
        taken.append(message["type"])

    async def receive() -> Message:
        raise AssertionError

    async def main() -> None:
        async with asyncio.timeout(5.0):
            await SlowReadersGo(answers, 0.01)({"type": kind}, receive, send)

    asyncio.run(main())
    return taken


def test_who_reads_is_served():
    assert served("http", reads=2) == ["first", "second"]


@pytest.mark.parametrize("reads", [0, 1])
def test_who_does_not_is_given_up(reads: int):
    with pytest.raises(TimeoutError):
        served("http", reads=reads)
