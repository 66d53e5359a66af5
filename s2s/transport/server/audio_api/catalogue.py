"""What there is: `/v1/models`, `/v1/audio/voices`, `/health`, `/metrics`; and
`/v1/realtime/client_secrets`.
"""

from __future__ import annotations

import time

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from s2s.core.untyped import is_mapping
from s2s.transport.server.audio_api import fields
from s2s.transport.server.client_secrets import LONGEST_S, SHORTEST_S, USUAL_S, wall_s
from s2s.transport.server.handover import SessionRefused
from s2s.transport.server.reply import ApiError
from s2s.transport.server.server import Server

REALTIME_MODEL = "s2s"
"""The name of the whole: hearing, answering, speaking."""


def _figures(text: str) -> Response:
    return PlainTextResponse(text, media_type="text/plain; version=0.0.4")


class Catalogue:
    """These endpoints of one server."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._created = int(time.time())

    def _model(self, name: str) -> dict[str, object]:
        return {"id": name, "object": "model", "created": self._created, "owned_by": "s2s"}

    async def models(self, request: Request) -> Response:
        """The models in use."""
        names = dict.fromkeys([REALTIME_MODEL, *self._server.services.models])
        return JSONResponse({"object": "list", "data": [self._model(name) for name in names]})

    async def model(self, request: Request) -> Response:
        """One of them. Names are aliases: any that a client brings will do, everywhere."""
        return JSONResponse(self._model(request.path_params["name"]))

    async def voices(self, request: Request) -> Response:
        """The voices, in both forms that clients read."""
        names = self._server.services.synthesizer.capabilities.voices or ("default",)
        data = [{"id": name, "object": "audio.voice", "name": name} for name in names]
        return JSONResponse({"object": "list", "voices": list(names), "data": data})

    async def health(self, request: Request) -> Response:
        """Whether there is a place. Told without a key, and so nothing else. 503 where it ends:
        who distributes clients sends none any more."""
        sessions = self._server.sessions
        draining = self._server.draining
        status = "draining" if draining else "full" if sessions.full else "ok"
        return JSONResponse(
            {"status": status, "sessions": sessions.taken, "max_sessions": sessions.most},
            status_code=503 if draining else 200,
        )

    async def ready(self, request: Request) -> Response:
        """200 where a new client would be let in, 503 where not: for who distributes clients."""
        has_place = self._server.no_place() is None
        return JSONResponse({"ready": has_place}, status_code=200 if has_place else 503)

    async def metrics(self, request: Request) -> Response:
        """In the text form of Prometheus: of all servers of a cluster."""
        keeping = self._server.keeping
        return _figures(self._server.figures() if keeping is None else await keeping.together())

    async def own_metrics(self, request: Request) -> Response:
        """Those of this server alone."""
        return _figures(self._server.figures())

    async def client_secrets(self, request: Request) -> Response:
        """A short-lived key for one client, made by who has the server's."""
        body = await fields.json_object(request)
        expires = body.get("expires_after")
        if expires is not None and not is_mapping(expires):
            raise fields.wrong_type("expires_after", "an object")
        lives_s = fields.number(expires or {}, "seconds", USUAL_S, SHORTEST_S, LONGEST_S)
        session = body.get("session")
        if session is not None and not is_mapping(session):
            raise fields.wrong_type("session", "an object")
        try:
            whole = self._server.services.validate_session(session or {"type": "realtime"})
        except SessionRefused as error:
            raise ApiError(400, error.code, str(error), param=error.param) from error
        secret = await self._server.secrets.make(whole, int(lives_s), wall_s())
        return JSONResponse(
            {"value": secret.value, "expires_at": secret.expires_at, "session": dict(whole)}
        )
