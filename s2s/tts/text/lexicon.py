"""The user's own pronunciations: word -> respelling. Applied last."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from s2s.tts.text.tracked import Tracked


class LexiconError(ValueError):
    """A lexicon file that cannot be used. The message names the file, the line and what to do."""


class Lexicon:
    """Respells whole words and phrases. A key in lower case fits any case, another only its own."""

    def __init__(self, words: Mapping[str, str]) -> None:
        self._words = dict(words)
        self.words_a_key = max((len(word.split()) for word in words), default=1)
        """Words of the longest phrase that is respelled."""
        self._pattern: re.Pattern[str] | None = None
        if words:
            longest_first = sorted(words, key=len, reverse=True)
            choices = "|".join(re.escape(word) for word in longest_first)
            self._pattern = re.compile(rf"(?<!\w)(?:{choices})(?!\w)", re.IGNORECASE)

    @classmethod
    def read(cls, path: str | Path) -> Lexicon:
        """Read a UTF-8 file with one `word = respelling` on a line; `#` starts a comment.

        Raises:
            LexiconError: not readable, or a line without `=` or with an empty side.
        """
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise LexiconError(
                f"{path}: cannot be read ({error}). Give a UTF-8 text file."
            ) from error
        words: dict[str, str] = {}
        for number, line in enumerate(text.splitlines(), start=1):
            line = line.split("#", 1)[0].strip()
            if not line:
                continue
            word, sign, respelling = (part.strip() for part in line.partition("="))
            if not (word and sign and respelling):
                raise LexiconError(
                    f"{path}:{number}: expected 'word = respelling', got {line!r}. Fix the line."
                )
            words[word] = respelling
        return cls(words)

    def knows(self, word: str) -> bool:
        """Whether `word` will be respelled, so that no earlier rule needs to take it apart."""
        return word in self._words or word.lower() in self._words

    def apply(self, text: Tracked) -> None:
        """Respell `text` in place."""
        if self._pattern is not None:
            text.sub(self._pattern, self._respell)

    def _respell(self, match: re.Match[str]) -> str:
        found = match.group()
        return self._words.get(found) or self._words.get(found.lower()) or found
