"""The language-model stage: pieces and exactly one end for every transcript."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest

from s2s.core.cancel import CancelScope
from s2s.core.channel import Channel
from s2s.core.clock import ManualClock
from s2s.core.messages import (
    AssistantText,
    EndOfResponse,
    LlmInput,
    PartialTranscript,
    SessionEnd,
    TextEnding,
    ToolCall,
    Transcript,
    TranscriptFailed,
    TtsInput,
    TtsMessage,
    TurnId,
)
from s2s.core.metrics import Metrics
from s2s.core.speculation import SpeculativeTurns
from s2s.core.state import SessionState
from s2s.core.work import Work
from s2s.llm.apologies import NO_ANSWER, NOT_HEARD
from s2s.llm.base import PLAIN, ChatMessage, ChatOptions, LlmError, Urgency
from s2s.llm.handler import HEARD_LOOKS, LlmHandler
from s2s.llm.history import History

TURN = TurnId("t", 0)


class Chat:
    """Answers word by word, and lets a test act in between."""

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.reads_ahead = True
        self.prompts: list[list[ChatMessage]] = []
        self.read: list[str] = []
        self.judged: list[str] = []
        self.log_odds: float | None = None
        self.before: Callable[[int], object] = lambda number: None

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        stop: Callable[[], bool] = lambda: False,
        work: Urgency = lambda: Work.FIRST_SOUND,
        options: ChatOptions = PLAIN,
    ) -> Iterator[str]:
        self.prompts.append(list(messages))
        for number, word in enumerate(self.answer.split(" ")):
            self.before(number)
            if stop():
                return
            yield f"{word} "

    def warm(self, messages: Sequence[ChatMessage], *, options: ChatOptions = PLAIN) -> None:
        self.read.append(messages[-1].content)

    def ending(
        self, messages: Sequence[ChatMessage], *, options: ChatOptions = PLAIN
    ) -> float | None:
        self.judged.append(messages[-1].content)
        return self.log_odds

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def close(self) -> None: ...


class Rig:
    def __init__(
        self, answer: str = "Good day to you. How are you doing?", *, summarise: bool = False
    ) -> None:
        clock = ManualClock()
        self.chat = Chat(answer)
        self.scope, self.turns = CancelScope(clock), SpeculativeTurns(clock)
        self.inbox: Channel[LlmInput] = Channel(4, clock=clock)
        self.state = SessionState(self.scope, self.turns, clock, Metrics(), lambda event: None)
        self.history = History("sys", max_turns=9, max_tokens=99, count_tokens=lambda t: 1)
        self.endings: list[TextEnding] = []
        self.handler = LlmHandler(
            self.chat,
            self.history,
            self.inbox,
            self.state,
            summarise=summarise,
            on_ending=self.endings.append,
        )
        self.turns.observe(TURN)

    def send(self, message: LlmInput) -> list[TtsMessage]:
        return list(self.handler.process(message))


def transcript(text: str = "hello") -> Transcript:
    return Transcript(text, "en", TURN, 0, 0.0)


def test_each_piece_is_shown_then_spoken_and_one_end_follows() -> None:
    out = Rig().send(transcript())
    assert [type(m) for m in out] == [AssistantText, TtsInput] * 2 + [EndOfResponse]
    shown = "".join(m.text for m in out if isinstance(m, AssistantText))
    spoken = "".join(m.text for m in out if isinstance(m, TtsInput))
    assert shown == spoken == "Good day to you. How are you doing? "
    assert len({m.response for m in out if not isinstance(m, SessionEnd)}) == 1


def test_two_answers_have_two_keys() -> None:
    rig = Rig()
    keys = {m.response.response_key for _ in "ab" for m in rig.send(transcript())}  # type: ignore[union-attr]
    assert len(keys) == 2


def test_an_empty_transcript_is_not_answered() -> None:
    rig = Rig()
    assert rig.send(transcript("  ")) == []
    assert rig.chat.prompts == []


def test_an_answer_without_words_goes_on_as_it_is() -> None:
    """The TTS stage knows whether anything could be spoken, and says so."""
    out = Rig("").send(transcript())
    end = out[-1]
    assert isinstance(end, EndOfResponse)
    assert (end.error, end.cleanup_only, end.language) == (None, False, "en")


CODE = "~~~\nprint(1). Really\n\nprint(2). <think>\n~~~"


def texts(out: list[TtsMessage]) -> str:
    shown = "".join(m.text for m in out if isinstance(m, AssistantText))
    assert shown == "".join(m.text for m in out if isinstance(m, TtsInput))
    return shown.strip()


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("<think>The person wants it. It is Paris, I believe.</think>It is Paris.", "It is Paris."),
        ("<thinking>\nFirst: look.\n\nSecond: count.\n</thinking>\nThree apples.", "Three apples."),
        ("<|im_start|>assistant\nAll is done.<|im_end|>", "All is done."),
        (
            "Here it is:\n~~~\nprint(1). Really\n~~~\nBye.",
            "Here it is:\n~~~\nprint(1). Really\n~~~\nBye.",
        ),
        ("<think>I look. Well", ""),
        ("So $$a = b. c$$ it is.", "So $$a = b. c$$ it is."),
    ],
)
def test_what_a_model_writes_around_its_words_is_neither_shown_nor_spoken(
    answer: str, shown: str
) -> None:
    out = Rig(answer).send(transcript())
    assert texts(out) == shown
    assert isinstance(out[-1], EndOfResponse)


def test_calls_go_on_as_calls_in_their_place() -> None:
    call = '<tool_call>{"name": "lamp_on", "arguments": {"room": "hall. west"}}</tool_call>'
    out = Rig(f"I will switch it on. {call} It is on.").send(transcript())
    kinds = [type(m) for m in out]
    assert kinds == [AssistantText, TtsInput, ToolCall, AssistantText, TtsInput, EndOfResponse]
    (called,) = [m for m in out if isinstance(m, ToolCall)]
    assert (called.name, called.arguments) == ("lamp_on", '{"room": "hall. west"}')
    assert texts(out) == "I will switch it on. It is on."


def test_thinking_whose_opening_was_not_written_is_taken_back() -> None:
    rig = Rig("They want the capital, I think. It is Paris.\n</think>\nParis it is, of course.")
    out = rig.send(transcript())
    ends = [m for m in out if isinstance(m, EndOfResponse)]
    assert [end.cleanup_only for end in ends] == [True, False]
    withdrawn, answer = (end.response for end in ends)
    assert rig.state.is_stale(withdrawn)
    kept = [m for m in out if isinstance(m, TtsInput) and m.response == answer]
    assert "".join(m.text for m in kept).strip() == "Paris it is, of course."


def test_the_next_answer_of_such_a_model_is_held_until_the_thinking_ends() -> None:
    rig = Rig("I look at it once more. It is so.\n</think>\nYes.")
    rig.send(transcript())
    out = rig.send(transcript("again"))
    assert texts(out) == "Yes."
    assert [m.cleanup_only for m in out if isinstance(m, EndOfResponse)] == [False]


def test_a_stale_transcript_is_not_answered() -> None:
    rig = Rig()
    rig.turns.confirm_reopen("t")
    assert rig.send(transcript()) == []


def test_a_reopening_stops_it_at_the_next_token_and_the_end_cleans_up() -> None:
    rig = Rig()
    rig.chat.before = lambda number: rig.turns.confirm_reopen("t") if number == 5 else None
    out = rig.send(transcript())
    assert [m.text for m in out if isinstance(m, TtsInput)] == ["Good day to you. "]
    end = out[-1]
    assert isinstance(end, EndOfResponse)
    assert end.cleanup_only


def test_a_model_that_fails_is_apologised_for_and_ends_the_same_response_as_failed() -> None:
    rig = Rig()

    def fail(number: int) -> None:
        if number == 5:
            raise LlmError("server gone")

    rig.chat.before = fail
    message = transcript()
    out: list[TtsMessage] = []
    with pytest.raises(LlmError):
        out.extend(rig.handler.process(message))
    out = list(rig.handler.failed(message, LlmError("server gone")))
    text, speech, end = out
    assert isinstance(text, AssistantText)
    assert isinstance(speech, TtsInput)
    assert isinstance(end, EndOfResponse)
    assert (text.text, speech.system_note) == (NO_ANSWER["en"], True)
    assert end.error == "server gone"
    assert end.response.response_key == "response-1"


def test_speech_that_could_not_be_written_down_is_apologised_for() -> None:
    out = Rig().send(TranscriptFailed("no model", TURN, 0, 0.0))
    assert [m.text for m in out if isinstance(m, TtsInput)] == [NOT_HEARD["en"]]
    end = out[-1]
    assert isinstance(end, EndOfResponse)
    assert end.error == "no model"


def test_apologies_are_in_the_language_that_was_spoken_last() -> None:
    rig = Rig()
    rig.send(Transcript("Guten Tag.", "de", TURN, 0, 0.0))
    later = TurnId("u", 0)
    rig.turns.observe(later)
    out = rig.send(TranscriptFailed("no model", later, 0, 0.0))
    assert [(m.text, m.language) for m in out if isinstance(m, TtsInput)] == [
        (NOT_HEARD["de"], "de")
    ]


def test_a_failure_of_a_stale_answer_is_silent_and_still_ends() -> None:
    rig = Rig()
    rig.scope.cancel()
    assert list(rig.handler.failed(transcript(), LlmError("gone"))) == []


def test_it_reads_along_while_the_person_speaks() -> None:
    rig = Rig()
    partial = PartialTranscript("what is", "what", TURN, 8000)
    assert rig.send(partial) == []
    rig.send(partial)
    assert rig.chat.read == ["what is"]


def test_what_the_model_makes_of_the_words_is_told_before_it_answers() -> None:
    rig = Rig()
    rig.chat.log_odds = 1.5
    rig.chat.before = lambda _: rig.endings.append(TextEnding(TURN, "written", None))
    rig.send(transcript(" What time is it? "))
    assert rig.endings[0] == TextEnding(TURN, "What time is it?", 1.5)
    assert rig.chat.judged == ["What time is it?"]
    assert len(rig.endings) > 1


def test_a_model_that_tells_nothing_or_fails_is_not_waited_for() -> None:
    rig = Rig()
    rig.send(transcript("hello"))
    assert rig.endings == [TextEnding(TURN, "hello", None)]

    def fail(messages: Sequence[ChatMessage], *, options: ChatOptions = PLAIN) -> float | None:
        raise LlmError("the graph broke")

    rig.chat.ending = fail
    with pytest.raises(LlmError):
        rig.send(transcript("again"))
    assert rig.endings[-1] == TextEnding(TURN, "again", None)


def test_words_that_were_not_written_down_are_not_judged_and_that_is_told() -> None:
    rig = Rig()
    rig.send(TranscriptFailed("no", TURN, 0, 0.0))
    assert rig.endings == [TextEnding(TURN, None, None)]


def test_it_does_not_read_along_when_that_costs_or_something_newer_waits() -> None:
    rig = Rig()
    partial = PartialTranscript("what is", "what", TURN, 8000)
    rig.inbox.put(transcript())
    rig.send(partial)
    rig.inbox.get()
    rig.chat.reads_ahead = False
    rig.send(partial)
    assert rig.chat.read == []


def full_rig(*, summarise: bool = True) -> Rig:
    rig = Rig("They greeted each other. ", summarise=summarise)
    for number in range(7):
        rig.history.user(TurnId(f"t{number}", 0), f"question {number}")
    return rig


def test_old_turns_are_summed_up_when_nobody_wants_an_answer() -> None:
    rig = full_rig()
    assert rig.handler.deadline_s() == 2.0
    assert list(rig.handler.expired()) == []
    system, rest = rig.history.prompt()
    assert "They greeted each other." in system.content
    assert rest.content.split("\n")[0] == "question 3"
    assert rig.handler.deadline_s() is None


def test_a_question_stops_the_summary_and_nothing_is_lost() -> None:
    rig = full_rig()
    rig.chat.before = lambda number: rig.inbox.put(transcript()) if number == 1 else None
    list(rig.handler.expired())
    assert "question 0" in rig.history.prompt()[1].content
    assert rig.history.prompt()[0].content == "sys"


def test_without_summaries_old_turns_are_just_forgotten() -> None:
    rig = full_rig(summarise=False)
    assert rig.handler.deadline_s() is None


def test_a_session_end_empties_the_history() -> None:
    rig = Rig()
    rig.send(transcript())
    rig.handler.end_session()
    assert rig.send(SessionEnd("s")) == [SessionEnd("s")]
    assert len(rig.history.prompt()) == 1


def test_what_is_sure_of_the_next_prompt_is_read_once_the_answer_was_heard() -> None:
    rig = Rig()
    (*_, end) = rig.send(transcript())
    assert isinstance(end, EndOfResponse)
    for heard in ("", "Good day", "Good day to you."):
        rig.history.played(end.response, heard, complete=False)
        assert rig.handler.deadline_s() is not None
        assert list(rig.handler.expired()) == []
        assert rig.chat.read == []
    assert list(rig.handler.expired()) == []
    assert rig.chat.read == ["Good day to you."]
    assert rig.handler.deadline_s() is None


def test_an_answer_that_is_never_heard_is_not_looked_for_for_ever() -> None:
    rig = Rig()
    rig.send(transcript())
    looks = 0
    while rig.handler.deadline_s() is not None:
        assert list(rig.handler.expired()) == []
        looks += 1
    assert looks == HEARD_LOOKS
    assert rig.chat.read == []
