"""The stages of a client's session, between its transport and what it is told: wiring alone.

Four threads: the client's input with turns, stt, llm, and tts with the sender behind it
(docs/decisions/a-client-steers.md).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

from s2s.core.cancel import CancelScope
from s2s.core.channel import Channel, Closed
from s2s.core.clock import Clock, Worker
from s2s.core.control import Answering, Hearing, ResponseRequest
from s2s.core.events import (
    AnswerText,
    Event,
    EventSink,
    ResponseDone,
    ResponseStarted,
    ToolCalled,
    ToolUsed,
    TurnCommitted,
)
from s2s.core.handler import AnyStage, Stage
from s2s.core.messages import (
    LlmInput,
    PartialTranscript,
    ResponseAsked,
    ResponseId,
    SttInput,
    TtsMessage,
    TurnId,
)
from s2s.core.metrics import Metrics
from s2s.core.speculation import SpeculativeTurns
from s2s.core.state import SessionState
from s2s.llm.base import ChatMessage
from s2s.llm.conversation import ConversationItems, answer_call
from s2s.llm.handler import LlmHandler, Steered
from s2s.llm.plan import AnswerPlan, planned
from s2s.session.bell import Bell
from s2s.session.channels import LLM_WAITING, MIC_WINDOWS, STT_WAITING, TTS_WAITING
from s2s.session.client.beside import Beside
from s2s.session.client.floor import ClientFloor
from s2s.session.client.orders import ClientInput
from s2s.session.client.sounds import ItemSounds
from s2s.session.client.stages import SenderOutlet, TellingStt
from s2s.session.client.telling import TurnTelling
from s2s.session.client.turns import ClientTurns, TurnsParts
from s2s.session.config import SessionConfig
from s2s.session.models import Models, answer_voice, tool_user
from s2s.session.recent_speech import RecentSpeech
from s2s.session.standstill import Standstill
from s2s.stt.handler import SttHandler
from s2s.stt.languages import SpokenLanguage
from s2s.tools.toolbox import SessionTools
from s2s.transport.client_transport import LOOK_S, ClientTransport
from s2s.transport.sender import Sender
from s2s.tts.handler import TtsHandler, TtsSettings

log = logging.getLogger(__name__)

JOIN_S = 2.0
"""What ending a session takes at most, for all its threads together."""


@dataclass(slots=True)
class SessionNumbers:
    """How far the ids of a session have been counted: one that goes on with it goes on counting."""

    turns: int = 0
    requests: int = 0
    calls: int = 0
    beside: int = 0


@dataclass(frozen=True, slots=True)
class KeptSession:
    """What is left of a session that was closed, for one that goes on with it."""

    conversation: ConversationItems
    sounds: ItemSounds
    numbers: SessionNumbers = field(default_factory=SessionNumbers)
    tools: SessionTools | None = None


@dataclass(slots=True)
class ClientSettings:
    """What the client says of itself; `answering` and `hearing` as they are now."""

    session_id: str
    """Part of every id: new, or that of the session that `kept` is of."""
    answering: Answering
    hearing: Hearing
    kept: KeptSession | None = None
    metrics: Metrics = field(default_factory=Metrics)


class ClientStages:
    """A conversation with a client that runs from `start` to `close`."""

    def __init__(
        self,
        models: Models,
        transport: ClientTransport,
        config: SessionConfig,
        settings: ClientSettings,
        events: EventSink,
        clock: Clock,
    ) -> None:
        self.clock = clock
        self.metrics = settings.metrics
        self.settings = settings
        self.transport = transport
        self.playback = transport.playback
        kept = settings.kept or begun(config, models, settings, clock)
        self.conversation, self.sounds = kept.conversation, kept.sounds
        self.numbers, self.tools = kept.numbers, kept.tools
        self._bell: Bell | None = None
        self.conversation.instructions = settings.answering.instructions
        self.input_from = 0
        """Samples of the client's that belong to turns that are over."""
        self._sink = events
        self._closed = False
        self.standstill = Standstill(config.standstill_s)
        self._recent = RecentSpeech()
        scope, turns = CancelScope(clock), SpeculativeTurns(clock)
        self.state = SessionState(scope, turns, clock, self.metrics, self._on_event, models.compute)
        self.telling = TurnTelling(
            self._tell, self.conversation.committed, lambda: self.settings.hearing.transcribes
        )
        self.sender = Sender(
            self.playback, self.state, self.conversation.played, failure_heard=False
        )
        self.floor = ClientFloor(
            self.playback, self.sender, self._recent, self.state, self.conversation, self.telling
        )
        self.playback.on_shortened = self._shortened
        self._steered = Steered(self._plan, self.key, self._call_id)
        self.beside = Beside(
            models, self.conversation, self.state, self._tell, self.playback, self._steered
        )
        self._build(models, config)
        self._worker: Worker | None = None

    def _build(self, models: Models, config: SessionConfig) -> None:
        """The stages, and the channels between them."""
        clock, state, hearing = self.clock, self.state, self.settings.hearing
        self._aside: Channel[ClientInput] = Channel(MIC_WINDOWS, clock=clock, name="aside")
        self._speech: Channel[SttInput] = Channel(STT_WAITING, clock=clock, name="speech")
        self._transcripts: Channel[LlmInput] = Channel(LLM_WAITING, clock=clock, name="transcripts")
        answer: Channel[TtsMessage] = Channel(TTS_WAITING, clock=clock, name="answer")
        turns = config.turns_heard_by(models.transcriber)
        parts = TurnsParts(models, self.floor, state, turns, self.telling, self.sounds, self._ask)
        self._turns = ClientTurns(
            parts, hearing, self.settings.session_id, count=self.numbers.turns
        )
        self._stt = SttHandler(
            models.transcriber,
            self._speech,
            state,
            language=SpokenLanguage(config.languages, hearing.language or config.language),
            on_partial=self._partial,
        )
        llm = LlmHandler(
            models.chat,
            self.conversation,
            self._transcripts,
            state,
            voice=answer_voice(models),
            on_ending=self._put_aside,
            steered=self._steered,
        )
        if self.tools is not None:
            llm.call(tool_user(models, self.tools))
            name = f"{self.settings.session_id}-a"
            self._bell = Bell(self.tools.alarms, state, name, self.key, self._transcripts.offer)
        settings = TtsSettings(
            self.playback.rate_hz,
            speculative=config.speculative_tts,
            real_time_factor=models.tts_rtf,
        )
        tts = TtsHandler(models.synthesizer, answer, state, settings)
        stt = TellingStt(self._stt, self.telling)
        self._hearing = Stage(self._turns, self._aside, self._speech, clock)
        self.stages: tuple[AnyStage, ...] = (
            self._hearing,
            Stage(stt, self._speech, self._transcripts, clock),
            Stage(llm, self._transcripts, answer, clock),
            Stage(tts, answer, SenderOutlet(self.sender), clock),
        )
        self._language = config.language

    def start(self) -> None:
        for stage in self.stages:
            if stage is not self._hearing:
                stage.start()
        self._worker = self.clock.start(self._hear, "s2s-turns")

    @property
    def kept(self) -> KeptSession:
        """What a later session goes on with, once this one is closed."""
        self.numbers.turns = self._turns.count
        return KeptSession(self.conversation, self.sounds, self.numbers, self.tools)

    def start_beside(self, request: ResponseRequest) -> None:
        """Begin a response out of band."""
        self.numbers.beside += 1
        self.beside.start(request, f"{self.settings.session_id}-b{self.numbers.beside}")

    def request_number(self) -> int:
        """Of the next turn that nobody spoke."""
        self.numbers.requests += 1
        return self.numbers.requests

    def close(self) -> None:
        """End every thread within `JOIN_S`; nothing is told after it. Idempotent."""
        if self._closed:
            return
        self.state.scope.cancel()
        self.state.turns.reset()
        self.playback.close()
        self.transport.stop()
        for stage in self.stages:
            stage.inbox.close(discard=True)
        until_s = self.clock.now() + JOIN_S
        for stage in self.stages:
            if not stage.join(max(0.0, until_s - self.clock.now())):
                log.warning("%s still runs: its model does not stop", stage.name)
        if self._worker is not None:
            self._worker.join(max(0.0, until_s - self.clock.now()))
        self.beside.close(lambda: until_s - self.clock.now())
        self.floor.end("client_cancelled")
        self._closed = True
        self.transport.on_closed()

    def order(self, order: ClientInput, *, whole: bool = False) -> None:
        """Let the stages deal with `order`, behind all that the client said before it."""
        self.transport.after_heard(lambda: self._hearing.work(order), whole=whole)

    def set_language(self, language: str | None) -> None:
        """What is spoken from the next turn on; None: the configured one."""
        self._stt.set_language(language or self._language)

    def key(self, turn: TurnId) -> str:
        """Names the response to a turn."""
        return f"resp_{turn.turn_id}"

    def commit_turn(self, turn: TurnId) -> None:
        """A turn that nobody spoke, and that is certain."""
        self.state.turns.observe(turn, grace_until_s=self.clock.now())
        self.state.turns.commit(turn)

    @property
    def quiet(self) -> bool:
        """The person is silent, nothing is being answered, nothing is believed to play."""
        return (
            self._turns.quiet
            and all(stage.idle for stage in self.stages)
            and not self.floor.playing
        )

    # --- inside ----------------------------------------------------------------------------------

    def _hear(self) -> None:
        """The thread that hears the client, and looks after what is on its way to it. A wake-up of
        a thread costs more than a window: what comes in one message costs one."""
        try:
            self.transport.run(self._hearing.work, self._look)
        except Closed:
            log.debug("the session ends while something is heard")
        finally:
            self._hearing.end()

    def _put_aside(self, message: ClientInput) -> bool:
        """Let the turns stage know, between two messages of the client; from any thread. False
        where too much waits for it."""
        taken = self._aside.offer(message)
        self.transport.wake()
        return taken

    def _look(self) -> float | None:
        """What other stages say, what time says, and how far the answers are. Returns when to look
        again; None: when something comes."""
        for message in self._aside.take_while(lambda _: True):
            self._hearing.work(message)
        now_s, due_s = self.clock.now(), self._turns.deadline_s()
        if due_s is not None and due_s <= now_s and not self.transport.waiting:
            self._hearing.work(None)
            due_s = self._turns.deadline_s()
        if self._look_after():
            return due_s if self._bell is None else self._bell.sooner(due_s)
        return now_s + LOOK_S if due_s is None else min(due_s, now_s + LOOK_S)

    def _look_after(self) -> bool:
        """Look after the answers; whether all is quiet."""
        self.state.compute.observe()
        for report in self.playback.reports():
            self.sender.on_played(report)
        self.sender.settle()
        error = self.standstill.look(
            self.clock.now(), self.stages, self.playback, listening=self._turns.quiet
        )
        if error is not None:
            log.error("%s: the answer is given up", error)
            self._give_up(self.standstill.take_asked(), error)
        if self._bell is not None:
            self._bell.look(self.clock.now(), quiet=self.quiet)
        return self.quiet

    def _give_up(self, turn: TurnId | None, error: str) -> None:
        owed = turn is not None and turn.turn_id in self.telling.owed
        if owed and turn is not None and self.floor.active is None:
            self.telling.settled(turn.turn_id)
            self.sender.responses.open(self._response(turn))
        self.floor.give_up(error)

    def _partial(self, partial: PartialTranscript) -> None:
        """On the recogniser's thread, which must not wait."""
        self.telling.partial(partial.turn, partial.text, partial.stable)
        if not self._put_aside(partial):
            log.debug("turns is behind: a partial transcript was skipped")
        if not len(self._transcripts) and not len(self._speech) and self.settings.hearing.answers:
            self._transcripts.offer(partial)  # to read ahead, while nothing newer is on its way

    def _ask(self, turn: TurnId) -> None:
        """Answer a turn in which nobody said anything."""
        request = ResponseRequest(self.key(turn), self.settings.answering)
        self._transcripts.offer(ResponseAsked(request, self._response(turn)))

    def _plan(self, messages: Sequence[ChatMessage]) -> AnswerPlan:
        return planned(messages, self.settings.answering)

    def _call_id(self) -> str:
        self.numbers.calls += 1
        return f"call_{self.settings.session_id}-{self.numbers.calls}"

    def _response(self, turn: TurnId) -> ResponseId:
        generation = self.state.scope.generation
        return ResponseId(turn.turn_id, turn.turn_revision, generation, self.key(turn))

    def _shortened(self, response: ResponseId, heard: str) -> None:
        self.conversation.played(response, heard, False)

    def _on_event(self, event: Event) -> None:
        """Everything that the stages tell: remembered, and passed on."""
        self.standstill.on_event(event)
        if self._bell is not None:
            self._bell.on_event(event)
        self._recent.on_event(event)
        match event:
            case ResponseStarted(response=response):
                self.state.turns.commit(response.turn)  # one that fails was not: no sound began it
                self.telling.committed(response.turn)
                self.telling.settled(response.turn_id)
            case AnswerText(response=response):
                self.conversation.told(response, event.text, spoken=event.spoken)
            case ToolCalled():
                call = answer_call(event.call_id, event.name, event.arguments)
                self.conversation.called(call)
            case ToolUsed() if self.tools is None or not self.tools.told:
                return
            case ResponseDone(response=response, status=status):
                self.conversation.done(response, whole=status == "completed")
            case _:
                pass
        self._tell(event)

    def _tell(self, event: Event) -> None:
        if isinstance(event, TurnCommitted) and self.settings.hearing.detection is not None:
            self.input_from = self.transport.heard_samples
        if not self._closed:
            self._sink(event)


def begun(
    config: SessionConfig, models: Models, settings: ClientSettings, clock: Clock
) -> KeptSession:
    """What a new session goes on with: nothing."""
    tools = None if models.tools is None else models.tools.open_for_client(clock)
    conversation = ConversationItems(
        settings.answering.instructions,
        max_turns=config.history_turns,
        max_tokens=config.history_tokens,
        count_tokens=models.chat.count_tokens,
    )
    return KeptSession(conversation, ItemSounds(), tools=tools)
