"""The upgrade of `/v1/realtime`: who gets a connection, and what becomes of it at its end.

Whoever is refused is told by an HTTP status before the upgrade:
docs/decisions/refused-before-the-upgrade.md.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from starlette.requests import Request
from starlette.responses import Response
from starlette.websockets import WebSocket

from s2s.transport.server.access import sent_key, sub_protocols
from s2s.transport.server.client_secrets import ClientSecret, wall_s
from s2s.transport.server.handover import ClientOpening
from s2s.transport.server.kept.keeping import Came
from s2s.transport.server.reply import ApiError
from s2s.transport.server.resume import HEADER, Resumable, new_token, sent_token
from s2s.transport.server.server import Server
from s2s.transport.server.web_socket import TAKEN_OVER, ServerSocket

log = logging.getLogger(__name__)

SUB_PROTOCOL = "realtime"


class _Handle:
    """Ends a connection whose client has come again, also before it is quite there."""

    def __init__(self) -> None:
        self._socket: ServerSocket | None = None
        self._wanted = False

    def hold(self, socket: ServerSocket) -> None:
        """The connection is there."""
        self._socket = socket
        if self._wanted:
            self.take_over()

    def take_over(self) -> None:
        """Its client has come again."""
        self._wanted = True
        if self._socket is not None:
            self._socket.end(TAKEN_OVER, "resumed on another connection", "taken_over")


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks for a connection."""

    key: str
    """What it was let in with; "" where nothing is asked for."""
    token: str
    secret: ClientSecret | None
    came_with_token: bool = False
    """It may have been here before."""


class RealtimeRoute:
    """The endpoint `/v1/realtime` of one server."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._resumable: Resumable | None = None

    @property
    def resumable(self) -> Resumable:
        """Made with the first connection: it lives on the server's event loop."""
        if self._resumable is None:
            config = self._server.config
            now = asyncio.get_running_loop().time
            self._resumable = Resumable(config.resume_s, 2 * config.max_sessions, now)
        return self._resumable

    async def asked_by_http(self, request: Request) -> Response:
        """`GET` without an upgrade: what an upgrade would be answered, for browsers, which do not
        tell a page the status of a refused one."""
        await self.admitted(request.headers)
        if (refusal := self._server.no_place()) is not None:
            raise refusal
        raise ApiError(426, "upgrade_required", "This address speaks WebSocket: ws or wss.")

    async def connect(self, websocket: WebSocket) -> None:
        """Let a client in, have it served, and keep what it needs to go on later."""
        handle = _Handle()
        try:
            client = await self.admitted(websocket.headers)
            self.take_place(client)
        except ApiError as error:
            await websocket.send_denial_response(self._server.refused(error))
            return
        came = await self.enter(client, handle.take_over)
        state: object | None = None
        done = False
        try:
            await websocket.accept(
                subprotocol=_chosen(websocket.headers),
                headers=[(HEADER.encode(), client.token.encode())],
            )
            self.count_begun(came.earlier)
            state, done = await self._serve(websocket, client, came, handle)
        finally:
            self.left(client, state, done=done)

    def take_place(self, client: Caller) -> None:
        """There is a place for it, or an earlier connection of it has one.

        Raises:
            ApiError: all are taken.
        """
        server = self._server
        comes_again = self.resumable.is_open(client.token, client.key) and not server.draining
        if comes_again:
            return
        if (refusal := server.no_place()) is not None:
            raise refusal
        server.sessions.take()

    async def enter(self, client: Caller, take_over: Callable[[], None]) -> Came:
        """It comes, and has a place; what its earlier connection left, here or on another server.
        See `Resumable.enter`."""
        earlier = (await self.resumable.enter(client.token, client.key, take_over)).state
        if (keeping := self._server.keeping) is None:
            return Came(earlier)
        try:
            came = await keeping.begin(client.token, client.key, take_over, earlier)
        except BaseException:
            self.left(client, earlier)
            raise
        return came if client.came_with_token else replace(came, trouble="")

    def count_begun(self, earlier: object | None) -> None:
        """Its conversation begins, or goes on."""
        self._server.metrics.count("s2s_sessions_total")
        if earlier is not None:
            self._server.metrics.count("s2s_sessions_resumed_total")

    def left(self, client: Caller, state: object | None, *, done: bool = False) -> None:
        """It has gone; `state` is kept for its return, unless it is done."""
        if (keeping := self._server.keeping) is not None:
            state = keeping.end(client.token, client.key, state, done=done)
        if not self.resumable.leave(client.token, client.key, state):
            self._server.sessions.leave()
        if state is not None:
            keep_s = self._server.config.resume_s
            asyncio.get_running_loop().call_later(keep_s + 1, self.resumable.forget_old)

    async def _serve(
        self,
        websocket: WebSocket,
        client: Caller,
        came: Came,
        handle: _Handle,
    ) -> tuple[object | None, bool]:
        """The life of a connection; what is left for the client's return, and whether it is done
        and will not."""
        server = self._server
        opening = ClientOpening(
            model=websocket.query_params.get("model", ""),
            intent=websocket.query_params.get("intent", ""),
            session=None if client.secret is None else client.secret.session,
            resumed=came.earlier,
            may_resume=server.config.resume_s > 0,
            on_error=self._count_error,
            keep=came.keep,
            trouble=came.trouble,
        )
        state: object | None = None
        socket = ServerSocket(websocket, server.config, self._count_error)
        try:
            async with socket:
                handle.hold(socket)
                state = await server.services.converse(socket, opening)
        except Exception:
            log.exception("a session failed")
            server.metrics.count("s2s_errors_total", where="session", code="internal")
        how = socket.ended_by or "server"
        server.metrics.count("s2s_connections_ended_total", how=how)
        done = socket.left_on_purpose
        return None if done else state, done

    def _count_error(self, code: str) -> None:
        self._server.metrics.count("s2s_errors_total", where="event", code=code)

    async def admitted(self, headers: Mapping[str, str]) -> Caller:
        """Who asks, by its key and its token.

        Raises:
            ApiError: it is not let in.
        """
        server = self._server
        server.access.check_origin(headers)
        key = sent_key(headers)
        secret = await server.secrets.find(key, wall_s())
        if secret is None:
            server.access.check_key(key)
        try:
            token = sent_token(headers)
        except ValueError as error:
            raise ApiError(400, "invalid_resume_token", str(error)) from error
        known = key if key is not None and server.access.key is not None else ""
        return Caller(known, token or new_token(), secret, came_with_token=token is not None)


def _chosen(headers: Mapping[str, str]) -> str | None:
    """The sub-protocol that the server answers with."""
    return SUB_PROTOCOL if SUB_PROTOCOL in sub_protocols(headers) else None
