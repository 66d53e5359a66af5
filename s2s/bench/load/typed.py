"""One session with very many turns, typed as fast as they are answered: does it grow?"""

from __future__ import annotations

import json
from collections.abc import Iterator

from s2s.core.untyped import is_object


def typed_turns(port: int, turns: int, every: int) -> Iterator[int]:
    """Hold so many turns with the server, and yield their number now and then.

    Raises:
        RuntimeError: the server answered with an error.
    """
    from websockets.sync.client import connect

    question = {
        "type": "conversation.item.create",
        "item": {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "Is this a question?"}],
        },
    }
    answer = {"type": "response.create", "response": {"output_modalities": ["text"]}}
    with connect(f"ws://127.0.0.1:{port}/v1/realtime", max_size=None, compression=None) as socket:
        for turn in range(1, turns + 1):
            items: list[object] = []
            socket.send(json.dumps(question))
            socket.send(json.dumps(answer))
            for text in socket:
                event: object = json.loads(text)
                assert is_object(event)
                if event.get("type") == "error":
                    raise RuntimeError(f"turn {turn}: {event.get('error')}")
                if event.get("type") == "conversation.item.done":
                    item = event.get("item")
                    items += [item.get("id")] if is_object(item) else []
                if event.get("type") == "response.done":
                    break
            for item_id in items:  # a conversation holds only so many
                socket.send(json.dumps({"type": "conversation.item.delete", "item_id": item_id}))
            if turn % every == 0:
                yield turn
