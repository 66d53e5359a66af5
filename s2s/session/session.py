"""One session: five handlers in their threads, joined by channels, between a transport's ends.

Wiring alone. Models are loaded once and given; everything made here is a session's own.
"""

from __future__ import annotations

import itertools
import logging
import threading
from dataclasses import replace

from s2s.core.audio.manner import SpokenManner
from s2s.core.cancel import CancelScope
from s2s.core.channel import Closed
from s2s.core.clock import Clock, SystemClock
from s2s.core.events import Event, EventSink, to_all
from s2s.core.messages import AudioIn, SignOfLife, TakeUpDropped
from s2s.core.metrics import Metrics
from s2s.core.speculation import SpeculativeTurns, Verdict
from s2s.core.state import SessionState
from s2s.llm.base import ChatModel
from s2s.llm.handler import LlmHandler
from s2s.llm.history import History
from s2s.llm.manner.spoken import MannerChat
from s2s.session.bell import Bell
from s2s.session.channels import Channels, sound_waiting
from s2s.session.config import SessionConfig
from s2s.session.floor import AssistantFloor
from s2s.session.models import Models, answer_voice, tool_user
from s2s.session.recent_speech import RecentSpeech
from s2s.session.sign_of_life import SignOfLifeClock
from s2s.session.standstill import Standstill
from s2s.session.transcripts import FinalTranscripts, PartialRoute
from s2s.session.typed_turns import TypedTurns
from s2s.stt.handler import SttHandler
from s2s.stt.languages import SpokenLanguage
from s2s.system.mlx_thread import MLX_THREAD
from s2s.tools.toolbox import SessionTools
from s2s.transport.base import Transport
from s2s.transport.sender import Sender
from s2s.tts.handler import TtsHandler, TtsSettings
from s2s.turns.handler import TurnsHandler
from s2s.turns.orders.input_gate import InputGate

log = logging.getLogger(__name__)

JOIN_S = 2.0
"""What ending a session takes at most, for all its threads together."""

_session_numbers = itertools.count(1)


