"""What Whisper wrote down of speech, and what of silence or noise: the same on every runtime. Pure.

Whisper was trained on subtitles: where nobody speaks it makes words up, and now and then it repeats
itself. It tells both by its own measures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from s2s.core.setting import setting


@dataclass(frozen=True, slots=True)
class SpokenRules:
    """Which of Whisper's words count as spoken."""

    no_speech_prob: float = setting(
        0.6,
        "What Whisper takes for no speech with at least this probability, and is not sure of "
        "(`sure_log_prob`), is dropped.",
    )
    sure_log_prob: float = setting(
        -1.0, "Mean log probability of a token from which on Whisper counts as sure."
    )
    max_compression: float = setting(
        2.4, "Text that zlib shrinks by more than this repeats itself, and is dropped."
    )
    silence_db: float = setting(
        -55.0,
        "Audio whose loudest 30 ms stay below this level, in dB of full scale, holds no words.",
    )


class WrittenSegment(Protocol):
    """A piece of text as Whisper's runtimes give it."""

    @property
    def text(self) -> str: ...
    @property
    def avg_logprob(self) -> float: ...
    @property
    def no_speech_prob(self) -> float: ...
    @property
    def compression_ratio(self) -> float: ...


def is_spoken(segment: WrittenSegment, rules: SpokenRules) -> bool:
    """Whether somebody said this: not silence made into words, not a loop."""
    silent = segment.no_speech_prob >= rules.no_speech_prob
    unsure = segment.avg_logprob < rules.sure_log_prob
    repeats = segment.compression_ratio > rules.max_compression
    return not (silent and unsure) and not repeats and any(map(str.isalnum, segment.text))
