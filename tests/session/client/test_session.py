"""What a client may ask of a session, and what it is told: whole sessions in simulated time."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest

from s2s.core.answering import ResponseRequest, ToolSchema
from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block
from s2s.core.control import (
    DuplicateItem,
    Hearing,
    InputEmpty,
    NoSound,
    ResponseActive,
    SemanticVad,
    ServerVad,
    UnknownItem,
)
from s2s.core.events import (
    AnswerText,
    ResponseDone,
    ResponseStarted,
    ToolCalled,
    TurnBegan,
    TurnCommitted,
    TurnEnded,
    TurnTranscript,
    TurnTranscriptFailed,
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
from s2s.llm.base import PLAIN, ChatMessage, ChatOptions, LlmError, Urgency
from s2s.session.models import Models
from s2s.session.session import stages_alive
from s2s.stt.base import SttError, Transcription
from s2s.testing.client_simulator import ClientSimulation
from s2s.testing.simulator import SYNTH_HZ, Said, ScriptedChat, tone, with_pauses
from s2s.transport.client_playback import ClientSound

QUESTION = Said(tone(1.5), "what time is it now")
SECOND = Said(tone(1.8, 200), "and what about tomorrow then")
NOD = Said(tone(0.3, 240), "mm-hmm")
LONG = " ".join(f"Sentence number {n} of a long answer is this." for n in range(8))
SEMANTIC = Hearing(SemanticVad())
BY_HAND = Hearing(None)


def user(item_id: str, text: str) -> MessageItem:
    return MessageItem(item_id, "user", (TextPart(text),))


def texts(messages: Sequence[ChatMessage]) -> list[tuple[str, str]]:
    return [(m.role, m.content) for m in messages]


def prompt(client: ClientSimulation) -> list[tuple[str, str]]:
    """What the model was shown last."""
    return texts(client.chat.prompts[-1])


# --- turns ---------------------------------------------------------------------------------------


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


# --- interruption --------------------------------------------------------------------------------


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


# --- responses on request ------------------------------------------------------------------------


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


# --- failures ------------------------------------------------------------------------------------


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


# --- tools ---------------------------------------------------------------------------------------


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


# --- items ---------------------------------------------------------------------------------------


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


# --- the end -------------------------------------------------------------------------------------


def test_a_closed_session_leaves_no_thread_and_tells_nothing_more() -> None:
    before = stages_alive()
    with ClientSimulation([QUESTION], answer=lambda _: LONG).running() as client:
        client.session.insert(user("item_x", "hello"))
        client.ask("resp_mine")
        client.session.respond(
            ResponseRequest("resp_b", client.answering, (user("", "x"),), in_conversation=False)
        )
        client.silence(0.3)
        assert len([name for name in stages_alive() if name != "s2s-beside"]) <= len(before) + 5
    count = len(client.told)
    client.wait(5.0)
    assert len(client.told) == count
    assert stages_alive() == before
    done = client.all(ResponseDone)
    assert sorted(str(each.response.response_key) for each in done) == ["resp_b", "resp_mine"]


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
