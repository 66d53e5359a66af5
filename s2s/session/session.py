"""One session: five handlers in their threads, joined by channels, between a transport's ends.

Models are loaded once and given; everything here is a session's own.
"""

from __future__ import annotations

import itertools
import logging
import math
import threading
from collections import deque
from dataclasses import dataclass

from s2s.core.audio import BLOCK_SAMPLES
from s2s.core.cancel import CancelScope
from s2s.core.channel import Channel, Closed
from s2s.core.clock import Clock, SystemClock
from s2s.core.events import (
    Event,
    EventSink,
    Heard,
    ResponseDone,
    ResponseStarted,
    Said,
    SpeechStopped,
)
from s2s.core.handler import Stage
from s2s.core.messages import (
    AudioIn,
    LlmInput,
    PartialTranscript,
    SenderInput,
    SttInput,
    TtsMessage,
    TurnId,
)
from s2s.core.metrics import Metrics
from s2s.core.setting import made_setting, setting
from s2s.core.speculation import SpeculativeTurns
from s2s.core.state import SessionState
from s2s.core.watchdog import Watchdog
from s2s.llm.base import ChatModel
from s2s.llm.handler import LlmHandler
from s2s.llm.history import History
from s2s.stt.base import Transcriber
from s2s.stt.handler import SttHandler
from s2s.transport.base import Transport
from s2s.transport.echo import is_echo
from s2s.transport.playback import Output, Playback
from s2s.transport.sender import Sender
from s2s.tts.base import Synthesizer
from s2s.tts.handler import TtsHandler, TtsSettings
from s2s.turns.base import TurnEnd, VadModel
from s2s.turns.config import TurnsConfig
from s2s.turns.handler import TurnInput, TurnsHandler

log = logging.getLogger(__name__)

MIC_WINDOWS = 64
"""Two seconds of microphone: what the end-of-turn model takes is far less."""
STT_WAITING = 16
LLM_WAITING = 8
TTS_WAITING = 16
SENDER_WAITING = 8
"""Blocks of the answer on their way, at least; the playback buffer holds what is to be played."""
JOIN_S = 2.0
"""What ending a session takes at most, for all its threads together."""

RECENT_PIECES = 12
"""Pieces of answers that a microphone may hear back: about half a minute of speech."""

_session_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Models:
    """What is loaded once and shared by all sessions."""

    vad: VadModel
    end_of_turn: TurnEnd | None
    transcriber: Transcriber
    chat: ChatModel
    synthesizer: Synthesizer
    tts_rtf: float = 0.0
    """Seconds of work that the synthesizer takes for a second of speech on this machine."""


