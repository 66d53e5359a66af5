"""Speech while the assistant speaks: carries out what the interruption rules decide.

Speech over a reply is no turn yet. It becomes one when its words have content; until then it only
ducks, pauses or stops the reply. A cancel without words is a pause: the reply can still go on at
the very sample. Only words make it final.
"""

from __future__ import annotations

from typing import Literal

from s2s.core.events import Interruption
from s2s.core.messages import TurnId
from s2s.core.state import SessionState
from s2s.turns.base import Floor
from s2s.turns.interruption import (
    Cancel,
    Decision,
    Duck,
    InterruptionConfig,
    InterruptionRules,
    Restore,
    Resume,
)
from s2s.turns.over_echo import OverEcho
from s2s.turns.provisional import TakingBack
from s2s.turns.speaker.gate import Whose


class Overlap:
    """The interruption rules, applied to one session. Not thread-safe."""

    def __init__(self, config: InterruptionConfig, floor: Floor, state: SessionState) -> None:
        self._config = config
        self._rules = InterruptionRules(config)
        self._floor = floor
        self._events = state.events
        self._provisional = TakingBack(floor, state.turns, state.events)
        self._open = False
        self._over_echo = OverEcho(config.echo_bar_db)
        self._own_voice_told = False
        self._whose: Whose | None = None

    @property
    def input_muted(self) -> bool:
        """Half duplex, and the assistant speaks: nothing is heard."""
        return self._half_duplex and self._floor.playing

    @property
    def can_take_back(self) -> bool:
        """An answer is ours to silence, and the voice is heard over it: it may be provisional."""
        return self._floor.can_take_back and not self._half_duplex

    @property
    def _half_duplex(self) -> bool:
        return self._config.half_duplex or self._floor.half_duplex

    @property
    def open(self) -> bool:
        """The speech that is heard began over a reply, and has not become a turn."""
        return self._open

    @property
    def undecided(self) -> bool:
        """The reply is ducked, paused or silenced, and more evidence is wanted."""
        silenced = self._provisional.silenced
        return silenced or self._rules.deciding or self._rules.awaiting_words

    def close(self, sample: int) -> None:
        """What was said over the reply was nothing, or the turn is over."""
        self._open = False
        self._provisional.over(sample)

    def beyond_echo(self, probability: float, over_echo_db: float) -> float:
        """The speech probability of a window, by what the assistant's own echo leaves of it."""
        return self._over_echo.probability(probability, over_echo_db)

    def voice(self, whose: Whose | None, voiced_share: float) -> None:
        """Whose the speech is that is heard now, and how much of it is voiced."""
        self._whose = whose
        self._rules.voice(whose, voiced_share)

    def window(self, sample: int, active_ms: float, probability: float) -> None:
        """A window was heard; `active_ms` of speech since the onset, with that probability."""
        self._follow_playback(sample)
        if not self._over_echo.clear:
            probability = 0.0  # sound alone proves nothing: it takes words
        self._apply(self._rules.window(sample, active_ms, probability), sample)

    def onset(self, sample: int, turn: TurnId | None) -> None:
        """Something like speech begins. The open `turn`, if it is not committed, is held back, and
        an answer that had begun to it is silent."""
        self._over_echo.onset()
        self._own_voice_told = False
        if turn is not None and not self._open and self._provisional.onset(turn, sample):
            return
        self._follow_playback(sample)
        self._apply(self._rules.onset(sample), sample)
        if self._floor.playing:
            self._open = True

    def nothing(self, sample: int, turn: TurnId | None) -> None:
        """What began was no speech: the open `turn` is as it was."""
        if turn is not None:
            self._provisional.false_start(turn, sample)
        self.ended(sample)

    def gone_on(self) -> None:
        """The open turn goes on, as its next revision."""
        self._provisional.gone_on()

    def ended(self, sample: int) -> None:
        """It is quiet again."""
        self._apply(self._rules.ended(sample), sample)

    def stalled(self, sample: int) -> None:
        """No more frames come (muted, unplugged)."""
        self._provisional.over(sample)
        self._apply(self._rules.stalled(sample), sample)

    def words(self, sample: int, text: str, *, stable: str | None) -> bool:
        """What was said over the reply so far; True when that makes it a turn of its own.

        `stable` is its beginning that will not change, None when it is all that was said. A
        backchannel is an answer where the reply has ended meanwhile, and was a question.
        """
        text, stable = self._without_own_words(text, stable)
        if not text:
            return False
        waiting = self._rules.awaiting_words
        decisions = self._rules.words(sample, text, stable=stable)
        self._apply(decisions, sample)
        meaning = self._rules.meaning(text, stable)
        if waiting and not self._rules.awaiting_words and not decisions:
            self._interrupt(sample, "words")
        answers = meaning == "backchannel" and self._floor.asks and not self._floor.playing
        if not (meaning == "content" or answers) or self._rules.deciding or not self._open:
            return False
        if self._whose in ("other", "unknown"):
            return False
        if self._floor.playing:
            self._interrupt(sample, "late words")
        self._open = False
        return True

    def _without_own_words(self, text: str, stable: str | None) -> tuple[str, str | None]:
        """`text`, and its beginning that will not change, without what the assistant says itself;
        "" where that is all."""
        if self._floor.is_own_voice(text):
            if not self._own_voice_told:
                self._own_voice_told = True
                self._floor.own_voice_heard()
            return "", None
        if self._over_echo.clear or self._rules.meaning(text, stable) == "stop":
            return text, stable
        others = self._floor.other_words(text)
        if others == text:
            return text, stable
        return others, None if stable is None else self._floor.other_words(stable)

    def _follow_playback(self, sample: int) -> None:
        playing = self._floor.playing
        if playing and not self._rules.replying and not self._rules.awaiting_words:
            self._apply(self._rules.begin(sample), sample)
        elif not playing and (self._rules.replying or self._rules.awaiting_words):
            self._apply(self._rules.end(sample), sample)
            self._floor.restore()

    def _apply(self, decisions: list[Decision], sample: int) -> None:
        for decision in decisions:
            match decision:
                case Duck():
                    self._floor.duck()
                    self._tell("duck", sample, "speech")
                case Restore(because=because) | Resume(because=because):
                    self._floor.restore()
                    self._tell("restore", sample, because)
                case Cancel(because=because) if self._rules.awaiting_words:
                    self._floor.pause()
                    self._tell("pause", sample, because)
                case Cancel(because=because):
                    self._interrupt(sample, because)

    def _interrupt(self, sample: int, because: str) -> None:
        self._floor.interrupt()
        self._tell("cancel", sample, because)

    def _tell(
        self, action: Literal["duck", "restore", "pause", "cancel"], sample: int, reason: str
    ) -> None:
        self._events(Interruption(action, sample, reason))
