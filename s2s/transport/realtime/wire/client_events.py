"""The events that a client sends."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from s2s.transport.realtime.wire.items import Item
from s2s.transport.realtime.wire.model import WireModel
from s2s.transport.realtime.wire.settings import ResponseSettings, SessionSettings


class _ClientEvent(WireModel):
    event_id: str | None = Field(default=None, max_length=512)


class SessionUpdate(_ClientEvent):
    """Change the session."""

    type: Literal["session.update"] = "session.update"
    session: SessionSettings


class AudioAppend(_ClientEvent):
    """More of the microphone."""

    type: Literal["input_audio_buffer.append"] = "input_audio_buffer.append"
    audio: str
    """base64 in the session's input format; any number of bytes."""


class AudioCommit(_ClientEvent):
    """What was appended is a turn."""

    type: Literal["input_audio_buffer.commit"] = "input_audio_buffer.commit"


class AudioClear(_ClientEvent):
    """Forget what was appended."""

    type: Literal["input_audio_buffer.clear"] = "input_audio_buffer.clear"


class OutputClear(_ClientEvent):
    """Drop what waits to be played, where the server plays."""

    type: Literal["output_audio_buffer.clear"] = "output_audio_buffer.clear"


class ItemCreate(_ClientEvent):
    """Put an item into the conversation."""

    type: Literal["conversation.item.create"] = "conversation.item.create"
    item: Item
    previous_item_id: str | None = None
    """Behind which item; `root`: in front of all; None: at the end."""


class ItemRetrieve(_ClientEvent):
    """Ask for an item."""

    type: Literal["conversation.item.retrieve"] = "conversation.item.retrieve"
    item_id: str


class ItemTruncate(_ClientEvent):
    """The person heard so much of an item."""

    type: Literal["conversation.item.truncate"] = "conversation.item.truncate"
    item_id: str
    content_index: Annotated[int, Field(ge=0)]
    audio_end_ms: Annotated[int, Field(ge=0)]


class ItemDelete(_ClientEvent):
    """Take an item out of the conversation."""

    type: Literal["conversation.item.delete"] = "conversation.item.delete"
    item_id: str


class ResponseCreate(_ClientEvent):
    """Answer."""

    type: Literal["response.create"] = "response.create"
    response: ResponseSettings | None = None


class ResponseCancel(_ClientEvent):
    """Stop answering."""

    type: Literal["response.cancel"] = "response.cancel"
    response_id: str | None = None
    """Which; None: the one in the conversation."""


ClientEvent = (
    SessionUpdate
    | AudioAppend
    | AudioCommit
    | AudioClear
    | OutputClear
    | ItemCreate
    | ItemRetrieve
    | ItemTruncate
    | ItemDelete
    | ResponseCreate
    | ResponseCancel
)
