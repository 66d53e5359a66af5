"""One process of sessions: the very same application as `serve` on one machine, in an engine that
starts, watches and ends such processes. Knows no Ray: what of it is needed is handed in.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from s2s.app.cluster.calls import CallLoop
from s2s.app.cluster.plan import ClusterPlan
from s2s.app.cluster.remote_models import (
    ModelHandles,
    remote_chat,
    remote_transcriber,
    remote_voice,
)
from s2s.app.loading import Elsewhere, close_models
from s2s.app.serving.command import codes_of, model_names
from s2s.app.serving.conversing import Conversing
from s2s.app.serving.stores import make_store
from s2s.config.schema import Config
from s2s.session.models import Models
from s2s.transport.cluster.replica_sockets import App, ReplicaSockets
from s2s.transport.server.app import make_app
from s2s.transport.server.metrics import ServerMetrics
from s2s.transport.server.run import SocketLimits
from s2s.transport.server.server import Server

log = logging.getLogger(__name__)

LOOK_S = 0.25
"""Between two looks whether the engine has decided that this process ends."""


@dataclass(frozen=True, slots=True)
class ServedSessions:
    """What serves the clients of one process."""

    models: Models
    conversing: Conversing
    server: Server
    calls: CallLoop

    async def drain(self, within_s: float) -> None:
        """Let nobody else in; close each connection once its answer is over, or it is late."""
        await self.conversing.drain(self.server, within_s)

    def close(self) -> None:
        """End what still runs, and free the models."""
        self.conversing.close()
        self.calls.close()
        close_models(self.models)


def served_sessions(plan: ClusterPlan, handles: ModelHandles) -> ServedSessions:
    """Load the models, and make a server of them.

    Raises:
        StoreError, RegistryError, StageError, PlanError: it cannot be, and why.
    """
    config = plan.config()
    key = plan.key(config)
    calls = CallLoop()
    models = plan.models(log.warning, elsewhere(config, handles, calls))
    metrics = ServerMetrics()
    conversing = Conversing(config, models, metrics, (key,) if key else ())
    services = conversing.services(model_names(config), codes_of(config, models))
    store = make_store(config.serve, clustered=True)
    server = Server(config.serve, key, services, metrics, store)
    return ServedSessions(models, conversing, server, calls)


def elsewhere(config: Config, handles: ModelHandles, calls: CallLoop) -> Elsewhere:
    """The models that have processes of their own."""
    cluster = config.cluster
    wait_s, start_s = cluster.model_wait_s, cluster.start_s
    stt, llm, tts = handles.stt, handles.llm, handles.tts
    return Elsewhere(
        None if stt is None else lambda: remote_transcriber(stt, wait_s, calls),
        None if llm is None else lambda: remote_chat(llm, wait_s, calls),
        None if tts is None else lambda: remote_voice(tts, wait_s, start_s, calls),
    )


class SessionProcess:
    """A process of sessions.

    Args:
        plan: what it is told.
        handles: of the models that have processes of their own.
        ends: whether the engine has decided that it ends, where its sockets do not tell.
    """

    def __init__(
        self, plan: ClusterPlan, handles: ModelHandles, ends: Callable[[], bool] = lambda: False
    ) -> None:
        self._plan = plan
        self._handles = handles
        self._ends = ends
        self._served: ServedSessions | None = None
        self._watch: asyncio.Task[None] | None = None

    async def begin(self) -> App:
        """Load the models in a thread, and give the application; before the engine listens."""
        served = await asyncio.to_thread(served_sessions, self._plan, self._handles)
        self._served = served
        sockets = ReplicaSockets(SocketLimits.of(served.server.config))
        sockets.install()

        async def ends() -> bool:
            return await sockets.ends() if sockets.listening else self._ends()

        drain_s = self._plan.config().cluster.drain_s
        self._watch = asyncio.create_task(drain_at_the_end(served, ends, drain_s))
        return make_app(served.server)

    def check(self) -> None:
        """Whether it works; the engine replaces it where this raises."""
        if self._watch is not None and self._watch.done() and not self._watch.cancelled():
            self._watch.result()

    def end(self) -> None:
        """Every client has gone: free the models."""
        if self._watch is not None:
            self._watch.cancel()
        if self._served is not None:
            self._served.close()


async def drain_at_the_end(
    served: ServedSessions,
    ends: Callable[[], Awaitable[bool]],
    drain_s: float,
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Wait until the engine has decided that this process ends, then drain it."""
    while not await ends():
        await pause(LOOK_S)
    await served.drain(drain_s)
