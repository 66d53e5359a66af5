"""What a client may ask of a session, and what it is told: whole sessions in simulated time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import pytest

from s2s.core.answering import ResponseRequest, ToolSchema
from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ
from s2s.core.control import (
    DuplicateItem,
    Hearing,
    NoSound,
    ResponseActive,
    ServerVad,
    UnknownItem,
)
from s2s.core.events import (
    AnswerText,
    ResponseDone,
    ResponseStarted,
    ToolCalled,
    TurnCommitted,
)
from s2s.core.items import (
    ROOT,
    CallItem,
    Item,
    MessageItem,
    OutputItem,
    SoundPart,
    TextPart,
    answer_item_id,
)
from s2s.core.markup import Call
from s2s.core.work import Work
from s2s.llm.base import PLAIN, ChatMessage, ChatOptions, Urgency
from s2s.session.models import Models
from s2s.testing.client_simulator import ClientSimulation
from s2s.testing.simulator import SYNTH_HZ, ScriptedChat
from s2s.transport.client_playback import ClientSound
from tests.support.client_sessions import (
    BY_HAND,
    LONG,
    QUESTION,
    SEMANTIC,
    prompt,
    texts,
    user,
)

# --- responses on request -------------------------------------------------------------------------


def test_a_response_is_made_of_items_without_a_word_being_said() -> None:
    with ClientSimulation().running() as client:
        assert client.session.insert(user("item_x", "hello there")) is None
        client.ask("resp_mine")
        with pytest.raises(ResponseActive) as active:
            client.ask("resp_other")
        assert active.value.key == "resp_mine"
        client.wait(1.0)
        (done,) = client.all(ResponseDone)
        assert client.session.previous(answer_item_id("resp_mine")) == "item_x"
        client.ask("resp_third")
        client.wait(1.0)
    assert (done.response.response_key, done.status) == ("resp_mine", "completed")
    assert client.names()[:1] == ["ResponseStarted"]
    assert texts(client.chat.prompts[0]) == [("system", "Be brief."), ("user", "hello there")]
    assert len(client.all(ResponseDone)) == 2


def test_a_response_has_settings_of_its_own() -> None:
    tool = ToolSchema("clock", "Tells the time.")
    with ClientSimulation().running() as client:
        client.session.insert(user("item_x", "hello there"))
        answering = replace(
            client.answering,
            instructions="Be loud.",
            tools=(tool,),
            max_output_tokens=3,
            spoken=False,
        )
        client.session.respond(ResponseRequest("resp_mine", answering))
        client.wait(1.0)
    assert texts(client.chat.prompts[0])[0] == ("system", "Be loud.")
    assert client.chat.asked[0] == ChatOptions((tool,), max_tokens=3)
    (done,) = client.all(ResponseDone)
    assert done.status == "incomplete"
    assert done.usage is not None
    assert done.usage.output_tokens == 3
    assert not client.all(ClientSound)
    item = client.session.retrieve(answer_item_id("resp_mine"))
    assert item == MessageItem(
        answer_item_id("resp_mine"), "assistant", (TextPart("You said hello"),), "incomplete"
    )


@pytest.mark.parametrize("after_s", [0.0, 0.05, 0.3, 1.0])
def test_a_cancelled_response_ends_before_the_cancel_returns(after_s: float) -> None:
    costs = replace(ClientSimulation().costs, tts_rtf=0.9)
    with ClientSimulation(answer=lambda _: LONG, costs=costs).running() as client:
        assert not client.session.cancel()
        client.session.insert(user("item_x", "hello"))
        client.ask("resp_mine")
        client.wait(after_s)
        assert not client.session.cancel("resp_other")
        assert client.session.cancel("resp_mine")
        (done,) = client.all(ResponseDone)
        assert (done.status, done.reason) == ("cancelled", "client_cancelled")
        count = len(client.told)
        client.wait(5.0)
        assert len(client.told) == count
        client.ask("resp_next")
        client.wait(40.0)
    assert client.all(ResponseDone)[-1].status == "completed"


def test_a_response_waits_for_the_words_that_were_committed_before_it() -> None:
    costs = replace(ClientSimulation().costs, stt_s=1.5)
    with ClientSimulation([QUESTION], hearing=BY_HAND, costs=costs).running() as client:
        client.say(QUESTION)
        client.session.commit()
        client.ask("resp_mine")
        client.silence_until_done()
    assert prompt(client)[-1] == ("user", QUESTION.text)


# --- tools ----------------------------------------------------------------------------------------


@dataclass
class CallingChat(ScriptedChat):
    """Calls two tools, and says what they gave."""

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        stop: object = None,
        work: Urgency = lambda: Work.FIRST_SOUND,
        options: ChatOptions = PLAIN,
    ) -> Iterator[str | Call]:
        self.prompts.append(list(messages))
        if messages[-1].role == "tool":
            yield f"It is {messages[-1].content}."
            return
        yield from (Call("clock", "{}"), Call("weather", '{"city": "Rome"}'))


def calling(models: Models) -> Models:
    chat = models.chat
    assert isinstance(chat, ScriptedChat)
    return replace(models, chat=CallingChat(chat.clock, chat.costs, chat.answer))


def test_tools_are_called_with_ids_and_what_they_give_is_part_of_the_history() -> None:
    with ClientSimulation(models=calling).running() as client:
        client.session.insert(user("item_x", "what is it like"))
        client.ask("resp_one")
        client.wait(1.0)
        calls = client.all(ToolCalled)
        assert [(call.name, call.arguments) for call in calls] == [
            ("clock", "{}"), ("weather", '{"city": "Rome"}'),
        ]  # fmt: skip
        assert len({call.call_id for call in calls}) == 2
        assert all(0 < len(call.call_id) <= 32 for call in calls)
        assert not client.all(ClientSound)
        assert client.all(ResponseDone)[0].status == "completed"
        kept = client.session.retrieve(f"item_{calls[0].call_id}")
        assert kept == CallItem(f"item_{calls[0].call_id}", calls[0].call_id, "clock", "{}")
        for call, gave in zip(calls, ("noon", "fine"), strict=True):
            client.session.insert(OutputItem(f"out_{call.call_id}", call.call_id, gave))
        client.ask("resp_two")
        client.wait(3.0)
        shown = client.scripted.chat.prompts[-1]  # pyright: ignore[reportAttributeAccessIssue]
    assert [m.role for m in shown] == ["system", "user", "assistant", "tool", "tool"]
    assert [use.name for use in shown[2].calls] == ["clock", "weather"]
    assert "".join(each.text for each in client.all(AnswerText)) == "It is fine."


# --- items ----------------------------------------------------------------------------------------


def test_items_are_put_in_front_behind_and_at_the_end_and_taken_out() -> None:
    with ClientSimulation().running() as client:
        session = client.session
        assert session.insert(user("b", "second")) is None
        assert session.insert(user("d", "fourth")) == "b"
        assert session.insert(user("a", "first"), ROOT) is None
        assert session.insert(user("c", "third"), "b") == "b"
        assert [session.previous(each) for each in "abcd"] == [None, "a", "b", "c"]
        with pytest.raises(DuplicateItem):
            session.insert(user("a", "again"))
        with pytest.raises(UnknownItem):
            session.insert(user("e", "lost"), "nowhere")
        session.delete("b")
        with pytest.raises(UnknownItem):
            session.delete("b")
        client.ask("resp_mine")
        client.wait(1.0)
    assert texts(client.chat.prompts[0])[1:] == [("user", "first\nthird\nfourth")]


def test_an_answer_is_cut_to_the_very_words_that_were_heard_and_retrieved_as_it_is_now() -> None:
    with ClientSimulation(answer=lambda _: LONG).running() as client:
        client.session.insert(user("item_x", "hello"))
        client.ask("resp_mine")
        client.wait(10.0)
        item_id = answer_item_id("resp_mine")
        whole = client.session.retrieve(item_id)
        sounds = list(client.all(ClientSound))
        ms = 3000
        blocks = ms * SYNTH_HZ // 1000 // len(sounds[0].block)
        cut = client.session.truncate(item_id, ms)
        assert (cut.audio_end_ms, cut.beyond) == (ms, False)
        assert cut.transcript == sounds[blocks - 1].text.strip()
        assert 0 < len(cut.transcript) < len(LONG)
        item = client.session.retrieve(item_id)
        again = client.session.truncate(item_id, 60_000)
        assert again.beyond
        assert again.transcript == cut.transcript
        client.session.insert(user("item_y", "go on"))
        client.ask("resp_next")
        client.wait(1.0)
    assert sound_of(whole).transcript == LONG
    assert_sound(whole, np.concatenate([each.block for each in sounds]))
    assert sound_of(item).transcript == cut.transcript
    assert_sound(item, np.concatenate([each.block for each in sounds])[: ms * SYNTH_HZ // 1000])
    assert prompt(client)[-2] == ("assistant", cut.transcript)


def test_an_item_is_retrieved_and_cut_while_it_is_being_spoken() -> None:
    costs = replace(ClientSimulation().costs, tts_rtf=0.9)
    with ClientSimulation(answer=lambda _: LONG, costs=costs).running() as client:
        client.session.insert(user("item_x", "hello"))
        client.ask("resp_mine")
        client.wait(4.0)
        item_id = answer_item_id("resp_mine")
        spoken = client.session.retrieve(item_id)
        assert isinstance(spoken, MessageItem)
        assert spoken.status == "in_progress"
        assert LONG.startswith((sound_of(spoken).transcript or "?").strip())
        cut = client.session.truncate(item_id, 1500)
        client.session.cancel("resp_mine")
        assert sound_of(client.session.retrieve(item_id)).transcript == cut.transcript
        assert cut.transcript
    assert client.all(ResponseDone)[0].status == "cancelled"


def test_what_has_no_sound_cannot_be_cut() -> None:
    with ClientSimulation().running() as client:
        client.session.insert(user("item_x", "hello"))
        with pytest.raises(NoSound):
            client.session.truncate("item_x", 0)
        with pytest.raises(UnknownItem):
            client.session.truncate("item_y", 0)


def test_the_sound_of_what_the_person_said_is_retrieved() -> None:
    with ClientSimulation([QUESTION]).running() as client:
        client.silence(0.5)
        client.say(QUESTION)
        client.silence_until_done()
        item = client.session.retrieve("item_a-1")
    part = sound_of(item)
    assert part.transcript == QUESTION.text
    assert part.rate_hz == PIPELINE_HZ
    assert part.audio is not None
    assert len(QUESTION.audio) <= len(part.audio) <= len(QUESTION.audio) + PIPELINE_HZ


def test_sound_that_is_put_in_is_written_down_before_it_is_answered() -> None:
    whole = QUESTION.audio[: len(QUESTION.audio) // BLOCK_SAMPLES * BLOCK_SAMPLES]
    part = SoundPart(None, whole, PIPELINE_HZ)
    with ClientSimulation([QUESTION]).running() as client:
        client.session.insert(MessageItem("item_x", "user", (part,)))
        client.ask("resp_mine")
        client.wait(2.0)
        item = client.session.retrieve("item_x")
    assert texts(client.chat.prompts[0])[1:] == [("user", QUESTION.text)]
    assert sound_of(item).transcript == QUESTION.text


def sound_of(item: Item) -> SoundPart:
    assert isinstance(item, MessageItem)
    assert isinstance(item.parts[0], SoundPart)
    return item.parts[0]


def assert_sound(item: Item, expected: np.ndarray) -> None:
    audio = sound_of(item).audio
    assert audio is not None
    np.testing.assert_allclose(audio, expected, atol=1 / 32000)


@pytest.mark.parametrize("after_s", [0.1, 0.2, 0.25, 0.3])
@pytest.mark.parametrize(
    "hearing", [Hearing(ServerVad(silence_ms=500)), SEMANTIC], ids=["server", "semantic"]
)
def test_who_asks_just_before_the_turn_is_committed_gets_one_answer(
    hearing: Hearing, after_s: float
) -> None:
    with ClientSimulation([QUESTION], hearing=hearing).running() as client:
        client.say(QUESTION)
        client.silence(after_s)
        with suppress(ResponseActive):
            client.ask("resp_mine")
        client.silence(8.0)
    assert len(client.all(ResponseStarted)) == len(client.all(ResponseDone)) == 1
    assert client.all(ResponseDone)[0].status == "completed"
    assert len(client.all(TurnCommitted)) == 1
    assert ("user", QUESTION.text) in prompt(client)


# --- in another process ---------------------------------------------------------------------------


def test_a_session_elsewhere_goes_on_with_what_was_written() -> None:
    simulation = ClientSimulation()
    with simulation.running("a") as client:
        client.session.insert(user("item_x", "hello"))
        client.ask("resp_mine")
        client.wait(5.0)
        before = client.session.changes
        client.session.insert(user("item_z", "and this"))
        assert client.session.changes > before
    written = json.loads(json.dumps(client.session.written()))
    elsewhere = ClientSimulation()
    with elsewhere.running("b", kept=written) as client:
        assert client.session.previous("item_z") == answer_item_id("resp_mine")
        client.session.insert(user("item_y", "again"))
        client.ask("resp_next")
        client.wait(1.0)
    assert [role for role, _ in prompt(client)] == ["system", "user", "assistant", "user"]
    assert "hello" in prompt(client)[1][1]


def test_what_cannot_be_read_costs_the_history_alone(caplog: pytest.LogCaptureFixture) -> None:
    with ClientSimulation().running("b", kept={"entries": [{"item": "none"}]}) as client:
        client.session.insert(user("item_y", "again"))
        client.ask("resp_next")
        client.wait(1.0)
    assert [role for role, _ in prompt(client)] == ["system", "user"]
    assert "lost" in caplog.text