class Session:
    """A conversation over one transport."""

    def __init__(
        self,
        models: Models,
        transport: Transport,
        config: SessionConfig,
        *,
        events: EventSink,
        clock: Clock | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        clock = clock or SystemClock()
        self._bell: Bell | None = None
        self.metrics = metrics or Metrics()
        manner = SpokenManner()
        models, events = _adjustable(config, models, manner, events)
        self.history = _history(config, models.chat)
        self._transport = transport
        self._playback = transport.playback
        self._standstill = Standstill(config.standstill_s)
        recent = RecentSpeech()
        finals = FinalTranscripts(events)
        self._state = state = SessionState(
            CancelScope(clock),
            SpeculativeTurns(clock),
            clock,
            self.metrics,
            to_all(self._standstill.on_event, recent.on_event, finals.on_event, self._on_event),
            models.compute,
        )
        self._sender = Sender(
            self._playback, state, self.history.played, failure_heard=config.failure_sound
        )
        self._floor = AssistantFloor(transport, self._sender, recent, state, self.history.forget)
        self._gate = InputGate(config.turns.input, models.wake_word, state.events)
        settings = _tts_settings(self._playback.rate_hz, config, models, manner)
        waiting = sound_waiting(models.synthesizer, settings, self._playback)
        channels = Channels.open(clock, waiting)
        self._microphone = channels.microphone
        self._answer = channels.answer
        self._signs = SignOfLifeClock(config.sign_of_life_after_s)
        self._gives_signs = config.sign_of_life != "off"
        self._typed = TypedTurns(
            state, self._floor, channels.speech, finals, self._standstill, language=config.language
        )
        partials = PartialRoute(finals, channels.microphone, channels.speech, channels.transcripts)
        self._turns = _turns(models, self._floor, state, config)
        stt = SttHandler(
            models.transcriber,
            channels.speech,
            state,
            language=SpokenLanguage(config.languages, config.language),
            on_partial=partials.send,
        )
        llm = _llm(models, self.history, channels, state, config)
        if models.tools is not None:
            self._lend(models.tools.open(clock), models, llm, channels)
        self._first_words = llm.first_words
        tts = TtsHandler(models.synthesizer, channels.answer, state, settings)
        self.stages = channels.join(self._turns, stt, llm, tts, self._sender, clock)

    def _lend(
        self, tools: SessionTools, models: Models, llm: LlmHandler, channels: Channels
    ) -> None:
        """Have `tools` called for answers, and their alarms rung."""
        llm.call(tool_user(models, tools))
        self._bell = Bell(
            tools.alarms, self._state, "bell", lambda turn: turn.turn_id, channels.transcripts.offer
        )

    def run(self) -> None:
        """Converse until the transport ends. Threads are gone when it returns or raises."""
        for stage in self.stages:
            stage.start()
        if self._gate.shut:
            self._gate.tell()
        try:
            self._transport.run(self._hear, self._tick)
        finally:
            self.close()

    def close(self) -> None:
        """End every thread, whatever it is doing, within `JOIN_S`. Idempotent.

        A model that does not return is left behind in its thread, which ends with the process.
        """
        self._state.scope.cancel()
        self._state.turns.reset()
        self._playback.close()
        for stage in self.stages:
            stage.inbox.close(discard=True)
        clock = self._state.clock
        until_s = clock.now() + JOIN_S
        for stage in self.stages:
            if not stage.join(max(0.0, until_s - clock.now())):
                log.warning("%s still runs: its model does not stop", stage.name)
        self._sender.interrupt()

    def interrupt(self) -> None:
        """Silence the assistant at once and for good, as if the person had. From any thread."""
        self._floor.interrupt()

    def take_up_dropped(self) -> None:
        """Answer what was dropped last as not meant for the assistant. From any thread."""
        self._microphone.offer(TakeUpDropped())

    def type_line(self, text: str) -> None:
        """The person typed `text` instead of saying it: it is answered as what is said, and
        interrupts as that. From any thread."""
        self._typed.take(text)

    @property
    def muted(self) -> bool:
        """Nothing is heard."""
        return self._gate.muted

    def mute(self, on: bool) -> None:
        """Hear nothing from now on, or hear again. From any thread."""
        self._gate.mute(on, self._state.clock.now())

    def talk(self, down: bool) -> None:
        """The talk key went down, which silences the assistant, or up, which ends the turn. From
        any thread; nothing happens without `push_to_talk`."""
        self._gate.talk(down, self._state.clock.now())
        if self._gate.talking:
            self._floor.interrupt()

    @property
    def quiet(self) -> bool:
        """The person is silent, nothing is being answered, nothing plays."""
        return (
            self._turns.quiet
            and all(stage.idle for stage in self.stages)
            and not len(self._sender.responses)
            and not self._playback.playing
        )

    def _hear(self, window: AudioIn) -> None:
        try:
            for message in self._gate.admit(window, lambda: self.quiet):
                self._microphone.put(message)
        except Closed:
            self._transport.stop()

    def _tick(self) -> bool:
        self._state.compute.observe()
        for report in self._playback.reports():
            self._sender.on_played(report)
        self._sender.settle()
        now_s, listening = self._state.clock.now(), self._turns.quiet
        if self._gives_signs and listening and not self._playback.playing:
            self._give_sign(now_s)
        error = self._standstill.look(now_s, self.stages, self._playback, listening=listening)
        if error is not None:
            log.error("%s: the answer is given up", error)
            self._floor.give_up(self._standstill.take_asked(), error)
        quiet = self.quiet
        rings = self._bell is not None and self._bell.look(now_s, quiet=quiet)
        return quiet and not rings

    def _on_event(self, event: Event) -> None:
        if self._bell is not None:
            self._bell.on_event(event)

    def _give_sign(self, now_s: float) -> None:
        """Let the person hear that an answer is worked on, once it is certain to be owed."""
        awaited = self._first_words.awaited
        if awaited is None or self._state.is_stale(awaited.response):
            return
        if self._state.turns.verdict(awaited.response.turn) is not Verdict.LATEST:
            return
        due = self._signs.due(now_s, self._first_words)
        if due is not None:
            self._answer.offer(SignOfLife(due.response, due.language))


def _adjustable(
    config: SessionConfig, models: Models, manner: SpokenManner, events: EventSink
) -> tuple[Models, EventSink]:
    """The models and what takes events, so that one can ask for another manner of speaking."""
    if not config.adjustable_voice:
        return models, events
    chat = MannerChat(models.chat, manner, models.synthesizer.capabilities.languages)
    return replace(models, chat=chat), to_all(chat.on_event, events)


def _turns(
    models: Models, floor: AssistantFloor, state: SessionState, config: SessionConfig
) -> TurnsHandler:
    """The stage that hears."""
    return TurnsHandler(
        models.vad.open(),
        models.end_of_turn,
        floor,
        state,
        config.turns_heard_by(models.transcriber),
        session_id=f"s{next(_session_numbers)}",
        language=config.language,
        own_voice=models.own_voice,
    )


def _llm(
    models: Models,
    history: History,
    channels: Channels,
    state: SessionState,
    config: SessionConfig,
) -> LlmHandler:
    """The answering stage, which tells the turns what the model makes of the person's words."""
    return LlmHandler(
        models.chat,
        history,
        channels.transcripts,
        state,
        summarise=config.summarise,
        voice=answer_voice(models),
        on_ending=channels.microphone.offer,
    )


def _tts_settings(
    rate_hz: int, config: SessionConfig, models: Models, manner: SpokenManner
) -> TtsSettings:
    return TtsSettings(
        rate_hz,
        speculative=config.speculative_tts,
        sign="words" if config.sign_of_life == "words" else "sound",
        manner=manner,
        real_time_factor=models.tts_rtf,
    )


def _history(config: SessionConfig, chat: ChatModel) -> History:
    return History(
        config.system_prompt,
        max_turns=config.history_turns,
        max_tokens=config.history_tokens,
        count_tokens=chat.count_tokens,
    )


def stages_alive() -> list[str]:
    """Names of session threads that run now; for tests and diagnosis."""
    names = [thread.name for thread in threading.enumerate()]
    return [name for name in names if name.startswith("s2s-") and name != MLX_THREAD]
