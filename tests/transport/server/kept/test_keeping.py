"""Two servers and one place: who comes back where, and what happens where the place does not
answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

import pytest

from s2s.transport.server.kept.keeping import Came, Keeping, LocalCopy, replica_name
from s2s.transport.server.kept.store import Holder, stored_name
from s2s.transport.server.kept.writer import WritingPace
from tests.support.stores import Beats, BrokenStore, settled

TOKEN = "t" * 32
BETWEEN_S, RETRY_S, REFRESH_S = (
    WritingPace().between_s,
    WritingPace().retry_s,
    WritingPace().refresh_s,
)


class Two:
    """Two servers."""

    def __init__(self, hand_over_s: float = 0.001) -> None:
        self.store = BrokenStore()
        self.hand_over_s = hand_over_s
        self.beats = Beats()
        self.failed = 0
        self.ended: list[str] = []
        self.a, self.b = (self._keeping(name) for name in "ab")

    def _keeping(self, name: str) -> Keeping:
        pace = WritingPace(hand_over_s=self.hand_over_s, pause=self.beats.pause)
        return Keeping(
            self.store,
            60.0,
            lambda: f"s2s_sessions {ord(name)}\n",
            self.fail,
            pace=pace,
            replica=name,
        )

    def fail(self) -> None:
        self.failed += 1

    async def come(self, to: Keeping, local: object | None = None, token: str = TOKEN) -> Came:
        name = to.replica
        came = await to.begin(token, "key", lambda: self.ended.append(name), local)
        await settled()
        return came


def run(test: Callable[[Two], Awaitable[None]], hand_over_s: float = 0.001) -> None:
    async def main() -> None:
        two = Two(hand_over_s)
        try:
            await test(two)
        finally:
            for each in (two.a, two.b):
                await each.close()

    asyncio.run(main())


def says(text: str) -> Callable[[], dict[str, object]]:
    return lambda: {"text": text, "entries": []}


async def say(came: Came, text: str) -> None:
    assert came.keep is not None
    came.keep(says(text))
    await settled()


def test_a_client_whose_server_died_goes_on_with_the_other():
    async def test(two: Two) -> None:
        came = await two.come(two.a)
        assert came.earlier is None
        await say(came, "hello")
        again = await two.come(two.b)  # no `end`: the first server is gone
        assert again.earlier == says("hello")()
        assert not again.trouble

    run(test)


def test_a_client_that_is_here_twice_is_ended_where_it_came_first():
    async def test(two: Two) -> None:
        came = await two.come(two.a)
        await say(came, "hello")
        coming = asyncio.create_task(two.come(two.b))
        await settled()
        assert two.ended == ["a"]
        assert not coming.done()
        assert came.keep is not None
        came.keep(says("hello, and more"))
        local = two.a.end(TOKEN, "key", "state", done=False)
        assert (await coming).earlier == says("hello, and more")()
        assert two.ended == ["a"]
        # What the first one keeps itself is older than what the second says.
        again = two.b.end(TOKEN, "key", None, done=False)
        await settled()
        assert again is None
        await say(await two.come(two.b, None), "the second's")
        two.b.end(TOKEN, "key", "state", done=False)
        await settled()
        back = await two.come(two.a, local)
        assert back.earlier == says("the second's")()

    run(test, hand_over_s=600.0)


def test_who_comes_back_to_the_same_server_gets_what_it_has_itself():
    async def test(two: Two) -> None:
        await say(await two.come(two.a), "hello")
        local = two.a.end(TOKEN, "key", "with sound", done=False)
        await settled()
        assert isinstance(local, LocalCopy)
        assert (await two.come(two.a, local)).earlier == "with sound"

    run(test)


def test_what_was_not_gone_on_with_stays_as_it_is():
    """The connection broke off before it began."""

    async def test(two: Two) -> None:
        await say(await two.come(two.a), "hello")
        local = two.a.end(TOKEN, "key", "mine", done=False)
        await settled()
        await two.come(two.a, local)
        again = two.a.end(TOKEN, "key", local, done=False)
        await settled()
        assert (await two.come(two.a, again)).earlier == "mine"

    run(test)


def test_a_client_that_was_done_begins_anew_everywhere():
    async def test(two: Two) -> None:
        await say(await two.come(two.a), "hello")
        assert two.a.end(TOKEN, "key", None, done=True) is None
        await settled()
        assert (await two.come(two.b)).earlier is None

    run(test)


def test_nobody_goes_on_with_the_conversation_of_another_key():
    async def test(two: Two) -> None:
        await say(await two.come(two.a), "hello")
        assert (await two.b.begin(TOKEN, "another", lambda: None, None)).earlier is None
        assert (await two.come(two.b, token="u" * 32)).earlier is None

    run(test)


def test_a_place_that_does_not_answer_stops_nobody(caplog: pytest.LogCaptureFixture):
    async def test(two: Two) -> None:
        came = await two.come(two.a)
        await say(came, "one")
        two.store.reachable = False
        await two.beats.over(BETWEEN_S)
        with caplog.at_level(logging.WARNING):
            await say(came, "two")
            for _ in range(3):
                await two.beats.over(RETRY_S)
        assert [each.levelname for each in caplog.records] == ["ERROR"]  # once for an outage
        assert TOKEN not in caplog.text
        assert "key" not in caplog.text
        assert two.failed > 3
        refused = await two.come(two.b)
        assert refused.earlier is None
        assert "come again with the same token" in refused.trouble
        await say(refused, "something else")
        two.store.reachable = True
        for _ in range(3):
            await two.beats.over(RETRY_S)
        # Where it first was it is kept again; the new one wrote nothing over it.
        assert two.b.end(TOKEN, "key", "state", done=False) is not None
        await settled()
        assert (await two.come(two.b)).earlier == says("two")()

    run(test)


def test_a_conversation_that_began_in_an_outage_is_kept_once_that_is_over():
    async def test(two: Two) -> None:
        two.store.reachable = False
        came = await two.come(two.a)
        await say(came, "hello")
        two.store.reachable = True
        await two.beats.over(RETRY_S)
        assert (await two.come(two.b)).earlier == says("hello")()

    run(test)


def test_in_an_outage_a_server_goes_on_with_what_it_has_itself():
    async def test(two: Two) -> None:
        await say(await two.come(two.a), "hello")
        local = two.a.end(TOKEN, "key", "mine", done=False)
        await settled()
        two.store.reachable = False
        again = await two.come(two.a, local)
        assert again.earlier == "mine"
        assert not again.trouble

    run(test)


def test_a_silent_conversation_is_kept_for_longer_and_again_after_a_loss():
    async def test(two: Two) -> None:
        await say(await two.come(two.a), "hello")
        await two.beats.over(BETWEEN_S)
        name = stored_name(TOKEN, "key")
        claim = await two.store.claim("other", "x", 60.0, 0.0)
        assert claim.state is None
        await two.store.leave(Holder(name, "x", 10**15), None, -1.0)  # as if it were lost
        await two.beats.over(REFRESH_S)
        await two.beats.over(BETWEEN_S)
        assert (await two.come(two.b)).earlier == says("hello")()

    run(test)


def test_what_cannot_be_read_begins_anew(caplog: pytest.LogCaptureFixture):
    async def test(two: Two) -> None:
        name = stored_name(TOKEN, "key")
        claim = await two.store.claim(name, "x", 60.0, 0.0)
        await two.store.leave(Holder(name, "x", claim.epoch), b"damaged", 60.0)
        assert (await two.come(two.a)).earlier is None
        assert "cannot be read" in caplog.text

    run(test)


def test_the_figures_of_all_are_told_by_each():
    async def test(two: Two) -> None:
        for each in (two.a, two.b):
            each.start()
        await settled()
        expected = 's2s_sessions{replica="a"} 97\ns2s_sessions{replica="b"} 98\n'
        assert await two.a.together() == expected
        two.store.reachable = False
        assert await two.b.together() == 's2s_sessions{replica="b"} 98\n'

    run(test)


def test_where_nothing_is_kept_nothing_is_asked():
    async def main() -> None:
        two = Two()
        two.store.reachable = False
        keeping = Keeping(two.store, 0.0, str, two.fail)
        came = await keeping.begin(TOKEN, "", lambda: None, None)
        assert came == Came()
        assert keeping.end(TOKEN, "", "state", done=False) == "state"
        await keeping.close()
        assert two.failed == 0

    asyncio.run(main())


def test_names_of_replicas_are_never_the_same_again():
    assert replica_name() != replica_name()
