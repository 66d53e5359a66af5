"""One client's connection, from the first event to the last: texts in and out, a session behind.

Runs as a task of an event loop; the session has threads of its own, and hands over what it says.
Knows no server: it is given a pair of receive and send.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from s2s.core.clock import Clock
from s2s.core.untyped import is_object
from s2s.transport.client_playback import ClientSound
from s2s.transport.client_transport import ClientTransport, OpenSession
from s2s.transport.realtime.commands import IdNumbers
from s2s.transport.realtime.faults import ClientFault
from s2s.transport.realtime.limits import Limits
from s2s.transport.realtime.meaning import answering_of, hearing_of
from s2s.transport.realtime.protocol import RealtimeProtocol
from s2s.transport.realtime.send_queue import SendQueue
from s2s.transport.realtime.server_playback import CallSound, ServerPlayback
from s2s.transport.realtime.session_object import (
    SessionDefaults,
    SessionKind,
    SessionObject,
    checked_session,
)
from s2s.transport.realtime.wire.parse import parse_settings

log = logging.getLogger(__name__)

MAX_WAITING_CHARACTERS = 16 << 20
"""Of what is to be sent: with more, the client's next event waits until it has read some."""

REPORT_S = 0.2
"""Of a call's sound that left are told to the session together."""

IDS_AHEAD = 1_000
"""A process that was lost may have given so many ids of which it had written nothing."""

COMMIT_S = 5.0
"""A commit is an item after so long at most, or it became part of another turn."""

EXPIRED_CODE = 1000
"""How the socket is closed at the end: clients that reconnect by themselves do not on this one."""


class TextSocket(Protocol):
    """Whole texts to and from one client."""

    async def receive_text(self) -> str | None:
        """The next; None when the client has gone."""
        ...

    async def send_text(self, text: str, /) -> None:
        """Waits while the client reads slowly.

        Raises:
            ConnectionError: the client has gone.
        """
        ...

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Idempotent."""
        ...


@dataclass(frozen=True, slots=True)
class KeptConversation:
    """What a connection leaves behind, so that another one of the same client goes on with it."""

    session: SessionObject
    ids: IdNumbers
    kept: object
    """As the session behind gave it, or wrote it in another process."""


@dataclass(frozen=True, slots=True)
class ConnectionRequest:
    """What is known of a client before its first event."""

    model: str = ""
    """The name it asked for; any is taken."""
    session: Mapping[str, object] | None = None
    """Settings that came with its secret."""
    kind: SessionKind = "realtime"
    resumed: KeptConversation | None = None
    may_resume: bool = False
    on_error: Callable[[str], None] = field(default=lambda _code: None)
    keep: Callable[[Callable[[], Mapping[str, object]]], None] | None = None
    """Told whenever there is more to be kept than before: given what gives the conversation as
    plain values of JSON, which `RealtimeService.restored` takes."""
    trouble: str = ""
    """Why the client cannot go on with what it may have left elsewhere: it is told."""
    call: CallSound | None = None
    """Its sound, where that comes beside the events."""


@dataclass(frozen=True, slots=True)
class RealtimeService:
    """Holds conversations over the Realtime protocol."""

    open_session: OpenSession
    clock: Clock
    rate_hz: int
    """Of the answers' sound between the session and here: the voice's own is best."""
    instructions: str
    voice: str
    """The default one's name, as clients are told it."""
    voices: frozenset[str] = frozenset()
    model: str = "s2s"
    """The name of a session's model where the client asked for none."""
    limits: Limits = field(default_factory=Limits)
    max_session_s: float = 24 * 3600.0
    """A session that lasts longer is ended with the error `session_expired`."""

    def session_object(self, request: ConnectionRequest, session_id: str) -> SessionObject:
        """The session that a client begins with.

        Raises:
            SessionFieldError, ClientFault: the settings that came with its secret cannot be.
        """
        session = SessionObject(
            session_id,
            self._defaults(request.model),
            expires_at=int(time.time() + self.max_session_s),
            kind=request.kind,
            limits=self.limits,
        )
        if request.session is not None:
            given = dict(request.session)
            if request.model:
                given.pop("model", None)  # the address has the last word
            session.update(parse_settings(given))
        return session

    def validate_session(self, settings: Mapping[str, object]) -> dict[str, object]:
        """The whole session that a client secret with these settings is for.

        Raises:
            ClientFault: they cannot be; `SessionFieldError` where a field is wrong.
        """
        fresh = self.session_object(ConnectionRequest(), f"sess_{_new_id()}")
        return checked_session(settings, fresh)

    def restored(self, written: Mapping[str, object], model: str = "") -> KeptConversation | None:
        """The conversation that a connection in another process told to `ConnectionRequest.keep`;
        None where that cannot be read. model: the one that the client asks for now."""
        session, used = written.get("session"), written.get("used")
        try:
            if not is_object(session) or not isinstance(used, int):
                raise ValueError("no session, or no number of its ids")
            made = SessionObject.restored(session, self._defaults(model), self.limits)
        except (ValueError, ClientFault) as error:
            log.error("what another process wrote of a session cannot be read: %s", error)
            return None
        return KeptConversation(made, IdNumbers(made.short_id, used + IDS_AHEAD), written)

    def _defaults(self, model: str) -> SessionDefaults:
        return SessionDefaults(
            model or self.model,
            self.voice,
            self.instructions,
            self.voices,
            model_named=bool(model),
        )

    async def converse(
        self, socket: TextSocket, request: ConnectionRequest
    ) -> KeptConversation | None:
        """The life of one connection. Returns when the client has gone or the session ended.

        What it returns lets a later connection go on with the conversation, where that was asked.
        """
        connection = _Connection(self, socket, request)
        try:
            await connection.run()
        finally:
            kept = await connection.end()
        return kept


