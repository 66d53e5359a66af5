"""What a client asks for, done: each event of the client has its answer, or one `error`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from s2s.core.audio import PIPELINE_HZ, Block, empty
from s2s.core.control import (
    DuplicateItem,
    InputEmpty,
    NoSound,
    ResponseActive,
    ResponseRequest,
    SessionControl,
    UnknownItem,
)
from s2s.core.items import Item as CoreItem
from s2s.transport.realtime import faults
from s2s.transport.realtime.audio import SoundFromBytes
from s2s.transport.realtime.limits import Limits
from s2s.transport.realtime.meaning import (
    answering_of,
    core_item,
    from_base64,
    hearing_of,
    response_voice,
    wire_item,
)
from s2s.transport.realtime.response_writer import ResponseForm
from s2s.transport.realtime.send_queue import SendQueue
from s2s.transport.realtime.session_object import SessionObject, check_texts
from s2s.transport.realtime.wire.client_events import (
    AudioAppend,
    AudioClear,
    AudioCommit,
    ClientEvent,
    ItemCreate,
    ItemDelete,
    ItemRetrieve,
    ItemTruncate,
    OutputClear,
    ResponseCancel,
    ResponseCreate,
    SessionUpdate,
)
from s2s.transport.realtime.wire.items import InputImage, Item, ItemReference, ToldItem, UserMessage
from s2s.transport.realtime.wire.server_events import (
    AudioCleared,
    ItemAdded,
    ItemDeleted,
    ItemDone,
    ItemRetrieved,
    ItemTruncated,
    SessionUpdated,
)
from s2s.transport.realtime.wire.settings import RealtimeSettings, ResponseSettings


class ClientMicrophone(Protocol):
    """Takes what the client says."""

    def hear(self, audio: Block, /) -> bool:
        """Float32 [samples] at 16 kHz; False when nothing of it was taken, for want of room."""
        ...


class Answered(Protocol):
    """Who tells responses and errors, and what the session said meanwhile."""

    def opened(self, response_id: str, form: ResponseForm) -> None:
        """A response was asked for and begins."""
        ...

    def catch_up(self) -> None:
        """Tell what the session has said until now."""
        ...

    def fault(self, fault: faults.ClientFault) -> None:
        """Tell one error."""
        ...

    def clear_output(self) -> None:
        """Play nothing of what waits to be played here.

        Raises:
            ClientFault: the client plays by itself.
        """
        ...


@dataclass(slots=True)
class IdNumbers:
    """Ids that the wire gives, within one session and those that go on with it."""

    session_id: str
    used: int = 0

    def next(self, kind: str) -> str:
        """Such as `resp_<session>-w1`; never the same again, and none of the session's own."""
        self.used += 1
        return f"{kind}_{self.session_id}-w{self.used}"


