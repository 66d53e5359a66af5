"""What decides whose speech is heard: every threshold of "only my voice", in one place.

Chosen with scripts/benchmark_only_my_voice.py; docs/decisions/only-my-voice.md says how.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from s2s.core.setting import made_setting, setting

Mode = Literal["auto", "on", "off"]


@dataclass(frozen=True, slots=True)
class GateConfig:
    """How like the enrolled voice speech must be, and when that is looked at."""

    mine: float = setting(0.45, "At least as like as this (cosine, at most 1): the person's.")
    still_mine: float = setting(0.12, "Less like than this: the person no longer speaks.")
    other: float = setting(0.05, "Less like than this, at the first look: another's.")
    short: float = setting(0.1, "As like as this is enough at the end of a very short word.")
    speech_probability: float = setting(0.45, "A window of at least this counts as speech.")
    first_look_ms: int = setting(832, "Speech heard before the voice is first compared.")
    again_ms: int = setting(416, "Speech between two looks else.")
    again_mine_ms: int = setting(832, "Speech until the next look where the person surely speaks.")
    sure_ms: int = setting(
        4000, "Speech from which on being unsure counts as another's; until then it does less."
    )
    look_ms: int = setting(1984, "Speech that is looked at: one pass of the embedder.")
    brief_look_ms: int = setting(832, "The same while the person speaks.")
    looks: int = setting(2, "Brief looks that are taken together.")
    hold_ms: int = setting(1664, "Held back while another speaks: the person's first words.")
    forget_ms: int = setting(640, "Silence after which anybody may be speaking.")

    def __post_init__(self) -> None:
        below = (self.still_mine, self.other, self.short)
        if not (min(below) >= -1.0 and max(below) <= self.mine <= 1.0):
            raise ValueError(f"need still_mine, other and short <= mine within [-1, 1]: {self}")
        if min(self.first_look_ms, self.again_ms, self.look_ms, self.hold_ms, self.forget_ms) <= 0:
            raise ValueError(f"durations must be positive: {self}")
        if self.sure_ms <= self.first_look_ms:
            raise ValueError(f"need first_look_ms < sure_ms: {self}")


@dataclass(frozen=True, slots=True)
class LevelConfig:
    """How loud and how plain speech must be to be answered, whoever speaks.

    Weak on purpose, for these count without an enrolled voice: what they lose of the person's own
    speech, and what stricter ones lost, is in docs/decisions/only-my-voice.md.
    """

    above_noise_db: float = setting(3.0, "Less above the running noise floor: not meant for us.")
    below_usual_db: float = setting(
        15.0, "Softer by more than this than what was answered lately: from further away."
    )
    word_confidence: float = setting(
        -0.9, "Mean log probability of its tokens below which a single word is not believed."
    )
    confidence: float = setting(-1.0, "The same for several words.")


@dataclass(frozen=True, slots=True)
class SpeakerConfig:
    """Only my voice: who is answered, and who interrupts."""

    mode: Mode = setting(
        "auto", "auto: once a voice is enrolled (`s2s voices me`); on: it must be; off."
    )
    gate: GateConfig = made_setting(GateConfig, "By the enrolled voice.")
    level: LevelConfig = made_setting(LevelConfig, "By level and by the recogniser.")
