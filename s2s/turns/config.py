"""Settings of the turns stage: when the person's turn begins and ends."""

from __future__ import annotations

from dataclasses import dataclass

from s2s.core.setting import made_setting, setting
from s2s.turns.grace import GraceConfig
from s2s.turns.interruption import InterruptionConfig
from s2s.turns.orders.input_gate import InputConfig
from s2s.turns.provisional import ProvisionalConfig
from s2s.turns.segmenter import SegmenterConfig
from s2s.turns.speaker.config import SpeakerConfig


@dataclass(frozen=True, slots=True)
class TurnsConfig:
    """When the person's turn begins and ends."""

    input: InputConfig = made_setting(
        InputConfig, "Which sound counts: mute, push to talk, how long it stays awake."
    )
    segmenter: SegmenterConfig = made_setting(SegmenterConfig, "Speech from sound.")
    grace: GraceConfig = made_setting(
        GraceConfig, "How long a pause may last before the turn is over."
    )
    provisional: ProvisionalConfig = made_setting(
        ProvisionalConfig, "Answers that begin before it is certain that the turn is over."
    )
    unanswered_reopen_ms: int = setting(
        7000,
        "Speech that comes back within this time, while nothing was answered yet, reopens the"
        " turn.",
    )
    stalled_input_ms: int = setting(
        1000, "A turn whose audio stops coming (muted, unplugged) ends after this time."
    )
    interruption: InterruptionConfig = made_setting(
        InterruptionConfig, "What speech does while the assistant speaks."
    )
    speaker: SpeakerConfig = made_setting(
        SpeakerConfig, "Only my voice: who is answered, and who interrupts."
    )
    partial_interval_ms: int = setting(
        500, "What is being said is written down this often; 0: only when it is complete."
    )

    def graces(self, *, provisional: bool) -> tuple[GraceConfig, GraceConfig]:
        """After which an answer may begin, and after which it is certain; one and the same where it
        may not begin provisionally."""
        return self.provisional.of(self.grace) if provisional else self.grace, self.grace

    def __post_init__(self) -> None:
        if self.partial_interval_ms < 0:
            raise ValueError(f"need partial_interval_ms >= 0, got {self.partial_interval_ms}")
        if self.unanswered_reopen_ms < 0 or self.stalled_input_ms <= 0:
            raise ValueError(
                f"need unanswered_reopen_ms >= 0 and stalled_input_ms > 0, got "
                f"{self.unanswered_reopen_ms} and {self.stalled_input_ms}"
            )
