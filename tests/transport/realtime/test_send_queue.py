"""What waits to be sent: in order, each with an id, without the sound of what was interrupted."""

from __future__ import annotations

import json

from s2s.transport.realtime.send_queue import SendQueue
from s2s.transport.realtime.wire.server_events import AudioCleared, AudioDelta, ItemDeleted


def sound(key: str) -> AudioDelta:
    return AudioDelta(response_id=key, item_id="i", output_index=0, content_index=0, delta="AAAA")


def test_events_leave_in_order_each_with_an_id_of_its_own():
    put: list[int] = []
    queue = SendQueue("c", lambda: put.append(1))
    queue.put(AudioCleared())
    queue.put(ItemDeleted(item_id="i"))
    assert len(put) == len(queue) == 2
    first, second = queue.take(), queue.take()
    assert first is not None
    assert second is not None
    assert json.loads(first.text) == {
        "type": "input_audio_buffer.cleared",
        "event_id": "event_c-1",
    }
    assert json.loads(second.text)["event_id"] == "event_c-2"
    assert queue.take() is None
    assert queue.characters == 0


def test_sound_that_is_dropped_counts_as_gone_and_the_rest_stays():
    gone: list[int] = []
    queue = SendQueue("c", on_sent=gone.append)
    queue.put(sound("a"), sound_of="a", samples=100)
    queue.put(AudioCleared())
    queue.put(sound("b"), sound_of="b", samples=10)
    queue.put(sound("a"), sound_of="a", samples=200)
    queue.drop_sound("a")
    queue.drop_sound("unknown")
    assert gone == [300]
    left = [queue.take(), queue.take()]
    assert [text.sound_of for text in left if text] == [None, "b"]
    assert queue.characters == 0
    for text in left:
        assert text is not None
        queue.was_sent(text)
    assert gone == [300, 10]
    queue.never_sent(7)
    assert gone == [300, 10, 7]
