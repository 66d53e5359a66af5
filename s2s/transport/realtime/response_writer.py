"""One response, told in the order in which the real service was recorded to tell it.

A message opens with its first word or sound and closes with the response; calls of tools follow it,
each as a whole, on output indexes of their own. Every part that was opened is closed, whatever
became of the response, and `response.done` is last.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypedDict

from s2s.core.audio import Block
from s2s.core.events import ResponseDone, ResponseStatus, TokenUsage, ToolCalled, ToolUsed
from s2s.core.items import answer_item_id, call_item_id
from s2s.transport.realtime.audio import SoundToBytes
from s2s.transport.realtime.captions import Captions
from s2s.transport.realtime.meaning import mcp_call, to_base64
from s2s.transport.realtime.send_queue import SendQueue
from s2s.transport.realtime.server_playback import ServerPlayback
from s2s.transport.realtime.wire.audio_formats import WireFormat
from s2s.transport.realtime.wire.items import (
    AssistantMessage,
    FunctionCall,
    ItemStatus,
    McpCall,
    OutputAudio,
    OutputText,
    ToldItem,
)
from s2s.transport.realtime.wire.mcp_events import call_events
from s2s.transport.realtime.wire.responses import (
    CachedTokens,
    ContentPart,
    InputTokens,
    OutputTokens,
    ResponseError,
    ResponseObject,
    SpokenAs,
    SpokenOutput,
    SpokenPart,
    StatusDetails,
    WireUsage,
    WrittenPart,
)
from s2s.transport.realtime.wire.server_events import (
    ArgumentsDelta,
    ArgumentsDone,
    AudioDelta,
    AudioDone,
    ContentPartAdded,
    ContentPartDone,
    ItemAdded,
    ItemDone,
    OutputItemAdded,
    OutputItemDone,
    RateLimit,
    RateLimitsUpdated,
    ResponseCreated,
    ResponseEnded,
    TextDelta,
    TextDone,
    TranscriptDelta,
    TranscriptDone,
)
from s2s.transport.realtime.wire.settings import Modality

DELTA_MS = 100.0
"""Sound that came at once is joined up to this length: fewer messages, none of them later."""

NO_LIMIT = 1_000_000
"""What `rate_limits.updated` says is left of everything: a server of one's own has no limits."""


@dataclass(frozen=True, slots=True)
class ResponseForm:
    """What a response was asked to be."""

    modality: Modality
    voice: str
    audio_format: WireFormat
    max_output_tokens: int | Literal["inf"]
    metadata: dict[str, str] | None
    conversation_id: str | None
    """None: out of band."""


class _PartPlace(TypedDict):
    """Where a delta belongs."""

    response_id: str
    item_id: str
    output_index: int
    content_index: int


class _CallPlace(TypedDict):
    """Where arguments belong."""

    response_id: str
    item_id: str
    output_index: int
    call_id: str


@dataclass(slots=True)
class _OpenMessage:
    item_id: str
    output_index: int
    previous_item_id: str | None
    text: str = ""
    seconds: float = 0.0
    """Of its sound so far."""


