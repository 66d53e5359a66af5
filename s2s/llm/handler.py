"""The language-model stage: a transcript in, pieces of an answer out, and exactly one end.

It starts at the provisional end of a turn, while the speaker may still go on, and stops at the next
token when the turn is re-opened or the answer interrupted.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from s2s.core.channel import Channel
from s2s.core.handler import Handler
from s2s.core.markup import (
    Call,
    Item,
    MarkupFilter,
    Visible,
    Withdrawn,
    WrittenCall,
    read_calls,
    visible_text,
)
from s2s.core.messages import (
    Announcement,
    AssistantText,
    EndOfResponse,
    LlmInput,
    PartialTranscript,
    ResponseAsked,
    ResponseId,
    SessionEnd,
    SignOfLife,
    TextEnding,
    ToolCall,
    ToolResult,
    Transcript,
    TranscriptFailed,
    TtsInput,
    TtsMessage,
    TurnId,
)
from s2s.core.state import SessionState
from s2s.core.work import Work
from s2s.llm.apologies import NO_ANSWER, NOT_HEARD, apology
from s2s.llm.base import ChatMessage, ChatModel
from s2s.llm.calling.announcing import TIMER_IS_UP, announced
from s2s.llm.calling.own_tools import AnswerItem, Given, OwnTools, ToolUser
from s2s.llm.first_words import FirstWords
from s2s.llm.history import ChatHistory
from s2s.llm.plan import AnswerPlan, Planning, requested
from s2s.llm.sentences import SentenceStream, TextPiece, WordStream

SUMMARY_PROMPT = "Sum up this conversation in two sentences, as notes for yourself."
IDLE_BEFORE_SUMMARY_S = 2.0
HEARD_LOOK_S, HEARD_LOOKS = 0.5, 240
"""So often, and for two minutes at most, it is looked whether an answer was heard."""


@dataclass(frozen=True, slots=True)
class Steered:
    """How the answers of a session are made that a client steers."""

    plan: Planning
    key: Callable[[TurnId], str]
    """Names the response to a turn."""
    call_id: Callable[[], str]
    """Names the next call."""


@dataclass(frozen=True, slots=True)
class AnswerVoice:
    """What speaks the answers, as far as they are made for it."""

    by_word: bool = False
    """It takes text while it is written: answers leave word by word."""
    languages: Sequence[str] = ()
    """ISO 639-1 codes, its own first; empty when it names none."""


@dataclass(slots=True)
class _Asked:
    """What is being answered."""

    response: ResponseId
    plan: AnswerPlan
    language: str | None
    stopped_at_s: float


class LlmHandler(Handler[LlmInput, TtsMessage]):
    """Answers transcripts.

    Args:
        inbox: its own channel: while something newer waits there, nothing is read ahead.
        voice: what speaks the answers.
        on_ending: takes what the model makes of the person's words, once for every transcript and
            maybe before it; must not wait.
        steered: how a client wants its answers; without one they are words alone, and a failure is
            said aloud.
    """

    name = "llm"

    def __init__(
        self,
        model: ChatModel,
        history: ChatHistory,
        inbox: Channel[LlmInput],
        state: SessionState,
        *,
        summarise: bool = False,
        voice: AnswerVoice = AnswerVoice(),
        on_ending: Callable[[TextEnding], object] = lambda _: None,
        steered: Steered | None = None,
    ) -> None:
        self._model = model
        self._voice_languages = voice.languages
        self._on_ending = on_ending
        self._steered = steered
        self._own: OwnTools | None = None
        self._inbox = inbox
        self._read = ""
        self._language: str | None = None
        """What the person spoke last."""
        self._summarise = summarise
        self._cutter = WordStream if voice.by_word else SentenceStream
        self._history = history
        self._state = state
        self.first_words = FirstWords(state.clock)
        """What is waited for."""
        self._keys = itertools.count(1)
        self._open: ResponseId | None = None
        self._opens_in_thought = False
        """The model's template opens the thinking: an answer of it has shown that."""
        self._work = Work.FIRST_SOUND
        self._looks = 0
        """How often it is still looked whether the last answer was heard."""
        self._heard = ""
        """What was heard of it when that was looked at last."""

    def call(self, tools: ToolUser) -> None:
        """Have these tools called here for answers; before the first."""
        call_id = None if self._steered is None else self._steered.call_id
        self._own = OwnTools(tools, self._history, self._state, call_id)

    def process(self, message: LlmInput) -> Iterable[TtsMessage]:
        match message:
            case PartialTranscript():
                return self._read_along(message)
            case Transcript():
                self._language = message.language or self._language
                return self._answer(message)
            case TranscriptFailed():
                self._on_ending(TextEnding(message.turn, None, None))
                return self._apologise(message, message.error)
            case ResponseAsked():
                plan = requested(message.request, self._history)
                asked = _Asked(message.response, plan, None, self._state.clock.now())
                return self._tell(asked, message)
            case Announcement():
                phrase = apology(TIMER_IS_UP, self._language, self._voice_languages)
                return announced(message, self._plan(()), *phrase)
            case SessionEnd():
                return (message,)

    def failed(self, message: LlmInput | None, error: Exception) -> Iterable[TtsMessage]:
        if isinstance(message, (Transcript, TranscriptFailed, ResponseAsked)):
            yield from self._apologise(message, str(error))

    def deadline_s(self) -> float | None:
        if self._looks:
            return self._state.clock.now() + HEARD_LOOK_S
        if not self._summarise or not self._history.has_old_turns:
            return None
        return self._state.clock.now() + IDLE_BEFORE_SUMMARY_S

    def expired(self) -> Iterable[TtsMessage]:
        """No answer is due: read what is sure of the next prompt, or sum up what was said long ago.
        Any message stops that."""
        if self._looks:
            self._looks -= 1
            before, self._heard = self._heard, self._history.heard
            if self._heard and self._heard == before:
                self._looks = 0
                self._history.make_room()
                plan = self._plan(self._history.prompt())
                self._model.warm(plan.messages, options=plan.options)
            return ()
        turns, messages = self._history.old_turns()
        prompt = [
            ChatMessage("system", SUMMARY_PROMPT),
            ChatMessage("user", "\n".join(f"{m.role}: {m.content}" for m in messages)),
        ]
        given = self._model.stream(
            prompt, stop=lambda: bool(len(self._inbox)), work=lambda: Work.TEXT_AHEAD
        )
        words = visible_text("".join(part for part in given if isinstance(part, str))).strip()
        if words and not len(self._inbox):
            self._history.sum_up(turns, words)
        return ()

    def end_session(self) -> None:
        self._looks = 0
        self._history.reset()

    def _response(self, message: Answered) -> ResponseId:
        if isinstance(message, ResponseAsked):
            return message.response
        turn = message.turn
        named = self._steered.key(turn) if self._steered else f"response-{next(self._keys)}"
        return ResponseId(turn.turn_id, turn.turn_revision, message.cancel_generation, named)

    def _read_along(self, message: PartialTranscript) -> Iterator[TtsMessage]:
        """Let the model read what is being said, so that only the end is new to it later:
        docs/decisions/reading-along.md."""
        newest = not len(self._inbox) and self._state.turns.is_latest(message.turn)
        new = bool(message.text) and message.text != self._read
        if self._model.reads_ahead and newest and new:
            self._read = message.text
            plan = self._plan(self._history.prompt(message.text))
            self._tell_ending(message.turn, message.text, plan)
            self._model.warm(plan.messages, options=plan.options)
        return iter(())

    def _plan(self, prompt: Sequence[ChatMessage]) -> AnswerPlan:
        """How a turn is answered."""
        return self._steered.plan(prompt) if self._steered else AnswerPlan(prompt)

    def _tell_ending(self, turn: TurnId, text: str, plan: AnswerPlan) -> None:
        """Before anything is written: who decides whether the turn is over waits for this."""
        log_odds = None
        try:
            log_odds = self._model.ending(plan.messages, options=plan.options)
        finally:
            self._on_ending(TextEnding(turn, text.strip(), log_odds))

    def _answer(self, message: Transcript) -> Iterator[TtsMessage]:
        text = message.text.strip()
        response = self._response(message)
        unwanted = not message.answered or self._state.is_silenced(message.turn.turn_id)
        if text and unwanted and self._state.turns.is_latest(message.turn):
            self._history.user(message.turn, text)
            self._on_ending(TextEnding(message.turn, text, None))
        if not text or unwanted or self._state.is_stale(response):
            return
        self._history.user(message.turn, text)
        self._open = response
        plan = self._plan(self._history.prompt())
        self._tell_ending(message.turn, text, plan)
        asked = _Asked(response, plan, message.language, message.speech_stopped_at_s)
        yield from self._tell(asked, message)

    def _tell(self, asked: _Asked, message: Transcript | ResponseAsked) -> Iterator[TtsMessage]:
        """The answer in messages, up to its end."""
        response, plan = asked.response, asked.plan
        self._open = response
        if plan.spoken:
            self.first_words.ask(response, asked.language, asked.stopped_at_s)
        worded = False
        for part in self._parts(plan):
            match part:
                case TextPiece(text, ends):
                    worded = True
                    yield AssistantText(text, response, spoken=plan.spoken)
                    if plan.spoken:
                        yield TtsInput(
                            text,
                            response,
                            asked.language,
                            asked.stopped_at_s,
                            plan.voice,
                            plan.speed,
                            ends=ends,
                        )
                case Call():
                    call_id = self._steered.call_id() if self._steered else ""
                    yield ToolCall(part.name, part.arguments, response, call_id)
                case SignOfLife() | ToolResult():
                    yield part
                case Withdrawn():
                    self._state.withdraw(response)
                    yield EndOfResponse(response, cleanup_only=True)
                    response = self._open = self._response(message)
        self._open = None
        self.first_words.end()
        self._looks = HEARD_LOOKS if self._model.reads_ahead else 0
        yield EndOfResponse(
            response,
            cleanup_only=self._state.is_stale(response),
            language=asked.language,
            # A client is not told that nothing can be said, and calls alone are an answer to it.
            spoken=plan.spoken and (worded or self._steered is None),
            usage=plan.usage(self._model),
        )

    def _parts(self, plan: AnswerPlan) -> Iterator[_AnswerPart]:
        """The answer in pieces to be spoken and calls of tools, in order.

        `Withdrawn` takes back the pieces before it: they were thinking, which nothing had told.
        """
        sentences = self._cutter()
        self._work = Work.FIRST_SOUND  # until there is something to say
        said = False
        for item in self._answered(plan):
            self.first_words.came()
            match item:
                case Visible():
                    parts: list[_AnswerPart] = [*sentences.push(item.text)]
                case Withdrawn():
                    sentences, parts = self._cutter(), []
                    if said:
                        yield item
                case Call() | SignOfLife() | ToolResult():
                    parts = [*sentences.flush(), item]
            for part in parts:
                said = True
                if isinstance(part, TextPiece):
                    self._mark("first_sentence")
                    self._work = Work.TEXT_AHEAD
                yield part
        if not self._stale():
            for piece in sentences.flush():
                self._mark("first_sentence")
                yield piece

    def _answered(self, plan: AnswerPlan) -> Iterator[AnswerItem]:
        """What the model says, and what comes of the tools that it calls here."""
        if self._own is None:
            return self._items(plan)
        return self._own.answer(plan, lambda: self._items(plan), lambda: self._open, self._language)

    def _items(self, plan: AnswerPlan) -> Iterator[Given]:
        """What the model says, without what it writes around its words."""
        markup = MarkupFilter(opens_in_thought=self._opens_in_thought)
        stop = self._state.stop_when(self._stale)
        for given in plan.stream(self._model, stop, lambda: self._work):
            self._mark("first_token")
            if isinstance(given, Call):
                yield given
            else:
                yield from _with_calls(markup.push(given))
        if not self._stale():
            yield from _with_calls(markup.flush())
        self._opens_in_thought = self._opens_in_thought or markup.opened_in_thought

    def _stale(self) -> bool:
        return self._open is None or self._state.is_stale(self._open)

    def _mark(self, point: Literal["first_token", "first_sentence"]) -> None:
        if self._open is not None:
            self._state.mark(self._open, point)

    def _apologise(self, message: Answered, error: str) -> Iterator[TtsMessage]:
        """End the response as failed, so that the person hears it; a client is told alone."""
        started, self._open = self._open, None
        self.first_words.end()
        response = started or self._response(message)
        if self._state.is_stale(response):
            if started is not None:
                yield EndOfResponse(response, cleanup_only=True)
            return
        if self._steered is None and not isinstance(message, ResponseAsked):
            heard = isinstance(message, Transcript)
            text, language = apology(
                NO_ANSWER if heard else NOT_HEARD, self._language, self._voice_languages
            )
            yield AssistantText(text, response)
            yield TtsInput(text, response, language, message.speech_stopped_at_s, system_note=True)
        if message_answered(message):
            yield EndOfResponse(response, error=error, spoken=self._steered is None)


_AnswerPart = TextPiece | Call | Withdrawn | SignOfLife | ToolResult

Answered = Transcript | TranscriptFailed | ResponseAsked
"""What a response is made to."""


def message_answered(message: Answered) -> bool:
    """Whether a response to `message` is wanted."""
    return isinstance(message, ResponseAsked) or message.answered


def _with_calls(items: Iterable[Item]) -> Iterator[Given]:
    """The items, calls that were written as text read."""
    for item in items:
        if isinstance(item, WrittenCall):
            yield from read_calls(item)
        else:
            yield item
