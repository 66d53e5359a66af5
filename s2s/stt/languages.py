"""In which language the person speaks: fixed, one of several, or as heard, with inertia. Pure.

A recogniser guesses the language from sound, and guesses wrong on a cough, a "yes", or in noise. So
a new language needs evidence: a few words of which it is sure, or the same guess in two turns
running. What is decided here is what every later stage goes by: docs/languages.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from s2s.core.setting import setting
from s2s.stt.base import Transcription

TURNS_TO_SWITCH = 2
"""Turns running in which a language must be likely that is never sure."""

_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_SIGNS_A_WORD = 2
"""Signs of Chinese, Japanese or Thai that make a word, roughly."""


@dataclass(frozen=True, slots=True)
class LanguageConfig:
    """Which languages may be heard, and what it takes to change from one to another."""

    allowed: tuple[str, ...] = setting(
        (),
        "ISO 639-1 codes of what may be spoken, such as de,en; empty: all the STT backend knows.",
    )
    min_words: int = setting(
        3, "A turn of fewer words than this does not change the language, unless it is the first."
    )
    sure: float = setting(
        0.8, "A turn changes the language at once from this probability of the new one on."
    )
    likely: float = setting(
        0.5, "From this probability on it counts, and changes the language in two turns running."
    )
    least_confidence: float = setting(
        -1.0,
        "A turn whose words the backend wrote with a lower mean log probability is noise, as far "
        "as the language goes.",
    )

    def __post_init__(self) -> None:
        if not 0.0 < self.likely <= self.sure <= 1.0 or self.min_words < 1:
            raise ValueError(
                f"need 0 < likely <= sure <= 1 and min_words >= 1, got likely {self.likely}, sure "
                f"{self.sure}, min_words {self.min_words}"
            )


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What all turns up to one have shown."""

    current: str | None = None
    candidate: str | None = None
    """Another language that was likely in the last turn that said anything about it."""
    turns: int = 0


class SpokenLanguage:
    """The language of one session's person. Not thread-safe, but for `fix`.

    Args:
        fixed: the code of what is spoken, whatever is heard; None: what is heard.
    """

    def __init__(self, config: LanguageConfig, fixed: str | None = None) -> None:
        self._config = config
        self._fixed = fixed
        self.reset()

    def reset(self) -> None:
        """Forget the session."""
        self._before = self._now = _Evidence()
        self._turn_id: str | None = None

    def fix(self, language: str | None) -> None:
        """What is spoken from now on; None: what is heard. From any thread."""
        self._fixed = language

    @property
    def asked(self) -> str | None:
        """What a recogniser is told to hear; None: it is to find out."""
        allowed = self._config.allowed
        return self._fixed or (allowed[0] if len(allowed) == 1 else None)

    @property
    def current(self) -> str | None:
        """What was spoken last, as far as that is known."""
        return self.asked or self._now.current

    def choose(self, heard: Transcription, turn_id: str, *, final: bool) -> str | None:
        """The language of a turn; where it is not `heard.language`, write it down again in this.

        Args:
            heard: what a recogniser heard that was told `asked`.
            turn_id: which turn it is of. What is heard of one turn counts once, the last of it.
            final: it is remembered; what is heard of a turn that goes on is not.
        """
        if self.asked is not None or heard.language is None:
            return self.asked or heard.language
        if turn_id != self._turn_id:
            self._turn_id, self._before = turn_id, self._now
        language, probability = self._best(heard)
        weak = (
            word_count(heard.text) < self._config.min_words
            or probability < self._config.likely
            or (heard.confidence or 0.0) < self._config.least_confidence
        )
        evidence = self._weighed(language, probability, weak=weak)
        if final:
            self._now = evidence
        return evidence.current or language

    def _weighed(self, language: str, probability: float, *, weak: bool) -> _Evidence:
        """What the turns before and this one show together."""
        before = self._before
        if weak:
            return before
        if language == before.current:
            return _Evidence(language)
        if before.current is None or probability >= self._config.sure:
            return _Evidence(language)
        turns = before.turns + 1 if language == before.candidate else 1
        if turns >= TURNS_TO_SWITCH:
            return _Evidence(language)
        return _Evidence(before.current, language, turns)

    def _best(self, heard: Transcription) -> tuple[str, float]:
        """The likeliest language of those allowed, and its probability among all."""
        allowed = self._config.allowed
        assert heard.language is not None
        if not allowed or heard.language in allowed:
            return heard.language, heard.languages.get(heard.language, 1.0)
        known: Mapping[str, float] = heard.languages
        preferred = self._before.current or allowed[0]
        rank: Callable[[str], tuple[float, bool]] = lambda code: (  # noqa: E731
            known.get(code, 0.0),
            code == preferred,
        )
        best = max(allowed, key=rank)
        return best, known.get(best, 0.0)


def word_count(text: str) -> int:
    """About how many words `text` has, in scripts without spaces too."""
    signs = len(_UNSPACED.findall(text))
    return len(_WORD.findall(_UNSPACED.sub(" ", text))) + -(-signs // _SIGNS_A_WORD)