class _Connection:
    def __init__(
        self, service: RealtimeService, socket: TextSocket, request: ConnectionRequest
    ) -> None:
        self._socket = socket
        self._request = request
        self._max_session_s = service.max_session_s
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._to_send = asyncio.Event()
        self._ready = asyncio.Event()
        self._read = asyncio.Event()
        resumed = request.resumed
        if resumed is None:
            self._session = service.session_object(request, f"sess_{_new_id()}")
        else:
            self._session = resumed.session
        short_id = self._session.short_id
        self._ids = resumed.ids if resumed else IdNumbers(short_id)
        transport = ClientTransport(
            service.clock, service.rate_hz, self._on_sound, on_room=self._set(self._ready)
        )
        self._outbox = SendQueue(_new_id(), self._to_send.set, transport.sent)
        self._protocol = RealtimeProtocol(
            self._session,
            self._outbox,
            service.rate_hz,
            limits=service.limits,
            on_news=self._set(self._news),
            on_error=request.on_error,
        )
        self._kept_changes: tuple[int, int, int] | None = None
        """Of what was told to be kept."""
        self._control = service.open_session(
            transport,
            self._protocol.session_event,
            session_id=_new_id() if resumed else short_id,
            answering=answering_of(self._session),
            hearing=hearing_of(self._session),
            kept=resumed.kept if resumed else None,
        )
        self._transport = transport
        if request.call is not None:
            playback = ServerPlayback(
                service.rate_hz,
                transport.sent,
                self._protocol.playback_changed,
                report_samples=int(REPORT_S * service.rate_hz),
            )
            self._protocol.playback = playback
            request.call.attach(playback, transport.hear)

    async def run(self) -> None:
        """Until the client has gone, or the session is over."""
        self._protocol.begin(self._control, self._transport, self._ids)
        if self._request.trouble:
            self._protocol.cannot_go_on(self._request.trouble)
        self._keep()
        tasks = [
            self._loop.create_task(each) for each in (self._receive(), self._send(), self._listen())
        ]
        expiry = self._loop.call_later(self._max_session_s, self._expire)
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                if not isinstance(error := task.exception(), ConnectionError) and error:
                    raise error
        finally:
            expiry.cancel()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def end(self) -> KeptConversation | None:
        """End the session behind; what is left of it, if the client may go on with it."""
        await asyncio.shield(asyncio.to_thread(self._control.close))
        self._keep()
        if not self._request.may_resume:
            return None
        return KeptConversation(self._session, self._ids, self._control.kept)

    def _keep(self) -> None:
        """Tell where there is more to be kept than before."""
        if (keep := self._request.keep) is None:
            return
        changes = (self._control.changes, self._session.changes, self._ids.used)
        if changes != self._kept_changes:
            self._kept_changes = changes
            keep(self._written)

    def _written(self) -> Mapping[str, object]:
        session, used = self._session.written(), self._ids.used
        return {"session": session, "used": used, **self._control.written()}

    def _set(self, event: asyncio.Event) -> Callable[[], None]:
        """Sets `event` from any thread."""

        def set_it() -> None:
            if not self._loop.is_closed():
                self._loop.call_soon_threadsafe(event.set)

        return set_it

    def _on_sound(self, sound: ClientSound) -> None:
        self._protocol.session_sound(sound.response, sound.block, sound.text)

    async def _receive(self) -> None:
        """What the client says; no further than there is room for what comes of it."""
        while (text := await self._socket.receive_text()) is not None:
            self._protocol.client_text(text)
            self._keep()
            await self._until_ready()
            while self._outbox.characters > MAX_WAITING_CHARACTERS:
                self._read.clear()
                await self._read.wait()

    async def _until_ready(self) -> None:
        """Until what the client said last has been heard, and committed."""
        commands = self._protocol.commands
        if commands.ready():
            return
        patience = self._loop.call_later(COMMIT_S, self._give_up_commits)
        while not commands.ready():
            self._ready.clear()
            if not commands.ready():
                await self._ready.wait()
        patience.cancel()

    def _give_up_commits(self) -> None:
        self._protocol.commands.give_up_commits()
        self._ready.set()

    async def _listen(self) -> None:
        """What the session says."""
        while True:
            await self._news.wait()
            self._news.clear()
            self._protocol.catch_up()
            self._keep()
            self._ready.set()

    async def _send(self) -> None:
        """What the client is told."""
        while True:
            self._to_send.clear()
            while (frame := self._outbox.take()) is not None:
                await self._socket.send_text(frame.text)
                self._outbox.was_sent(frame)
                self._read.set()
            if self._expired:
                await self._socket.close(EXPIRED_CODE, "session_expired")
                return
            await self._to_send.wait()

    _expired = False

    def _expire(self) -> None:
        self._protocol.expire()
        self._expired = True
        self._to_send.set()


def _new_id() -> str:
    """A session's short id: part of all its others, of which clients take 32 characters."""
    return secrets.token_hex(5)
