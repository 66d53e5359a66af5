"""What is to be sent to one client, in order; sound of an answer that was interrupted is taken out.

Belongs to one thread. Who sends takes frames from it; who writes is never held up by it: the
session behind hands on only so much sound that has not left.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from pydantic_core import to_json

from s2s.transport.realtime.wire.server_events import ServerEvent


@dataclass(frozen=True, slots=True)
class OutgoingText:
    """One event as text."""

    text: str
    sound_of: str | None = None
    """The response whose sound it is."""
    samples: int = 0
    """Of the session's sound that are in it."""


class SendQueue:
    """Frames that wait to be sent.

    Args:
        connection_id: part of every event's id.
        on_put: called when there is something to send.
        on_sent: told how many samples of sound have left, or never will.
    """

    def __init__(
        self,
        connection_id: str,
        on_put: Callable[[], None] = lambda: None,
        on_sent: Callable[[int], None] = lambda _samples: None,
    ) -> None:
        self._connection_id = connection_id
        self._on_put = on_put
        self._on_sent = on_sent
        self._frames: deque[OutgoingText] = deque()
        self._count = 0
        self.characters = 0
        """Of all frames that wait."""

    def __len__(self) -> int:
        return len(self._frames)

    def put(self, event: ServerEvent, *, sound_of: str | None = None, samples: int = 0) -> None:
        """Send `event`, with an id of its own."""
        self._count += 1
        head = {"type": event.type, "event_id": f"event_{self._connection_id}-{self._count}"}
        text = to_json(head | event.written()).decode()
        self._frames.append(OutgoingText(text, sound_of, samples))
        self.characters += len(text)
        self._on_put()

    def take(self) -> OutgoingText | None:
        """The next frame, which is sent now; None when all were."""
        if not self._frames:
            return None
        frame = self._frames.popleft()
        self.characters -= len(frame.text)
        return frame

    def was_sent(self, frame: OutgoingText) -> None:
        """A frame that was taken has left."""
        if frame.samples:
            self._on_sent(frame.samples)

    def never_sent(self, samples: int) -> None:
        """So much sound was not even put here."""
        self._on_sent(samples)

    def drop_sound(self, response_id: str) -> None:
        """The sound of this response that has not left never will."""
        dropped = [frame for frame in self._frames if frame.sound_of == response_id]
        if dropped:
            kept = [frame for frame in self._frames if frame.sound_of != response_id]
            self._frames = deque(kept)
            self.characters -= sum(len(frame.text) for frame in dropped)
            self._on_sent(sum(frame.samples for frame in dropped))
