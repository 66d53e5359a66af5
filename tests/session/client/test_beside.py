"""Responses out of band: beside the conversation's, and no part of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import pytest

from s2s.core.answering import ResponseRequest
from s2s.core.control import (
    UnknownItem,
)
from s2s.core.events import (
    AnswerText,
    ResponseDone,
)
from s2s.core.items import (
    answer_item_id,
)
from s2s.llm.base import ChatMessage, LlmError
from s2s.session.models import Models
from s2s.testing.client_simulator import ClientSimulation
from s2s.testing.simulator import ScriptedChat, ScriptedSynthesizer
from s2s.transport.client_playback import ClientSound
from s2s.tts.base import AudioChunk, TtsError
from tests.support.client_sessions import (
    LONG,
    QUESTION,
    user,
)


def test_a_response_out_of_band_runs_beside_and_leaves_nothing() -> None:
    with ClientSimulation(answer=lambda question: f"On {question}: {LONG}").running() as client:
        client.session.insert(user("item_x", "hello"))
        client.ask("resp_mine")
        given = (user("", "classify this"),)
        answering = replace(client.answering, spoken=False)
        client.session.respond(
            ResponseRequest("resp_beside", answering, given, in_conversation=False)
        )
        client.session.respond(
            ResponseRequest("resp_aloud", client.answering, given, in_conversation=False)
        )
        client.wait(40.0)
        with pytest.raises(UnknownItem):
            client.session.retrieve(answer_item_id("resp_beside"))
    keys = {each.response.response_key: each.status for each in client.all(ResponseDone)}
    assert keys == dict.fromkeys(("resp_mine", "resp_beside", "resp_aloud"), "completed")
    heard = {each.response.response_key for each in client.all(ClientSound)}
    assert heard == {"resp_mine", "resp_aloud"}
    written = "".join(
        each.text for each in client.all(AnswerText)
        if each.response.response_key == "resp_beside"
    )  # fmt: skip
    assert written == f"On classify this: {LONG}"


def test_speech_does_not_interrupt_a_response_out_of_band_and_a_cancel_does() -> None:
    costs = replace(ClientSimulation().costs, tts_rtf=0.9)
    with ClientSimulation([QUESTION], answer=lambda _: LONG, costs=costs).running() as client:
        for key in ("resp_one", "resp_two"):
            client.session.respond(
                ResponseRequest(key, client.answering, (user("", "x"),), in_conversation=False)
            )
        client.silence(2.0)
        client.say(QUESTION)
        assert not client.all(ResponseDone)
        assert client.session.cancel("resp_one")
        assert not client.session.cancel("resp_one")
        assert client.all(ResponseDone)[0].reason == "client_cancelled"
        client.silence_until_done(3, at_most_s=120)
    done = {each.response.response_key: each.status for each in client.all(ResponseDone)}
    assert done["resp_one"] == "cancelled"
    assert done["resp_two"] == "completed"


@dataclass
class Hoarse(ScriptedSynthesizer):
    """Cannot say a word."""

    def synthesize(self, text: str, **_: object) -> Iterator[AudioChunk]:  # pyright: ignore[reportIncompatibleMethodOverride]
        raise TtsError("the voice is hoarse")


@dataclass
class Speechless(ScriptedChat):
    """Cannot write a word."""

    def stream(self, messages: Sequence[ChatMessage], **_: object) -> Iterator[str]:  # pyright: ignore[reportIncompatibleMethodOverride]
        raise LlmError("no model here")


def hoarse(models: Models) -> Models:
    voice = models.synthesizer
    assert isinstance(voice, ScriptedSynthesizer)
    return replace(models, synthesizer=Hoarse(voice.clock, voice.costs))


def speechless(models: Models) -> Models:
    chat = models.chat
    assert isinstance(chat, ScriptedChat)
    return replace(models, chat=Speechless(chat.clock, chat.costs, chat.answer))


@pytest.mark.parametrize(
    ("broken", "error"), [(hoarse, "the voice is hoarse"), (speechless, "no model here")]
)
def test_a_model_that_fails_fails_the_response_and_the_session_goes_on(
    broken: Callable[[Models], Models], error: str
) -> None:
    with ClientSimulation(models=broken).running() as client:
        for key in ("resp_one", "resp_two"):
            client.session.respond(
                ResponseRequest(key, client.answering, (user("", "x"),), in_conversation=False)
            )
            client.wait(5.0)
            assert not client.session.cancel(key)
    done = client.all(ResponseDone)
    assert [each.response.response_key for each in done] == ["resp_one", "resp_two"]
    assert {each.status for each in done} == {"failed"}
    assert all(each.error is not None and error in each.error for each in done)
    assert not client.all(ClientSound)


def test_a_response_that_nobody_knows_is_not_cancelled() -> None:
    with ClientSimulation().running() as client:
        assert not client.session.cancel("resp_nobody")
    assert client.told == []
