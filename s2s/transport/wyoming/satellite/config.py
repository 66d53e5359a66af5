"""Settings of the satellite."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from s2s.core.setting import setting


@dataclass(frozen=True, slots=True)
class SatelliteConfig:
    """This machine's microphone and loudspeaker for Home Assistant, by the wake word."""

    mode: Literal["off", "beside", "alone"] = setting(
        "off", "Whether there is one: beside what is served, or alone, without models that answer."
    )
    port: int = setting(10_700, "Port on which Home Assistant finds it; 0 takes a free one.")
    name: str = setting("s2s satellite", "What it is called in Home Assistant.")
    area: str = setting("", "The room it stands in, as Home Assistant knows it; empty: none.")
    wake_words: tuple[str, ...] = setting(
        (), "Wake words it listens for, of those that are installed; none given: all of them."
    )
    interrupt: Literal["speech", "wake_word"] = setting(
        "speech", "What silences an answer: that somebody speaks, or the wake word alone."
    )
    end_ms: int = setting(700, "So much silence ends what is said.")
    no_speech_s: float = setting(5.0, "A wake word that nothing follows is forgotten after this.")
    max_speech_s: float = setting(30.0, "Longest thing that is said behind a wake word.")

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65_535:
            raise ValueError(f"port must be 0 to 65535, got {self.port}")
        durations = {
            "end_ms": self.end_ms,
            "no_speech_s": self.no_speech_s,
            "max_speech_s": self.max_speech_s,
        }
        for name, value in durations.items():
            if value <= 0:
                raise ValueError(f"{name} must be positive, got {value}")
