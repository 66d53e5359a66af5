"""`/v1/realtime/calls`: calls begun, taken up, hung up, and sockets beside them.

Who comes back to what: docs/decisions/the-page-calls-first.md.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.websockets import WebSocket

from s2s.transport.server.access import sub_protocols
from s2s.transport.server.client_secrets import ClientSecret
from s2s.transport.server.handover import ClientOpening, SessionRefused, SocketGone
from s2s.transport.server.kept.keeping import Came
from s2s.transport.server.realtime_route import SUB_PROTOCOL, Caller, RealtimeRoute
from s2s.transport.server.reply import ApiError
from s2s.transport.server.resume import HEADER
from s2s.transport.server.server import Endpoint, Server
from s2s.transport.server.web_socket import ServerSocket
from s2s.transport.webrtc.call import BadOffer, PeerCall
from s2s.transport.webrtc.channel import ChannelSocket
from s2s.transport.webrtc.offer import CallOffer, read_offer
from s2s.transport.webrtc.tracks import WebRtcSound

log = logging.getLogger(__name__)

PATH = "/v1/realtime/calls"
OF_PHONES = ("accept", "reject", "refer")
"""What may be done with calls of the telephone network, which do not come here."""


class _Stay:
    """A client's place and what it comes back to, from its offer until its call is over."""

    def __init__(self, realtime: RealtimeRoute, client: Caller) -> None:
        self._realtime = realtime
        self._client = client
        self._here = False
        self.came = Came()
        self.earlier: object | None = None
        """What its earlier connection left, until it is gone on with."""

    async def begin(self, take_over: Callable[[], None]) -> None:
        """See `Resumable.enter`."""
        self.came = await self._realtime.enter(self._client, take_over)
        self.earlier = self.came.earlier
        self._here = True

    def take(self) -> object | None:
        """Go on with that."""
        earlier, self.earlier = self.earlier, None
        return earlier

    def end(self, state: object | None, socket: ChannelSocket) -> None:
        """It has gone, and `state` is kept for its return unless it is done. Idempotent."""
        if self._here:
            self._here = False
            done = socket.left_on_purpose
            self._realtime.left(self._client, None if done else state, done=done)


class CallRoutes:
    """The calls of one server, on its event loop."""

    def __init__(self, server: Server, realtime: RealtimeRoute) -> None:
        self._server = server
        self._realtime = realtime
        self._calls: dict[str, PeerCall] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def routes(self) -> list[Route]:
        """Their addresses."""
        server = self._server

        def route(path: str, endpoint: Endpoint) -> Route:
            guarded = server.guarded(path, endpoint, needs_key=False)
            return Route(path, guarded, methods=["POST"])

        return [
            route(PATH, self.begin),
            route(f"{PATH}/{{call_id}}/hangup", self.hang_up),
            *(route(f"{PATH}/{{call_id}}/{name}", self.of_phones) for name in OF_PHONES),
        ]

    async def begin(self, request: Request) -> Response:
        """`POST`: an offer is answered, and the call begins, or goes on with what an earlier
        connection of the client left."""
        client = await self._realtime.admitted(request.headers)
        offer = await read_offer(request)
        session = self._session(offer, client.secret)
        self._realtime.take_place(client)
        model = request.query_params.get("model", "")
        stay = _Stay(self._realtime, client)

        async def serve(channel: ChannelSocket, sound: WebRtcSound) -> None:
            opening = ClientOpening(
                model=model,
                session=session,
                resumed=stay.take(),
                may_resume=self._server.config.resume_s > 0,
                on_error=self._count_error,
                keep=stay.came.keep,
                trouble=stay.came.trouble,
                call=sound,
            )
            stay.end(await self._server.services.converse(channel, opening), channel)

        socket = ChannelSocket(self._server.config, self._count_error)
        call = PeerCall(self._server.config, socket, serve)
        try:
            await stay.begin(call.hang_up)
            sdp = await call.answer(offer.sdp)
        except BaseException as error:
            await call.close()
            stay.end(stay.earlier, socket)
            if isinstance(error, BadOffer):
                raise ApiError(400, "invalid_offer", str(error), param="sdp") from error
            raise
        self._calls[call.call_id] = call
        task = asyncio.create_task(self._run(call, stay))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self._realtime.count_begun(stay.earlier)
        headers = {"Location": f"{PATH}/{call.call_id}", HEADER: client.token}
        return Response(sdp, 201, headers, media_type="application/sdp")

    async def hang_up(self, request: Request) -> Response:
        """`POST .../hangup`."""
        await self._realtime.admitted(request.headers)
        self._call(request.path_params["call_id"]).socket.leave()
        return Response(status_code=200)

    async def of_phones(self, request: Request) -> Response:
        """What only calls of the telephone network have."""
        await self._realtime.admitted(request.headers)
        self._call(request.path_params["call_id"])
        raise ApiError(400, "invalid_request", "This is no call of the telephone network.")

    async def connect(self, websocket: WebSocket) -> None:
        """`/v1/realtime`: with `call_id` beside a call, else a session of its own."""
        call_id = websocket.query_params.get("call_id")
        if call_id is None:
            await self._realtime.connect(websocket)
            return
        try:
            await self._realtime.admitted(websocket.headers)
            call = self._call(call_id)
        except ApiError as error:
            await websocket.send_denial_response(self._server.refused(error))
            return
        chosen = SUB_PROTOCOL if SUB_PROTOCOL in sub_protocols(websocket.headers) else None
        await websocket.accept(subprotocol=chosen)
        try:
            async with ServerSocket(websocket, self._server.config, self._count_error) as socket:
                await call.socket.beside(socket)
        except SocketGone:
            pass

    async def close(self) -> None:
        """The server ends."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _run(self, call: PeerCall, stay: _Stay) -> None:
        how = "client"
        try:
            await call.run()
        except Exception:
            how = "failed"
            log.exception("a call failed")
            self._server.metrics.count("s2s_errors_total", where="session", code="internal")
        finally:
            self._calls.pop(call.call_id, None)
            stay.end(stay.earlier, call.socket)
            self._server.metrics.count("s2s_connections_ended_total", how=how)

    def _call(self, call_id: str) -> PeerCall:
        call = self._calls.get(call_id)
        if call is None:
            raise ApiError(404, "call_not_found", f"There is no call {call_id[:60]!r}.")
        return call

    def _session(
        self, offer: CallOffer, secret: ClientSecret | None
    ) -> Mapping[str, object] | None:
        """The session that the call begins with."""
        if offer.session is None:
            return None if secret is None else secret.session
        try:
            return self._server.services.validate_session(offer.session)
        except SessionRefused as error:
            raise ApiError(400, error.code, str(error), param=error.param) from error

    def _count_error(self, code: str) -> None:
        self._server.metrics.count("s2s_errors_total", where="event", code=code)
