"""The addresses of the server, as a starlette application."""

from __future__ import annotations

import importlib.util
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute

from s2s.transport.page import PAGE_HEADERS, page_file
from s2s.transport.server.audio_api.catalogue import Catalogue
from s2s.transport.server.audio_api.chat import ChatEndpoint
from s2s.transport.server.audio_api.speech import SpeechEndpoint
from s2s.transport.server.audio_api.transcriptions import TranscriptionsEndpoint
from s2s.transport.server.codec_route import SpeechStreamRoute
from s2s.transport.server.realtime_route import RealtimeRoute
from s2s.transport.server.reply import ApiError
from s2s.transport.server.resume import HEADER
from s2s.transport.server.server import Endpoint, Server
from s2s.transport.server.slow_readers import SlowReadersGo

if TYPE_CHECKING:
    from s2s.transport.webrtc.calls import CallRoutes


def make_app(server: Server) -> Starlette:
    """The application of one server."""
    catalogue, realtime = Catalogue(server), RealtimeRoute(server)
    codes = SpeechStreamRoute(server)
    calls = _calls(server, realtime)

    def route(
        path: str, endpoint: Endpoint, method: str = "GET", *, needs_key: bool = True
    ) -> Route:
        guarded = server.guarded(path, endpoint, needs_key=needs_key, computes=method == "POST")
        return Route(path, guarded, methods=[method])

    routes = [
        WebSocketRoute("/v1/realtime", realtime.connect if calls is None else calls.connect),
        *([] if calls is None else calls.routes()),
        WebSocketRoute("/v1/audio/speech/stream", codes.connect),
        route("/v1/realtime", realtime.asked_by_http, needs_key=False),
        route("/v1/realtime/client_secrets", catalogue.client_secrets, "POST"),
        route("/v1/audio/speech", SpeechEndpoint(server), "POST"),
        route("/v1/audio/transcriptions", TranscriptionsEndpoint(server), "POST"),
        route("/v1/audio/voices", catalogue.voices),
        route("/v1/chat/completions", ChatEndpoint(server), "POST"),
        route("/v1/models", catalogue.models),
        route("/v1/models/{name:path}", catalogue.model),
        route("/metrics", catalogue.metrics),
        route("/metrics/replica", catalogue.own_metrics),
        route("/health", catalogue.health, needs_key=False),
        route("/ready", catalogue.ready, needs_key=False),
        route("/{path:path}", _page, needs_key=False),
    ]
    middleware = [
        Middleware(SlowReadersGo, after_s=server.config.slow_reader_s),
        Middleware(
            CORSMiddleware,
            allow_origins=list(server.config.origins),
            allow_methods=["*"],
            allow_headers=["*"],
            expose_headers=["Location", HEADER],
        ),
    ]
    return Starlette(routes=routes, middleware=middleware, lifespan=_lifespan(server, codes, calls))


def _calls(server: Server, realtime: RealtimeRoute) -> CallRoutes | None:
    """WebRTC, where it is installed."""
    if importlib.util.find_spec("aiortc") is None:
        return None
    from s2s.transport.webrtc.calls import CallRoutes

    return CallRoutes(server, realtime)


async def _page(request: Request) -> Response:
    """A file of the web page."""
    found = page_file(request.url.path)
    if found is None:
        raise ApiError(
            404, "not_found", "There is nothing here; docs/server.md lists the addresses."
        )
    return Response(found.content, headers=dict(PAGE_HEADERS), media_type=found.media_type)


def _lifespan(
    server: Server, codes: SpeechStreamRoute, calls: CallRoutes | None
) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    """Ends the server's threads with the application."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        keeping = server.keeping
        if keeping is not None:
            keeping.start()
        try:
            yield
        finally:
            if calls is not None:
                await calls.close()
            codes.close()
            if keeping is not None:
                await keeping.close()
            server.workers.close()

    return lifespan
