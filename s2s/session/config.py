"""Settings of a session: how a conversation behaves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from s2s.core.setting import made_setting, setting
from s2s.stt.base import Transcriber
from s2s.stt.hearing import partial_interval_ms
from s2s.stt.languages import LanguageConfig
from s2s.turns.config import TurnsConfig


@dataclass(frozen=True, slots=True)
class SessionConfig:
    """How a conversation behaves."""

    turns: TurnsConfig = made_setting(TurnsConfig, "When the person's turn begins and ends.")
    system_prompt: str = setting(
        "You are a helpful assistant. Give a short, direct and correct answer in one sentence.",
        "What the model is told before the conversation.",
    )
    language: str | None = setting(
        None, "ISO 639-1 code of what is spoken; none: heard, where the STT backend can."
    )
    languages: LanguageConfig = made_setting(
        LanguageConfig, "Which languages may be heard, and when the language changes."
    )
    history_turns: int = setting(12, "Exchanges the model is shown; older ones are forgotten.")
    history_tokens: int = setting(
        1024, "Tokens of the conversation the model is shown, system prompt included."
    )
    summarise: bool = setting(
        False,
        "Sum up old turns while it is quiet, instead of forgetting them; wants a capable model.",
    )
    speculative_tts: bool = setting(
        True, "Make the sound of an answer before it is certain that the turn is over."
    )
    adjustable_voice: bool = setting(
        True, '"Speak slower", "louder" and the like change the voice until the session ends.'
    )
    sign_of_life: Literal["off", "sound", "words"] = setting(
        "sound",
        'What is heard while an answer takes long to start: two soft tones, or "One moment."',
    )
    sign_of_life_after_s: float = setting(
        1.0, "How long after the end of speech; later where the first words are about to come."
    )
    failure_sound: bool = setting(True, "Two falling tones where an answer fails unheard.")
    standstill_s: float = setting(
        30.0, "An answer on which nothing moves for this long has failed, and the person hears it."
    )

    def __post_init__(self) -> None:
        if self.history_turns < 1 or self.history_tokens < 1:
            raise ValueError(
                f"history_turns and history_tokens must be at least 1, got "
                f"{self.history_turns} and {self.history_tokens}"
            )
        if self.sign_of_life_after_s <= 0:
            raise ValueError(
                f"sign_of_life_after_s must be positive, got {self.sign_of_life_after_s}"
            )
        if self.standstill_s <= 0:
            raise ValueError(f"standstill_s must be positive, got {self.standstill_s}")

    def turns_heard_by(self, transcriber: Transcriber) -> TurnsConfig:
        """`turns`, with words so far asked for as often as `transcriber` has new ones."""
        interval_ms = partial_interval_ms(self.turns.partial_interval_ms, transcriber)
        return replace(self.turns, partial_interval_ms=interval_ms)
