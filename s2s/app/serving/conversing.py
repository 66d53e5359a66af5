"""The conversations of a server's clients: what joins the socket, the protocol and the session."""

from __future__ import annotations

from collections.abc import Mapping

from s2s.config.schema import Config
from s2s.core.clock import SystemClock
from s2s.core.control import Answering, Hearing, SessionControl
from s2s.core.events import EventSink, to_all
from s2s.core.metrics import Metrics
from s2s.session.client.session import ClientSessions
from s2s.session.models import Models
from s2s.transport.client_transport import ClientTransport
from s2s.transport.realtime.connection import (
    ConnectionRequest,
    KeptConversation,
    RealtimeService,
)
from s2s.transport.realtime.faults import ClientFault
from s2s.transport.realtime.limits import Limits
from s2s.transport.server.handover import ClientOpening, ClientSocket, Services, SessionRefused
from s2s.transport.server.metrics import ServerMetrics

TIMELINES = 16
"""Kept of each session: the server's metrics have them all, added up."""


class Conversing:
    """Opens a session for each client, on models that all share.

    Args:
        config: the settings.
        models: loaded and warm.
        metrics: where it is counted what happens.
    """

    def __init__(self, config: Config, models: Models, metrics: ServerMetrics) -> None:
        self._config = config
        self._models = models
        self._metrics = metrics
        self._sessions = ClientSessions(
            models,
            config.session,
            metrics=lambda: Metrics(on_finished=metrics.on_timeline, keep=TIMELINES),
        )
        capabilities = models.synthesizer.capabilities
        limits = config.serve
        self._service = RealtimeService(
            self._open,
            SystemClock(),
            capabilities.sample_rate_hz,
            config.session.system_prompt,
            next(iter(capabilities.voices), "default"),
            frozenset(capabilities.voices),
            limits=Limits(items=limits.max_items, text_chars=limits.max_text_chars),
        )

    def services(self, models: Mapping[str, str]) -> Services:
        """What the server works with. models: name of each in use -> what it does."""
        shared = self._models
        return Services(
            shared.transcriber,
            shared.chat,
            shared.synthesizer,
            shared.vad,
            shared.compute,
            self._converse,
            self._validated,
            self._config.session.language,
            models,
        )

    async def _converse(self, socket: ClientSocket, opening: ClientOpening) -> object | None:
        resumed = opening.resumed
        request = ConnectionRequest(
            opening.model,
            opening.session,
            "transcription" if opening.intent == "transcription" else "realtime",
            resumed if isinstance(resumed, KeptConversation) else None,
            opening.may_resume,
            opening.on_error,
            opening.call,
        )
        return await self._service.converse(socket, request)

    def _validated(self, session: Mapping[str, object]) -> Mapping[str, object]:
        try:
            return self._service.validate_session(session)
        except ClientFault as fault:
            raise SessionRefused(str(fault), param=fault.param, code=fault.code) from fault

    def _open(
        self,
        transport: ClientTransport,
        events: EventSink,
        *,
        session_id: str,
        answering: Answering,
        hearing: Hearing,
        kept: object | None = None,
    ) -> SessionControl:
        return self._sessions(
            transport,
            to_all(events, self._metrics.on_event),
            session_id=session_id,
            answering=answering,
            hearing=hearing,
            kept=kept,
        )
