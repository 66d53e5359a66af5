"""The state of one server, and what every HTTP endpoint of it goes through: who may come in, what
is counted, and how a failure is told.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from contextlib import nullcontext

from starlette.requests import Request
from starlette.responses import Response

from s2s.core.errors import StageError
from s2s.transport.server.access import Access
from s2s.transport.server.config import ServeConfig
from s2s.transport.server.handover import Services
from s2s.transport.server.kept.keeping import Keeping
from s2s.transport.server.kept.shared_secrets import SharedSecrets
from s2s.transport.server.kept.store import ConversationStore
from s2s.transport.server.metrics import ServerMetrics
from s2s.transport.server.places import Places
from s2s.transport.server.reply import ApiError
from s2s.transport.server.worker import Workers

log = logging.getLogger(__name__)

Endpoint = Callable[[Request], Awaitable[Response]]

RETRY_FULL_S = 5
"""When a client that found the server full is asked to come again."""
RETRY_DRAINING_S = 1
"""When one that found it ending is: another one is there already, or soon."""


class Server:
    """What the endpoints of one server share.

    Args:
        config: its settings.
        key: what clients must send; None: nothing.
        services: the models, and who speaks with the clients of `/v1/realtime`.
        metrics: where it counts.
        store: where conversations are kept for all servers of a cluster; None: here alone.

    Raises:
        ValueError: other machines could come in without a key, and that was not asked for.
    """

    def __init__(
        self,
        config: ServeConfig,
        key: str | None,
        services: Services,
        metrics: ServerMetrics,
        store: ConversationStore | None = None,
    ) -> None:
        self.config = config
        self.access = Access.of(config, key)
        self.services = services
        self.metrics = metrics
        self.sessions = Places(config.max_sessions)
        self.secrets = SharedSecrets(store)
        self.workers = Workers(config.http_workers, config.http_waiting)
        self.keeping: Keeping | None = None
        """Of conversations outside this process."""
        if store is not None:
            self.keeping = Keeping(store, config.resume_s, self.figures, self._store_failed)
        self.draining = False
        """It ends: who is here finishes, nobody else is let in."""

    def figures(self) -> str:
        """What is counted here, in the text form of Prometheus."""
        gauges = {
            "s2s_sessions": float(self.sessions.taken),
            "s2s_sessions_max": float(self.sessions.most),
            "s2s_http_requests_waiting": float(self.workers.here),
        }
        return self.metrics.text(gauges)

    def _store_failed(self) -> None:
        self.metrics.count("s2s_errors_total", where="store", code="unreachable")

    def no_place(self) -> ApiError | None:
        """What a client is told for which there is no place; None: there is one."""
        if self.draining:
            return ApiError(
                503,
                "draining",
                "This server ends: come again, to another one.",
                retry_after_s=RETRY_DRAINING_S,
            )
        return self.session_limit() if self.sessions.full else None

    def session_limit(self) -> ApiError:
        """What a client is told when all places are taken."""
        return ApiError(
            503,
            "session_limit_reached",
            f"All {self.sessions.most} conversations of this server are taken. Come again.",
            retry_after_s=RETRY_FULL_S,
        )

    def refused(self, error: ApiError) -> Response:
        """Count that a client was not let in; the answer that tells it."""
        self.metrics.count("s2s_refused_total", reason=error.code)
        return error.response()

    def guarded(
        self, path: str, endpoint: Endpoint, *, needs_key: bool = True, computes: bool = False
    ) -> Endpoint:
        """`endpoint` behind the rules of access; whatever it raises is an answer. path: what it is
        counted as. computes: only so many of those at a time."""

        async def call(request: Request) -> Response:
            try:
                self.access.check(request.headers, needs_key=needs_key)
            except ApiError as error:
                return self._counted(path, self.refused(error))
            try:
                with self.workers.place() if computes else nullcontext():
                    response = await endpoint(request)
            except ApiError as error:
                response = error.response()
            except StageError as error:
                log.warning("%s: %s", path, type(error).__name__)
                self.metrics.count("s2s_errors_total", where="http", code=type(error).__name__)
                response = ApiError(502, "model_failed", str(error)).response()
            except Exception:
                log.exception("%s failed", path)
                self.metrics.count("s2s_errors_total", where="http", code="internal")
                response = ApiError(
                    500, "internal_error", "The server failed at this; its log says why."
                ).response()
            return self._counted(path, response)

        return call

    def _counted(self, path: str, response: Response) -> Response:
        status = str(response.status_code)
        self.metrics.count("s2s_http_requests_total", endpoint=path, status=status)
        return response
