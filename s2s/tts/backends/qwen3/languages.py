"""The languages of Qwen3-TTS."""

from __future__ import annotations

LANGUAGES = {
    "en": "english",
    "zh": "chinese",
    "de": "german",
    "it": "italian",
    "pt": "portuguese",
    "es": "spanish",
    "ja": "japanese",
    "ko": "korean",
    "fr": "french",
    "ru": "russian",
}
"""ISO 639-1 code to the model's name of a language."""


def wire_name(code: str | None) -> str:
    """As vLLM-Omni's server has it: "English"; "Auto" where it is open. Another code stays."""
    return LANGUAGES.get(code or "", code or "auto").capitalize()