class Commands:
    """Does what a client asks.

    Args:
        session: the session as it is told.
        control: the session behind it.
        microphone: takes sound.
        outbox: where answers go.
        answered: tells what does not go straight to the outbox.
    """

    def __init__(
        self,
        session: SessionObject,
        control: SessionControl,
        microphone: ClientMicrophone,
        outbox: SendQueue,
        answered: Answered,
        limits: Limits,
    ) -> None:
        self.ids = IdNumbers(session.short_id)
        self.waiting = empty()
        """Sound for which there was no room."""
        self.tells_sound = True
        """Items are told with their sound: a client that plays by itself may want it."""
        self._commits = 0
        """Asked for, and not yet told."""
        self._session = session
        self._control = control
        self._microphone = microphone
        self._outbox = outbox
        self._answered = answered
        self._limits = limits
        self._from_bytes = SoundFromBytes(session.input_format)
        self._uncommitted_s = 0.0
        self._items = 0
        self._pictures: dict[str, UserMessage] = {}
        """Items with pictures, which the conversation behind keeps without."""

    def do(self, event: ClientEvent) -> None:
        """Do it, and answer.

        Raises:
            ClientFault: it cannot be done.
        """
        if not isinstance(event, SessionUpdate):
            self._session.was_used()
        match event:
            case SessionUpdate():
                self._update(event)
            case AudioAppend():
                self._append(event)
            case AudioCommit():
                self._commit()
            case AudioClear():
                self._clear()
            case OutputClear():
                self._answered.clear_output()
            case ItemCreate() | ItemRetrieve() | ItemTruncate() | ItemDelete():
                self._edit(event)
            case ResponseCreate():
                self._respond(event.response or ResponseSettings())
            case ResponseCancel():
                self._cancel(event)

    def _edit(self, event: ItemCreate | ItemRetrieve | ItemTruncate | ItemDelete) -> None:
        match event:
            case ItemCreate():
                self._create(event)
            case ItemRetrieve():
                self._retrieve(event)
            case ItemTruncate():
                self._truncate(event)
            case ItemDelete():
                self._delete(event)

    def ready(self) -> bool:
        """Whether the next event can be done: nothing waits to be heard, and what was committed is
        an item. A response that is asked for is told behind the item that it answers."""
        if len(self.waiting) and self._microphone.hear(self.waiting):
            self.waiting = empty()
        return not len(self.waiting) and self._commits <= 0

    def committed(self) -> None:
        """A turn was committed."""
        self._commits = max(0, self._commits - 1)

    def give_up_commits(self) -> None:
        """What was to be committed became no turn of its own."""
        self._commits = 0

    # --- the session ---------------------------------------------------------------------------

    def _update(self, event: SessionUpdate) -> None:
        heard_as = self._session.input_format
        self._session.update(event.session)
        self._control.set_answering(answering_of(self._session))
        self._control.set_hearing(hearing_of(self._session))
        if self._session.input_format != heard_as:
            self._from_bytes = SoundFromBytes(self._session.input_format)
        self._outbox.put(SessionUpdated(session=self._session.echo()))

    # --- the microphone ------------------------------------------------------------------------

    def _append(self, event: AudioAppend) -> None:
        data = from_base64(event.audio)
        if len(data) > self._limits.append_bytes:
            most = self._limits.append_bytes
            raise faults.too_much("audio in bytes", len(data), most, "audio")
        sound = self._from_bytes.push(data)
        if self._session.heard.turn_detection is None:
            seconds = len(sound) / PIPELINE_HZ
            if self._uncommitted_s + seconds > self._limits.manual_audio_s:
                most = int(self._limits.manual_audio_s)
                found = int(self._uncommitted_s + seconds)
                raise faults.too_much("uncommitted audio in seconds", found, most, "audio")
            self._uncommitted_s += seconds
        self._hear(sound)

    def _hear(self, sound: Block) -> None:
        if len(sound) and not self._microphone.hear(sound):
            self.waiting = np.concatenate([self.waiting, sound])

    def _commit(self) -> None:
        self._hear(self._from_bytes.flush())
        try:
            self._control.commit()
        except InputEmpty as empty_input:
            raise faults.too_little_audio(empty_input.heard_ms) from None
        self._commits += 1
        self._uncommitted_s = 0.0

    def _clear(self) -> None:
        self._from_bytes.reset()
        self._control.clear_input()
        self._uncommitted_s = 0.0
        self._answered.catch_up()
        self._outbox.put(AudioCleared())

    # --- items ---------------------------------------------------------------------------------

    def _create(self, event: ItemCreate) -> None:
        if self._items >= self._limits.items:
            raise faults.too_many_items(self._limits.items)
        item_id = event.item.id or self.ids.next("item")
        item = self._core_item(event.item, item_id, "item")
        try:
            previous = self._control.insert(item, event.previous_item_id)
        except DuplicateItem:
            raise faults.item_exists(item_id) from None
        except UnknownItem:
            raise faults.no_such_place(event.previous_item_id or "") from None
        self._items += 1
        self._keep_picture(item_id, event.item)
        self._answered.catch_up()
        told = self._written(item, with_sound=False)
        self._outbox.put(ItemAdded(item=told, previous_item_id=previous))
        self._outbox.put(ItemDone(item=told, previous_item_id=previous))

    def _retrieve(self, event: ItemRetrieve) -> None:
        try:
            item = self._control.retrieve(event.item_id)
        except UnknownItem:
            raise faults.no_such_item("retrieve", event.item_id) from None
        self._answered.catch_up()
        self._outbox.put(ItemRetrieved(item=self._written(item, with_sound=self.tells_sound)))

    def _truncate(self, event: ItemTruncate) -> None:
        if event.content_index != 0:
            raise faults.without_audio(event.item_id)
        try:
            left = self._control.truncate(event.item_id, event.audio_end_ms)
        except UnknownItem:
            raise faults.no_such_item("truncate", event.item_id) from None
        except NoSound:
            raise faults.without_audio(event.item_id) from None
        self._answered.catch_up()
        if left.beyond:
            self._answered.fault(faults.beyond_the_audio(event.audio_end_ms, left.audio_end_ms))
        truncated = ItemTruncated(
            item_id=event.item_id, content_index=0, audio_end_ms=left.audio_end_ms
        )
        self._outbox.put(truncated)

    def _delete(self, event: ItemDelete) -> None:
        try:
            self._control.delete(event.item_id)
        except UnknownItem:
            raise faults.no_such_item("delete", event.item_id) from None
        self._items = max(0, self._items - 1)
        self._pictures.pop(event.item_id, None)
        self._answered.catch_up()
        self._outbox.put(ItemDeleted(item_id=event.item_id))

    def _core_item(self, item: Item, item_id: str, at: str) -> CoreItem:
        return core_item(item, item_id, self._session.input_format, self._limits.text_chars, at)

    def _keep_picture(self, item_id: str, item: Item) -> None:
        if not isinstance(item, UserMessage):
            return
        if any(isinstance(content, InputImage) for content in item.content):
            kept = item.model_copy(update={"id": item_id, "status": "completed"})
            self._pictures[item_id] = kept

    def _written(self, item: CoreItem, *, with_sound: bool) -> ToldItem:
        picture = self._pictures.get(item.item_id)
        if picture is not None:
            return picture
        session = self._session
        return wire_item(item, session.input_format, session.output_format, with_sound=with_sound)

    # --- responses -----------------------------------------------------------------------------

    def _respond(self, asked: ResponseSettings) -> None:
        settings = self._session.settings
        if not isinstance(settings, RealtimeSettings):
            raise faults.never_answers()
        check_texts(asked.instructions, asked.tools, self._limits, "response")
        given = None if asked.input is None else self._given(asked)
        key = self.ids.next("resp")
        in_conversation = asked.conversation != "none"
        request = ResponseRequest(
            key, answering_of(self._session, asked), given, in_conversation=in_conversation
        )
        self._answered.catch_up()
        try:
            self._control.respond(request)
        except ResponseActive as active:
            raise faults.response_is_active(active.key) from None
        self._answered.opened(key, response_form(self._session, asked))

    def _given(self, asked: ResponseSettings) -> tuple[CoreItem, ...]:
        """What the response answers, in place of the conversation."""
        items: list[CoreItem] = []
        for index, each in enumerate(asked.input or ()):
            at = f"response.input[{index}]"
            if not isinstance(each, ItemReference):
                items.append(self._core_item(each, each.id or self.ids.next("item"), at))
                continue
            try:
                items.append(self._control.retrieve(each.id))
            except UnknownItem:
                raise faults.no_such_reference(each.id, f"{at}.id") from None
        return tuple(items)

    def _cancel(self, event: ResponseCancel) -> None:
        if not self._control.cancel(event.response_id, "client_cancelled"):
            raise faults.nothing_to_cancel()


def response_form(session: SessionObject, asked: ResponseSettings) -> ResponseForm:
    """What is told of a response that begins now."""
    settings = session.settings
    realtime = settings if isinstance(settings, RealtimeSettings) else None
    modalities = asked.output_modalities or (realtime and realtime.output_modalities) or ["audio"]
    limit = asked.max_output_tokens or (realtime and realtime.max_output_tokens) or "inf"
    output = asked.audio.output if asked.audio else None
    return ResponseForm(
        modality=modalities[0],
        voice=response_voice(session, asked),
        audio_format=(output.format if output else None) or session.output_format,
        max_output_tokens=limit,
        metadata=asked.metadata,
        conversation_id=(None if asked.conversation == "none" else f"conv_{session.short_id}"),
    )
