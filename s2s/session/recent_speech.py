"""What the assistant said lately: its own words, should the microphone hear them, and its question.

Pure: it is told events and text.
"""

from __future__ import annotations

from collections import deque

from s2s.core.events import AnswerText, Event
from s2s.transport.echo import is_echo

RECENT_PIECES = 12
"""Pieces of answers that a microphone may hear back: about half a minute of speech."""


class RecentSpeech:
    """The last pieces of the answers. One thread adds, any may ask."""

    def __init__(self) -> None:
        self._pieces: deque[str] = deque(maxlen=RECENT_PIECES)

    def on_event(self, event: Event) -> None:
        """Remember what is said."""
        if isinstance(event, AnswerText):
            self._pieces.append(event.text)

    @property
    def ends_in_question(self) -> bool:
        """What was said last is a question."""
        return self._text.rstrip().endswith("?")

    def echoes(self, transcript: str) -> bool:
        """Whether `transcript` is the assistant's own words, heard through the loudspeaker."""
        return is_echo(transcript, self._text)

    @property
    def _text(self) -> str:
        return "".join(self._pieces)
