"""What the person types instead of saying it: a turn that nothing has to write down.

It goes past the microphone and the recogniser, straight to where their transcripts wait.
"""

from __future__ import annotations

import itertools

from s2s.core.channel import Channel
from s2s.core.events import Notice
from s2s.core.messages import PartialTranscript, SttInput, Transcript, TurnId
from s2s.core.state import SessionState
from s2s.session.floor import AssistantFloor
from s2s.session.standstill import Standstill
from s2s.session.transcripts import FinalTranscripts


class TypedTurns:
    """The typed turns of one session. Safe from any thread.

    Args:
        language: ISO 639-1 code of what is typed; None: the text tells.
    """

    def __init__(
        self,
        state: SessionState,
        floor: AssistantFloor,
        speech: Channel[SttInput],
        finals: FinalTranscripts,
        standstill: Standstill,
        *,
        language: str | None,
    ) -> None:
        self._state = state
        self._floor = floor
        self._speech = speech
        self._finals = finals
        self._standstill = standstill
        self._language = language
        self._count = itertools.count(1)

    def take(self, text: str) -> None:
        """`text` is a turn, and is certain: it interrupts whatever is going on."""
        self._floor.interrupt()
        state = self._state
        turn, now_s = TurnId(f"typed-{next(self._count)}", 0), state.clock.now()
        state.turns.observe(turn, grace_until_s=now_s)
        state.turns.commit(turn)
        for point in ("speech_stopped", "transcript"):
            state.metrics.mark(turn, point, now_s)
        self._finals.on_partial(PartialTranscript(text, text, turn, 0, language=self._language))
        typed = Transcript(text, self._language, turn, state.scope.generation, now_s)
        if self._speech.offer(typed):
            self._standstill.owes(turn)
        else:
            state.events(Notice(f"not answered, too much waits already: {text}"))
