"""In which language an answer is spoken, when a backend has voices of several. Pure.

The language heard in the question chooses the voice. One misheard word must not flip it, so a new
language needs evidence: the answer itself is written in it, or it is heard in two turns running.
Nor is its voice loaded before that.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from s2s.tts.base import LanguageLoader

TURNS_TO_SWITCH = 2
"""Turns running in which a new language must be heard when the answer does not show it."""

_SCRIPTS: tuple[tuple[str, re.Pattern[str], frozenset[str]], ...] = (
    ("kana", re.compile("[\u3040-\u30ff]"), frozenset({"ja"})),
    ("han", re.compile("[\u3400-\u4dbf\u4e00-\u9fff]"), frozenset({"zh", "yue", "ja"})),
    ("hangul", re.compile("[\u1100-\u11ff\uac00-\ud7af]"), frozenset({"ko"})),
    (
        "cyrillic",
        re.compile("[\u0400-\u04ff]"),
        frozenset({"ru", "uk", "bg", "sr", "be", "mk", "kk"}),
    ),
    ("arabic", re.compile("[\u0600-\u06ff]"), frozenset({"ar", "fa", "ur"})),
    ("devanagari", re.compile("[\u0900-\u097f]"), frozenset({"hi", "mr", "ne"})),
    ("thai", re.compile("[\u0e00-\u0e7f]"), frozenset({"th"})),
    ("greek", re.compile("[\u0370-\u03ff]"), frozenset({"el"})),
    ("hebrew", re.compile("[\u0590-\u05ff]"), frozenset({"he"})),
)
_NOT_LATIN = frozenset[str]().union(*(languages for _, _, languages in _SCRIPTS))
_LATIN = re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
_WORD = re.compile(r"[^\W\d_]+")

_COMMON_WORDS = {
    "en": "the and is you of to it that in for are with this have can not what be on",
    "de": "der die das und ist ich nicht ein eine zu mit für auf sie es wie sind auch dem den",
    "fr": "le les et est vous je ne pas un une des dans pour que qui avec sur il ce au",
    "es": "el los las y es que no un una por para con en lo se está del como más al",
    "it": "il gli e è che non un una per con di sono del della si ma più come lo nel",
    "pt": "o os as e é que não um uma por para com em do da se está mais como no",
    "nl": "de het een en is niet van ik je dat op te met voor zijn maar er ook aan",
}
_COMMON = {language: frozenset(words.split()) for language, words in _COMMON_WORDS.items()}
_ENOUGH_WORDS = 2
_UNSPACED = frozenset({"zh", "yue", "ja", "th", "lo", "my", "km"})


class StickyLanguage:
    """The language of one session's voice.

    Args:
        supported: ISO 639-1 codes the backend has voices for.
        default: the code it starts with.
        loader: where voices of more languages come from, or of these later than at the start;
            until such a voice is here the one before it goes on.

    Raises:
        ValueError: `default` is not supported.
    """

    def __init__(
        self, supported: Sequence[str], default: str, loader: LanguageLoader | None = None
    ) -> None:
        if default not in supported:
            raise ValueError(
                f"language {default!r} has no voice; choose one of {', '.join(supported)}"
            )
        self._supported = tuple(supported)
        self._default = default
        self._loader = loader
        self.reset()

    def reset(self) -> None:
        """Forget the session."""
        self._known = self._supported
        self._current = self._default
        self._candidate: str | None = None
        self._candidate_turns = 0
        self._turn_id: str | None = None

    @property
    def known(self) -> tuple[str, ...]:
        """Every code that was or is to be spoken, those the voice began with first."""
        return self._known

    @property
    def current(self) -> str:
        """The code that is spoken now."""
        return self._current

    def choose(self, text: str, heard: str | None, turn_id: str) -> str:
        """The code to speak `text` in.

        Args:
            text: a piece of the answer.
            heard: code of the question's language; None when unknown.
            turn_id: the turn it answers: however many pieces, a turn counts once.
        """
        readable = self._readable(text)
        if self._current not in readable:
            self._switch(heard if heard is not None and heard in readable else readable[0])
        elif heard == self._current:
            self._candidate = None
        elif heard is not None and self._follows(heard, text, turn_id, readable):
            self._switch(heard)
        self._turn_id = turn_id
        return self._current

    def _follows(self, heard: str, text: str, turn_id: str, readable: tuple[str, ...]) -> bool:
        return (
            (heard in readable or self._is_offered(heard, text))
            and self._is_confirmed(text, heard, turn_id)
            and (self._loader is None or self._loader.prepare(heard))
        )

    def _is_offered(self, language: str, text: str) -> bool:
        """A language that could be loaded, and in which nothing speaks against `text`."""
        if self._loader is None or language in self._known:
            return False
        return is_written_in(text, language) and self._loader.offers(language)

    def _is_confirmed(self, text: str, heard: str, turn_id: str) -> bool:
        likely = likely_language(text)
        read = is_written_in(text, self._current) or not is_written_in(text, heard)
        if likely == heard or not read:
            return True
        if heard != self._candidate:
            self._candidate, self._candidate_turns = heard, 1
        elif turn_id != self._turn_id:
            self._candidate_turns += 1
        return self._candidate_turns >= TURNS_TO_SWITCH and likely != self._current

    def _switch(self, language: str) -> None:
        if language not in self._known:
            self._known = (*self._known, language)
        self._current = language
        self._candidate = None

    def _readable(self, text: str) -> tuple[str, ...]:
        """Known languages that are written in the script of `text`; all when none is."""
        return tuple(code for code in self._known if is_written_in(text, code)) or self._known


def is_spaced(language: str) -> bool:
    """The language puts spaces between its words."""
    return language not in _UNSPACED


def is_written_in(text: str, language: str) -> bool:
    """Nothing of its script speaks against it that `text` is in this language."""
    languages = script_languages(text)
    if languages is None:
        return True
    return language in languages if languages else language not in _NOT_LATIN


def script_languages(text: str) -> frozenset[str] | None:
    """Languages written in the main script of `text`; empty for Latin, None without letters."""
    latin = len(_LATIN.findall(text))
    counts = {name: len(pattern.findall(text)) for name, pattern, _ in _SCRIPTS}
    name = max(counts, key=lambda each: counts[each])
    if counts["kana"] and counts["kana"] + counts["han"] > latin:
        name = "kana"
    if latin == 0 and counts[name] == 0:
        return None
    if latin > counts[name] + (counts["han"] if name == "kana" else 0):
        return frozenset()
    return next(languages for each, _, languages in _SCRIPTS if each == name)


def likely_language(text: str) -> str | None:
    """The language whose common words `text` shows most clearly; None when it shows none."""
    words = [word.lower() for word in _WORD.findall(text)]
    scores = {code: sum(word in common for word in words) for code, common in _COMMON.items()}
    best = max(scores, key=lambda code: scores[code])
    second = max(score for code, score in scores.items() if code != best)
    return best if scores[best] >= _ENOUGH_WORDS and scores[best] > second else None
