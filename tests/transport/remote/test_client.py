"""Conversations with a Realtime server in simulated time: person and server are scripted."""

from __future__ import annotations

import numpy as np
import pytest

from s2s.core.audio import empty
from s2s.core.events import (
    AnswerText,
    Heard,
    Interruption,
    MicrophoneState,
    NothingHeard,
    Notice,
    ResponseDone,
    ResponseStarted,
    SpeechStarted,
    SpeechStopped,
    ToolCalled,
)
from s2s.transport.remote.address import LinkError, LinkLost
from s2s.transport.remote.client import WAITING
from s2s.transport.remote.wishes import RemoteWishes
from s2s.transport.wav import Line
from tests.support.simulated_realtime import RemoteTalk, answer_sound, says


def pause(seconds: float) -> Line:
    """Silence: the conversation goes on for as long."""
    return Line(np.zeros(int(16_000 * seconds), dtype=np.float32), None)


def notices(talk: RemoteTalk) -> list[str]:
    return [event.text for event in talk.events if isinstance(event, Notice)]


def test_a_turn_is_heard_answered_and_played() -> None:
    talk = RemoteTalk([says(1.0)]).run()
    kinds = [type(event) for event in talk.events]
    assert kinds == [
        SpeechStarted, SpeechStopped, Heard, Heard, ResponseStarted, AnswerText, AnswerText,
        ResponseDone,
    ]  # fmt: skip
    texts = [event.text for event in talk.events if isinstance(event, AnswerText)]
    assert texts == ["It is noon. ", "Quite late"], "by sentences, and the rest at the end"
    assert np.count_nonzero(talk.transport.assistant()) == len(answer_sound(1.0))
    [update] = talk.server.of("session.update")
    assert talk.server.received[0][1] is update, "the first event"
    [timeline] = talk.metrics.finished()
    assert timeline.latency_ms == pytest.approx(500, abs=80), "of quiet, which the server waits"


def test_all_of_the_microphone_is_sent_at_24_khz() -> None:
    talk = RemoteTalk([says(1.0)]).run()
    heard, said = talk.server.heard(), talk.transport.person()
    assert len(heard) == pytest.approx(len(said) * 1.5, abs=1600)
    assert np.sqrt(np.mean(heard**2)) == pytest.approx(np.sqrt(np.mean(said**2)), rel=0.05)


