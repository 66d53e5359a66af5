"""Which words of somebody who is still speaking will stay: those that two hypotheses agree on."""

from __future__ import annotations


class StableWords:
    """The stable words of one turn: they only ever grow."""

    def __init__(self) -> None:
        self._stable: list[str] = []
        self._previous: list[str] = []

    @property
    def text(self) -> str:
        return " ".join(self._stable)

    def push(self, heard: str) -> str:
        """What is heard now, of all that was said so far; the words that are stable by it."""
        words = heard.split()
        agreed = 0
        for old, new in zip(self._previous, words, strict=False):
            if _bare(old) != _bare(new):
                break
            agreed += 1
        if agreed > len(self._stable):
            self._stable += words[len(self._stable) : agreed]
        self._previous = words
        return self.text


def _bare(word: str) -> str:
    """A word without case and edge punctuation, for comparison."""
    return word.casefold().strip(".,!?;:…\"'")