@dataclass(frozen=True, slots=True)
class SessionConfig:
    """How a conversation behaves."""

    turns: TurnsConfig = made_setting(TurnsConfig, "When the person's turn begins and ends.")
    system_prompt: str = setting(
        "You are a helpful assistant. Give a short, direct and correct answer in one sentence.",
        "What the model is told before the conversation.",
    )
    language: str | None = setting(
        None, "ISO 639-1 code of what is spoken; none: heard, where the STT backend can."
    )
    history_turns: int = setting(12, "Exchanges the model is shown; older ones are forgotten.")
    history_tokens: int = setting(
        1024, "Tokens of the conversation the model is shown, system prompt included."
    )
    summarise: bool = setting(
        False,
        "Sum up old turns while nobody speaks, instead of forgetting them; wants a capable model.",
    )
    speculative_tts: bool = setting(
        True, "Make the sound of an answer before it is certain that the turn is over."
    )
    standstill_s: float = setting(
        30.0, "An answer on which nothing moves for this long has failed, and the person hears it."
    )

    def __post_init__(self) -> None:
        if self.history_turns < 1 or self.history_tokens < 1:
            raise ValueError(
                f"history_turns and history_tokens must be at least 1, got "
                f"{self.history_turns} and {self.history_tokens}"
            )
        if self.standstill_s <= 0:
            raise ValueError(f"standstill_s must be positive, got {self.standstill_s}")


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
        self.metrics = metrics or Metrics()
        self.history = History(
            config.system_prompt,
            max_turns=config.history_turns,
            max_tokens=config.history_tokens,
            count_tokens=models.chat.count_tokens,
        )
        self._events = events
        self._transport = transport
        self._playback = transport.playback
        self._texts: dict[str, str] = {}
        self._spoken: deque[str] = deque(maxlen=RECENT_PIECES)
        self._state = SessionState(
            CancelScope(clock), SpeculativeTurns(clock), clock, self.metrics, self._on_event
        )
        self._sender = Sender(self._playback, self._state, self.history.heard)
        self._watchdog = Watchdog(config.standstill_s)
        self._standstill_s = config.standstill_s
        self._asked: TurnId | None = None
        self._build(models, config)

    def _build(self, models: Models, config: SessionConfig) -> None:
        state, clock = self._state, self._state.clock
        mic: Channel[TurnInput] = Channel(MIC_WINDOWS, clock=clock, name="mic")
        speech: Channel[SttInput] = Channel(STT_WAITING, clock=clock, name="speech")
        transcripts: Channel[LlmInput] = Channel(LLM_WAITING, clock=clock, name="transcripts")
        answer: Channel[TtsMessage] = Channel(TTS_WAITING, clock=clock, name="answer")
        self._mic, self._speech = mic, speech
        self._transcripts = transcripts
        self._turns_handler = TurnsHandler(
            models.vad.open(),
            models.end_of_turn,
            self,
            state,
            config.turns,
            session_id=f"s{next(_session_numbers)}",
            language=config.language,
        )
        stt = SttHandler(
            models.transcriber,
            speech,
            state,
            language=config.language,
            on_partial=self._on_partial,
        )
        llm = LlmHandler(models.chat, self.history, transcripts, state, summarise=config.summarise)
        settings = TtsSettings(
            self._playback.rate_hz,
            speculative=config.speculative_tts,
            real_time_factor=models.tts_rtf,
        )
        waiting = sound_waiting(models.synthesizer, settings, self._playback)
        sound: Channel[SenderInput] = Channel(waiting, clock=clock, name="sound")
        self.stages: list[Stage] = [
            Stage(self._turns_handler, mic, speech, clock),
            Stage(stt, speech, transcripts, clock),
            Stage(llm, transcripts, answer, clock),
            Stage(TtsHandler(models.synthesizer, answer, state, settings), answer, sound, clock),
            Stage(self._sender, sound, None, clock),
        ]

    # --- life ----------------------------------------------------------------------------------

    def run(self) -> None:
        """Converse until the transport ends. Threads are gone when it returns or raises."""
        for stage in self.stages:
            stage.start()
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

    @property
    def quiet(self) -> bool:
        """Nobody speaks, nothing is being answered, nothing plays."""
        return (
            self._turns_handler.quiet
            and all(stage.idle for stage in self.stages)
            and not len(self._sender.responses)
            and not self._playback.playing
        )

    # --- the turns stage's view of the assistant (Floor) ---------------------------------------

    @property
    def playing(self) -> bool:
        return self._playback.playing

    @property
    def asks(self) -> bool:
        return "".join(self._spoken).rstrip().endswith("?")

    @property
    def half_duplex(self) -> bool:
        return self._transport.half_duplex

    def is_own_voice(self, text: str) -> bool:
        own = is_echo(text, "".join(self._spoken))
        if own:
            self._transport.own_voice_heard()
        return own

    def duck(self) -> None:
        self._playback.set_output(Output.DUCKED)

    def restore(self) -> None:
        self._playback.set_output(Output.NORMAL)

    def pause(self) -> None:
        self._playback.set_output(Output.PAUSED)

    def interrupt(self) -> None:
        """Make all work stale first, then silence it, then wake who waits for a grace."""
        self._state.scope.cancel()
        self._sender.interrupt()
        self._state.turns.wake()

    # --- wiring --------------------------------------------------------------------------------

    def _hear(self, window: AudioIn) -> None:
        try:
            self._mic.put(window)
        except Closed:
            self._transport.stop()

    def _tick(self) -> bool:
        for report in self._playback.reports():
            self._sender.on_played(report)
        progress = sum(stage.sent for stage in self.stages) + self._playback.played_samples
        if self._watchdog.stalled(self._state.clock.now(), progress, self._owed):
            self._give_up()
        return self.quiet

    @property
    def _owed(self) -> bool:
        """Nobody speaks, and an answer is being made or played that was not given up."""
        working = self._asked is not None and any(not stage.idle for stage in self.stages)
        return self._turns_handler.quiet and (working or self._playback.playing)

    def _give_up(self) -> None:
        """Nothing moves: fail the answer. What hangs is stale, should it ever come back."""
        stuck = next((stage.name for stage in self.stages if not stage.idle), "playback")
        error = f"nothing came from {stuck} for {self._standstill_s:g} s"
        log.error("%s: the answer is given up", error)
        self._state.scope.cancel()
        self._state.turns.wake()
        self._sender.give_up(self._asked, error)
        self._asked = None

    def _on_partial(self, partial: PartialTranscript) -> None:
        self._texts[partial.turn.turn_id] = partial.text
        if not self._mic.offer(partial):
            log.debug("turns is behind: a partial transcript was skipped")
        if not len(self._transcripts) and not len(self._speech):
            self._transcripts.offer(partial)  # to read ahead, while nothing newer is on its way

    def _on_event(self, event: Event) -> None:
        if isinstance(event, ResponseStarted):
            turn = event.response.turn
            self._events(Heard(turn, self._texts.get(turn.turn_id, ""), final=True))
        elif isinstance(event, SpeechStopped):
            self._asked = event.turn
        elif isinstance(event, Said):
            self._spoken.append(event.text)
        elif isinstance(event, ResponseDone):
            self._texts.pop(event.response.turn_id, None)
        self._events(event)


def sound_waiting(synthesizer: Synthesizer, settings: TtsSettings, playback: Playback) -> int:
    """Blocks between synthesis and playback: what the voice makes ahead, and what a slow one must
    have made before it begins, less what the playback buffer holds."""
    ahead_s = max(synthesizer.capabilities.ahead_s, settings.head_start_s(settings.max_coalesced_s))
    samples = ahead_s * playback.rate_hz - playback.capacity_samples
    return max(SENDER_WAITING, math.ceil(samples / BLOCK_SAMPLES))


def stages_alive() -> list[str]:
    """Names of session threads that run now; for tests and diagnosis."""
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("s2s-")]
