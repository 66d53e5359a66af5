"""What dropped connections leave for their clients' return."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from s2s.transport.server.resume import Resumable, new_token, sent_token

TOKEN = "t" * 32


class Time:
    """A clock that is set."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def run(test: Callable[[Resumable, Time], Awaitable[None]]) -> None:
    async def main() -> None:
        time = Time()
        await test(Resumable(60.0, 3, time), time)

    asyncio.run(main())


def test_tokens_are_read_from_the_header_or_the_sub_protocols():
    assert sent_token({}) is None
    assert sent_token({"x-s2s-resume": TOKEN}) == TOKEN
    assert sent_token({"sec-websocket-protocol": f"realtime, s2s-resume.{TOKEN}"}) == TOKEN
    assert sent_token({"x-s2s-resume": new_token()}) is not None
    assert new_token() != new_token()


@pytest.mark.parametrize("token", ["", "short", "x" * 65, "a b" * 8, "ü" * 20])
def test_tokens_that_can_be_guessed_are_refused(token: str):
    with pytest.raises(ValueError, match="16 to 64"):
        sent_token({"x-s2s-resume": token})


def test_what_is_left_is_there_once_and_for_a_while():
    async def test(resumable: Resumable, time: Time) -> None:
        assert (await resumable.enter(TOKEN, "", lambda: None)).state is None
        assert resumable.leave(TOKEN, "", "history") is False
        assert len(resumable) == 1
        time.now_s = 59.9
        entered = await resumable.enter(TOKEN, "", lambda: None)
        assert entered.state == "history"
        assert not entered.took_over
        assert len(resumable) == 0
        resumable.leave(TOKEN, "", "more")
        time.now_s = 59.9 + 60.1
        assert (await resumable.enter(TOKEN, "", lambda: None)).state is None

    run(test)


def test_nobody_goes_on_with_the_conversation_of_another_key():
    async def test(resumable: Resumable, time: Time) -> None:
        await resumable.enter(TOKEN, "mine", lambda: None)
        resumable.leave(TOKEN, "mine", "history")
        assert (await resumable.enter(TOKEN, "yours", lambda: None)).state is None

    run(test)


def test_a_connection_that_is_still_there_is_ended_and_gives_what_it_has():
    async def test(resumable: Resumable, time: Time) -> None:
        told: list[str] = []
        await resumable.enter(TOKEN, "", lambda: told.append("first"))
        again = asyncio.create_task(resumable.enter(TOKEN, "", lambda: told.append("second")))
        await asyncio.sleep(0)
        assert told == ["first"]
        assert not again.done()
        assert resumable.leave(TOKEN, "", "history") is True
        entered = await again
        assert entered.state == "history"
        assert entered.took_over
        assert resumable.is_open(TOKEN, "")

    run(test)


def test_only_so_many_are_kept():
    async def test(resumable: Resumable, time: Time) -> None:
        for number in range(5):
            await resumable.enter(f"{number}" * 20, "", lambda: None)
            resumable.leave(f"{number}" * 20, "", number)
        assert len(resumable) == 3
        assert (await resumable.enter("0" * 20, "", lambda: None)).state is None
        assert (await resumable.enter("4" * 20, "", lambda: None)).state == 4

    run(test)


def test_nothing_is_kept_where_that_is_off():
    async def main() -> None:
        resumable = Resumable(0.0, 3, Time())
        await resumable.enter(TOKEN, "", lambda: None)
        resumable.leave(TOKEN, "", "history")
        assert len(resumable) == 0

    asyncio.run(main())
