"""Speech while the assistant speaks: go on, be quiet, or carry on. A pure state machine.

Something like speech ducks the output at once; then evidence comes in (its length, its probability,
its words), and at the latest half a second after it began it is decided by the first rule of a
table that applies. Wrong decisions can be taken back: after a restore, words with content still
cancel; after a cancel, words that never come, or turn out to be a backchannel, resume the reply:
docs/decisions/cancel-without-words.md.

Times are samples of the session at 16 kHz. Knows no clock, model or thread.

    idle --onset: Duck--> deciding --Restore--> restored --(2 s)--> idle
                             |                     |
                             +------- Cancel ------+--> cancelled --Resume, or words--> idle
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Literal

from s2s.core.audio import PIPELINE_HZ
from s2s.core.setting import setting
from s2s.turns.backchannels import Words, classify, may_be_murmur
from s2s.turns.speaker.gate import Whose

When = Literal["speaking", "ended", "deadline", "overdue", "restored"]
"""Before the deadline, while it lasts or after it ended; at the deadline, likewise; and after the
volume was restored."""

Outcome = Literal["wait", "restore", "cancel"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the table: it applies when every condition holds. None is any."""

    because: str
    outcome: Outcome
    words: Words | None = None
    when: tuple[When, ...] = ("speaking", "ended", "deadline", "overdue", "restored")
    min_active_ms: int = 0
    min_probability: float = 0.0
    whose: Whose | None = None
    max_voiced: float = 1.0
    """Of its windows, the share with a pitch."""

    def applies(self, evidence: Evidence) -> bool:
        return (
            self.words in (None, evidence.words)
            and evidence.when in self.when
            and evidence.active_ms >= self.min_active_ms
            and evidence.probability >= self.min_probability
            and self.whose in (None, evidence.whose)
            and evidence.voiced_share <= self.max_voiced
        )


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known about the speech."""

    words: Words
    when: When
    active_ms: float
    """Active speech since its onset."""
    probability: float
    """Mean speech probability of it."""
    whose: Whose | None = None
    """Whose voice it is; None where none is enrolled."""
    voiced_share: float = 1.0
    """Of its windows, those with a pitch."""


UNVOICED = 0.25
"""Speech is voiced for half of its time and more; a cough, a knock, a click is not
(docs/decisions/only-my-voice.md)."""

RULES: tuple[Rule, ...] = (
    # because           outcome    words          when                   active ms  probability
    Rule("stop word", "cancel", "stop"),
    Rule("no voice in it", "restore", when=("ended", "deadline", "overdue"), max_voiced=UNVOICED),
    Rule("no voice in it", "wait", max_voiced=UNVOICED),
    Rule("another voice", "restore", when=("ended", "deadline", "overdue"), whose="other"),
    Rule("another voice", "wait", whose="other"),
    Rule("whose voice?", "wait", when=("speaking", "deadline", "restored"), whose="unknown"),
    Rule("words", "cancel", "content"),
    Rule("backchannel", "restore", "backchannel", ("ended", "deadline", "overdue")),
    Rule("backchannel", "wait", "backchannel"),
    Rule("your voice", "cancel", "none", ("speaking", "deadline", "restored"), whose="mine"),
    Rule("long speech", "cancel", "none", ("deadline",), 384, 0.8),
    Rule("went on", "cancel", "none", ("restored",), 900, 0.7),
    Rule("unsure", "restore", "none", ("deadline", "overdue")),
    Rule("words may come", "wait", "none", ("ended",), 192),
    Rule("too short", "restore", "none", ("ended",)),
    Rule("more may come", "wait"),
)
"""The first that applies decides; there is always one."""


@dataclass(frozen=True, slots=True)
class InterruptionConfig:
    """What speech during playback does."""

    decide_ms: int = setting(500, "Latest decision after the onset.")
    resume_ms: int = setting(
        2000, "A cancelled reply resumes when no words came this long after the speech."
    )
    late_ms: int = setting(2000, "Words this long after a restore still cancel.")
    murmur_ms: int = setting(
        400,
        "One short word in less active speech than this is a misheard backchannel, not content.",
    )
    echo_bar_db: float = setting(
        6.0,
        "By how much speech must be louder than the assistant's own echo, where one is expected in "
        "the microphone.",
    )
    half_duplex: bool = setting(
        False,
        "Speech does nothing while the assistant speaks: for open speakers without echo canceller.",
    )
    language: str | None = setting(None, "ISO 639-1 code of what is said, None for any.")
    backchannels: tuple[str, ...] = setting((), "Further listening noises.", formerly=("nods",))
    stops: tuple[str, ...] = setting((), "Further orders to be quiet.")
    rules: tuple[Rule, ...] = setting(
        RULES, "What is decided on which evidence: the first rule that applies."
    )

    def __post_init__(self) -> None:
        if min(self.decide_ms, self.resume_ms, self.late_ms) <= 0:
            raise ValueError(f"durations must be positive: {self}")
        if not self.rules or self.rules[-1] != Rule(self.rules[-1].because, self.rules[-1].outcome):
            raise ValueError("the last rule must apply always: give it no condition")


@dataclass(frozen=True, slots=True)
class Duck:
    """Turn the output down by 12 dB within 50 ms."""

    sample: int


@dataclass(frozen=True, slots=True)
class Restore:
    """Turn the output up again; a reply that was about to begin may begin."""

    sample: int
    because: str


@dataclass(frozen=True, slots=True)
class Cancel:
    """Stop speaking and drop the rest of the reply, but remember how far it was heard."""

    sample: int
    because: str


@dataclass(frozen=True, slots=True)
class Resume:
    """The cancelled reply goes on where it was: nothing was said to it."""

    sample: int
    because: str


Decision = Duck | Restore | Cancel | Resume


class _State(Enum):
    IDLE = auto()
    DECIDING = auto()
    RESTORED = auto()
    CANCELLED = auto()


class InterruptionRules:
    """Decides about speech while a reply is pending or heard. Not thread-safe.

    Tell it `begin` when a reply is on its way and `end` when it has been heard whole. Every input
    carries the sample it belongs to; they come in order.
    """

    def __init__(self, config: InterruptionConfig | None = None) -> None:
        self.config = config or InterruptionConfig()
        self._replying = False
        self._forget()

    def _forget(self) -> None:
        self._state = _State.IDLE
        self._onset = 0
        self._quiet_since: int | None = None
        """Where the speech ended; None while it lasts."""
        self._decided = 0
        self._active_ms = 0.0
        self._probability = 0.0
        self._words: Words = "none"
        self._whose: Whose | None = None
        self._voiced_share = 1.0

    @property
    def replying(self) -> bool:
        """A reply is pending or heard, and not cancelled."""
        return self._replying

    @property
    def deciding(self) -> bool:
        """The output is ducked and a decision is due."""
        return self._state is _State.DECIDING

    @property
    def awaiting_words(self) -> bool:
        """A reply was cancelled and may still resume."""
        return self._state is _State.CANCELLED

    # --- the assistant ----------------------------------------------------------------------

    def begin(self, sample: int) -> list[Decision]:
        """A reply is on its way. An earlier one that was cancelled can no longer resume."""
        decisions = self.tick(sample)
        if not self._replying:
            self._replying = True
            self._forget()
        return decisions

    def end(self, sample: int) -> list[Decision]:
        """The reply was heard whole, or failed: speech is now just speech."""
        decisions = self.tick(sample)
        self._replying = False
        if self._state is not _State.CANCELLED:
            self._forget()
        return decisions

    # --- the person -------------------------------------------------------------------------

    def onset(self, sample: int) -> list[Decision]:
        """Something like speech begins at `sample`."""
        decisions = self.tick(sample)
        if self._state is _State.CANCELLED:
            self._quiet_since = None
        elif self._replying and not self.config.half_duplex:
            self._forget()
            self._state, self._onset = _State.DECIDING, sample
            decisions.append(Duck(sample))
        return decisions

    def voice(self, whose: Whose | None, voiced_share: float) -> None:
        """Whose the speech is that is heard (None where no voice is enrolled), and the share of
        its windows that have a pitch."""
        self._whose, self._voiced_share = whose, voiced_share

    def window(self, sample: int, active_ms: float, probability: float) -> list[Decision]:
        """A window was heard up to `sample`.

        Args:
            sample: one past its last sample.
            active_ms: active speech since the onset.
            probability: mean speech probability of that.
        """
        if self._quiet_since is None:
            self._active_ms, self._probability = active_ms, probability
        return self.tick(sample)

    def words(
        self, sample: int, text: str, *, onset: int | None = None, stable: str | None = None
    ) -> list[Decision]:
        """`text` is the transcript so far of the speech that began at `onset`; `stable` its
        beginning that will not change, None when that speech is over.

        Words of speech from before the last onset (None: not known to be) are ignored: they were
        said to something else.
        """
        decisions = self.tick(sample)
        if onset is not None and onset < self._onset:
            return decisions
        heard = self.meaning(text, stable)
        if heard == "none":
            nothing = stable is None and self._quiet_since is not None
            if nothing and self._state is _State.CANCELLED:
                decisions += self._resume(sample, "no words were said")
            return decisions
        self._words = heard
        match self._state:
            case _State.DECIDING:
                decisions += self._decide(sample, self._when())
            case _State.RESTORED:
                decisions += self._decide(sample, "restored")
            case _State.CANCELLED if heard != "backchannel":
                self._forget()
            case _State.CANCELLED if self._quiet_since is not None:
                decisions += self._resume(sample, "it was a backchannel")
            case _:
                pass
        return decisions

    def meaning(self, text: str, stable: str | None) -> Words:
        """What `text` asks for; see `words`."""
        config = self.config
        words = classify(
            text,
            config.language,
            backchannels=config.backchannels,
            stops=config.stops,
            stable=stable,
        )
        brief = self._active_ms < config.murmur_ms
        if words == "content" and brief and may_be_murmur(text, config.language):
            return "backchannel"
        return words

    def ended(self, sample: int) -> list[Decision]:
        """The speech is over (or never was any): nothing like it is heard since `sample`."""
        decisions = self.tick(sample)
        if self._quiet_since is None:
            self._quiet_since = sample
        if self._state is _State.DECIDING:
            decisions += self._decide(sample, "ended")
        elif self._state is _State.CANCELLED and self._words == "backchannel":
            decisions += self._resume(sample, "it was a backchannel")
        return decisions

    def stalled(self, sample: int) -> list[Decision]:
        """Nothing more will be heard: the reply goes on, since no decision could stop it later."""
        decisions = self.ended(sample)
        if self._state is _State.DECIDING:
            self._state, self._decided = _State.RESTORED, sample
            decisions.append(Restore(sample, "nothing is heard any more"))
        elif self._state is _State.CANCELLED:
            decisions += self._resume(sample, "nothing is heard any more")
        return decisions

    def tick(self, sample: int) -> list[Decision]:
        """Time has come to `sample`."""
        match self._state:
            case _State.IDLE:
                return []
            case _State.DECIDING:
                if sample - self._onset >= _samples(self.config.decide_ms):
                    over = self._quiet_since is not None
                    return self._decide(sample, "overdue" if over else "deadline")
            case _State.RESTORED:
                return self._watch(sample)
            case _State.CANCELLED:
                quiet = self._quiet_since
                waited = None if quiet is None else sample - max(quiet, self._decided)
                if waited is not None and waited >= _samples(self.config.resume_ms):
                    return self._resume(sample, "no words came")
        return []

    # --- deciding ---------------------------------------------------------------------------

    def _when(self) -> When:
        return "speaking" if self._quiet_since is None else "ended"

    def _decide(self, sample: int, when: When) -> list[Decision]:
        evidence = Evidence(
            self._words,
            when,
            self._active_ms,
            self._probability,
            self._whose,
            self._voiced_share,
        )
        rule = next(rule for rule in self.config.rules if rule.applies(evidence))
        match rule.outcome:
            case "cancel":
                return self._cancel(sample, rule.because)
            case "restore" if self._state is _State.DECIDING:
                self._state, self._decided = _State.RESTORED, sample
                return [Restore(sample, rule.because)]
            case _:
                return []

    def _cancel(self, sample: int, because: str) -> list[Decision]:
        self._replying = False
        if self._words in ("stop", "content"):
            self._forget()
        else:
            self._state, self._decided = _State.CANCELLED, sample
        return [Cancel(sample, because)]

    def _watch(self, sample: int) -> list[Decision]:
        """After a restore: speech that goes on cancels, and after a while it is forgotten."""
        if self._quiet_since is None:
            return self._decide(sample, "restored")
        if sample - max(self._quiet_since, self._decided) >= _samples(self.config.late_ms):
            self._forget()
        return []

    def _resume(self, sample: int, because: str) -> list[Decision]:
        self._forget()
        self._replying = True
        return [Resume(sample, because)]


def _samples(duration_ms: int) -> int:
    return duration_ms * PIPELINE_HZ // 1000
