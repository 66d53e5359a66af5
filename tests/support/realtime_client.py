"""A client and a session of the Realtime protocol in one thread, for tests.

The session is a fake: it keeps items as the real one does, and says what a test tells it to say.
"""

from __future__ import annotations

import base64
import itertools
import json

import numpy as np

from s2s.core.audio import Block
from s2s.core.control import (
    Answering,
    DuplicateItem,
    Hearing,
    InputEmpty,
    NoSound,
    ResponseActive,
    ResponseRequest,
    Truncation,
    UnknownItem,
)
from s2s.core.events import (
    AnswerText,
    CancelReason,
    ResponseDone,
    ResponseStarted,
    ResponseStatus,
    TokenUsage,
    ToolCalled,
    ToolUsed,
    TurnBegan,
    TurnCommitted,
    TurnEnded,
    TurnTranscript,
)
from s2s.core.items import (
    ROOT,
    CallItem,
    Item,
    MessageItem,
    SoundPart,
    TextPart,
    ToolItem,
    answer_item_id,
    call_item_id,
    user_item_id,
)
from s2s.core.messages import ResponseId
from s2s.transport.realtime.limits import Limits
from s2s.transport.realtime.protocol import RealtimeProtocol
from s2s.transport.realtime.send_queue import SendQueue
from s2s.transport.realtime.server_playback import ServerPlayback
from s2s.transport.realtime.session_object import SessionDefaults, SessionObject

RATE_HZ = 24000
WORD_MS = 200
"""Each word of an answer sounds so long."""
SESSION = "sess_0abc"


