"""What must hold in every conversation over the Realtime protocol, checked event by event.

The rules are those of the reference: what opens is closed once and in order, nothing comes of what
has ended, ids mean one thing, and each item stands behind one that is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass
class _Response:
    in_conversation: bool
    items: dict[str, int] = field(default_factory=dict)
    """Open items and their output index."""
    parts: dict[str, str] = field(default_factory=dict)
    """Open parts: item -> type of part."""
    transcript: dict[str, str] = field(default_factory=dict)
    done_items: list[dict] = field(default_factory=list)
    sounded: set[str] = field(default_factory=set)
    ended_parts: set[tuple[str, str]] = field(default_factory=set)


class Grammar:
    """Feed it every event in order; it raises `AssertionError` at the first that may not be."""

    def __init__(self) -> None:
        self.responses: dict[str, _Response] = {}
        self.ended: set[str] = set()
        self.items: list[str] = []
        """Of the conversation, in order."""
        self.known: set[str] = set()
        self.unfinished: set[str] = set()
        self.speech: dict[str, str] = {}
        self.committed: set[str] = set()
        self.event_ids: set[str] = set()
        self.updates = 0
        self.errors: list[dict] = []
        self.first = True
        self.deleted: set[str] = set()

    def feed(self, event: Mapping) -> None:
        kind = event["type"]
        assert event["event_id"] not in self.event_ids, f"{event['event_id']} again"
        self.event_ids.add(event["event_id"])
        assert (kind == "session.created") == self.first, f"{kind} comes first or created again"
        self.first = False
        name = kind.removeprefix("conversation.").replace(".", "_")
        check = getattr(self, f"_{name}", None)
        if check is not None:
            check(event)
        elif kind.startswith("response."):
            self._delta(event)

    def at_end(self) -> None:
        """Nothing is open."""
        assert not self.responses, f"never ended: {list(self.responses)}"
        assert not self.unfinished, f"never done: {self.unfinished}"
        assert "started" not in self.speech.values(), self.speech

    # --- turns

    def _error(self, event: Mapping) -> None:
        self.errors.append(event["error"])

    def _input_audio_buffer_speech_started(self, event: Mapping) -> None:
        assert event["item_id"] not in self.speech, "started twice"
        assert "started" not in self.speech.values(), "a turn within a turn"
        self.speech[event["item_id"]] = "started"

    def _input_audio_buffer_speech_stopped(self, event: Mapping) -> None:
        assert self.speech.get(event["item_id"]) == "started", "stopped what did not start"
        self.speech[event["item_id"]] = "stopped"

    def _input_audio_buffer_committed(self, event: Mapping) -> None:
        assert event["item_id"] not in self.committed, "committed twice"
        assert self.speech.get(event["item_id"], "stopped") == "stopped", "committed while said"
        self.committed.add(event["item_id"])

    # --- items

    def _item_added(self, event: Mapping) -> None:
        item_id, previous = event["item"]["id"], event["previous_item_id"]
        assert item_id not in self.known, f"{item_id} is added twice"
        if previous is None:
            self.items.insert(0, item_id)
        else:
            assert previous in self.items, f"{item_id} is behind {previous}, which is not known"
            self.items.insert(self.items.index(previous) + 1, item_id)
        self.known.add(item_id)
        self.unfinished.add(item_id)

    def _item_done(self, event: Mapping) -> None:
        item_id = event["item"]["id"]
        assert item_id in self.unfinished, f"{item_id} is done twice, or was not added"
        assert event["item"].get("status") != "in_progress"
        self.unfinished.discard(item_id)

    def _item_deleted(self, event: Mapping) -> None:
        self.items.remove(event["item_id"])
        self.deleted.add(event["item_id"])

    # --- responses

    def _response_created(self, event: Mapping) -> None:
        response = event["response"]
        assert response["status"] == "in_progress"
        assert response["output"] == []
        assert response["id"] not in self.responses.keys() | self.ended, "created twice"
        inside = response["conversation_id"] is not None
        others = [each for each in self.responses.values() if each.in_conversation]
        assert not (inside and others), "two in the conversation at once"
        self.responses[response["id"]] = _Response(inside)

    def _response_done(self, event: Mapping) -> None:
        told = event["response"]
        response = self.responses.pop(told["id"])
        self.ended.add(told["id"])
        assert not response.items, f"open items: {response.items}"
        assert not response.parts, f"open parts: {response.parts}"
        assert told["status"] != "in_progress"
        assert told["output"] == response.done_items
        assert (told["status"] == "completed") == (told["status_details"] is None)

    def _response_output_item_added(self, event: Mapping) -> None:
        response = self.responses[event["response_id"]]
        assert event["item"].get("status", "in_progress") == "in_progress"
        assert event["output_index"] == len(response.done_items) + len(response.items)
        response.items[event["item"]["id"]] = event["output_index"]

    def _response_output_item_done(self, event: Mapping) -> None:
        response = self.responses[event["response_id"]]
        item = event["item"]
        assert response.items.pop(item["id"]) == event["output_index"]
        assert item["id"] not in response.parts
        response.done_items.append(item)

    def _response_content_part_added(self, event: Mapping) -> None:
        response = self._of(event)
        if response.in_conversation:
            assert event["item_id"] in self.known, "a part of an item that was not added"
        assert event["item_id"] not in response.parts
        response.parts[event["item_id"]] = event["part"]["type"]
        response.transcript[event["item_id"]] = ""

    def _response_content_part_done(self, event: Mapping) -> None:
        response = self._of(event)
        item_id, part = event["item_id"], event["part"]
        assert response.parts.pop(item_id) == part["type"]
        ends = {"audio": {"output_audio", "output_audio_transcript"}, "text": {"output_text"}}
        ended = {each for each, of in response.ended_parts if of == item_id}
        assert ended == ends[part["type"]]
        text = part["text"] if part["type"] == "text" else part["transcript"]
        assert text == response.transcript[item_id]

    def _delta(self, event: Mapping) -> None:
        response = self._of(event)
        _, what, kind = event["type"].split(".")
        item_id = event["item_id"]
        if what == "function_call_arguments":
            return
        assert item_id in response.parts, f"{event['type']} outside of a part"
        assert (what, item_id) not in response.ended_parts, f"{event['type']} after its done"
        if kind == "done":
            response.ended_parts.add((what, item_id))
            text = event.get("text", event.get("transcript"))
            assert text is None or text == response.transcript[item_id]
        elif what == "output_audio":
            assert event["delta"], "an empty delta"
            response.sounded.add(item_id)
        else:
            response.transcript[item_id] += event["delta"]

    def _of(self, event: Mapping) -> _Response:
        response = self.responses[event["response_id"]]
        assert response.items[event["item_id"]] == event["output_index"]
        return response
