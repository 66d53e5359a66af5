"""The simulated client: it sends in real time, reads what comes, and notes when."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ
from s2s.core.events import AnswerText, ResponseDone, ResponseStarted, TurnCommitted
from s2s.session.models import Models
from s2s.testing.client_simulator import ClientSimulation
from s2s.testing.simulator import Said, tone
from s2s.transport.client_playback import ClientSound

QUESTION = Said(tone(1.5), "what time is it now")
WINDOW_S = BLOCK_SAMPLES / PIPELINE_HZ


def test_sound_is_sent_in_real_time_up_to_a_windows_border() -> None:
    with ClientSimulation().running() as client:
        client.send(np.zeros(BLOCK_SAMPLES + 1, np.float32))
        assert client.transport.heard_samples == 2 * BLOCK_SAMPLES
        assert client.clock.now() == pytest.approx(2 * WINDOW_S)
        client.silence(1.0)
        assert client.transport.heard_samples == (2 + 32) * BLOCK_SAMPLES  # 31.25 windows


def test_who_waits_sends_nothing() -> None:
    with ClientSimulation().running() as client:
        client.wait(2.5)
        assert client.clock.now() == pytest.approx(2.5)
        assert client.transport.heard_samples == 0
    assert client.told == []


def test_a_question_is_answered_as_the_script_has_it_and_its_sound_is_read() -> None:
    simulation = ClientSimulation([QUESTION], lambda question: f"You asked {question}.")
    with simulation.running() as client:
        client.silence(0.5)
        client.say(QUESTION)
        client.silence_until_done()
    assert client is simulation
    said = "".join(each.text for each in client.all(AnswerText)).strip()
    assert said == "You asked what time is it now."
    assert client.all(ClientSound)[-1].text.strip() == said
    (done,) = client.all(ResponseDone)
    assert done.status == "completed"


def test_what_was_told_is_kept_with_when_and_in_order() -> None:
    with ClientSimulation([QUESTION]).running() as client:
        client.silence(0.5)
        client.say(QUESTION)
        said_s = client.clock.now()
        client.silence_until_done()
    times = [at_s for at_s, _ in client.told]
    assert times == sorted(times)
    (committed_s,) = client.when(TurnCommitted)
    (started_s,) = client.when(ResponseStarted)
    assert said_s < committed_s <= started_s
    names = client.names()
    assert all(one != other for one, other in pairwise(names))
    assert "ClientSound" in names
    assert "ClientSound" not in client.names(ClientSound)
    assert len(client.all(ClientSound)) == len(client.when(ClientSound))


def test_the_same_conversation_is_the_same_to_the_microsecond() -> None:
    def hold() -> list[tuple[float, str]]:
        with ClientSimulation([QUESTION]).running() as client:
            client.silence(0.5)
            client.say(QUESTION)
            client.silence_until_done()
        return [(at_s, type(each).__name__) for at_s, each in client.told]

    assert hold() == hold()


def test_an_answer_that_does_not_come_is_missed_in_simulated_time() -> None:
    with (
        ClientSimulation().running() as client,
        pytest.raises(AssertionError, match=r"no 1 responses in 3\.0 s"),
    ):
        client.silence_until_done(at_most_s=3.0)
    assert 3.0 <= client.clock.now() < 3.2


def test_models_can_be_replaced_and_a_session_ends_with_its_block() -> None:
    seen: list[Models] = []

    def note(models: Models) -> Models:
        seen.append(models)
        return models

    with ClientSimulation(models=note).running("b") as client:
        client.ask("resp_1")
        client.silence_until_done()
        kept = client.session.kept
    assert seen == [client.scripted]
    told = len(client.told)
    client.clock.wait_until(client.clock.now() + 5.0)
    assert len(client.told) == told
    with client.running("c", kept):
        client.ask("resp_2")
        client.silence_until_done(2)
    assert [each.response.response_key for each in client.all(ResponseDone)] == ["resp_1", "resp_2"]