class FakeSession:
    """`SessionControl` that keeps items, and a microphone that counts."""

    def __init__(self, tell) -> None:
        self.tell = tell
        self.items: list[Item] = []
        self.answering: Answering | None = None
        self.hearing: Hearing | None = None
        self.asked: list[ResponseRequest] = []
        self.active: str | None = None
        self.beside: set[str] = set()
        self.heard: list[Block] = []
        self.uncommitted = 0
        self.sent = 0
        self.full = False
        self.closed = False
        self.sound_ms: dict[str, float] = {}
        self.words: dict[str, list[str]] = {}
        self.turn = itertools.count(1)

    # the microphone

    def hear(self, audio: Block) -> bool:
        if self.full:
            return False
        self.heard.append(audio)
        self.uncommitted += len(audio)
        return True

    def sound(self) -> Block:
        return np.concatenate(self.heard) if self.heard else np.zeros(0, np.float32)

    # SessionControl

    def set_answering(self, answering: Answering) -> None:
        self.answering = answering

    def set_hearing(self, hearing: Hearing) -> None:
        self.hearing = hearing

    def commit(self) -> None:
        heard_ms = self.uncommitted / 16
        if heard_ms < 100:
            raise InputEmpty(heard_ms)
        self.uncommitted = 0
        self.commit_turn(user_item_id(f"0abc-{next(self.turn)}"))

    def clear_input(self) -> None:
        self.uncommitted = 0

    def insert(self, item: Item, after: str | None = None) -> str | None:
        if any(each.item_id == item.item_id for each in self.items):
            raise DuplicateItem(item.item_id)
        at = len(self.items)
        if after is not None:
            at = 0 if after == ROOT else self._index(after) + 1
        self.items.insert(at, item)
        return self.previous(item.item_id)

    def delete(self, item_id: str) -> None:
        del self.items[self._index(item_id)]

    def truncate(self, item_id: str, audio_end_ms: int) -> Truncation:
        index = self._index(item_id)
        if item_id not in self.sound_ms:
            raise NoSound(item_id)
        total = int(self.sound_ms[item_id])
        left = min(total, audio_end_ms)
        words = " ".join(self.words[item_id][: left // WORD_MS])
        self.sound_ms[item_id] = left
        part = SoundPart(words)
        self.items[index] = MessageItem(item_id, "assistant", (part,), "incomplete")
        return Truncation(left, words, beyond=audio_end_ms > total)

    def retrieve(self, item_id: str) -> Item:
        return self.items[self._index(item_id)]

    def previous(self, item_id: str) -> str | None:
        ids = [item.item_id for item in self.items]
        index = ids.index(item_id) if item_id in ids else 0
        return ids[index - 1] if index else None

    def respond(self, request: ResponseRequest) -> None:
        if request.in_conversation:
            if self.active is not None:
                raise ResponseActive(self.active)
            self.active = request.key
        else:
            self.beside.add(request.key)
        self.asked.append(request)
        self.tell(ResponseStarted(rid(request.key)))

    def cancel(self, key: str | None = None, reason: CancelReason = "client_cancelled") -> bool:
        key = key or self.active
        if key is None or (key != self.active and key not in self.beside):
            return False
        self.finish(key, "cancelled", reason=reason)
        return True

    def close(self) -> None:
        self.closed = True

    @property
    def kept(self) -> object:
        return list(self.items)

    @property
    def changes(self) -> int:
        return len(self.items)

    def written(self) -> dict[str, object]:
        return {"entries": [each.item_id for each in self.items]}

    # what it says

    def begin_turn(self, start_ms: int = 0) -> str:
        item_id = user_item_id(f"0abc-{next(self.turn)}")
        self.tell(TurnBegan(item_id, start_ms))
        if self.active is not None and (self.hearing is None or self.hearing.interrupts):
            self.finish(self.active, "cancelled", reason="turn_detected")
        return item_id

    def end_turn(self, item_id: str, end_ms: int = 1000, dropped: str = "") -> None:
        self.tell(TurnEnded(item_id, end_ms, dropped))

    def commit_turn(self, item_id: str, idle: tuple[int, int] | None = None) -> None:
        previous = self.items[-1].item_id if self.items else None
        self.items.append(MessageItem(item_id, "user", (SoundPart(None),)))
        self.tell(TurnCommitted(item_id, previous, idle))

    def words_of(self, item_id: str, text: str) -> None:
        index = self._index(item_id)
        sound = np.zeros(16000, np.float32)
        part = SoundPart(text, sound, 16000)
        self.items[index] = MessageItem(item_id, "user", (part,))
        self.tell(TurnTranscript(item_id, text, text, final=True, duration_s=1.0))

    def hear_turn(self, text: str = "Hello there") -> str:
        item_id = self.begin_turn()
        self.end_turn(item_id)
        self.commit_turn(item_id)
        self.words_of(item_id, text)
        return item_id

    def answer_turn(self) -> str:
        self.active = key = f"resp_0abc-{next(self.turn)}"
        self.tell(ResponseStarted(rid(key)))
        return key

    def say(self, key: str, text: str, *, sound: bool = True) -> None:
        """Announce `text`, then its sound word by word."""
        item_id = answer_item_id(key)
        said = self.words.setdefault(item_id, [])
        if key == self.active and all(each.item_id != item_id for each in self.items):
            part = SoundPart("") if sound else TextPart("")
            self.items.append(MessageItem(item_id, "assistant", (part,), "in_progress"))
        self.tell(AnswerText(rid(key), text))
        for word in text.split() if sound else ():
            said.append(word)
            block = np.full(RATE_HZ * WORD_MS // 1000, 0.1, np.float32)
            self.sound_ms[item_id] = self.sound_ms.get(item_id, 0.0) + WORD_MS
            self.tell_sound(rid(key), block, " ".join(said))
        if key == self.active:
            part = SoundPart(" ".join(said)) if sound else TextPart(text)
            self.items[self._index(item_id)] = MessageItem(
                item_id, "assistant", (part,), "in_progress"
            )

    def call(self, key: str, name: str, arguments: str, call_id: str) -> None:
        if key == self.active:
            self.items.append(CallItem(call_item_id(call_id), call_id, name, arguments))
        self.tell(ToolCalled(rid(key), name, arguments, call_id))

    def use(self, key: str, item: ToolItem) -> None:
        """A tool of the server's own was called."""
        self.items.append(item)
        self.tell(ToolUsed(rid(key), item))

    def finish(
        self,
        key: str,
        status: ResponseStatus = "completed",
        *,
        reason: CancelReason | None = None,
        error: str | None = None,
    ) -> None:
        self.beside.discard(key)
        if key == self.active:
            self.active = None
        usage = TokenUsage(10, 5) if status == "completed" else None
        played = " ".join(self.words.get(answer_item_id(key), []))
        self.tell(ResponseDone(rid(key), status, played, error, reason, usage))

    def tell_sound(self, response: ResponseId, block: Block, text: str) -> None:
        raise NotImplementedError

    def _index(self, item_id: str) -> int:
        for index, item in enumerate(self.items):
            if item.item_id == item_id:
                return index
        raise UnknownItem(item_id)


def rid(key: str) -> ResponseId:
    return ResponseId("t1", 0, 0, key)


class WireClient:
    """A client of the protocol over a `FakeSession`.

    What the session tells is told to the client when the client sends, or with `events`.
    """

    def __init__(self, *, limits: Limits | None = None, call: bool = False, **defaults) -> None:
        """call: the server plays."""
        known = {"model": "local", "voice": "aria", "instructions": "Be brief."}
        voices = frozenset({"aria", "marin"})
        self.object = SessionObject(
            SESSION,
            SessionDefaults(**known, voices=voices, **defaults),
            expires_at=2_000_000_000,
            limits=limits,
        )
        self.outbox = SendQueue("0", on_sent=self._sent)
        self.errors: list[str] = []
        self.protocol = RealtimeProtocol(
            self.object, self.outbox, RATE_HZ, limits=limits, on_error=self.errors.append
        )
        self.session = FakeSession(self.protocol.session_event)
        self.session.tell_sound = self.protocol.session_sound
        if call:
            self.protocol.playback = ServerPlayback(
                RATE_HZ, self._sent, self.protocol.playback_changed
            )
        self.protocol.begin(self.session, self.session)
        self.texts: list[str] = []
        """Every text that was sent."""

    def _sent(self, samples: int) -> None:
        self.session.sent += samples

    def events(self, *wanted: str) -> list[dict]:
        """What was sent since the last call, as JSON objects; only types that begin with one of
        `wanted`, if any are given."""
        self.protocol.catch_up()
        found = []
        while (frame := self.outbox.take()) is not None:
            self.outbox.was_sent(frame)
            self.texts.append(frame.text)
            found.append(json.loads(frame.text))
        return [e for e in found if not wanted or e["type"].startswith(wanted)]

    def kinds(self) -> list[str]:
        return [event["type"] for event in self.events()]

    def send(self, kind: str, **fields) -> list[dict]:
        """Send an event; what is answered."""
        self.protocol.client_text(json.dumps({"type": kind, **fields}))
        return self.events()

    def play(self, ms: int) -> None:
        """So much of what waits leaves for the client of a call, or all there is."""
        assert self.protocol.playback is not None
        self.protocol.catch_up()
        for _ in range(ms // 20):
            if self.protocol.playback.frame() is None:
                return

    def update(self, kind: str = "realtime", **session) -> list[dict]:
        return self.send("session.update", session={"type": kind, **session})

    def append(self, data: bytes) -> list[dict]:
        return self.send("input_audio_buffer.append", audio=base64.b64encode(data).decode())

    def one_error(self, events: list[dict]) -> dict:
        assert [event["type"] for event in events] == ["error"], events
        return events[0]["error"]
