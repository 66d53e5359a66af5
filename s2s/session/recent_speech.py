"""What the assistant said lately: its own words, should the microphone hear them, and its question.

Pure: it is told events and text.
"""

from __future__ import annotations

from collections import deque

from s2s.core.events import AnswerText, Event
from s2s.core.messages import ResponseId
from s2s.session.own_words import is_echo, other_words

RECENT_PIECES = 12
"""Pieces of answers that a microphone may hear back: about half a minute of speech."""

JUST_SAID_CHARS = 120
"""Eight seconds of speech: what is heard over a reply began after that."""
JUST_COMING_CHARS = 40
"""Ahead of what was played for certain: where a word stands in its sound is not known exactly."""


class RecentSpeech:
    """The last pieces of the answers. One thread adds, any may ask."""

    def __init__(self) -> None:
        self._pieces: deque[str] = deque(maxlen=RECENT_PIECES)
        self._response: ResponseId | None = None
        self._before = ""
        self._answer = ""

    def on_event(self, event: Event) -> None:
        """Remember what is said."""
        if isinstance(event, AnswerText):
            self._pieces.append(event.text)
            if event.response != self._response:
                self._response, self._before, self._answer = event.response, self._answer, ""
            self._answer += event.text

    @property
    def ends_in_question(self) -> bool:
        """What was said last is a question."""
        return self._text.rstrip().endswith("?")

    def echoes(self, transcript: str) -> bool:
        """Whether `transcript` is the assistant's own words, heard through the loudspeaker."""
        return is_echo(transcript, self._text)

    def others(self, transcript: str, played: str) -> str:
        """`transcript` without what the assistant was just saying; "" when that is all.

        Args:
            transcript: what the microphone is supposed to have heard.
            played: the part of the answer that was played until now.
        """
        at = len(played)
        around = self._answer[max(0, at - JUST_SAID_CHARS) : at + JUST_COMING_CHARS]
        missing = JUST_SAID_CHARS - at
        before = self._before[-missing:] if missing > 0 else ""
        return other_words(transcript, f"{before} {around}")

    @property
    def _text(self) -> str:
        return "".join(self._pieces)
