"""What a conversation consists of, as a client sees and edits it. Knows no stage and no wire."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from s2s.core.audio import Block

ItemStatus = Literal["in_progress", "completed", "incomplete"]

Speaker = Literal["system", "user", "assistant"]

ROOT = "root"
"""In place of an item's id: in front of the first item."""


@dataclass(frozen=True, slots=True)
class TextPart:
    """Words that were written."""

    text: str


@dataclass(frozen=True, slots=True)
class SoundPart:
    """Words that were said."""

    transcript: str | None
    """What was said; None while it is not known, or where nothing writes it down."""
    audio: Block | None = None
    """float32 [samples] at `rate_hz`; None where it was not asked for or is not kept any more."""
    rate_hz: int = 0


ItemPart = TextPart | SoundPart


@dataclass(frozen=True, slots=True)
class MessageItem:
    """Something that was said or written."""

    item_id: str
    role: Speaker
    parts: tuple[ItemPart, ...]
    status: ItemStatus = "completed"

    @property
    def text(self) -> str:
        """Its words, as the language model is shown them."""
        words = [p.text if isinstance(p, TextPart) else p.transcript or "" for p in self.parts]
        return "\n".join(each.strip() for each in words if each.strip())


@dataclass(frozen=True, slots=True)
class CallItem:
    """A tool that the assistant wants called."""

    item_id: str
    call_id: str
    name: str
    arguments: str
    """A JSON object, or what the model wrote instead."""
    status: ItemStatus = "completed"


@dataclass(frozen=True, slots=True)
class OutputItem:
    """What a tool gave back."""

    item_id: str
    call_id: str
    output: str
    status: ItemStatus = "completed"


@dataclass(frozen=True, slots=True)
class ToolItem:
    """A tool that the assistant called itself, and what it gave."""

    item_id: str
    call_id: str
    name: str
    arguments: str
    """A JSON object, or what the model wrote instead."""
    output: str
    failed: bool = False
    origin: str = "s2s"
    """Who has the tool: the label of a server, or "s2s"."""


Item = MessageItem | CallItem | OutputItem | ToolItem


def user_item_id(turn_id: str) -> str:
    """The item of what the person says in a turn: its revisions are one item."""
    return f"item_{turn_id}"


def answer_item_id(response_key: str) -> str:
    """The item of what is said in a response; none of a turn has such a name."""
    return f"msg_{response_key.removeprefix('resp_')}"


def call_item_id(call_id: str) -> str:
    """The item of a call."""
    return f"item_{call_id}"
