"""A session that a client steers: what it may ask while it talks (`s2s.core.control`)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace

from s2s.core.audio import PIPELINE_HZ, resample
from s2s.core.clock import Clock, SystemClock
from s2s.core.control import (
    Answering,
    Hearing,
    InputEmpty,
    NoSound,
    ResponseActive,
    ResponseRequest,
    Truncation,
)
from s2s.core.events import CancelReason, EventSink
from s2s.core.handler import AnyStage
from s2s.core.items import Item, MessageItem, SoundPart
from s2s.core.messages import ResponseAsked, ResponseId, TurnId
from s2s.core.metrics import Metrics
from s2s.core.untyped import is_list, is_mapping
from s2s.llm.memory.item_entry import NotAnEntry
from s2s.session.client.orders import ClearInput, CommitInput, GivenSound, HearBy
from s2s.session.client.wiring import ClientSettings, ClientStages, KeptSession, begun
from s2s.session.config import SessionConfig
from s2s.session.models import Models
from s2s.transport.client_transport import ClientTransport

log = logging.getLogger(__name__)

LEAST_INPUT_MS = 100
"""A shorter commit is refused."""


class ClientSession:
    """`s2s.core.control.SessionControl`: a conversation with a client. It has begun when it is
    made; `close` ends it."""

    def __init__(self, stages: ClientStages) -> None:
        self._run = stages
        stages.start()

    @property
    def metrics(self) -> Metrics:
        """The timelines of its answers."""
        return self._run.metrics

    @property
    def kept(self) -> KeptSession:
        """What the next session may go on with, once this one is closed."""
        return self._run.kept

    @property
    def changes(self) -> int:
        return self._run.conversation.changes

    def written(self) -> Mapping[str, object]:
        return self._run.conversation.plain()

    @property
    def quiet(self) -> bool:
        """The person is silent, nothing is being answered, nothing is believed to play."""
        return self._run.quiet

    @property
    def stages(self) -> tuple[AnyStage, ...]:
        """Its stages, to be looked at."""
        return self._run.stages

    @property
    def plays_until_s(self) -> float:
        """When the client is believed to have played all that it has, on the session's clock."""
        return self._run.playback.plays_until_s

    def set_answering(self, answering: Answering) -> None:
        self._run.settings.answering = answering
        self._run.conversation.instructions = answering.instructions

    def set_hearing(self, hearing: Hearing) -> None:
        self._run.settings.hearing = hearing
        self._run.set_language(hearing.language)
        self._run.order(HearBy(hearing))

    def commit(self) -> None:
        heard_ms = 1000 * (self._run.transport.heard_samples - self._run.input_from) / PIPELINE_HZ
        if heard_ms < LEAST_INPUT_MS:
            raise InputEmpty(heard_ms)
        self._run.order(CommitInput(), whole=True)
        self._run.input_from = self._run.transport.heard_samples

    def clear_input(self) -> None:
        self._run.input_from = self._run.transport.heard_samples
        self._run.order(ClearInput())

    def insert(self, item: Item, after: str | None = None) -> str | None:
        said = _said(item)
        if said is None or said.audio is None:
            return self._run.conversation.insert(item, after)
        turn = TurnId(f"{self._run.settings.session_id}-i{self._run.request_number()}", 0)
        self._run.commit_turn(turn)
        audio = resample(said.audio, said.rate_hz, PIPELINE_HZ)
        bare = replace(item, parts=(SoundPart(said.transcript),))
        before = self._run.conversation.insert(bare, after, turn=turn)
        self._run.sounds.keep(item.item_id, audio)
        if not said.transcript:
            self._run.order(GivenSound(turn, audio))
        return before

    def delete(self, item_id: str) -> None:
        response = self._run.conversation.response_of(item_id)
        self._run.conversation.delete(item_id)
        self._run.sounds.forget(item_id)
        if response is not None:
            self._run.playback.forget(response)

    def truncate(self, item_id: str, audio_end_ms: int) -> Truncation:
        response = self._run.conversation.response_of(item_id)
        until = None if response is None else self._run.playback.truncate(response, audio_end_ms)
        if until is None:
            raise NoSound(f"the item '{item_id}' has no sound that is known")
        self._run.conversation.cut(item_id, until.text)
        rate_hz = self._run.playback.rate_hz
        beyond = audio_end_ms > -(-1000 * until.of_samples // rate_hz)
        return Truncation(1000 * until.at_samples // rate_hz, until.text.strip(), beyond)

    def retrieve(self, item_id: str) -> Item:
        item = self._run.conversation.get(item_id)
        if not isinstance(item, MessageItem) or not isinstance(item.parts[0], SoundPart):
            return item
        response = self._run.conversation.response_of(item_id)
        if response is None:
            audio, rate_hz = self._run.sounds.said(item_id), PIPELINE_HZ
        else:
            audio, rate_hz = self._run.playback.sound(response), self._run.playback.rate_hz
        return replace(item, parts=(SoundPart(item.parts[0].transcript, audio, rate_hz),))

    def previous(self, item_id: str) -> str | None:
        return self._run.conversation.previous(item_id)

    def respond(self, request: ResponseRequest) -> None:
        if not request.in_conversation:
            self._run.start_beside(request)
            return
        if (active := self._run.floor.active) is not None:
            raise ResponseActive(active.response_key or "")
        if owed := self._run.telling.owed:
            raise ResponseActive(self._run.key(TurnId(owed[0], 0)))
        for turn_id in self._run.telling.take_over():
            self._run.state.silence(turn_id)
        turn = TurnId(f"{self._run.settings.session_id}-r{self._run.request_number()}", 0)
        self._run.commit_turn(turn)
        self._run.standstill.owes(turn)
        response = ResponseId(turn.turn_id, 0, self._run.state.scope.generation, request.key)
        self._run.sender.responses.open(response)
        self._run.order(ResponseAsked(request, response))

    def cancel(self, key: str | None = None, reason: CancelReason = "client_cancelled") -> bool:
        active = self._run.floor.active
        if active is not None and key in (None, active.response_key):
            self._run.floor.end(reason)
            return True
        return key is not None and self._run.beside.cancel(key, reason)

    def close(self) -> None:
        self._run.close()


class ClientSessions:
    """Opens sessions on models that are loaded once, as `OpenSession` of the transport."""

    def __init__(
        self,
        models: Models,
        config: SessionConfig,
        *,
        clock: Callable[[], Clock] = SystemClock,
        metrics: Callable[[], Metrics] = Metrics,
    ) -> None:
        """clock, metrics: make those of a session."""
        self._models = models
        self._config = config
        self._clock = clock
        self._metrics = metrics

    def __call__(
        self,
        transport: ClientTransport,
        events: EventSink,
        *,
        session_id: str,
        answering: Answering,
        hearing: Hearing,
        kept: object | None = None,
    ) -> ClientSession:
        """Begin a session. `kept` is that of a session that was closed, or what it wrote in another
        process."""
        earlier = kept if isinstance(kept, KeptSession) else None
        settings = ClientSettings(session_id, answering, hearing, earlier, self._metrics())
        clock = self._clock()
        if is_mapping(kept):
            settings.kept = begun(self._config, self._models, settings, clock)
            _restore(settings.kept, kept)
        return ClientSession(
            ClientStages(self._models, transport, self._config, settings, events, clock)
        )


def _restore(begun_anew: KeptSession, written: Mapping[str, object]) -> None:
    """Go on with what another process wrote."""
    entries, forgotten = written.get("entries"), written.get("forgotten")
    try:
        if not is_list(entries):
            raise NotAnEntry("no list of items")
        begun_anew.conversation.restore(entries, forgotten if is_list(forgotten) else [])
    except NotAnEntry as error:
        log.error("what another process wrote of a conversation is lost: %s", error)


def _said(item: Item) -> SoundPart | None:
    """What the person said in `item`, where it is sound."""
    if not isinstance(item, MessageItem) or item.role != "user":
        return None
    return next((part for part in item.parts if isinstance(part, SoundPart)), None)
