"""The stages of a client's session together: what fails, and what is left at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import pytest

from s2s.core.answering import ResponseRequest
from s2s.core.audio import Block
from s2s.core.control import (
    NoSound,
)
from s2s.core.events import (
    ResponseDone,
    TurnCommitted,
    TurnTranscriptFailed,
)
from s2s.core.items import (
    answer_item_id,
)
from s2s.core.work import Work
from s2s.llm.base import PLAIN, ChatMessage, ChatOptions, LlmError, Urgency
from s2s.session.config import SessionConfig
from s2s.session.models import Models
from s2s.session.session import stages_alive
from s2s.stt.base import SttError, Transcription
from s2s.testing.client_simulator import ClientSimulation
from s2s.testing.simulator import ScriptedChat
from s2s.transport.client_playback import ClientSound
from tests.support.client_sessions import (
    LONG,
    QUESTION,
    prompt,
    user,
)


@dataclass
class FailingChat(ScriptedChat):
    """Fails the first time."""

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        stop: object = None,
        work: Urgency = lambda: Work.FIRST_SOUND,
        options: ChatOptions = PLAIN,
    ) -> Iterator[str]:
        self.prompts.append(list(messages))
        if len(self.prompts) == 1:
            raise LlmError("no model here")
        yield "Here I am."


def failing(models: Models) -> Models:
    chat = models.chat
    assert isinstance(chat, ScriptedChat)
    return replace(models, chat=FailingChat(chat.clock, chat.costs, chat.answer))


def test_a_model_that_fails_fails_its_response_without_a_word() -> None:
    with ClientSimulation(models=failing).running() as client:
        for key in ("resp_one", "resp_two"):
            client.session.insert(user(f"item_{key[5:]}", "hello"))
            client.ask(key)
            client.wait(1.0)
    failed, fine = client.all(ResponseDone)
    assert (failed.status, failed.error) == ("failed", "no model here")
    assert fine.status == "completed"
    assert {each.response.response_key for each in client.all(ClientSound)} == {"resp_two"}


class Deaf:
    """Hears nothing at all."""

    def transcribe(self, audio: Block, **_: object) -> Transcription:
        raise SttError("not today")

    def warm(self) -> None: ...

    def close(self) -> None: ...


def test_words_that_cannot_be_written_down_are_told_and_their_answer_fails() -> None:
    def deaf(models: Models) -> Models:
        return replace(models, transcriber=Deaf())

    with ClientSimulation([QUESTION], models=deaf).running() as client:
        client.silence(0.5)
        client.say(QUESTION)
        client.silence_until_done()
    (failure,) = client.all(TurnTranscriptFailed)
    assert "not today" in failure.error
    assert client.all(ResponseDone)[0].status == "failed"


def test_a_closed_session_leaves_no_thread_and_tells_nothing_more() -> None:
    before = stages_alive()
    with ClientSimulation([QUESTION], answer=lambda _: LONG).running() as client:
        client.session.insert(user("item_x", "hello"))
        client.ask("resp_mine")
        client.session.respond(
            ResponseRequest("resp_b", client.answering, (user("", "x"),), in_conversation=False)
        )
        client.silence(0.3)
        assert len([name for name in stages_alive() if name != "s2s-beside"]) <= len(before) + 4
    count = len(client.told)
    client.wait(5.0)
    assert len(client.told) == count
    assert stages_alive() == before
    done = client.all(ResponseDone)
    assert sorted(str(each.response.response_key) for each in done) == ["resp_b", "resp_mine"]


def test_a_session_takes_four_threads() -> None:
    before = stages_alive()
    with ClientSimulation().running() as client:
        client.wait(0.1)
        four = ["s2s-llm", "s2s-stt", "s2s-tts", "s2s-turns"]
        assert sorted(stages_alive()) == sorted([*before, *four])
    assert stages_alive() == before


def test_a_later_session_goes_on_with_the_conversation() -> None:
    simulation = ClientSimulation()
    with simulation.running("a") as client:
        client.session.insert(user("item_x", "hello"))
        client.ask("resp_mine")
        client.wait(5.0)
    kept = client.session.kept
    with simulation.running("a", kept=kept) as client:
        client.session.insert(user("item_y", "again"))
        client.ask("resp_next")
        client.wait(1.0)
        with pytest.raises(NoSound):
            client.session.truncate(answer_item_id("resp_mine"), 0)
    assert [role for role, _ in prompt(client)] == ["system", "user", "assistant", "user"]


@dataclass
class HangingChat(ScriptedChat):
    """Says nothing the first time, until it is stopped."""

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        stop: Callable[[], bool] = lambda: False,
        work: Urgency = lambda: Work.FIRST_SOUND,
        options: ChatOptions = PLAIN,
    ) -> Iterator[str]:
        self.prompts.append(list(messages))
        while len(self.prompts) == 1 and not stop():
            self.clock.wait_until(self.clock.now() + 0.1)
        yield "Here I am."


def hanging(models: Models) -> Models:
    chat = models.chat
    assert isinstance(chat, ScriptedChat)
    return replace(models, chat=HangingChat(chat.clock, chat.costs, chat.answer))


PATIENCE_S = 5.0


def test_an_answer_that_was_asked_for_and_stands_still_is_given_up() -> None:
    config = SessionConfig(standstill_s=PATIENCE_S)
    with ClientSimulation(models=hanging, config=config).running() as client:
        client.session.insert(user("item_x", "hello"))
        client.ask("resp_one")
        client.wait(PATIENCE_S + 1.0)
        (failed,) = client.all(ResponseDone)
        assert (failed.response.response_key, failed.status) == ("resp_one", "failed")
        assert failed.error == f"nothing came from llm for {PATIENCE_S:g} s"
        assert PATIENCE_S <= client.when(ResponseDone)[0] < PATIENCE_S + 1.0
        client.ask("resp_two")
        client.wait(5.0)
    assert [each.status for each in client.all(ResponseDone)] == ["failed", "completed"]
    assert {each.response.response_key for each in client.all(ClientSound)} == {"resp_two"}


def test_an_answer_to_a_turn_that_never_begins_is_told_to_have_failed() -> None:
    config = SessionConfig(standstill_s=PATIENCE_S)
    with ClientSimulation([QUESTION], models=hanging, config=config).running() as client:
        client.silence(0.5)
        client.say(QUESTION)
        client.silence_until_done(at_most_s=3 * PATIENCE_S)
        client.ask("resp_two")
        client.wait(5.0)
    failed, fine = client.all(ResponseDone)
    assert (failed.status, fine.status) == ("failed", "completed")
    assert failed.error is not None
    assert failed.error.startswith("nothing came from llm")
    assert client.names().index("TurnCommitted") < client.names().index("ResponseDone")


def test_ids_of_turns_and_calls_go_on_where_the_session_before_ended() -> None:
    simulation = ClientSimulation([QUESTION])
    with simulation.running("a") as client:
        client.silence(0.5)
        client.say(QUESTION)
        client.silence_until_done()
    kept = client.session.kept
    assert kept.numbers.turns == 1
    with simulation.running("a", kept=kept) as client:
        client.silence(0.5)
        client.say(QUESTION)
        client.silence_until_done(2)
    committed = [each.item_id for each in client.all(TurnCommitted)]
    assert committed == ["item_a-1", "item_a-2"]
    assert len({each.response for each in client.all(ResponseDone)}) == 2
