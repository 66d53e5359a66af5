"""Clients of a cluster: each holds one conversation, knows how long the way there and back takes,
and comes back by its token when its connection is lost.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from s2s.bench.load.clients import SILENCE
from s2s.core.untyped import is_object
from s2s.transport.server.resume import HEADER

OPEN_S = 10.0
"""A handshake that takes longer has failed."""
ANSWER_S = 20.0
"""So has an answer."""
AGAIN_S = 0.05
"""Between two tries to come back."""
BACK_S = 15.0
"""Who is not back by then stays away."""


@dataclass(frozen=True, slots=True)
class NotLetIn:
    """A client that was not let in."""

    status: int
    after_ms: float


class Gone(ConnectionError):
    """The connection was lost. `code` is the close code, None without a close frame."""

    def __init__(self, code: int | None) -> None:
        super().__init__(f"closed with {code}")
        self.code = code


@dataclass(slots=True)
class Lost:
    """What became of the connections of one client."""

    codes: list[int | None] = field(default_factory=list)
    back_s: list[float] = field(default_factory=list)
    """From the loss to the next conversation."""


class ClusterClient:
    """One conversation."""

    def __init__(self, port: int) -> None:
        self._url = f"ws://127.0.0.1:{port}/v1/realtime?model=bench"
        self._socket: ClientConnection | None = None
        self.token: str | None = None
        self.lost = Lost()
        self.items: list[str] = []
        """Ids of what was said."""

    async def connect(self) -> NotLetIn | None:
        """Begin, or go on with, the conversation; what it is told where it is not let in."""
        headers = {HEADER: self.token} if self.token is not None else {}
        began_s = time.perf_counter()
        try:
            socket = await connect(
                self._url,
                additional_headers=headers,
                max_size=None,
                compression=None,
                open_timeout=OPEN_S,
                proxy=None,
            )
        except InvalidStatus as error:
            return NotLetIn(error.response.status_code, 1000 * (time.perf_counter() - began_s))
        response = socket.response
        assert response is not None
        self.token = response.headers[HEADER]
        self._socket = socket
        await self._until("session.created")
        return None

    async def come_back(self) -> None:
        """Try until the conversation goes on.

        Raises:
            TimeoutError: it does not.
        """
        began_s = time.perf_counter()
        async with asyncio.timeout(BACK_S):
            while True:
                try:
                    if await self.connect() is None:
                        break
                except (OSError, Gone, TimeoutError):
                    pass
                await asyncio.sleep(AGAIN_S)
        self.lost.back_s.append(time.perf_counter() - began_s)

    async def ask(self, text: str = "Is this a question?") -> str:
        """Ask and hear the answer to its end; how it ended.

        Raises:
            Gone: the connection was lost.
        """
        await self.begin_asking(text)
        return await self.answered()

    async def begin_asking(self, text: str) -> None:
        """Ask, and wait until the answer has begun."""
        content = [{"type": "input_text", "text": text}]
        item = {"type": "message", "role": "user", "content": content}
        await self._send({"type": "conversation.item.create", "item": item})
        created = await self._until("conversation.item.done")
        made = created["item"]
        assert is_object(made)
        self.items.append(str(made["id"]))
        await self._send({"type": "response.create"})
        await self._until("response.created")

    async def first_sound(self) -> None:
        """Wait for it."""
        await self._until("response.output_audio.delta")

    async def answered(self) -> str:
        """Hear the answer to its end."""
        done = await self._until("response.done")
        response = done["response"]
        assert is_object(response)
        return str(response["status"])

    async def remembers(self) -> bool:
        """The server still has the first that was said."""
        await self._send({"type": "conversation.item.retrieve", "item_id": self.items[0]})
        event = await self._until("conversation.item.retrieved", "error")
        return event["type"] == "conversation.item.retrieved"

    async def there_and_back_ms(self) -> float:
        """How long the way to the conversation and back takes."""
        began_s = time.perf_counter()
        await self._send({"type": "input_audio_buffer.clear"})
        await self._until("input_audio_buffer.cleared")
        return 1000 * (time.perf_counter() - began_s)

    async def send_silence(self) -> None:
        """100 ms of it, as a microphone does all the time."""
        await self._send_text(SILENCE)

    async def leave(self) -> None:
        """End the conversation for good."""
        if self._socket is not None:
            await self._socket.close()

    async def _send(self, event: Mapping[str, object]) -> None:
        await self._send_text(json.dumps(event))

    async def _send_text(self, text: str) -> None:
        assert self._socket is not None
        try:
            await self._socket.send(text)
        except ConnectionClosed as error:
            raise self._gone(error) from error

    async def _until(self, *kinds: str) -> dict[str, object]:
        """The next event of these kinds; others are passed over."""
        assert self._socket is not None
        try:
            async with asyncio.timeout(ANSWER_S):
                while True:
                    event: object = json.loads(await self._socket.recv())
                    assert is_object(event)
                    if event["type"] in kinds:
                        return event
        except ConnectionClosed as error:
            raise self._gone(error) from error

    def _gone(self, error: ConnectionClosed) -> Gone:
        code = None if error.rcvd is None else error.rcvd.code
        self.lost.codes.append(code)
        return Gone(code)


async def connected(port: int, number: int) -> list[ClusterClient]:
    """So many conversations.

    Raises:
        RuntimeError: one is not let in.
    """
    talkers: list[ClusterClient] = []
    for _ in range(number):
        talker = ClusterClient(port)
        if (refused := await talker.connect()) is not None:
            await leave(talkers)
            raise RuntimeError(f"client {len(talkers) + 1} of {number}: {refused}")
        talkers.append(talker)
    return talkers


async def leave(talkers: list[ClusterClient]) -> None:
    """End them all."""
    await asyncio.gather(*(each.leave() for each in talkers), return_exceptions=True)


async def ways_ms(
    talkers: list[ClusterClient], seconds: float, every_s: float = 0.1
) -> list[list[float]]:
    """The way there and back of each of them, all along, while each sends silence; those of a
    client that is lost end there."""
    until_s = time.perf_counter() + seconds

    async def one(number: int, talker: ClusterClient) -> list[float]:
        found: list[float] = []
        due_s = time.perf_counter() + every_s * number / len(talkers)
        while due_s < until_s:
            await asyncio.sleep(max(0.0, due_s - time.perf_counter()))
            try:
                await talker.send_silence()
                found.append(await talker.there_and_back_ms())
            except (Gone, TimeoutError):
                break
            due_s += every_s
        return found

    return list(await asyncio.gather(*(one(*each) for each in enumerate(talkers))))
