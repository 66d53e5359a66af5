"""How long a text takes to say, and how many codec tokens its speech may take. Pure functions;
knows no model.

`estimate_seconds` is the one estimate of length in this program, and `token_budget` what every
autoregressive voice is limited to. Both are those of speech-to-speech's Qwen3-TTS handler (seed
002, section 5). The budget is generous by design, and its floor lets "Hi." run for 29 seconds if
the model misses its end-of-speech token; `frame_cap` is the tighter bound within it, for a voice
that knows its text's tokens. See docs/decisions/token-budget.md.
"""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass

WORDS_PER_S = 2.6
CHARS_PER_S = 14.0
CJK_CHARS_PER_S = 5.5
PAUSE_PER_MARK_S = 0.5
BASE_S = 1.0
"""The seed's rates, all of them slower than usual speech: an estimate that is too short cuts."""

TOKENS_PER_S = 12.5
"""Codec frames of 80 ms."""
SAFETY = 1.35
MIN_TOKENS = 360
MAX_NEW_TOKENS = 1536
"""Two minutes: the seed's default for what a call may use at most."""

_WORD = re.compile(r"\w+")
_SPACE = re.compile(r"\s+")
_CJK = re.compile(
    r"[\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    r"\uff66-\uff9f\U00020000-\U0003ffff]"
)


@dataclass(frozen=True, slots=True)
class Budget:
    """What one synthesis call may use."""

    seconds: float
    """Estimated length of the speech."""
    tokens: int
    """`max_new_tokens` for the call, in codec frames of 80 ms."""
    wanted_tokens: int
    """Tokens before the configured maximum cut them."""

    @property
    def is_cut(self) -> bool:
        """The configured maximum may truncate the audio: warn."""
        return self.tokens < self.wanted_tokens


def cjk_chars(text: str) -> int:
    """Number of Han, kana and Hangul characters."""
    return len(_CJK.findall(text))


def estimate_seconds(text: str) -> float:
    """Expected length of `text` as speech, in seconds.

    The largest of the three rates wins, so mixed Chinese and English needs no branch.
    """
    words = len(_WORD.findall(text))
    chars = len(_SPACE.sub("", text))
    marks = sum(unicodedata.category(char).startswith("P") for char in text)
    speech_s = max(words / WORDS_PER_S, chars / CHARS_PER_S, cjk_chars(text) / CJK_CHARS_PER_S)
    return speech_s + PAUSE_PER_MARK_S * marks + BASE_S


def token_budget(text: str, *, chunk_frames: int, max_new_tokens: int = MAX_NEW_TOKENS) -> Budget:
    """The budget of `text`, a multiple of `chunk_frames` unless a limit decides.

    Raises:
        ValueError: a limit below one.
    """
    if chunk_frames < 1 or max_new_tokens < 1:
        raise ValueError(
            f"chunk_frames {chunk_frames} and max_new_tokens {max_new_tokens} must be at least 1"
        )
    seconds = estimate_seconds(text)
    tokens = math.ceil(seconds * TOKENS_PER_S * SAFETY)
    tokens = max(MIN_TOKENS, math.ceil(tokens / chunk_frames) * chunk_frames)
    return Budget(seconds, min(tokens, max_new_tokens), tokens)


def frame_cap(
    text_tokens: int,
    *,
    frames_per_token: float = 8.0,
    spare_frames: int = 25,
    least_frames: int = 50,
) -> int:
    """Most codec frames that `text_tokens` tokens of text can plausibly take; beyond it, babble.

    English takes 3 to 4 frames a token and Chinese 2 to 4 at a normal pace, so 8 leaves room for
    slow voices; the constant parts leave room for pauses around very short texts.

    Raises:
        ValueError: a negative number of tokens.
    """
    if text_tokens < 0:
        raise ValueError(f"text_tokens must not be negative, got {text_tokens}")
    return max(least_frames, spare_frames + math.ceil(frames_per_token * text_tokens))


def head_start_s(speech_s: float, pace: float) -> float:
    """Seconds of sound to be made before the first is played, so that playback of `speech_s` never
    runs dry. pace: seconds of work for a second of sound."""
    return speech_s * max(0.0, 1.0 - 1.0 / max(pace, 1.0))
