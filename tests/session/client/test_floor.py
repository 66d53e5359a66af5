"""Who speaks: what a person's words do to the answers of a client's session."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from s2s.core.cancel import CancelScope
from s2s.core.clock import ManualClock
from s2s.core.control import (
    Hearing,
)
from s2s.core.events import (
    AnswerText,
    Event,
    ResponseDone,
    TurnBegan,
    TurnCommitted,
    TurnEnded,
)
from s2s.core.messages import ResponseId, TurnId
from s2s.core.metrics import Metrics
from s2s.core.speculation import SpeculativeTurns
from s2s.core.state import SessionState
from s2s.llm.conversation import ConversationItems
from s2s.session.client.floor import ClientFloor, HeardFloor
from s2s.session.client.telling import TurnTelling
from s2s.session.recent_speech import RecentSpeech
from s2s.testing.client_simulator import ClientSimulation
from s2s.testing.simulator import Said, tone
from s2s.transport.client_playback import ClientPlayback, ClientSound
from s2s.transport.sender import Sender
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


# --- by itself -----------------------------------------------------------------------------------


RESPONSE = ResponseId("t1", 0, 0, "resp_1")


class Rig:
    """A floor on which one answer is spoken."""

    def __init__(self) -> None:
        clock = ManualClock()
        self.clock = clock
        self.events: list[Event] = []
        self.recent = RecentSpeech()
        turns = SpeculativeTurns(clock)
        state = SessionState(CancelScope(clock), turns, clock, Metrics(), self.events.append)
        self.state = state
        self.playback = ClientPlayback(clock, 1000, lambda _: None, lambda: None)
        self.items = ConversationItems(
            "sys", max_turns=9, max_tokens=999, count_tokens=lambda text: len(text.split())
        )
        self.sender = Sender(self.playback, state, self.items.played, failure_heard=False)
        self.telling = TurnTelling(self.events.append, self.items.committed, lambda: True)
        self.floor = ClientFloor(
            self.playback, self.sender, self.recent, state, self.items, self.telling
        )
        turns.observe(RESPONSE.turn, grace_until_s=0.0)
        turns.commit(RESPONSE.turn)
        self.interrupted = 0

    def heard(self, *, overlaps: bool = True, interrupts: bool = True) -> HeardFloor:
        return HeardFloor(self.floor, self._note, overlaps=overlaps, interrupts=interrupts)

    def speak(self) -> None:
        self.sender.responses.open(RESPONSE)
        self.playback.write(np.zeros(500, np.float32), RESPONSE, "Are you", stale=lambda: False)
        self.playback.write(
            np.zeros(500, np.float32), RESPONSE, "Are you there?", stale=lambda: False
        )
        self.recent.on_event(AnswerText(RESPONSE, "Are you there?"))
        self.clock.wait_until(self.clock.now() + 0.6)

    def ends(self) -> list[tuple[str, str, str | None, str | None]]:
        done = [each for each in self.events if isinstance(each, ResponseDone)]
        return [(each.status, each.played, each.error, each.reason) for each in done]

    def _note(self) -> None:
        self.interrupted += 1


def test_who_speaks_last_has_the_floor_until_it_is_ended() -> None:
    rig = Rig()
    assert not rig.floor.playing
    assert rig.floor.active is None
    rig.speak()
    assert rig.floor.playing
    assert rig.floor.active == RESPONSE
    assert rig.floor.heard_text == "Are you"
    rig.floor.end("client_cancelled")
    assert not rig.floor.playing
    assert rig.floor.active is None
    assert rig.ends() == [("cancelled", "Are you", None, "client_cancelled")]
    rig.floor.end("client_cancelled")
    assert len(rig.ends()) == 1


def test_what_is_given_up_fails_with_the_reason() -> None:
    rig = Rig()
    rig.speak()
    rig.floor.give_up("nothing came")
    assert rig.ends() == [("failed", "Are you", "nothing came", None)]
    assert rig.state.is_silenced("t1")
    rig.floor.give_up("again")
    assert len(rig.ends()) == 1


def test_an_interruption_takes_back_what_is_owed_too() -> None:
    rig = Rig()
    rig.telling.sent(TurnId("t2", 0), 1.0, answered=True)
    rig.telling.committed(TurnId("t2", 0))
    assert rig.telling.owed == ["t2"]
    rig.floor.interrupt()
    assert rig.telling.owed == []
    assert rig.state.is_silenced("t2")


def test_where_words_decide_the_answer_is_known_to_play() -> None:
    rig = Rig()
    rig.speak()
    floor = rig.heard(overlaps=True)
    assert floor.playing
    assert floor.asks  # it asked: a short answer counts
    assert floor.is_own_voice("are you there")
    assert floor.other_words("are you there") == ""
    assert floor.other_words("what is the time now") == "what is the time now"


def test_where_every_onset_counts_nothing_is_judged() -> None:
    rig = Rig()
    rig.speak()
    floor = rig.heard(overlaps=False)
    assert not floor.playing
    assert floor.asks
    assert not floor.is_own_voice("are you there")


@pytest.mark.parametrize("way", ["pause", "interrupt"])
@pytest.mark.parametrize("interrupts", [True, False])
def test_it_is_told_before_and_ends_only_what_may_be_interrupted(
    way: str, interrupts: bool
) -> None:
    rig = Rig()
    rig.speak()
    floor = rig.heard(interrupts=interrupts)
    for each in (floor.duck, floor.restore, floor.take_back, floor.own_voice_heard):
        each()
    assert rig.ends() == []
    {"pause": floor.pause, "interrupt": floor.interrupt}[way]()
    assert rig.interrupted == 1
    expected = [("cancelled", "Are you", None, "turn_detected")]
    assert rig.ends() == (expected if interrupts else [])


def test_what_was_not_meant_is_forgotten() -> None:
    rig = Rig()
    rig.items.user(TurnId("t5", 0), "not you")
    rig.heard().forget(TurnId("t5", 0))
    assert rig.items.items() == []
