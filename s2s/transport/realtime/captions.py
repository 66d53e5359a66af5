"""The words of an answer, each told just before its sound, with the time at which it is said.

The text of an answer is announced ahead of its sound, and each block of sound says how much of it
has been said once it was played. So a word begins where the one before it ended; why that is waited
for: docs/decisions/realtime-words-with-the-sound.md. Knows no wire.
"""

from __future__ import annotations


class Captions:
    """What of an answer's text has been told."""

    def __init__(self) -> None:
        self._text = ""
        self._told = 0
        self._said = 0

    @property
    def told(self) -> str:
        return self._text[: self._told]

    def announce(self, text: str) -> None:
        """More of the answer; not told yet."""
        self._text += text

    def before(self, said_after: str) -> str:
        """What is to be told before a block of sound.

        Args:
            said_after: the text that has been said when the block has been played.
        """
        upto = _end_of_word(self._text, self._said)
        self._said = max(self._said, min(len(said_after), len(self._text)))
        return self._tell(max(upto, self._said))

    def rest(self) -> str:
        """What has not been told."""
        return self._tell(len(self._text))

    def _tell(self, upto: int) -> str:
        piece = self._text[self._told : upto]
        self._told = max(self._told, upto)
        return piece


def _end_of_word(text: str, start: int) -> int:
    """Where the word that comes next from `start` on ends."""
    end = start
    while end < len(text) and text[end].isspace():
        end += 1
    while end < len(text) and not text[end].isspace():
        end += 1
    return end
