"""Rule 19 of the protocol: over WebRTC the server plays, so it clears, truncates and says so."""

from __future__ import annotations

from tests.support.realtime_client import RATE_HZ, WORD_MS, WireClient

WORDS = "one two three four five"


def answered() -> tuple[WireClient, str]:
    """A call in which an answer of five words has begun to be played."""
    client = WireClient(call=True)
    client.session.hear_turn()
    key = client.session.answer_turn()
    client.session.say(key, WORDS)
    client.play(2 * WORD_MS + 100)
    return client, key


def told(client: WireClient) -> list[str]:
    return [kind for kind in client.kinds() if "rate_limits" not in kind]


def test_sound_goes_beside_the_events_and_its_beginning_and_end_are_told() -> None:
    client, key = answered()
    client.session.finish(key)
    client.play(5_000)
    kinds = told(client)
    assert not [kind for kind in kinds if kind == "response.output_audio.delta"]
    part, started = (
        kinds.index(kind) for kind in ("response.content_part.added", "output_audio_buffer.started")
    )
    assert part < started
    assert kinds[-2:] == ["response.done", "output_audio_buffer.stopped"]
    assert client.session.sent == 5 * WORD_MS * RATE_HZ // 1000


def test_speech_silences_an_answer_at_once_and_its_item_ends_where_it_was_heard() -> None:
    client, key = answered()
    client.events()
    client.session.begin_turn(5_000)
    events = client.events()
    kinds = [event["type"] for event in events]
    assert kinds[:2] == ["input_audio_buffer.speech_started", "output_audio_buffer.cleared"]
    assert kinds[-1] == "conversation.item.truncated"
    assert kinds.index("response.done") < len(kinds) - 1
    assert events[1]["response_id"] == key
    assert events[-1]["audio_end_ms"] == 2 * WORD_MS + 100
    item = client.session.items[-1]
    assert item.text == "one two"  # pyright: ignore
    assert client.session.sent == 5 * WORD_MS * RATE_HZ // 1000
    client.play(1_000)
    assert told(client) == []


def test_an_answer_that_is_whole_is_cut_as_well() -> None:
    client, key = answered()
    client.session.finish(key)
    client.events()
    client.session.begin_turn(5_000)
    assert told(client) == [
        "input_audio_buffer.speech_started",
        "output_audio_buffer.cleared",
        "conversation.item.truncated",
    ]


def test_speech_that_does_not_interrupt_lets_it_play() -> None:
    client = WireClient(call=True)
    detection = {"type": "server_vad", "interrupt_response": False}
    client.update(audio={"input": {"turn_detection": detection}})
    key = client.session.answer_turn()
    client.session.say(key, WORDS)
    client.play(100)
    client.events()
    client.session.begin_turn(5_000)
    assert told(client) == ["input_audio_buffer.speech_started"]


def test_the_client_clears_and_what_waits_is_gone() -> None:
    client, key = answered()
    client.events()
    cancelled = [event["type"] for event in client.send("response.cancel")]
    assert cancelled[0] == "output_audio_buffer.cleared"
    assert cancelled[-1] == "conversation.item.truncated"
    assert client.send("output_audio_buffer.clear") == []
    assert key


def test_an_answer_out_of_band_is_cleared_without_an_item() -> None:
    client = WireClient(call=True)
    client.events()
    aside = {"conversation": "none", "output_modalities": ["audio"], "input": []}
    (created,) = client.send("response.create", response=aside)
    key = created["response"]["id"]
    client.session.say(key, WORDS)
    client.play(300)
    client.session.finish(key)
    client.events()
    kinds = [event["type"] for event in client.send("output_audio_buffer.clear")]
    assert kinds == ["output_audio_buffer.cleared"]


def test_items_are_told_without_their_sound() -> None:
    client, key = answered()
    client.session.finish(key)
    item_id = client.session.items[-1].item_id
    (event,) = client.send("conversation.item.retrieve", item_id=item_id)[-1:]
    assert event["type"] == "conversation.item.retrieved"
    assert "audio" not in event["item"]["content"][0]
