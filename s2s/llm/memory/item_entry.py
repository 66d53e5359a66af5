"""An item of a conversation with what is known of it, also as plain values of JSON: so a
conversation is written down in one process, and goes on in another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast

from s2s.core.items import (
    CallItem,
    Item,
    ItemPart,
    ItemStatus,
    MessageItem,
    OutputItem,
    SoundPart,
    Speaker,
    TextPart,
    ToolItem,
)
from s2s.core.messages import ResponseId, TurnId
from s2s.core.untyped import is_list, is_mapping

_STATUS: tuple[ItemStatus, ...] = ("in_progress", "completed", "incomplete")
_SPEAKERS: tuple[Speaker, ...] = ("system", "user", "assistant")


class NotAnEntry(ValueError):
    """What was read is none: it was written by another version, or damaged."""


@dataclass(slots=True)
class ItemEntry:
    """An item and what is known of it."""

    item: Item
    turn: TurnId | None = None
    """What the person said in it; the revision of its words."""
    response: ResponseId | None = None
    """Of which it is the answer."""
    told: str = ""
    """What was told of the answer so far, heard or not."""
    cut: bool = False
    """The client said how much of it was heard."""
    shown: bool = True
    """It is in the model's context."""

    def plain(self) -> dict[str, object]:
        """All of it but sound. What has its default is left out."""
        written: dict[str, object] = {"item": _plain_item(self._now())}
        if self.turn is not None:
            written["turn"] = [self.turn.turn_id, self.turn.turn_revision]
        if (answered := self.response) is not None:
            revision, generation = answered.turn_revision, answered.cancel_generation
            written["response"] = [answered.turn_id, revision, generation, answered.response_key]
        if self.cut:
            written["cut"] = True
        if not self.shown:
            written["shown"] = False
        return written

    def _now(self) -> Item:
        """The item; of an answer that is being written what was written so far. What is spoken
        counts as far as it was heard."""
        item = self.item
        if (
            isinstance(item, MessageItem)
            and item.status == "in_progress"
            and not self.cut
            and item.parts
            and isinstance(item.parts[0], TextPart)
        ):
            return replace(item, parts=(TextPart(self.told),))
        return item


def entry_of(written: object) -> ItemEntry:
    """What `ItemEntry.plain` gave. An answer that was being made by then is cut off: whoever made
    it is gone.

    Raises:
        NotAnEntry: it is something else.
    """
    fields = _mapping(written)
    item = _item(_mapping(fields.get("item")))
    response = fields.get("response")
    return ItemEntry(
        item,
        turn=None if (turn := fields.get("turn")) is None else _turn(turn),
        response=None if response is None else _response(response),
        cut=fields.get("cut") is True,
        shown=fields.get("shown") is not False,
    )


def _plain_item(item: Item) -> dict[str, object]:
    match item:
        case MessageItem():
            parts = [_plain_part(part) for part in item.parts]
            return {
                "is": "message",
                "id": item.item_id,
                "role": item.role,
                "parts": parts,
                "status": item.status,
            }
        case CallItem():
            return {
                "is": "call",
                "id": item.item_id,
                "call": item.call_id,
                "name": item.name,
                "arguments": item.arguments,
                "status": item.status,
            }
        case OutputItem():
            return {
                "is": "output",
                "id": item.item_id,
                "call": item.call_id,
                "output": item.output,
                "status": item.status,
            }
        case ToolItem():
            return {
                "is": "tool",
                "id": item.item_id,
                "call": item.call_id,
                "name": item.name,
                "arguments": item.arguments,
                "output": item.output,
                "failed": item.failed,
                "origin": item.origin,
            }


def _item(fields: Mapping[str, object]) -> Item:
    kind = fields.get("is")
    if kind == "message":
        parts = fields.get("parts")
        if not is_list(parts):
            raise NotAnEntry(f"a message without a list of parts: {type(parts).__name__}")
        role = fields.get("role")
        if role not in _SPEAKERS:
            raise NotAnEntry("a message of nobody")
        return MessageItem(
            _text(fields, "id"),
            role,
            tuple(_part(_mapping(part)) for part in parts),
            _status(fields),
        )
    if kind == "call":
        name, arguments = _text(fields, "name"), _text(fields, "arguments")
        return CallItem(
            _text(fields, "id"), _text(fields, "call"), name, arguments, _status(fields)
        )
    if kind == "output":
        output = _text(fields, "output")
        return OutputItem(_text(fields, "id"), _text(fields, "call"), output, _status(fields))
    if kind == "tool":
        return ToolItem(
            _text(fields, "id"),
            _text(fields, "call"),
            _text(fields, "name"),
            _text(fields, "arguments"),
            _text(fields, "output"),
            fields.get("failed") is True,
            _text(fields, "origin"),
        )
    raise NotAnEntry(f"an item of an unknown kind: {str(kind)[:32]!r}")


def _plain_part(part: ItemPart) -> dict[str, object]:
    match part:
        case TextPart():
            return {"text": part.text}
        case SoundPart():
            return {"said": part.transcript}


def _part(fields: Mapping[str, object]) -> ItemPart:
    if "text" in fields:
        return TextPart(_text(fields, "text"))
    return SoundPart(None if fields.get("said") is None else _text(fields, "said"))


def _status(fields: Mapping[str, object]) -> ItemStatus:
    status = fields.get("status")
    if status not in _STATUS:
        raise NotAnEntry("an item without a status")
    return "incomplete" if status == "in_progress" else cast(ItemStatus, status)


def _turn(written: object) -> TurnId:
    if is_list(written) and len(written) == 2:
        turn_id, revision = written
        if isinstance(turn_id, str) and isinstance(revision, int):
            return TurnId(turn_id, revision)
    raise NotAnEntry("a turn that is none")


def _response(written: object) -> ResponseId:
    if is_list(written) and len(written) == 4:
        turn_id, revision, generation, key = written
        if (
            isinstance(turn_id, str)
            and isinstance(revision, int)
            and isinstance(generation, int)
            and (key is None or isinstance(key, str))
        ):
            return ResponseId(turn_id, revision, generation, key)
    raise NotAnEntry("a response that is none")


def _mapping(written: object) -> Mapping[str, object]:
    if not is_mapping(written):
        raise NotAnEntry(f"expected an object, found {type(written).__name__}")
    return written


def _text(fields: Mapping[str, object], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str):
        raise NotAnEntry(f"no text at {name!r}: {type(value).__name__}")
    return value
