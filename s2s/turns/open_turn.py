"""The turn that is open, and who decides when one of its pauses was the end.

`TurnEnds` asks the end-of-turn model at places counted in samples and tells `SpeculativeTurns` when
the answer may be heard. The rule is in `pause` and `grace`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from s2s.core.audio import BLOCK_SAMPLES, Block
from s2s.core.events import NothingHeard
from s2s.core.messages import TextEnding, TurnId
from s2s.core.speculation import Verdict
from s2s.core.state import SessionState
from s2s.core.work import Work
from s2s.turns.base import TurnEnd
from s2s.turns.endpoint import to_log_odds
from s2s.turns.grace import GraceConfig
from s2s.turns.pause import WINDOW_MS, TurnPause
from s2s.turns.segmenter import Segmenter

WINDOW_LATE_S = 0.25
"""A window that would end a turn is waited for this long; then time counts instead of samples."""


@dataclass(slots=True)
class OpenTurn:
    """The open turn, as far as it is known. Times are samples of the session."""

    id: TurnId
    text: str = ""
    """What the speaker seems to have said so far."""
    language: str | None = None
    """In which language, as far as the recogniser tells."""
    pause: TurnPause | None = None
    """While the speaker pauses, from its provisional end on."""
    judged_sample: int = 0
    """One past the audio that was sent and judged at the last first window of silence."""
    sound: float | None = None
    """What the end-of-turn model made of that, in log-odds; None without one."""
    ending: TextEnding | None = None
    """What the language model made of its words last."""
    sent_samples: int = 0
    """Length of what was last sent to be written down."""
    read_samples: int = 0
    """Length of what its last transcript is of."""
    told_empty: bool = False
    """That this revision holds no words was told."""

    @property
    def all_read(self) -> bool:
        """The last transcript is of all that was sent."""
        return self.read_samples >= self.sent_samples

    def goes_on(self) -> None:
        """Its speech is back: what was known of the pause says nothing of the next one."""
        self.pause = self.ending = None

    def pass_words(self) -> None:
        """Let the pause know what is known of its words, once they are all there."""
        pause, ending = self.pause, self.ending
        if pause is None:
            return
        if self.all_read:
            pause.text, pause.language = self.text, self.language or pause.language
        if ending is None:
            return
        if ending.text is None:
            pause.text = ""
        else:
            pause.judged_text, pause.model = ending.text, ending.log_odds


class TurnEnds:
    """Decides about the pauses of one session's turns. For the thread of the turns stage."""

    def __init__(
        self,
        model: TurnEnd | None,
        segmenter: Segmenter,
        state: SessionState,
        config: GraceConfig,
        language: str | None,
        at_s: Callable[[int], float],
        graces: Callable[[], tuple[GraceConfig, GraceConfig] | None],
    ) -> None:
        """
        Args:
            model: hears whether a turn is complete; without one the words decide.
            language: ISO 639-1 code of what is spoken, None when unknown.
            at_s: when a sample of the session was captured, on the session's clock.
            graces: after which an answer may begin provisionally, and after which it is certain;
                None while pauses are not decided here.
        """
        self._model = model
        self._segmenter = segmenter
        self._state = state
        self._at_s = at_s
        self._config = config
        self._language = language
        self._graces = graces
        self._last_window_s = 0.0

    def judge(self, turn: OpenTurn) -> None:
        """Ask the model, at the first window of silence: the answer is there when the second one
        makes it a provisional end, and the language model has the machine to itself."""
        heard = [self._segmenter.audio()]
        if self._segmenter.speaking:  # as it will be at its end: the model was tuned there
            heard.append(np.zeros(BLOCK_SAMPLES, dtype=np.float32))
        turn.judged_sample = self._segmenter.sample
        turn.sound = self._sound(np.concatenate(heard))

    def pause(self, turn: OpenTurn, end_sample: int) -> TurnPause:
        """`turn` has provisionally ended."""
        turn.pause = TurnPause(end_sample, self._config, self._language)
        return turn.pause

    def judged(self, turn: OpenTurn, pause: TurnPause, *, early: bool) -> None:
        """What `judge` found counts for `pause`; `early`: it was at its first window of silence,
        with another one put behind it."""
        silence_ms = 2 * WINDOW_MS if early else pause.silence_ms(turn.judged_sample)
        pause.judged(turn.sound, silence_ms)
        turn.pass_words()

    def take(self, turn: OpenTurn | None, ending: TextEnding) -> tuple[()]:
        """What the language model makes of the words of `turn`, if it still is that one."""
        if turn is not None and turn.id == ending.turn:
            turn.ending = ending
            self.read(turn)
        return ()

    def read(self, turn: OpenTurn) -> None:
        """More is known of the words of `turn`."""
        turn.pass_words()
        self._consider(turn)

    def window(self, turn: OpenTurn | None) -> None:
        """A window was heard."""
        self._last_window_s = self._state.clock.now()
        self._consider(turn)

    def tell_if_empty(self, turn: OpenTurn) -> None:
        """Speech without words has no answer. It is told at the end of the grace, not before: who
        clears their throat often goes on."""
        if turn.told_empty or turn.text.strip() or not turn.all_read:
            return
        if self._state.turns.verdict(turn.id) is Verdict.LATEST:
            turn.told_empty = True
            self._state.events(NothingHeard(turn.id))

    def _consider(self, turn: OpenTurn | None) -> None:
        """Ask again, or end the turn, where enough silence was heard for it."""
        pause = self._undecided(turn)
        if turn is None or pause is None:
            return
        sample = self._segmenter.sample
        wait_ms = pause.ends_by(sample)
        if wait_ms is None and pause.asks(sample):
            pause.judged(self._sound(self._segmenter.audio()), pause.silence_ms(sample))
            wait_ms = pause.ends_by(sample)
        if pause.begins_ms is None and (graces := self._graces()) is not None:
            pause.begins_ms = pause.begins_by(sample, graces[0])
            if pause.begins_ms is not None and wait_ms is None:
                self._set_grace(turn, pause, math.inf)
        if wait_ms is not None:
            self._end(turn, pause, wait_ms)

    def deadline_s(self, turn: OpenTurn | None) -> float | None:
        """When time decides instead of samples if no window comes any more."""
        pause = self._undecided(turn)
        if pause is None:
            return None
        due_s = self._at_s(pause.end_sample) + pause.expected_ms() / 1000
        return max(due_s, self._last_window_s + WINDOW_LATE_S)

    def expired(self, turn: OpenTurn | None) -> None:
        """No window came in time: what silence was not heard has passed all the same."""
        pause = self._undecided(turn)
        if turn is not None and pause is not None:
            passed_s = self._state.clock.now() - self._at_s(pause.end_sample)
            self._end(turn, pause, min(pause.expected_ms(), round(1000 * passed_s)))

    def _undecided(self, turn: OpenTurn | None) -> TurnPause | None:
        """The pause that is to be decided; nothing like speech came since it began."""
        pause = turn.pause if turn is not None else None
        waits = pause is not None and bool(pause.judgements) and not pause.over
        return pause if waits and self._segmenter.paused and self._graces() else None

    def _end(self, turn: OpenTurn, pause: TurnPause, wait_ms: int) -> None:
        """The turn may be answered when its silence has lasted `wait_ms`."""
        pause.over = True
        self._set_grace(turn, pause, wait_ms)

    def _set_grace(self, turn: OpenTurn, pause: TurnPause, wait_ms: float) -> None:
        end_s, begins_ms = self._at_s(pause.end_sample), pause.begins_ms
        from_s = None if begins_ms is None else end_s + begins_ms / 1000
        self._state.turns.set_grace(turn.id, end_s + wait_ms / 1000, provisional_from_s=from_s)

    def _sound(self, audio: Block) -> float | None:
        """What the model makes of `audio`, float32 [samples], in log-odds."""
        if self._model is None:
            return None
        with self._state.compute.working(Work.HEARING):
            return to_log_odds(self._model.probability(audio))
