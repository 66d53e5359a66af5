"""A client's turns in simulated time: each told once, however it is detected."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from s2s.core.audio import PIPELINE_HZ
from s2s.core.control import (
    Hearing,
    InputEmpty,
    ServerVad,
)
from s2s.core.events import (
    ResponseDone,
    ResponseStarted,
    TurnBegan,
    TurnCommitted,
    TurnEnded,
    TurnTranscript,
)
from s2s.testing.client_simulator import ClientSimulation
from s2s.testing.simulator import with_pauses
from tests.support.client_sessions import (
    BY_HAND,
    QUESTION,
    SECOND,
    SEMANTIC,
    prompt,
)


def test_a_turn_is_told_once_and_in_order_however_it_was_re_opened() -> None:
    halting = with_pauses(QUESTION, (0.5, 0.3))
    with ClientSimulation([halting]).running() as client:
        client.silence(0.5)
        client.say(halting)
        client.silence_until_done()
    assert client.names(TurnTranscript) == [
        "SpeechStarted", "TurnBegan", "SpeechStarted", "Heard", "SpeechStopped", "Heard",
        "SpeechStarted", "Heard", "SpeechStopped", "Heard",
        "TurnEnded", "TurnCommitted", "ResponseStarted", "AnswerText", "ClientSound", "AnswerText",
        "ClientSound", "ResponseDone",
    ][1:]  # fmt: skip
    (began,) = client.all(TurnBegan)
    (ended,) = client.all(TurnEnded)
    (committed,) = client.all(TurnCommitted)
    assert began.item_id == ended.item_id == committed.item_id == "item_a-1"
    onset_ms = 512  # the first window of the voice; half a second is no whole number of windows
    assert began.audio_start_ms == onset_ms - 300
    said_ms = onset_ms + 1000 * len(halting.audio) // PIPELINE_HZ
    assert said_ms + 400 <= ended.audio_end_ms <= said_ms + 560


def test_words_are_told_as_they_become_sure_and_all_of_them_once() -> None:
    with ClientSimulation([QUESTION]).running() as client:
        client.silence(0.5)
        client.say(QUESTION)
        client.silence_until_done()
    told = client.all(TurnTranscript)
    assert [each.final for each in told] == [False] * (len(told) - 1) + [True]
    assert told[-1].text == told[-1].stable == QUESTION.text
    for earlier, later in itertools.pairwise(told):
        assert later.stable.startswith(earlier.stable)
    assert any(each.stable for each in told[:-1])


def test_without_transcription_no_words_are_told_and_the_model_reads_them_all_the_same() -> None:
    hearing = replace(Hearing(), transcribes=False)
    with ClientSimulation([QUESTION], hearing=hearing).running() as client:
        client.silence(0.5)
        client.say(QUESTION)
        client.silence_until_done()
    assert not client.all(TurnTranscript)
    assert prompt(client)[-1] == ("user", QUESTION.text)


def test_a_turn_that_is_not_to_be_answered_is_committed_and_remembered() -> None:
    hearing = replace(Hearing(), answers=False)
    with ClientSimulation([QUESTION], hearing=hearing).running() as client:
        client.silence(0.5)
        client.say(QUESTION)
        client.silence(2.0)
        assert not client.all(ResponseStarted)
        assert client.all(TurnCommitted)
        client.ask("resp_mine")
        client.silence_until_done()
    assert prompt(client)[-1] == ("user", QUESTION.text)
    (done,) = client.all(ResponseDone)
    assert (done.response.response_key, done.status) == ("resp_mine", "completed")


def test_a_client_commits_what_it_sent_and_asks() -> None:
    with ClientSimulation([QUESTION], hearing=BY_HAND).running() as client:
        with pytest.raises(InputEmpty) as refused:
            client.session.commit()
        assert refused.value.heard_ms == 0
        client.say(QUESTION)
        client.session.commit()
        client.ask("resp_mine")
        client.silence_until_done()
        client.session.clear_input()
        with pytest.raises(InputEmpty):
            client.session.commit()
    names = client.names()
    assert names[:2] == ["ResponseStarted", "TurnCommitted"]
    assert not client.all(TurnBegan)
    assert prompt(client)[-1] == ("user", QUESTION.text)
    assert len(client.all(ResponseDone)) == 1


def test_what_is_cleared_is_no_turn() -> None:
    with ClientSimulation([QUESTION]).running() as client:
        client.silence(0.5)
        client.say(QUESTION)
        client.session.clear_input()
        client.silence(2.0)
    (ended,) = client.all(TurnEnded)
    assert ended.dropped
    assert not client.all(TurnCommitted)
    assert not client.all(ResponseStarted)


@pytest.mark.parametrize("after_s", [0.0, 0.3])
def test_a_commit_ends_the_turn_that_is_being_said_and_is_no_question(after_s: float) -> None:
    with ClientSimulation([QUESTION]).running() as client:
        client.silence(0.5)
        client.say(QUESTION)
        client.silence(after_s)
        committed_s = client.clock.now()
        client.session.commit()
        client.silence(2.0)
        assert not client.all(ResponseStarted)
        client.ask("resp_mine")
        client.silence_until_done()
    assert client.when(TurnCommitted)[0] - committed_s < 0.1
    assert prompt(client)[-1] == ("user", QUESTION.text)


def test_silence_behind_an_answer_is_a_turn_where_the_client_wants_it() -> None:
    hearing = Hearing(ServerVad(idle_timeout_ms=5000))
    with ClientSimulation([QUESTION], hearing=hearing).running() as client:
        client.silence(0.5)
        client.say(QUESTION)
        client.silence_until_done()
        played_s = client.session.plays_until_s
        client.silence_until_done(2)
    idle = client.all(TurnCommitted)[-1]
    assert idle.idle is not None
    start_ms, end_ms = idle.idle
    assert end_ms - start_ms >= 5000
    assert abs(client.when(TurnCommitted)[-1] - (played_s + 5.0)) < 0.3
    assert prompt(client)[-1][0] == "assistant"


@pytest.mark.parametrize("hearing", [Hearing(), SEMANTIC, BY_HAND], ids=["server", "words", "hand"])
def test_detection_changes_between_turns(hearing: Hearing) -> None:
    with ClientSimulation([QUESTION, SECOND], hearing=hearing).running() as client:
        client.silence(0.5)
        client.say(QUESTION)
        if hearing is BY_HAND:
            client.session.commit()
            client.ask("resp_mine")
        client.silence_until_done()
        client.silence(4.0)
        client.session.set_hearing(Hearing(ServerVad(silence_ms=900)))
        client.silence(0.5)
        client.say(SECOND)
        stopped_s = client.clock.now()
        client.silence_until_done(2)
    assert client.when(TurnCommitted)[-1] - stopped_s == pytest.approx(0.9, abs=0.1)
    assert len({each.item_id for each in client.all(TurnCommitted)}) == 2
