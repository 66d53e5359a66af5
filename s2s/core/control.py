"""What a client may ask of a session beside talking to it, and what a wire knows of a session.

A wire (the Realtime protocol, another one later) comes before the session in the order of layers,
so it knows this alone. All calls are safe from any thread and never wait for a model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from s2s.core.answering import Answering, ResponseRequest, ToolChoice, ToolSchema
from s2s.core.events import CancelReason
from s2s.core.items import Item

__all__ = [
    "Answering",
    "ControlError",
    "DuplicateItem",
    "Eagerness",
    "Hearing",
    "InputEmpty",
    "NoSound",
    "ResponseActive",
    "ResponseRequest",
    "SemanticVad",
    "ServerVad",
    "SessionControl",
    "ToolChoice",
    "ToolSchema",
    "Truncation",
    "UnknownItem",
]

Eagerness = Literal["low", "medium", "high"]


@dataclass(frozen=True, slots=True)
class ServerVad:
    """A turn is over after so much silence; it interrupts at its onset."""

    threshold: float = 0.5
    prefix_ms: int = 300
    silence_ms: int = 500
    idle_timeout_ms: int | None = None
    """After so long without speech behind an answer that was played, a turn without words."""


@dataclass(frozen=True, slots=True)
class SemanticVad:
    """The words and their melody say when a turn is over; over an answer, speech is a turn only if
    it is meant to interrupt."""

    eagerness: Eagerness = "medium"


@dataclass(frozen=True, slots=True)
class Hearing:
    """What becomes of what is heard."""

    detection: ServerVad | SemanticVad | None = ServerVad()
    """None: the client commits what it sent."""
    answers: bool = True
    """A turn is answered without being asked for."""
    interrupts: bool = True
    """Speech ends a response in the conversation."""
    transcribes: bool = True
    """The client is told the words of turns."""
    language: str | None = None
    """ISO 639-1 code of what is spoken; None: heard, where the recogniser can."""


@dataclass(frozen=True, slots=True)
class Truncation:
    """What is left of an item that was truncated."""

    audio_end_ms: int
    """Where its sound ends now."""
    transcript: str
    """The words heard until then."""
    beyond: bool
    """More was asked for than its sound has: it ends where it ended."""


class ControlError(ValueError):
    """What was asked cannot be done; nothing has changed. The message says why."""


class UnknownItem(ControlError):
    """There is no item of this id."""


class DuplicateItem(ControlError):
    """An item of this id is in the conversation."""


class NoSound(ControlError):
    """The item has no sound that could be truncated."""


class ResponseActive(ControlError):
    """The conversation's response, named in `key`, has not ended."""

    def __init__(self, key: str) -> None:
        super().__init__(f"Conversation already has an active response in progress: {key}")
        self.key = key


class InputEmpty(ControlError):
    """There is too little sound for a turn."""

    def __init__(self, heard_ms: float) -> None:
        super().__init__(f"buffer only has {heard_ms:.2f}ms of audio")
        self.heard_ms = heard_ms


class SessionControl(Protocol):
    """A running session, as a client steers it.

    Of each response that was told or asked for there is exactly one `ResponseDone`, whatever
    becomes of it; between events and sound of one response the order is that of the calls.
    """

    def set_answering(self, answering: Answering) -> None:
        """For responses that begin from now on."""
        ...

    def set_hearing(self, hearing: Hearing) -> None:
        """From the next turn on; at once where nothing is being said."""
        ...

    def commit(self) -> None:
        """What was heard since the last turn is one: `TurnCommitted` follows.

        Raises:
            InputEmpty: it is less than 100 ms.
        """
        ...

    def clear_input(self) -> None:
        """Forget what was heard since the last turn."""
        ...

    def insert(self, item: Item, after: str | None = None) -> str | None:
        """Put `item` behind the item `after`: at the end for None, in front for `ROOT`.

        Returns:
            The id of the item before it, None where it is the first.

        Raises:
            DuplicateItem, UnknownItem
        """
        ...

    def delete(self, item_id: str) -> None:
        """Take an item out of the conversation. A response that is being made of it goes on.

        Raises:
            UnknownItem
        """
        ...

    def truncate(self, item_id: str, audio_end_ms: int) -> Truncation:
        """The person heard so much of the spoken item, also of one that is still being spoken: the
        history keeps the words that had been said by then.

        Raises:
            UnknownItem, NoSound
        """
        ...

    def retrieve(self, item_id: str) -> Item:
        """The item with its sound, as far as there is any and it is still kept.

        Raises:
            UnknownItem
        """
        ...

    def previous(self, item_id: str) -> str | None:
        """The id of the item in front of this one; None for the first, and for an unknown one."""
        ...

    def respond(self, request: ResponseRequest) -> None:
        """Begin a response.

        Raises:
            ResponseActive: one in the conversation is still being made.
            UnknownItem: an item of `given` is not there.
        """
        ...

    def cancel(self, key: str | None = None, reason: CancelReason = "client_cancelled") -> bool:
        """End the response `key`, or the conversation's; False when it is not being made (any
        more). `ResponseDone` is told before this returns."""
        ...

    @property
    def kept(self) -> object:
        """What a later session goes on with, once this one is closed: its conversation."""
        ...

    @property
    def changes(self) -> int:
        """Grows whenever `written` gives something else."""
        ...

    def written(self) -> Mapping[str, object]:
        """Its conversation as plain values of JSON, as it is now and without sound: what a session
        in another process goes on with. From any thread, also once it is closed."""
        ...

    def close(self) -> None:
        """End the session: no thread and no event comes of it after this has returned. Idempotent.
        Waits two seconds at most, for a model that does not stop."""
        ...