class ResponseWriter:
    """Tells one response.

    Args:
        response_id: `resp_...`
        form: as it was asked for.
        outbox: where its events go.
        previous: the item before another in the conversation.
        playback: plays its sound, where the client does not.
    """

    def __init__(
        self,
        response_id: str,
        form: ResponseForm,
        outbox: SendQueue,
        previous: Callable[[str], str | None],
        playback: ServerPlayback | None = None,
    ) -> None:
        self.response_id = response_id
        self.form = form
        self._outbox = outbox
        self._previous = previous
        self._playback = playback
        self._output: list[ToldItem] = []
        self._next_index = 0
        self._message: _OpenMessage | None = None
        self._calls: list[ToolCalled | ToolUsed] = []
        self._captions = Captions()
        self._to_bytes = SoundToBytes(form.audio_format)
        self._unsent = bytearray()
        self._unsent_samples = 0

    @property
    def sounded(self) -> bool:
        """Some of its sound has been told."""
        return self._message is not None and self._message.seconds > 0

    def begin(self) -> None:
        self._outbox.put(ResponseCreated(response=self._object("in_progress")))

    def text(self, text: str) -> None:
        """More of the answer's text, ahead of its sound."""
        message = self._open_message()
        message.text += text
        if self.form.modality == "audio":
            self._captions.announce(text)
        elif text:
            self._outbox.put(TextDelta(**self._part_of(message), delta=text))

    def sound(self, block: Block, rate_hz: int, said_after: str) -> None:
        """More of its sound: float32 [samples], and the text that has been said once it was played.

        It may wait for `flush`, which comes when nothing more of it is there at once.
        """
        message = self._open_message()
        self._caption(message, self._captions.before(said_after))
        message.seconds += len(block) / rate_hz
        if self._playback is not None:
            self._playback.play(self.response_id, block)
            return
        self._unsent += self._to_bytes.push(block, rate_hz)
        self._unsent_samples += len(block)
        if self._to_bytes.duration_ms(len(self._unsent)) >= DELTA_MS:
            self.flush()

    def flush(self) -> None:
        """Tell the sound that waits to be joined with more."""
        if self._message is None or not self._unsent:
            return
        delta = AudioDelta(**self._part_of(self._message), delta=to_base64(bytes(self._unsent)))
        samples, self._unsent_samples = self._unsent_samples, 0
        self._outbox.put(delta, sound_of=self.response_id, samples=samples)
        self._unsent.clear()

    def call(self, call: ToolCalled | ToolUsed) -> None:
        """A tool is to be called, or was: told behind the message that is open."""
        if self._message is None:
            self._tell_call(call, "completed")
        else:
            self._calls.append(call)

    def end(self, done: ResponseDone) -> None:
        """Close what is open, and the response."""
        completed = done.status == "completed"
        if done.status == "cancelled":
            self._drop_sound()
        if self._message is not None:
            self._close_message(self._message, completed=completed)
        for call in self._calls:
            self._tell_call(call, "completed" if completed else "incomplete")
        self._outbox.put(ResponseEnded(response=self._object(done.status, done)))
        left = [
            RateLimit(name=name, limit=NO_LIMIT, remaining=NO_LIMIT, reset_seconds=0.0)
            for name in ("requests", "tokens")
        ]
        self._outbox.put(RateLimitsUpdated(rate_limits=left))

    # --- the message ---------------------------------------------------------------------------

    def _open_message(self) -> _OpenMessage:
        if self._message is not None:
            return self._message
        item_id = answer_item_id(self.response_id)
        message = self._message = _OpenMessage(item_id, self._take_index(), None)
        item = AssistantMessage(id=item_id, status="in_progress", content=[])
        message.previous_item_id = self._add_item(message.output_index, item, item_id)
        part = self._part("")
        self._outbox.put(ContentPartAdded(**self._part_of(message), part=part))
        return message

    def _caption(self, message: _OpenMessage, words: str) -> None:
        if words:
            at = self._part_of(message)
            start_s = round(message.seconds, 3)
            self._outbox.put(TranscriptDelta(**at, delta=words, start_time=start_s))

    def _drop_sound(self) -> None:
        """What has not left is not to be heard."""
        self._unsent.clear()
        if self._unsent_samples:
            self._outbox.never_sent(self._unsent_samples)
            self._unsent_samples = 0
        self._outbox.drop_sound(self.response_id)

    def _close_message(self, message: _OpenMessage, *, completed: bool) -> None:
        at = self._part_of(message)
        if self.form.modality == "audio":
            if completed:
                self._unsent += self._to_bytes.flush()
                self._caption(message, self._captions.rest())
            self.flush()
            text = self._captions.told
            self._outbox.put(AudioDone(**at))
            self._outbox.put(TranscriptDone(**at, transcript=text))
            content = OutputAudio(transcript=text)
        else:
            text = message.text
            self._outbox.put(TextDone(**at, text=text))
            content = OutputText(text=text)
        self._outbox.put(ContentPartDone(**at, part=self._part(text)))
        status: ItemStatus = "completed" if completed else "incomplete"
        item = AssistantMessage(id=message.item_id, status=status, content=[content])
        self._finish_item(message.output_index, item, message.previous_item_id)

    def _part_of(self, message: _OpenMessage) -> _PartPlace:
        return {
            "response_id": self.response_id,
            "item_id": message.item_id,
            "output_index": message.output_index,
            "content_index": 0,
        }

    def _part(self, text: str) -> ContentPart:
        spoken = self.form.modality == "audio"
        return SpokenPart(transcript=text) if spoken else WrittenPart(text=text)

    # --- calls ---------------------------------------------------------------------------------

    def _tell_call(self, call: ToolCalled | ToolUsed, status: ItemStatus) -> None:
        if isinstance(call, ToolUsed):
            self._tell_used(mcp_call(call.item))
            return
        item_id, index = call_item_id(call.call_id), self._take_index()
        at: _CallPlace = {
            "response_id": self.response_id,
            "item_id": item_id,
            "output_index": index,
            "call_id": call.call_id,
        }
        empty = FunctionCall(
            id=item_id, status="in_progress", name=call.name, call_id=call.call_id, arguments=""
        )
        previous = self._add_item(index, empty, item_id)
        self._outbox.put(ArgumentsDelta(**at, delta=call.arguments))
        self._outbox.put(ArgumentsDone(**at, name=call.name, arguments=call.arguments))
        whole = empty.model_copy(update={"status": status, "arguments": call.arguments})
        self._finish_item(index, whole, previous)

    def _tell_used(self, whole: McpCall) -> None:
        item_id, index = whole.id, self._take_index()
        begun = whole.model_copy(update={"arguments": "", "output": None, "error": None})
        previous = self._add_item(index, begun, item_id)
        for event in call_events(whole, self.response_id, index):
            self._outbox.put(event)
        self._finish_item(index, whole, previous)

    # --- items ---------------------------------------------------------------------------------

    def _take_index(self) -> int:
        self._next_index += 1
        return self._next_index - 1

    def _add_item(self, index: int, item: ToldItem, item_id: str) -> str | None:
        """Returns the item before it."""
        added = OutputItemAdded(response_id=self.response_id, output_index=index, item=item)
        self._outbox.put(added)
        if self.form.conversation_id is None:
            return None
        previous = self._previous(item_id)
        self._outbox.put(ItemAdded(item=item, previous_item_id=previous))
        return previous

    def _finish_item(self, index: int, item: ToldItem, previous: str | None) -> None:
        self._output.append(item)
        ended = OutputItemDone(response_id=self.response_id, output_index=index, item=item)
        if self.form.conversation_id is None:
            self._outbox.put(ended)
            return
        done = ItemDone(item=item, previous_item_id=previous)
        complete = isinstance(item, McpCall) or item.status == "completed"
        for event in (done, ended) if complete else (ended, done):  # both orders as recorded
            self._outbox.put(event)

    # --- the response --------------------------------------------------------------------------

    def _object(
        self, status: ResponseStatus | Literal["in_progress"], done: ResponseDone | None = None
    ) -> ResponseObject:
        form = self.form
        return ResponseObject(
            id=self.response_id,
            status=status,
            status_details=None if done is None else _details(done),
            output=list(self._output),
            conversation_id=form.conversation_id,
            output_modalities=[form.modality],
            max_output_tokens=form.max_output_tokens,
            audio=SpokenOutput(output=SpokenAs(format=form.audio_format, voice=form.voice)),
            usage=None if done is None else _usage(done.usage),
            metadata=form.metadata,
        )


def _details(done: ResponseDone) -> StatusDetails | None:
    match done.status:
        case "completed":
            return None
        case "cancelled":
            return StatusDetails(type="cancelled", reason=done.reason or "client_cancelled")
        case "incomplete":
            return StatusDetails(type="incomplete", reason="max_output_tokens")
        case "failed":
            error = ResponseError(
                type="server_error", code="response_failed", message=done.error or ""
            )
            return StatusDetails(type="failed", error=error)


def _usage(usage: TokenUsage | None) -> WireUsage | None:
    """All of it is text: what is heard is written down first, and what is said is written first."""
    if usage is None:
        return None
    cached = CachedTokens(text_tokens=0, audio_tokens=0, image_tokens=0)
    return WireUsage(
        total_tokens=usage.input_tokens + usage.output_tokens,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        input_token_details=InputTokens(
            text_tokens=usage.input_tokens,
            audio_tokens=0,
            image_tokens=0,
            cached_tokens=0,
            cached_tokens_details=cached,
        ),
        output_token_details=OutputTokens(text_tokens=usage.output_tokens, audio_tokens=0),
    )
