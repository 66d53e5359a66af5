"""Conversations in an actor of Ray: one process of the cluster that all replicas ask, and that none
of them takes along when it dies.

The actor is detached: it stays until the cluster ends, and is started again where its machine was
lost; then replicas write again what they have. Ray is imported when the actor is asked for.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol, cast

from s2s.transport.server.kept.memory_store import MemoryStore
from s2s.transport.server.kept.store import Claim, Holder, StoreUnreachable, Written

NAME = "s2s-conversations"
NAMESPACE = "s2s"
ANSWER_S = 2.0
"""The actor answers within so long, or it is out of reach."""
START_S = 20.0
"""It may take so long to start (4.5 s were seen); clients wait no longer than `ANSWER_S` for it."""
CALLS = 10_000
"""That the actor has open at a time: each replica has one open that waits."""


class RemoteMethod(Protocol):
    """A method of the actor."""

    def remote(self, *given: object) -> Awaitable[object]:
        """Ask for it."""
        ...


Actor = Callable[[str], RemoteMethod]
"""The actor's method of a name."""


class ActorClass(Protocol):
    """What Ray makes of a class."""

    def options(self, **options: object) -> ActorClass:
        """The same with options."""
        ...

    def remote(self) -> object:
        """Start one, or find it; its handle."""
        ...


class RayModule(Protocol):
    """What of Ray is used here."""

    def remote(self, of: type[MemoryStore], /) -> ActorClass:
        """The class as one of actors."""
        ...


def conversations_actor() -> Actor:
    """The cluster's actor; started where there is none."""
    ray = cast(RayModule, importlib.import_module("ray"))
    made = ray.remote(MemoryStore).options(
        name=NAME,
        namespace=NAMESPACE,
        lifetime="detached",
        get_if_exists=True,
        num_cpus=0,
        max_restarts=-1,
        max_concurrency=CALLS,
    )
    handle = made.remote()

    def method(name: str) -> RemoteMethod:
        found: RemoteMethod = getattr(handle, name)
        return found

    return method


class RayStore:
    """`ConversationStore` in that actor.

    Args:
        actor: gives it; called again after it was out of reach.
    """

    def __init__(self, actor: Callable[[], Actor] = conversations_actor) -> None:
        self._find = actor
        self._actor: Actor | None = None
        self._answered = False
        """It has, at some time."""

    async def claim(self, name: str, replica: str, keep_s: float, wait_s: float) -> Claim:
        """See `ConversationStore`."""
        answer = await self._ask("claim", name, replica, keep_s, wait_s, more_s=wait_s)
        assert isinstance(answer, Claim)
        return answer

    async def write(self, holder: Holder, state: bytes | None, keep_s: float) -> Written:
        """See `ConversationStore`."""
        match await self._ask("write", holder, state, keep_s):
            case "kept":
                return "kept"
            case "taken":
                return "taken"
            case _:
                return "unknown"

    async def leave(self, holder: Holder, state: bytes | None, keep_s: float) -> None:
        """See `ConversationStore`."""
        await self._ask("leave", holder, state, keep_s)

    async def taken(self, replica: str, wait_s: float) -> list[tuple[str, int]]:
        """See `ConversationStore`."""
        answer = await self._ask("taken", replica, wait_s, more_s=wait_s)
        return cast(list[tuple[str, int]], answer)

    async def remember(self, name: str, value: bytes, keep_s: float) -> None:
        """See `ConversationStore`."""
        await self._ask("remember", name, value, keep_s)

    async def recall(self, name: str) -> bytes | None:
        """See `ConversationStore`."""
        answer = await self._ask("recall", name)
        return answer if isinstance(answer, bytes) else None

    async def report(self, replica: str, text: str, keep_s: float) -> None:
        """See `ConversationStore`."""
        starts_s = 0.0 if self._answered else START_S
        await self._ask("report", replica, text, keep_s, more_s=starts_s)

    async def reports(self) -> Mapping[str, str]:
        """See `ConversationStore`."""
        return cast(Mapping[str, str], await self._ask("reports"))

    async def close(self) -> None:
        """See `ConversationStore`."""
        self._actor = None

    async def _ask(self, method: str, *given: object, more_s: float = 0.0) -> object:
        """Raises: StoreUnreachable."""
        try:
            async with asyncio.timeout(ANSWER_S + more_s):
                if self._actor is None:
                    self._actor = await asyncio.to_thread(self._find)
                answer = await self._actor(method).remote(*given)
        except Exception as error:
            self._actor = None
            raise StoreUnreachable(
                f"The cluster's actor {NAME!r} does not answer ({type(error).__name__}): it is "
                "started again where its machine was lost; `ray list actors` shows it."
            ) from error
        self._answered = True
        return answer
