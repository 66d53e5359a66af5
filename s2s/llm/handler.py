"""The language-model stage: a transcript in, pieces of an answer out, and exactly one end.

It starts at the provisional end of a turn, while the speaker may still go on, and stops at the next
token when the turn is re-opened or the answer interrupted.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from s2s.core.channel import Channel
from s2s.core.handler import Handler
from s2s.core.messages import (
    AssistantText,
    EndOfResponse,
    LlmInput,
    PartialTranscript,
    ResponseId,
    SessionEnd,
    Transcript,
    TranscriptFailed,
    TtsInput,
    TtsMessage,
)
from s2s.core.state import SessionState
from s2s.llm.base import ChatMessage, ChatModel
from s2s.llm.history import History
from s2s.llm.sentences import SentenceStream

SUMMARY_PROMPT = "Sum up this conversation in two sentences, as notes for yourself."
IDLE_BEFORE_SUMMARY_S = 2.0

APOLOGY_NOT_HEARD = "Sorry, I could not make out what you said."
NO_WORDS = "Sorry, I have no answer to that."
"""Said when the model says nothing at all: small ones do, and silence sounds like a fault."""
APOLOGY_NO_ANSWER = "Sorry, I have trouble answering right now."


class LlmHandler(Handler[LlmInput, TtsMessage]):
    """Answers transcripts.

    Args:
        inbox: its own channel: while something newer waits there, nothing is read ahead.
    """

    name = "llm"

    def __init__(
        self,
        model: ChatModel,
        history: History,
        inbox: Channel[LlmInput],
        state: SessionState,
        *,
        summarise: bool = False,
    ) -> None:
        self._model = model
        self._inbox = inbox
        self._read = ""
        self._summarise = summarise
        self._history = history
        self._state = state
        self._keys = itertools.count(1)
        self._open: ResponseId | None = None

    def process(self, message: LlmInput) -> Iterable[TtsMessage]:
        match message:
            case PartialTranscript():
                return self._read_along(message)
            case Transcript():
                return self._answer(message)
            case TranscriptFailed():
                return self._apologise(message, message.error)
            case SessionEnd():
                return (message,)

    def failed(self, message: LlmInput | None, error: Exception) -> Iterable[TtsMessage]:
        if isinstance(message, (Transcript, TranscriptFailed)):
            yield from self._apologise(message, str(error))

    def deadline_s(self) -> float | None:
        if not self._summarise or not self._history.has_old_turns:
            return None
        return self._state.clock.now() + IDLE_BEFORE_SUMMARY_S

    def expired(self) -> Iterable[TtsMessage]:
        """Nobody wants an answer: sum up what was said long ago. Any message stops it."""
        turns, messages = self._history.old_turns()
        prompt = [
            ChatMessage("system", SUMMARY_PROMPT),
            ChatMessage("user", "\n".join(f"{m.role}: {m.content}" for m in messages)),
        ]
        words = list(self._model.stream(prompt, stop=lambda: bool(len(self._inbox))))
        if words and not len(self._inbox):
            self._history.sum_up(turns, "".join(words).strip())
        return ()

    def end_session(self) -> None:
        self._history.reset()

    def _response(self, message: Transcript | TranscriptFailed) -> ResponseId:
        return ResponseId(
            message.turn.turn_id,
            message.turn.turn_revision,
            message.cancel_generation,
            f"response-{next(self._keys)}",
        )

    def _read_along(self, message: PartialTranscript) -> Iterator[TtsMessage]:
        """Let the model read what is being said, so that only the end is new to it later."""
        newest = not len(self._inbox) and self._state.turns.is_latest(message.turn)
        new = bool(message.text) and message.text != self._read
        if self._model.reads_ahead and newest and new:
            self._read = message.text
            self._model.warm(self._history.prompt(message.text))
        return iter(())

    def _answer(self, message: Transcript) -> Iterator[TtsMessage]:
        text = message.text.strip()
        response = self._response(message)
        if not text or self._state.is_stale(response):
            return
        self._history.user(message.turn, text)
        self._open = response
        silent = True
        for piece in self._pieces(response):
            silent = silent and not piece.strip()
            yield AssistantText(piece, response)
            yield TtsInput(piece, response, message.language, message.speech_stopped_at_s)
        if silent and not self._state.is_stale(response):
            yield AssistantText(NO_WORDS, response)
            yield TtsInput(NO_WORDS, response, "en", message.speech_stopped_at_s, aside=True)
        self._open = None
        yield EndOfResponse(response, cleanup_only=self._state.is_stale(response))

    def _pieces(self, response: ResponseId) -> Iterator[str]:
        """The answer in pieces to be spoken; together they are the model's text."""
        sentences = SentenceStream()
        prompt = self._history.prompt()
        for token in self._model.stream(prompt, stop=lambda: self._state.is_stale(response)):
            self._state.mark(response, "first_token")
            for piece in sentences.push(token):
                self._state.mark(response, "first_sentence")
                yield piece
        if not self._state.is_stale(response):
            for piece in sentences.flush():
                self._state.mark(response, "first_sentence")
                yield piece

    def _apologise(
        self, message: Transcript | TranscriptFailed, error: str
    ) -> Iterator[TtsMessage]:
        """End the response as failed, so that the person hears it."""
        started, self._open = self._open, None
        response = started or self._response(message)
        if self._state.is_stale(response):
            if started is not None:
                yield EndOfResponse(response, cleanup_only=True)
            return
        heard = isinstance(message, Transcript)
        apology = APOLOGY_NO_ANSWER if heard else APOLOGY_NOT_HEARD
        yield AssistantText(apology, response)
        yield TtsInput(apology, response, "en", message.speech_stopped_at_s, aside=True)
        yield EndOfResponse(response, error=error)
