"""The conversations of a server's clients: what joins the socket, the protocol and the session."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from s2s.app.recording import write_report
from s2s.config.schema import Config
from s2s.core.clock import SystemClock
from s2s.core.control import Answering, Hearing, SessionControl
from s2s.core.events import EventSink, to_all
from s2s.core.metrics import Metrics
from s2s.core.untyped import is_mapping
from s2s.records.files import RecordError
from s2s.records.recorder import RecordPlan, SessionRecorder
from s2s.session.client.session import ClientSession, ClientSessions
from s2s.session.models import Models
from s2s.transport.client_transport import ClientTransport
from s2s.transport.realtime.connection import (
    ConnectionRequest,
    KeptConversation,
    RealtimeService,
)
from s2s.transport.realtime.faults import ClientFault
from s2s.transport.realtime.limits import Limits
from s2s.transport.server.draining import OpenConnection, OpenConnections
from s2s.transport.server.handover import ClientOpening, ClientSocket, Services, SessionRefused
from s2s.transport.server.metrics import ServerMetrics
from s2s.transport.server.server import Server
from s2s.tts.codec_stream.source import CodecSource

log = logging.getLogger(__name__)

TIMELINES = 16
"""Kept of each session: the server's metrics have them all, added up."""


class Conversing:
    """Opens a session for each client, on models that all share.

    Args:
        config: the settings.
        models: loaded and warm.
        metrics: where it is counted what happens.
        secrets: come into no record of a conversation.
    """

    def __init__(
        self, config: Config, models: Models, metrics: ServerMetrics, secrets: tuple[str, ...] = ()
    ) -> None:
        self._config = config
        self._secrets = secrets
        self._recorders: list[SessionRecorder] = []
        self.connections = OpenConnections()
        """Those of clients, for a server that ends without losing an answer."""
        self._models = models
        self._metrics = metrics
        self._sessions = ClientSessions(models, config.session, metrics=self._timelines)
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

    def services(self, models: Mapping[str, str], codes: CodecSource | None = None) -> Services:
        """What the server works with. models: name of each in use -> what it does. codes: what
        gives codes to devices that decode them."""
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
            codes,
        )

    async def drain(self, server: Server, within_s: float) -> None:
        """Let nobody else in; close each connection once its answer is over, or it is late."""
        server.draining = True
        late = await self.connections.drain(within_s)
        if late:
            log.warning("%d answers were not over after %g s, and were cut off", late, within_s)

    def close(self) -> None:
        """End the records of conversations, and wait until they are written."""
        for recorder in self._recorders:
            recorder.close()
            recorder.wait()

    async def _converse(self, socket: ClientSocket, opening: ClientOpening) -> object | None:
        resumed = opening.resumed
        if is_mapping(resumed):
            resumed = self._service.restored(resumed, opening.model)
        request = ConnectionRequest(
            opening.model,
            opening.session,
            "transcription" if opening.intent == "transcription" else "realtime",
            resumed if isinstance(resumed, KeptConversation) else None,
            opening.may_resume,
            opening.on_error,
            opening.keep,
            opening.trouble,
            opening.call,
        )
        with self.connections.held(socket) as connection:
            noted = _Noted(connection, self._open)
            service = replace(self._service, open_session=noted)
            return await service.converse(socket, request)

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
    ) -> ClientSession:
        sessions, sink = self._sessions, to_all(events, self._metrics.on_event)
        if (recorder := self._recorder()) is not None:
            transport.record(recorder)
            transport.on_closed = recorder.close
            timelines = self._timelines()
            timelines.tell(recorder.on_timeline)
            sessions = ClientSessions(
                recorder.models, self._config.session, metrics=lambda: timelines
            )
            sink = to_all(sink, recorder.on_event)
        return sessions(
            transport,
            sink,
            session_id=session_id,
            answering=answering,
            hearing=hearing,
            kept=kept,
        )

    def _timelines(self) -> Metrics:
        return Metrics(on_finished=self._metrics.on_timeline, keep=TIMELINES)

    def _recorder(self) -> SessionRecorder | None:
        """What records the next session; None where nothing does, or nothing can."""
        parent = self._config.record.folder
        if parent is None:
            return None
        recording = RecordPlan(parent, "serve", self._config, self._secrets)
        try:
            recorder = SessionRecorder(
                recording, self._models, SystemClock(), log.error, write_report
            )
        except RecordError as error:
            log.error("%s", error)
            return None
        self._recorders = [each for each in self._recorders if not each.over]
        self._recorders.append(recorder)
        return recorder


@dataclass(frozen=True, slots=True)
class _Noted:
    """Opens the session of one connection, and notes it there."""

    connection: OpenConnection
    open: Callable[..., ClientSession]

    def __call__(
        self,
        transport: ClientTransport,
        events: EventSink,
        *,
        session_id: str,
        answering: Answering,
        hearing: Hearing,
        kept: object | None = None,
    ) -> SessionControl:
        """As `OpenSession`."""
        session = self.open(
            transport,
            events,
            session_id=session_id,
            answering=answering,
            hearing=hearing,
            kept=kept,
        )
        self.connection.session = session
        return session
