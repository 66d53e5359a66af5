"""The first stage: hears when the person speaks, pauses, goes on, and interrupts.

At every provisional end the turn is sent on at once; whether it was the end decides only how long
its answer is held back. All deadlines are counted from the end of speech, so that the time the
models take is not added to them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block
from s2s.core.events import Heard, Notice, SpeechStarted, SpeechStopped
from s2s.core.handler import Handler
from s2s.core.messages import (
    AudioIn,
    Order,
    PartialTranscript,
    SessionEnd,
    Speech,
    SttInput,
    TakeUpDropped,
    TextEnding,
    TurnId,
)
from s2s.core.state import SessionState
from s2s.turns.base import Floor, OwnVoice, TurnEnd, Vad
from s2s.turns.config import TurnsConfig
from s2s.turns.grace import GraceConfig
from s2s.turns.open_turn import OpenTurn, TurnEnds
from s2s.turns.orders.orders import Orders
from s2s.turns.overlap import Overlap
from s2s.turns.segmenter import (
    FalseStart,
    Onset,
    ProvisionalEnd,
    Resumed,
    Segmenter,
    SegmenterEvent,
    Started,
    TurnClosed,
    TurnCut,
    TurnWithdrawn,
)
from s2s.turns.speaker.attention import NOT_YOUR_VOICE, Attention
from s2s.turns.speaker.gate import OthersSpeech, PassedWindow

OVERLAP_PARTIAL_MS = 192
"""Speech over a reply is written down this often: twice before its words decide, at the latest
half a second after it began."""
TRANSCRIPT_WAIT_MS = 10_000
"""What was said over a reply is waited for this long, however slow the recogniser is."""

TurnInput = AudioIn | PartialTranscript | TextEnding | Order | TakeUpDropped | SessionEnd


class TurnsHandler(Handler[TurnInput, SttInput]):
    """Turns microphone windows into turns."""

    name = "turns"

    def __init__(
        self,
        vad: Vad,
        end_of_turn: TurnEnd | None,
        floor: Floor,
        state: SessionState,
        config: TurnsConfig,
        *,
        session_id: str,
        language: str | None = None,
        own_voice: OwnVoice | None = None,
    ) -> None:
        self._vad = vad
        self._floor = floor
        self._state = state
        self._turns = state.turns
        self._events = state.events
        self._session_id = session_id
        self._config = config
        self._segmenter = Segmenter(config.segmenter)
        self._ends = TurnEnds(
            end_of_turn, self._segmenter, state, config.grace, language, self._at_s, self._graces
        )
        self._overlap = Overlap(config.interruption, floor, state)
        self._orders = Orders(self._segmenter, floor, state, config, language)
        self._attention = Attention(own_voice, config.speaker, state, floor)
        self._count = 0
        self._turn: OpenTurn | None = None
        """The turn that is open; None between turns."""
        self._next_partial_sample = 0
        """When what is being said is to be written down again; also before it is a turn."""
        self._last_window_s: float | None = None
        """When the last window came; None while none is expected."""
        self._stream_start_s = 0.0
        """Clock reading at sample 0 of the stream, by the newest window."""

    @property
    def quiet(self) -> bool:
        """The person is silent, and no interruption is being decided."""
        return not self._segmenter.speaking and not self._overlap.undecided

    # --- the stage -----------------------------------------------------------------------------

    def process(self, message: TurnInput) -> Iterable[SttInput]:
        match message:
            case AudioIn():
                return self._hear(message)
            case PartialTranscript():
                return self._read(message)
            case TextEnding():
                return self._ends.take(self._turn, message)
            case TakeUpDropped():
                return self._take_up()
            case SessionEnd():
                return (message,)
            case _:
                return self._order(message)

    def failed(self, message: TurnInput | None, error: Exception) -> Iterable[SttInput]:
        self._events(Notice(f"Hearing failed: {error}. Starting to listen afresh."))
        self._listen_afresh()
        return ()

    def deadline_s(self) -> float | None:
        if self._last_window_s is None or self.quiet:
            return self._ends.deadline_s(self._turn)
        return self._last_window_s + self._config.stalled_input_ms / 1000

    def expired(self) -> Iterable[SttInput]:
        """No more windows come (muted, unplugged): what is being said ends here, and time decides
        about a pause."""
        if self._last_window_s is not None and not self.quiet:
            self._last_window_s = None
            yield from self._end_speech()
        self._ends.expired(self._turn)

    def _end_speech(self) -> Iterator[SttInput]:
        for event in self._segmenter.stalled():
            yield from self._on(event)
        self._overlap.stalled(self._segmenter.sample)

    def end_session(self) -> None:
        self._listen_afresh()
        self._turns.reset()

    def _listen_afresh(self) -> None:
        self._forget_turn()
        self._segmenter.reset()
        self._vad.reset()
        self._attention.reset()

    # --- hearing -------------------------------------------------------------------------------

    def _hear(self, message: AudioIn) -> Iterator[SttInput]:
        self._last_window_s = self._state.clock.now()
        self._stream_start_s = message.captured_at_s - message.end_sample / PIPELINE_HZ
        self._close_if_over()
        block = np.zeros_like(message.block) if self._overlap.input_muted else message.block
        probability = self._vad.probability(block) if message.attended else 0.0
        probability = self._overlap.beyond_echo(probability, message.over_echo_db)
        held_back = not (self._floor.playing or self._orders.key_down)
        of_room = message.attended and message.over_echo_db == np.inf
        for told in self._attention.hear(block, probability, held_back=held_back, of_room=of_room):
            yield from self._told(told)
        active_ms = 1000 * self._segmenter.active_samples / PIPELINE_HZ
        self._overlap.voice(*self._attention.evidence)
        self._overlap.window(self._segmenter.sample, active_ms, self._segmenter.speech_probability)
        if (falling_silent := self._falling_silent()) is not None:
            yield self._partial(falling_silent)
            self._ends.judge(falling_silent)
        elif (wanted := self._partial_wanted()) is not None:
            yield self._partial(wanted)
        self._ends.window(self._turn)

    def _told(self, told: PassedWindow | OthersSpeech) -> Iterator[SttInput]:
        """A window that is to be heard, or speech that turns out to be another's."""
        if isinstance(told, PassedWindow):
            events = self._segmenter.push(told.block, told.probability)
        else:
            events = self._segmenter.withdraw(told.sample)
        for event in events:
            yield from self._on(event)

    def _on(self, event: SegmenterEvent) -> Iterator[SttInput]:
        match event:
            case Onset():
                self._onset(event.sample)
            case FalseStart():
                self._overlap.nothing(event.sample, self._turn and self._turn.id)
            case Started():
                self._start(event.onset_sample)
            case Resumed():
                self._resume(event.sample)
            case ProvisionalEnd():
                self._overlap.ended(event.end_sample)
                if self._turn is not None:
                    yield from self._pause(self._turn, event.end_sample)
            case TurnCut():
                yield from self._split(event)
            case TurnClosed():
                self._forget_turn()
            case TurnWithdrawn():
                self._overlap.ended(self._segmenter.sample)
                self._drop(NOT_YOUR_VOICE, event.audio, goes_on=True)

    def _order(self, order: Order) -> Iterator[SttInput]:
        """Begin or end a turn where the person says so."""
        again = self._orders.take(order, self._turn and self._turn.id)
        if again == "end":
            yield from self._end_speech()
            if self._turn is not None and self._turn.pause is not None:
                self._orders.let_go(self._turn.id)
        elif again != "nothing":
            self._listen_afresh()
            for block in again:
                for event in self._segmenter.push(block, self._vad.probability(block)):
                    yield from self._on(event)

    def _onset(self, sample: int) -> None:
        self._overlap.onset(sample, self._turn and self._turn.id)
        if self._overlap.open:
            self._partial_due(sample, OVERLAP_PARTIAL_MS)

    def _start(self, onset_sample: int) -> None:
        """A new turn. It interrupts whatever is still being made, unless it is over a reply."""
        if not self._overlap.open:
            self._floor.interrupt()
        turn = self._turn = self._turn or self._new_turn()
        turn.pause = None
        if not self._overlap.open:
            self._partial_due(onset_sample, self._config.partial_interval_ms)
        self._events(SpeechStarted(turn.id, self._at_s(onset_sample)))

    def _new_turn(self) -> OpenTurn:
        self._count += 1
        turn = OpenTurn(TurnId(f"{self._session_id}-{self._count}", 0))
        self._turns.observe(turn.id)
        return turn

    def _resume(self, sample: int) -> None:
        """The speaker goes on: the same turn if it was not answered yet, else a new one."""
        turn = self._turn
        if turn is not None:
            turn.goes_on()
        if self._overlap.open:
            return
        reopened = None if turn is None else self._turns.confirm_reopen(turn.id.turn_id)
        if turn is None or reopened is None:
            self._segmenter.close()  # heard again as the start of the next turn
            self._forget_turn()
            return
        self._overlap.gone_on()
        turn.id, turn.told_empty = reopened, False
        self._orders.goes_on(turn.text)
        self._partial_due(sample, self._config.partial_interval_ms)
        self._events(SpeechStarted(reopened, self._at_s(sample)))

    def _pause(self, turn: OpenTurn, end_sample: int) -> Iterator[SttInput]:
        """Send the turn on at once, then find out how long its answer is to be held back."""
        stopped_s = self._at_s(end_sample)
        self._events(SpeechStopped(turn.id, stopped_s))
        pause = self._ends.pause(turn, end_sample)
        if self._overlap.open:
            self._overlap.voice(*self._attention.at_end())
            yield self._partial(turn)
            return
        self._state.metrics.mark(turn.id, "speech_stopped", stopped_s)
        judged = turn.judged_sample > end_sample
        audio = self._segmenter.audio(turn.judged_sample if judged else None)
        yield self._final(turn, audio, stopped_s)
        if self._attention.settle() and not self._orders.hold:
            self._drop(NOT_YOUR_VOICE, audio)
            return
        if not judged:
            self._ends.judge(turn)
        self._ends.judged(turn, pause, early=judged)
        self._state.metrics.mark(turn.id, "endpoint", self._state.clock.now())

    def _graces(self) -> tuple[GraceConfig, GraceConfig] | None:
        """As `TurnsConfig.graces`; None while orders decide, not pauses."""
        may_begin = self._overlap.can_take_back
        return None if self._orders.hold else self._config.graces(provisional=may_begin)

    def _split(self, event: TurnCut) -> Iterator[SttInput]:
        """The turn is longer than the maximum: answer what was said, go on as the next turn."""
        if self._turn is not None and not self._overlap.open:
            cut_s = self._at_s(event.cut_sample)
            self._turns.set_grace(self._turn.id, cut_s)
            yield self._final(self._turn, event.audio, cut_s)
        self._turn = self._new_turn()

    def _close_if_over(self) -> None:
        """An answered turn cannot be re-opened; nor one that nothing answered for too long."""
        turn = self._turn
        if turn is None or turn.pause is None:
            return
        waited_ms = turn.pause.silence_ms(self._segmenter.sample)
        if self._overlap.open:
            limit_ms = self._config.interruption.late_ms if turn.all_read else TRANSCRIPT_WAIT_MS
            over = waited_ms > limit_ms and not self._overlap.undecided
        else:
            self._ends.tell_if_empty(turn)
            late = waited_ms > self._config.unanswered_reopen_ms and not self._orders.key_down
            stopped = turn.all_read and self._orders.stopped(turn.id, turn.text, waited_ms)
            committed = self._turns.is_committed(turn.id.turn_id)
            over = late or stopped or committed
            if committed:
                self._attention.answered(self._segmenter.audio(turn.pause.end_sample))
        if over:
            self._segmenter.close()
            self._forget_turn()

    def _drop(self, reason: str, audio: Block, *, goes_on: bool = False) -> None:
        """The open turn `audio`, float32 [samples], is not meant for us: nothing answers it."""
        self._segmenter.close()
        if (turn := self._turn) is not None and not self._overlap.open:
            self._attention.drop(turn.id, turn.text, reason, audio, goes_on=goes_on)
        self._forget_turn()

    def _take_up(self) -> Iterator[SttInput]:
        """Answer what was dropped last."""
        if len(audio := self._attention.take_up()):
            turn, now_s = self._new_turn(), self._state.clock.now()
            yield self._final(turn, audio, now_s)
            self._turns.set_grace(turn.id, now_s)

    def _forget_turn(self) -> None:
        self._orders.forget(self._turn and self._turn.id)
        self._turn = None
        self._overlap.close(self._segmenter.sample)

    # --- partial transcripts -------------------------------------------------------------------

    def _read(self, partial: PartialTranscript) -> Iterator[SttInput]:
        turn = self._turn
        if turn is None or turn.id != partial.turn:
            return
        turn.text, turn.language = partial.text, partial.language
        turn.read_samples = partial.audio_samples
        over = turn.pause is not None and turn.all_read
        stable = None if over else partial.stable
        if not self._overlap.open:
            self._orders.read(turn.id, turn.text)
            if over and not self._orders.hold:
                heard = self._segmenter.audio(turn.pause and turn.pause.end_sample)
                if (why := self._attention.why_not(heard, partial)) is not None:
                    self._drop(why, heard)
                    return
            self._ends.read(turn)
        elif self._overlap.words(self._segmenter.sample, partial.text, stable=stable):
            # What was said over a reply is a turn after all.
            self._partial_due(self._segmenter.sample, self._config.partial_interval_ms)
            if turn.pause is not None:
                yield from self._pause(turn, turn.pause.end_sample)
            return
        self._events(Heard(partial.turn, partial.text, final=False))

    def _partial_wanted(self) -> OpenTurn | None:
        """The turn whose words so far are wanted now. Over a reply they are before it is one."""
        if self._segmenter.sample < self._next_partial_sample:
            return None
        if self._overlap.open:
            if self._turn is None and len(self._segmenter.audio()):
                self._turn = self._new_turn()
            return self._turn if self._turn is None or self._turn.pause is None else None
        wanted = self._segmenter.speaking and self._config.partial_interval_ms > 0
        return self._turn if wanted else None

    def _falling_silent(self) -> OpenTurn | None:
        """The turn, in the first window of silence: this may be all that is said. What is heard up
        to here is written down at once; if it is the provisional end, its transcript is ready a
        window earlier."""
        segmenter = self._segmenter
        silent = segmenter.speaking and 0 < segmenter.silent_samples <= BLOCK_SAMPLES
        return self._turn if silent and not self._overlap.open else None

    def _partial_due(self, from_sample: int, after_ms: int) -> None:
        self._next_partial_sample = from_sample + after_ms * PIPELINE_HZ // 1000

    def _partial(self, turn: OpenTurn) -> Speech:
        """All that is heard so far, for its words alone."""
        interval_ms = OVERLAP_PARTIAL_MS if self._overlap.open else self._config.partial_interval_ms
        self._partial_due(self._segmenter.sample, interval_ms)
        audio = self._segmenter.audio()
        turn.sent_samples = len(audio)
        generation = self._state.scope.generation
        return Speech(audio, turn.id, generation, False, self._at_s(self._segmenter.sample))

    def _final(self, turn: OpenTurn, audio: Block, stopped_s: float) -> Speech:
        """The turn's `audio`, float32 [samples], to be answered."""
        turn.sent_samples = len(audio)
        return Speech(audio, turn.id, self._state.scope.generation, True, stopped_s)

    def _at_s(self, sample: int) -> float:
        """When `sample` of the stream was captured, on the session's clock."""
        return self._stream_start_s + sample / PIPELINE_HZ
