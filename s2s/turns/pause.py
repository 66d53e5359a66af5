"""One pause of a turn, from the end of speech until it is decided that the turn is over.

Pure. It is told what the witnesses say and how much silence was heard, in any order; what it
decides depends on the recording alone, not on when it was told (docs/decisions/
end-of-turn-evidence.md).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ
from s2s.turns.grace import GraceConfig, Judgement, decided_ms
from s2s.turns.unfinished import log_odds

WINDOW_MS = 1000 * BLOCK_SAMPLES // PIPELINE_HZ


@dataclass(slots=True)
class TurnPause:
    """The speaker is silent since `end_sample`, one past the last sample of speech."""

    end_sample: int
    config: GraceConfig
    language: str | None
    judgements: list[Judgement] = field(default_factory=list)
    text: str | None = None
    """All words up to here; None while they are not known."""
    judged_text: str | None = None
    """What the language model judged last."""
    model: float | None = None
    begins_ms: int | None = None
    """Silence after which the answer may begin provisionally; None while that is not told."""
    over: bool = False
    """It was decided, and told."""

    def silence_ms(self, sample: int) -> int:
        """Silence up to `sample` of the session."""
        return 1000 * (sample - self.end_sample) // PIPELINE_HZ

    def asks(self, sample: int) -> bool:
        """The sound is to be judged again now, or has been due since."""
        done = len(self.judgements) - 1
        if self.over or done < 0 or self.judgements[0].sound is None:
            return False
        again = self.config.ask_again_ms
        return done < len(again) and self.silence_ms(sample) >= again[done]

    def judged(self, log_odds: float | None, silence_ms: int) -> None:
        """The sound was judged, as it was after so much silence."""
        self.judgements.append(Judgement(silence_ms, log_odds))

    def decided_ms(self, config: GraceConfig | None = None) -> int | None:
        """Silence after which the turn is over, or, by another `config`, whatever that is for; None
        when not all that counts is known yet."""
        config = config or self.config
        if not self.judgements or self.text is None:
            return None
        said = self.text.strip()
        if not said:
            return decided_ms(self.judgements, None, None, config)
        if self.judged_text != said:
            return None
        words = log_odds(said, self.language)
        return decided_ms(self.judgements, words, self.model, config)

    def ends_by(self, sample: int) -> int | None:
        """Milliseconds of silence after which the turn is over, once no window that is still to be
        heard can change that; None before. Evidence that has not come in the longest wait does not
        count any more: with any, the turn would be over by then."""
        heard_ms = self.silence_ms(sample)
        wait_ms = self.decided_ms()
        if wait_ms is None:
            longest_ms = self.config.incomplete_ms
            return longest_ms if heard_ms + WINDOW_MS > longest_ms else None
        return wait_ms if heard_ms + WINDOW_MS > wait_ms else None

    def begins_by(self, sample: int, config: GraceConfig) -> int | None:
        """Like `ends_by`, for a provisional start by `config`; never without all evidence."""
        wait_ms = self.decided_ms(config)
        if wait_ms is None or self.silence_ms(sample) + WINDOW_MS <= wait_ms:
            return None
        return wait_ms

    def expected_ms(self) -> int:
        """Silence after which the turn is over, as far as that is known now."""
        wait_ms = self.decided_ms()
        return self.config.incomplete_ms if wait_ms is None else wait_ms
