"""The turns stage of a client's session: by its voice, by its words, or by the client's own orders.

Around `s2s.turns.handler`, which finds the turns: what is told of them, when they are committed,
and another detector when the client wants one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from s2s.core.audio import PIPELINE_HZ, Block, empty
from s2s.core.control import Hearing, ServerVad
from s2s.core.handler import Handler
from s2s.core.messages import AudioIn, ResponseAsked, SessionEnd, Speech, SttInput, TurnId
from s2s.core.speculation import Verdict
from s2s.core.state import SessionState
from s2s.session.client.floor import ClientFloor, HeardFloor
from s2s.session.client.hearing import turns_config
from s2s.session.client.orders import (
    ClearInput,
    ClientInput,
    CommitInput,
    GivenSound,
    HearBy,
)
from s2s.session.client.sounds import ItemSounds
from s2s.session.client.telling import TurnTelling
from s2s.session.models import Models
from s2s.turns.config import TurnsConfig
from s2s.turns.steered import SteeredTurns

MAX_INPUT_S = 120.0
"""Sound that waits to be committed by the client; of more the newest."""
ABANDONED_S = 3.0
"""Of which no sound comes any more, speech over an answer that has not become a turn is none."""
NO_SPEECH = "no speech"
NOT_MEANT = "not meant to be answered"
CLEARED = "cleared"


@dataclass(frozen=True, slots=True)
class TurnsParts:
    """What the stage works with."""

    models: Models
    floor: ClientFloor
    state: SessionState
    config: TurnsConfig
    telling: TurnTelling
    sounds: ItemSounds
    ask: Callable[[TurnId], None]
    """Has the turn answered without words: nobody said anything for too long."""


class ClientTurns(Handler[ClientInput, SttInput]):
    """Turns what a client sends into turns."""

    name = "turns"

    def __init__(
        self, parts: TurnsParts, hearing: Hearing, session_id: str, *, count: int = 0
    ) -> None:
        """`count`: turns that there were before."""
        self._parts = parts
        self._telling = parts.telling
        self._turns = parts.state.turns
        self._session_id = session_id
        self._hearing = hearing
        self._wanted: Hearing | None = None
        """Settings that wait for the end of a turn."""
        self._last_s = 0.0
        """When the last window came."""
        self._sample = 0
        self._first_sample = 0
        """Where the stream of the detector begins."""
        self._kept: deque[Block] = deque()
        """What was heard since the last commit, where the client commits."""
        self._idle_from: int | None = None
        """Since when nobody speaks, behind an answer that was played."""
        self._inner = self._detector(count)

    @property
    def count(self) -> int:
        """Turns so far."""
        return self._inner.count

    @property
    def quiet(self) -> bool:
        """The person is silent, and nothing is being decided."""
        return self._inner.quiet and not (self._telling.waiting or self._telling.begun)

    # --- the stage -------------------------------------------------------------------------------

    def process(self, message: ClientInput) -> Iterable[SttInput]:
        match message:
            case HearBy():
                self._wanted = message.hearing
                self._change()
            case CommitInput():
                yield from self._commit_input()
            case ClearInput():
                self._clear()
            case ResponseAsked():
                self._answer_instead()
                yield message
            case SessionEnd():
                yield message
            case GivenSound():
                now_s, generation = self._parts.state.clock.now(), self._generation
                yield Speech(message.audio, message.turn, generation, True, now_s, False)
            case AudioIn() if self._hearing.detection is None:
                self._keep(message)
            case AudioIn():
                yield from self._hear(message)
            case _:
                yield from self._passed(self._inner.process(message))
        self._change()

    def failed(self, message: ClientInput | None, error: Exception) -> Iterable[SttInput]:
        match message:
            case HearBy() | CommitInput() | ClearInput() | GivenSound() | ResponseAsked():
                pass
            case _:
                yield from self._passed(self._inner.failed(message, error))

    def deadline_s(self) -> float | None:
        if self._hearing.detection is None:
            return None
        due_s = self._inner.deadline_s()
        if not self._undecided:
            return due_s
        abandoned_s = self._last_s + ABANDONED_S
        return abandoned_s if due_s is None else min(due_s, abandoned_s)

    def expired(self) -> Iterable[SttInput]:
        yield from self._passed(self._inner.expired())
        if self._undecided and self._parts.state.clock.now() >= self._last_s + ABANDONED_S:
            self._inner.drop_turn()
            self._tell()

    @property
    def _undecided(self) -> bool:
        """A turn was told to have begun, and it is open whether it is one."""
        begun = self._telling.begun
        return any(self._telling.sent_revision(turn_id) is None for turn_id in begun)

    # --- hearing ---------------------------------------------------------------------------------

    def _hear(self, message: AudioIn) -> Iterator[SttInput]:
        self._last_s = self._parts.state.clock.now()
        self._sample = message.end_sample
        self._telling.now_ms = _ms(self._sample)
        own = message
        if self._first_sample:
            own = replace(message, end_sample=message.end_sample - self._first_sample)
        yield from self._passed(self._inner.process(own))
        self._idle(message)

    def _keep(self, message: AudioIn) -> None:
        self._sample = message.end_sample
        self._telling.now_ms = _ms(self._sample)
        self._kept.append(message.block)
        while len(self._kept) * len(message.block) > MAX_INPUT_S * PIPELINE_HZ:
            self._kept.popleft()

    def _passed(self, outputs: Iterable[SttInput]) -> Iterator[SttInput]:
        """What the detector gives, as the client's settings want it; and what is to be told."""
        for output in outputs:
            if isinstance(output, Speech) and output.final:
                yield self._sent(output)
            else:
                yield output
        self._tell()

    def _sent(self, speech: Speech) -> Speech:
        self._begin(speech.turn.turn_id)
        self._parts.sounds.keep_said(speech.turn.turn_id, speech.audio)
        seconds = len(speech.audio) / PIPELINE_HZ
        silenced = self._parts.state.is_silenced(speech.turn.turn_id)
        answered = self._hearing.answers and not silenced
        self._telling.sent(speech.turn, seconds, answered=answered)
        return replace(speech, answered=answered)

    def _tell(self) -> None:
        """Tell what has become certain: that a turn began, is committed, or is none."""
        inner = self._inner
        if inner.turn is not None and not inner.over_reply:
            self._begin(inner.turn.turn_id)
        for turn in self._telling.waiting:
            verdict = self._turns.verdict(turn)
            if verdict is Verdict.LATEST and self._turns.commit(turn):
                self._telling.committed(turn)
            elif verdict is not Verdict.LATEST and not self._is_open(turn.turn_id):
                self._drop(turn.turn_id, NOT_MEANT)
        for turn_id in self._telling.begun:
            if not self._is_open(turn_id) and self._telling.sent_revision(turn_id) is None:
                self._drop(turn_id, NO_SPEECH)

    def _is_open(self, turn_id: str) -> bool:
        """The turn is being spoken, or what may become it."""
        inner = self._inner
        if inner.turn is not None:
            return inner.turn.turn_id == turn_id
        return inner.speaking and inner.coming() == turn_id

    def _begin(self, turn_id: str) -> None:
        """The turn counts from now on."""
        if not self._telling.has_begun(turn_id):
            self._telling.began(turn_id, _ms(self._first_sample + self._inner.start_sample))

    def _drop(self, turn_id: str, why: str) -> None:
        """It is no turn: no item, no answer."""
        self._turns.forget(turn_id)
        self._parts.floor.forget(TurnId(turn_id, 0))
        self._telling.dropped(turn_id, why)
        self._parts.sounds.forget_said(turn_id)

    def _interrupting(self) -> None:
        """Speech is about to take the floor: it is told before what it interrupts ends."""
        self._begin(self._inner.coming())

    # --- the client's orders ---------------------------------------------------------------------

    def _change(self) -> None:
        """Hear by the settings that are wanted, unless something is being said."""
        wanted = self._wanted
        if wanted is None or (self._inner.turn is not None and not self._is_committed()):
            return
        self._wanted = None
        same = wanted.detection == self._hearing.detection and (
            wanted.interrupts == self._hearing.interrupts
            and wanted.language == self._hearing.language
        )
        self._hearing = wanted
        if not same:
            self._renew()

    def _is_committed(self) -> bool:
        turn = self._inner.turn
        return turn is not None and self._turns.is_committed(turn.turn_id)

    def _renew(self) -> None:
        """A new detector, that has heard nothing yet."""
        self._first_sample = self._sample
        self._kept.clear()
        self._inner = self._detector(self._inner.count)

    def _detector(self, count: int) -> SteeredTurns:
        parts, hearing = self._parts, self._hearing
        overlaps = not isinstance(hearing.detection, ServerVad) and hearing.interrupts
        inner = SteeredTurns(
            parts.models.vad.open(),
            None if isinstance(hearing.detection, ServerVad) else parts.models.end_of_turn,
            HeardFloor(
                parts.floor,
                self._interrupting,
                overlaps=overlaps,
                interrupts=hearing.interrupts,
            ),
            parts.state,
            turns_config(hearing, parts.config),
            session_id=self._session_id,
            language=hearing.language,
            own_voice=parts.models.own_voice,
        )
        inner.count = count
        return inner

    def _commit_input(self) -> Iterator[SttInput]:
        """What was heard is a turn: the one that is being said, or all that the client sent."""
        open_turn = self._inner.turn
        if self._hearing.detection is not None and open_turn is not None:
            # A commit is no question, in any mode: who sent it asks.
            self._parts.state.silence(open_turn.turn_id)
            self._telling.unanswered(open_turn.turn_id)
            yield from self._passed(self._inner.end_turn())
            return
        audio = np.concatenate(self._kept) if self._kept else empty()
        self._kept.clear()
        turn, now_s = self._inner.next_turn(), self._parts.state.clock.now()
        speech = Speech(audio, turn, self._generation, True, now_s, answered=False)
        self._parts.sounds.keep_said(turn.turn_id, audio)
        self._telling.sent(turn, len(audio) / PIPELINE_HZ, answered=False)
        self._turns.set_grace(turn, now_s)
        self._turns.commit(turn)
        self._telling.committed(turn)
        yield speech

    def _answer_instead(self) -> None:
        """A response was asked for while a turn waits to be sure: it is over, and that response is
        its answer. What is still being said has an answer of its own."""
        for turn_id in self._telling.take_over():
            self._parts.state.silence(turn_id)
        for turn in self._telling.waiting:
            if self._parts.state.is_silenced(turn.turn_id):
                self._turns.set_grace(turn, self._parts.state.clock.now())
        self._tell()

    @property
    def _generation(self) -> int:
        return self._parts.state.scope.generation

    def _clear(self) -> None:
        self._kept.clear()
        open_turn = self._inner.turn
        self._inner.drop_turn()
        if open_turn is not None and not self._turns.is_committed(open_turn.turn_id):
            self._turns.forget(open_turn.turn_id)
        self._tell()

    # --- nobody speaks ---------------------------------------------------------------------------

    def _idle(self, message: AudioIn) -> None:
        """After an answer was played and nobody spoke for so long, the silence is a turn."""
        vad = self._hearing.detection
        if not isinstance(vad, ServerVad) or vad.idle_timeout_ms is None:
            return
        busy = self._parts.floor.playing or self._telling.owed
        if busy or self._inner.turn is not None or self._inner.speaking:
            self._idle_from = message.end_sample if busy else None
            return
        if self._idle_from is None:
            return
        if message.end_sample - self._idle_from >= vad.idle_timeout_ms * PIPELINE_HZ // 1000:
            silence = (_ms(self._idle_from), _ms(message.end_sample))
            self._idle_from = None
            turn, now_s = self._inner.next_turn(), self._parts.state.clock.now()
            self._turns.set_grace(turn, now_s)
            self._turns.commit(turn)
            self._telling.sent(turn, 0.0, answered=self._hearing.answers)
            self._telling.committed(turn, silence)
            self._telling.words(turn, "")
            if self._hearing.answers:
                self._parts.ask(turn)


def _ms(samples: int) -> int:
    return 1000 * samples // PIPELINE_HZ