@pytest.mark.parametrize("playback_hz", [24_000, 16_000, 48_000])
def test_an_interruption_silences_and_tells_what_was_heard(playback_hz: int) -> None:
    talk = RemoteTalk([says(1.0), says(1.0, after_s=3.0)], answer_s=6.0, playback_hz=playback_hz)
    talk.run()
    first, _ = talk.server.of("session.update") + talk.server.of("conversation.item.truncate")
    [truncate] = talk.server.of("conversation.item.truncate")
    assert first["type"] == "session.update"
    assert truncate["item_id"] == "item_2"
    played = talk.transport.assistant()
    gaps = np.flatnonzero(np.diff(np.flatnonzero(played)) > playback_hz // 10)
    heard = int(gaps[0]) + 1 if len(gaps) else np.count_nonzero(played)
    assert truncate["audio_end_ms"] == pytest.approx(1000 * heard / playback_hz, abs=1.5)
    assert 2000 < int(str(truncate["audio_end_ms"])) < 3000
    assert any(isinstance(e, Interruption) and e.action == "cancel" for e in talk.events)
    assert len(talk.of(ResponseDone)) == 2


def test_what_was_heard_whole_is_not_cut() -> None:
    talk = RemoteTalk([says(1.0), says(1.0, after_s=4.0)]).run()
    assert not talk.server.of("conversation.item.truncate")
    assert not talk.of(Interruption)


def test_a_key_stops_an_answer_that_is_still_written() -> None:
    talk = RemoteTalk([says(1.0), pause(5.0)])
    talk.server.words = "hello"  # one word is not answered here
    talk.at(2.0, lambda: talk.server.answer(whole=False))
    talk.at(2.5, talk.client.interrupt)
    talk.at(
        3.0,
        lambda: talk.server.tell("response.done", response={"id": "resp_2", "status": "cancelled"}),
    )
    talk.run()
    assert len(talk.server.of("response.cancel")) == 1
    [truncate] = talk.server.of("conversation.item.truncate")
    assert truncate["audio_end_ms"] == pytest.approx(500, abs=40)
    [done] = talk.of(ResponseDone)
    assert isinstance(done, ResponseDone)
    assert done.status == "cancelled"


def test_sound_that_comes_after_an_answer_was_cut_is_dropped() -> None:
    talk = RemoteTalk([pause(4.0)])
    talk.at(0.5, lambda: talk.server.answer(whole=False))
    talk.at(1.0, talk.client.interrupt)
    late = {"item_id": "item_1", "response_id": "resp_1", "delta": "AAECAwQF"}
    talk.at(1.5, lambda: talk.server.tell("response.output_audio.delta", **late))
    talk.at(
        2.0,
        lambda: talk.server.tell("response.done", response={"id": "resp_1", "status": "cancelled"}),
    )
    talk.run()
    assert np.count_nonzero(talk.transport.assistant()) == pytest.approx(12_000, abs=600)


def test_nothing_but_silence_is_sent_while_muted() -> None:
    talk = RemoteTalk([says(1.0), says(1.0, after_s=1.0)], wishes=RemoteWishes(muted=True))
    talk.at(1.5, lambda: talk.client.mute(False))
    talk.run()
    heard = talk.server.heard()
    assert not heard[:24_000].any()
    assert np.abs(heard).max() > 0.05
    states = [event.state for event in talk.events if isinstance(event, MicrophoneState)]
    assert states == ["muted", "open"]
    assert not talk.client.muted


def test_the_talk_key_says_when_a_turn_begins_and_ends() -> None:
    wishes = RemoteWishes(push_to_talk=True)
    talk = RemoteTalk([says(1.0), says(1.0, after_s=1.0), pause(4.0)], wishes=wishes)
    for second, down in ((1.9, True), (3.1, False), (3.2, False)):
        talk.at(second, lambda down=down: talk.client.talk(down))
    talk.run()
    kinds = [str(event["type"]) for _, event in talk.server.received]
    assert kinds[:2] == ["session.update", "input_audio_buffer.clear"]
    assert kinds[-2:] == ["input_audio_buffer.commit", "response.create"]
    assert len(talk.server.heard()) == pytest.approx(1.2 * 24_000, abs=2400)
    update = talk.server.of("session.update")[0]
    session = update["session"]
    assert isinstance(session, dict)
    assert session["audio"]["input"]["turn_detection"] is None
    assert len(talk.of(ResponseDone)) == 1


def test_its_own_voice_is_not_sent_where_the_microphone_hears_the_loudspeaker() -> None:
    talk = RemoteTalk([says(1.0), says(1.0, after_s=1.0)], answer_s=3.0, half_duplex=True).run()
    assert len(talk.of(SpeechStarted)) == 1
    assert not talk.server.of("conversation.item.truncate")


def test_a_lost_server_is_reached_again_and_remembers() -> None:
    talk = RemoteTalk([says(1.0), pause(6.0), says(1.0)])
    talk.server.refusals = []
    talk.at(3.0, lambda: _leave(talk, [LinkLost("not yet"), LinkLost("full")]))
    talk.run()
    first, gone, *tries = talk.server.tries[0], 3.0, *talk.server.tries[1:]
    assert first == 0.0
    assert [round(each - gone, 2) for each in tries] == [0.5, 1.5, 3.5]
    assert len(talk.server.of("session.update")) == 1, "its settings are as they were"
    told = notices(talk)
    assert len(told) == 2
    assert "remembers" in told[1]
    assert len(talk.of(ResponseDone)) == 2


def test_a_server_that_forgot_is_asked_anew() -> None:
    talk = RemoteTalk([says(1.0), pause(3.0), says(1.0)])
    talk.at(3.0, lambda: _leave(talk, [], session="sess_2"))
    talk.run()
    assert len(talk.server.of("session.update")) == 2
    assert "has forgotten" in notices(talk)[1]


def test_an_answer_that_runs_when_the_server_goes_ends_and_its_sound_is_played() -> None:
    talk = RemoteTalk([pause(4.0)])
    talk.at(0.5, lambda: talk.server.answer(whole=False))
    talk.at(0.6, lambda: _leave(talk, []))
    talk.run()
    assert np.count_nonzero(talk.transport.assistant()) == len(answer_sound(1.0))
    assert len(talk.of(ResponseDone)) == 1


def _leave(talk: RemoteTalk, refusals: list[LinkError], session: str = "sess_1") -> None:
    talk.server.refusals = refusals
    talk.server.session = session
    talk.server.drop()


@pytest.mark.parametrize("when", ["at once", "on the way back"])
def test_a_server_that_wants_it_no_more_ends_it(when: str) -> None:
    talk = RemoteTalk([pause(30.0)])
    error = LinkError("the key is no longer valid")
    if when == "at once":
        talk.at(1.0, lambda: talk.server.drop(error))
    else:
        talk.at(1.0, lambda: _leave(talk, [error]))
    with pytest.raises(LinkError, match="no longer valid"):
        talk.run()
    assert talk.clock.now() < 3.0


def test_ending_while_a_server_is_waited_for_ends_at_once() -> None:
    talk = RemoteTalk([pause(3.0)])
    talk.at(1.0, lambda: _leave(talk, [LinkLost("gone")] * 50))
    talk.run()
    assert talk.clock.now() < 5.5


def test_what_does_not_greet_is_no_realtime_server() -> None:
    talk = RemoteTalk([])
    talk.server.greeting = "hello"
    with pytest.raises(LinkError, match="does not greet"):
        talk.client.connect()
    assert talk.server.sockets[0].to_client.closed
    talk.client.close()


def test_errors_are_told_unless_they_say_that_it_had_happened() -> None:
    talk = RemoteTalk([pause(1.0)])

    def errors() -> None:
        for code in ("response_cancel_not_active", "invalid_value"):
            talk.server.tell("error", error={"code": code, "message": f"about {code}"})

    talk.at(0.5, errors)
    talk.run()
    assert notices(talk) == ["the server says: about invalid_value"]


def test_a_failed_answer_is_told_with_its_reason() -> None:
    talk = RemoteTalk([pause(3.0)])
    details = {"type": "failed", "error": {"type": "server_error", "message": "no memory"}}

    def fail() -> None:
        talk.server.answer(whole=False)
        done = {"id": "resp_1", "status": "failed", "status_details": details}
        talk.server.tell("response.done", response=done)

    talk.at(0.5, fail)
    talk.run()
    [done] = talk.of(ResponseDone)
    assert isinstance(done, ResponseDone)
    assert (done.status, done.error) == ("failed", "no memory")


def test_a_turn_without_words_is_told_and_not_waited_for() -> None:
    talk = RemoteTalk([says(1.0)])
    talk.server.words = ""
    talk.run()
    assert len(talk.of(NothingHeard)) == 1
    assert talk.clock.now() < 5.0, "the script ends when all is quiet"


def test_tools_are_told() -> None:
    talk = RemoteTalk([pause(2.0)])

    def call() -> None:
        talk.server.tell("response.created", response={"id": "resp_1"})
        item = {"id": "item_1", "type": "function_call", "name": "clock", "arguments": "{}"}
        talk.server.tell("response.output_item.added", response_id="resp_1", item=item)
        talk.server.tell("response.output_item.done", response_id="resp_1", item=item)
        talk.server.tell("response.done", response={"id": "resp_1", "status": "completed"})

    talk.at(0.5, call)
    talk.run()
    [tool] = talk.of(ToolCalled)
    assert isinstance(tool, ToolCalled)
    assert (tool.name, tool.arguments) == ("clock", "{}")


@pytest.mark.parametrize(
    "text", ["", "{", "[1, 2]", '"text"', "{}", '{"type": 7}', '{"type": "x"}']
)
def test_what_is_no_event_is_passed_over(text: str) -> None:
    talk = RemoteTalk([says(1.0)])
    talk.at(0.3, lambda: talk.server.tell_text(text))
    talk.run()
    assert len(talk.of(ResponseDone)) == 1


@pytest.mark.parametrize("delta", ["%%%", "AAA=", "AA=="])
def test_sound_that_cannot_be_read_is_told_and_the_rest_is_played(delta: str) -> None:
    talk = RemoteTalk([pause(3.0)])

    def broken() -> None:
        talk.server.answer(whole=False)
        part = {"item_id": "item_1", "response_id": "resp_1", "delta": delta}
        talk.server.tell("response.output_audio.delta", **part)
        talk.server.tell("response.done", response={"id": "resp_1", "status": "completed"})

    talk.at(0.5, broken)
    talk.run()
    told = notices(talk)
    assert (len(told) == 1) == (delta != "AAA=")
    assert np.count_nonzero(talk.transport.assistant()) >= len(answer_sound(1.0))


def test_a_line_that_takes_nothing_loses_sound_and_says_so_once() -> None:
    talk = RemoteTalk([pause(15.0)])
    held = talk.clock.condition()
    let = [False]

    def slow(text: str) -> None:
        while not let[0] and "append" in text:
            held.wait()

    talk.server.on_send = slow

    def release() -> None:
        let[0] = True
        held.notify_all()

    talk.at(14.0, release)
    talk.run()
    assert len([text for text in notices(talk) if "too slow" in text]) == 1
    assert len(talk.server.of("input_audio_buffer.append")) < WAITING + 150


def test_nothing_is_played_of_an_empty_answer() -> None:
    talk = RemoteTalk([pause(2.0)], answer_s=0.0)
    talk.at(0.5, talk.server.answer)
    talk.run()
    assert np.array_equal(talk.transport.assistant(), np.zeros_like(talk.transport.assistant()))
    assert len(empty()) == 0
    assert len(talk.of(ResponseDone)) == 1


def test_a_typed_line_is_sent_as_a_message_and_answered() -> None:
    talk = RemoteTalk([pause(2.0)])
    talk.at(1.0, lambda: talk.client.type_line("what time is it"))
    talk.run()
    [created] = talk.server.of("conversation.item.create")
    item = created["item"]
    assert isinstance(item, dict)
    assert item["content"] == [{"type": "input_text", "text": "what time is it"}]
    assert len(str(item["id"])) <= 32, "the protocol takes no longer names"
    assert len(talk.server.of("response.create")) == 1
    assert [e.text for e in talk.of(Heard) if isinstance(e, Heard)] == ["what time is it"]
    assert [type(e) for e in talk.events][-1] is ResponseDone
    [timeline] = talk.metrics.finished()
    assert timeline.latency_ms is not None
