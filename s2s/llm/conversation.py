"""A conversation whose items a client sees and edits, and what the model is shown of it.

What the person said and what was heard of the answers, like `s2s.llm.history`; and beside that what
a client put in, took out and cut. Items that no longer fit into the model's context stay here to be
asked for, in bounds. Safe from any thread.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

from s2s.core.control import DuplicateItem, UnknownItem
from s2s.core.items import (
    ROOT,
    CallItem,
    Item,
    ItemStatus,
    MessageItem,
    SoundPart,
    Speaker,
    TextPart,
    ToolItem,
    answer_item_id,
    call_item_id,
    user_item_id,
)
from s2s.core.messages import ResponseId, TurnId
from s2s.llm.base import ChatMessage
from s2s.llm.history import NEARLY_FULL
from s2s.llm.items import to_messages
from s2s.llm.memory.item_entry import ItemEntry, entry_of

MAX_ITEMS = 1000
"""Items that are kept at all; the oldest are forgotten without a word."""
FORGOTTEN = 64
"""Turns that are remembered to be none: the recogniser may still write one down."""
COUNTED_TEXTS = 512
"""Texts whose tokens are known."""


class ConversationItems:
    """`s2s.llm.history.ChatHistory` made of items.

    Args:
        instructions: the system prompt.
        max_turns: messages of the person that the model is shown at most.
        max_tokens: tokens of a whole prompt at most.
        count_tokens: tokens of a text.
    """

    def __init__(
        self,
        instructions: str,
        *,
        max_turns: int,
        max_tokens: int,
        count_tokens: Callable[[str], int],
    ) -> None:
        self.instructions = instructions
        self._max_turns = max_turns
        self._max_tokens = max_tokens
        self._count = lru_cache(COUNTED_TEXTS)(count_tokens)
        self._lock = threading.Lock()
        self._entries: list[ItemEntry] = []
        self._forgotten: deque[str] = deque(maxlen=FORGOTTEN)
        """Turns that are no items, whatever is still written down of them."""
        self.changes = 0
        """Grows with everything that happens to the items."""

    # --- for another process -----------------------------------------------------------------

    def plain(self) -> dict[str, object]:
        """The items as plain values of JSON, without their sound."""
        with self._lock:
            entries = [entry.plain() for entry in self._entries]
            return {"entries": entries, "forgotten": list(self._forgotten)}

    def restore(self, entries: Sequence[object], forgotten: Sequence[object]) -> None:
        """Go on with what `plain` gave.

        Raises:
            NotAnEntry: it is something else.
        """
        made = [entry_of(each) for each in entries]
        with self._lock:
            self._entries = made
            self._forgotten.extend(each for each in forgotten if isinstance(each, str))
            self.changes += 1

    # --- what is said ----------------------------------------------------------------------------

    def user(self, turn: TurnId, text: str) -> None:
        """What the person said in `turn`. A later revision of the same turn replaces it."""
        with self._lock:
            self.changes += 1
            if turn.turn_id in self._forgotten:
                return
            entry = self._of_turn(turn.turn_id)
            if entry is None:
                entry = self._add_turn(turn)
            if entry.turn is not None and turn.turn_revision >= entry.turn.turn_revision:
                entry.turn = turn
                entry.item = _spoken(entry.item.item_id, "user", text, "completed")
            self._hide_too_much()

    def committed(self, turn: TurnId) -> str | None:
        """`turn` is an item from now on, whatever is known of its words. Returns the item before
        it."""
        with self._lock:
            self.changes += 1
            entry = self._of_turn(turn.turn_id) or self._add_turn(turn)
            return self._before(entry)

    def forget(self, turn: TurnId) -> None:
        """What the person said in `turn` was not meant for it, or is taken out."""
        with self._lock:
            self.changes += 1
            self._forgotten.append(turn.turn_id)
            self._entries = [e for e in self._entries if not _is_turn(e, turn.turn_id)]

    def told(self, response: ResponseId, text: str, *, spoken: bool = True) -> None:
        """A piece of the answer, ahead of its sound; the first makes it an item."""
        with self._lock:
            self.changes += 1
            entry = self._of_response(response)
            if entry is None:
                made = _spoken if spoken else _written
                item_id = answer_item_id(response.response_key or "")
                item = made(item_id, "assistant", "", "in_progress")
                entry = ItemEntry(item, response=response)
                self._entries.append(entry)
            entry.told += text

    def called(self, call: CallItem) -> None:
        """The answer wants a tool called."""
        with self._lock:
            self.changes += 1
            self._entries.append(ItemEntry(call))

    def used(self, response: ResponseId, item: ToolItem, *, shown: bool) -> None:
        """A tool was called for the answer; `shown`: the model is to see that later."""
        with self._lock:
            self.changes += 1
            self._entries.append(ItemEntry(item, shown=shown))

    def played(self, response: ResponseId, text: str, complete: bool) -> None:
        """The answer was heard up to `text`; of what was written all counts."""
        del complete
        with self._lock:
            self.changes += 1
            entry = self._of_response(response)
            if entry is not None and not entry.cut:
                self._set_words(entry, text)

    def done(self, response: ResponseId, *, whole: bool) -> None:
        """The answer ended; `whole`: it was not cut."""
        with self._lock:
            self.changes += 1
            entry = self._of_response(response)
            if entry is None or not isinstance(entry.item, MessageItem):
                return
            if isinstance(entry.item.parts[0], TextPart):
                self._set_words(entry, entry.told)
            entry.item = replace(entry.item, status="completed" if whole else "incomplete")
            self._hide_too_much()

    # --- what a client does ----------------------------------------------------------------------

    def insert(self, item: Item, after: str | None, *, turn: TurnId | None = None) -> str | None:
        """See `s2s.core.control.SessionControl.insert`; its words are those of `turn`."""
        with self._lock:
            self.changes += 1
            if self._find(item.item_id) is not None:
                raise DuplicateItem(f"an item of the id '{item.item_id}' exists already")
            at = len(self._entries)
            if after == ROOT:
                at = 0
            elif after is not None:
                at = self._entries.index(self._known(after)) + 1
            entry = ItemEntry(item, turn=turn)
            self._entries.insert(at, entry)
            self._hide_too_much()
            return self._before(entry)

    def delete(self, item_id: str) -> None:
        """See `s2s.core.control.SessionControl.delete`."""
        with self._lock:
            self.changes += 1
            entry = self._known(item_id)
            if entry.turn is not None:
                self._forgotten.append(entry.turn.turn_id)
            self._entries.remove(entry)

    def get(self, item_id: str) -> Item:
        """The item; of an answer that is being made, what was told of it so far.

        Raises:
            UnknownItem
        """
        with self._lock:
            entry = self._known(item_id)
            item = entry.item
            if not isinstance(item, MessageItem) or item.status != "in_progress" or entry.cut:
                return item
            if isinstance(item.parts[0], TextPart):
                return _written(item_id, "assistant", entry.told, "in_progress")
            return _spoken(item_id, "assistant", entry.told, "in_progress")

    def items(self) -> list[Item]:
        """All of them, in order."""
        with self._lock:
            return [entry.item for entry in self._entries]

    def previous(self, item_id: str) -> str | None:
        """The id of the item in front; None for the first, and for an unknown one."""
        with self._lock:
            entry = self._find(item_id)
            return None if entry is None else self._before(entry)

    def response_of(self, item_id: str) -> ResponseId | None:
        """The response that the item is the answer of.

        Raises:
            UnknownItem
        """
        with self._lock:
            return self._known(item_id).response

    def cut(self, item_id: str, heard: str) -> None:
        """Only `heard` was heard of the answer: that is final.

        Raises:
            UnknownItem
        """
        with self._lock:
            self.changes += 1
            entry = self._known(item_id)
            entry.cut = True
            self._set_words(entry, heard)

    # --- what the model is shown -----------------------------------------------------------------

    def make_room(self) -> None:
        """Hide the older half now if the next turn would."""
        with self._lock:
            turns, tokens = self._size()
            if turns >= self._max_turns or tokens > NEARLY_FULL * self._max_tokens:
                self._hide_older_half()

    @property
    def heard(self) -> str:
        """What was heard of the newest answer."""
        with self._lock:
            for entry in reversed(self._entries):
                if entry.response is not None and isinstance(entry.item, MessageItem):
                    return entry.item.text
            return ""

    def prompt(self, saying: str = "", *, instructions: str | None = None) -> list[ChatMessage]:
        """The messages for the model: the system prompt, then the items that it is shown."""
        with self._lock:
            items = [entry.item for entry in self._entries if entry.shown]
        system = self.instructions if instructions is None else instructions
        messages = to_messages(items)
        if saying:
            messages = to_messages([*items, _spoken("", "user", saying, "completed")])
        first = messages[0] if messages else None
        if first is not None and first.role == "system":
            messages[0] = ChatMessage("system", f"{system}\n\n{first.content}")
            return messages
        return [ChatMessage("system", system), *messages]

    @property
    def has_old_turns(self) -> bool:
        """Nothing is summed up: the items are the client's."""
        return False

    def old_turns(self) -> tuple[list[TurnId], list[ChatMessage]]:
        return [], []

    def sum_up(self, turns: list[TurnId], summary: str) -> None:
        """Nothing is."""

    def reset(self) -> None:
        with self._lock:
            self.changes += 1
            self._entries.clear()

    # --- inside; the lock is held ----------------------------------------------------------------

    def _add_turn(self, turn: TurnId) -> ItemEntry:
        item = _spoken(user_item_id(turn.turn_id), "user", None, "completed")
        self._entries.append(ItemEntry(item, turn=turn))
        return self._entries[-1]

    def _of_turn(self, turn_id: str) -> ItemEntry | None:
        return next((e for e in reversed(self._entries) if _is_turn(e, turn_id)), None)

    def _of_response(self, response: ResponseId) -> ItemEntry | None:
        return next((e for e in reversed(self._entries) if e.response == response), None)

    def _find(self, item_id: str) -> ItemEntry | None:
        return next((e for e in reversed(self._entries) if e.item.item_id == item_id), None)

    def _known(self, item_id: str) -> ItemEntry:
        entry = self._find(item_id)
        if entry is None:
            raise UnknownItem(f"there is no item of the id '{item_id}'")
        return entry

    def _before(self, entry: ItemEntry) -> str | None:
        at = next(n for n, each in enumerate(self._entries) if each is entry)
        return self._entries[at - 1].item.item_id if at else None

    def _set_words(self, entry: ItemEntry, text: str) -> None:
        item = entry.item
        if isinstance(item, MessageItem):
            written = bool(item.parts) and isinstance(item.parts[0], TextPart)
            made = _written if written else _spoken
            entry.item = made(item.item_id, item.role, text.strip(), item.status)

    def _size(self) -> tuple[int, int]:
        """Messages of the person that are shown, and tokens of all."""
        shown = [entry.item for entry in self._entries if entry.shown]
        turns = sum(1 for item in shown if isinstance(item, MessageItem) and item.role == "user")
        texts = [m.content for m in to_messages(shown)]
        return turns, sum(map(self._count, [self.instructions, *texts]))

    def _hide_too_much(self) -> None:
        turns, tokens = self._size()
        if turns > self._max_turns or tokens > self._max_tokens:
            self._hide_older_half()
        if len(self._entries) > MAX_ITEMS:
            del self._entries[: len(self._entries) - MAX_ITEMS]

    def _hide_older_half(self) -> None:
        """As `History`: many turns at once, so that the beginning seldom changes. A turn goes with
        all that follows it, so that no tool's output is left without its call."""
        turns, tokens = self._size()
        while turns > 1 and (turns > self._max_turns // 2 or tokens > self._max_tokens // 2):
            self._hide_oldest_turn()
            turns, tokens = self._size()

    def _hide_oldest_turn(self) -> None:
        """Hide up to the second message of the person; what the system says stays."""
        seen = 0
        for entry in self._entries:
            if not entry.shown:
                continue
            item = entry.item
            seen += isinstance(item, MessageItem) and item.role == "user"
            if seen == 2:
                return
            entry.shown = isinstance(item, MessageItem) and item.role == "system"


def answer_call(call_id: str, name: str, arguments: str) -> CallItem:
    """The item of a call."""
    return CallItem(call_item_id(call_id), call_id, name, arguments)


def _is_turn(entry: ItemEntry, turn_id: str) -> bool:
    return entry.turn is not None and entry.turn.turn_id == turn_id


def _spoken(item_id: str, role: Speaker, text: str | None, status: ItemStatus) -> MessageItem:
    return MessageItem(item_id, role, (SoundPart(text),), status)


def _written(item_id: str, role: Speaker, text: str, status: ItemStatus) -> MessageItem:
    return MessageItem(item_id, role, (TextPart(text),), status)
