"""Who speaks: what a person's words do to the answers of a client's session."""

from __future__ import annotations

from dataclasses import replace

from s2s.core.control import (
    Hearing,
)
from s2s.core.events import (
    ResponseDone,
    TurnBegan,
    TurnCommitted,
    TurnEnded,
)
from s2s.testing.client_simulator import ClientSimulation
from s2s.testing.simulator import Said, tone
from s2s.transport.client_playback import ClientSound
from tests.support.client_sessions import (
    LONG,
    NOD,
    QUESTION,
    SECOND,
    SEMANTIC,
    prompt,
)


def test_server_vad_interrupts_at_the_onset_and_tells_that_first() -> None:
    simulation = ClientSimulation([QUESTION, SECOND], answer=lambda _: LONG)
    simulation.costs = replace(simulation.costs, tts_rtf=0.9)
    with ClientSimulation(
        [QUESTION, SECOND], answer=lambda _: LONG, costs=simulation.costs
    ).running() as client:
        client.silence(0.5)
        client.say(QUESTION)
        client.silence(2.0)
        onset_s = client.clock.now()
        client.say(SECOND)
        client.silence(1.0)
        client.session.cancel()
    began_s = client.when(TurnBegan)[1]
    assert began_s - onset_s < 0.2
    first = client.all(ResponseDone)[0]
    assert (first.status, first.reason) == ("cancelled", "turn_detected")
    told = [each for _, each in client.told]
    assert told.index(client.all(TurnBegan)[1]) < told.index(first)
    after = told[told.index(first) :]
    assert not [e for e in after if isinstance(e, ClientSound) and e.response == first.response]
    assert LONG.startswith(first.played)
    assert first.played
    assert ("assistant", first.played.strip()) in prompt(client)


def test_a_nod_over_an_answer_is_not_told_where_words_decide() -> None:
    with ClientSimulation([QUESTION, NOD], answer=lambda _: LONG, hearing=SEMANTIC).running() as (
        client
    ):
        client.silence(0.5)
        client.say(QUESTION)
        client.silence(2.0)
        client.say(NOD)
        client.silence(3.0)
    assert len(client.all(TurnBegan)) == 1
    assert [each.status for each in client.all(ResponseDone)] == ["completed"]


def test_words_over_an_answer_interrupt_it_soon() -> None:
    costs = replace(ClientSimulation().costs, tts_rtf=0.9)
    with ClientSimulation(
        [QUESTION, SECOND], answer=lambda _: LONG, hearing=SEMANTIC, costs=costs
    ).running() as client:
        client.silence(0.5)
        client.say(QUESTION)
        client.silence(2.0)
        onset_s = client.clock.now()
        client.say(SECOND)
        client.silence(2.0)
    assert client.when(TurnBegan)[1] - onset_s <= 0.5
    assert client.all(ResponseDone)[0].reason == "turn_detected"
    assert client.all(TurnCommitted)[1].item_id == client.all(TurnBegan)[1].item_id


def test_speech_that_interrupts_and_has_no_words_ends_though_the_client_sends_no_more() -> None:
    mumble = Said(tone(0.8, 240), "")
    with ClientSimulation(
        [QUESTION, mumble], answer=lambda _: LONG, hearing=SEMANTIC
    ).running() as client:
        client.silence(0.5)
        client.say(QUESTION)
        client.silence(2.0)
        client.say(mumble)
        client.silence(0.2)
        assert len(client.all(TurnBegan)) == 2
        client.wait(6.0)
        assert client.session.quiet
    began, ended = client.all(TurnBegan)[-1], client.all(TurnEnded)[-1]
    assert ended.item_id == began.item_id
    assert ended.dropped
    assert len(client.all(TurnCommitted)) == 1


def test_speech_that_may_not_interrupt_is_a_turn_and_the_answer_goes_on() -> None:
    hearing = replace(Hearing(), interrupts=False)
    with ClientSimulation(
        [QUESTION, SECOND], answer=lambda _: LONG, hearing=hearing
    ).running() as client:
        client.silence(0.5)
        client.say(QUESTION)
        client.silence(1.0)
        client.say(SECOND)
        client.silence_until_done(2)
    assert [each.status for each in client.all(ResponseDone)] == ["completed"] * 2
    assert len(client.all(TurnCommitted)) == 2


def test_what_was_believed_unheard_of_a_finished_answer_is_forgotten_when_it_is_interrupted() -> (
    None
):
    with ClientSimulation([QUESTION, SECOND], answer=lambda _: LONG).running() as client:
        client.silence(0.5)
        client.say(QUESTION)
        client.silence_until_done()
        assert client.all(ResponseDone)[0].played.strip() == LONG
        client.silence(3.0)
        client.say(SECOND)
        client.silence_until_done(2)
    role, heard = prompt(client)[-2]
    assert role == "assistant"
    assert LONG.startswith(heard)
    assert 20 < len(heard) < len(LONG) // 2
