"""The speech-to-text stage: speech in, transcripts out; partial ones on the side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from s2s.core.channel import Channel
from s2s.core.handler import Handler
from s2s.core.messages import (
    LlmInput,
    PartialTranscript,
    ResponseAsked,
    SessionEnd,
    Speech,
    SttInput,
    Transcript,
    TranscriptFailed,
    TurnId,
)
from s2s.core.state import SessionState
from s2s.core.work import Work
from s2s.stt.base import Transcriber, Transcription
from s2s.stt.hearing import hearing_of
from s2s.stt.languages import SpokenLanguage
from s2s.stt.stable import StableWords


class SttHandler(Handler[SttInput, LlmInput]):
    """Writes down turns.

    Args:
        inbox: its own channel: speech that a newer message of the same turn replaces is skipped.
        on_partial: takes what the speaker seems to say; called for finals too. Must not wait.
    """

    name = "stt"

    def __init__(
        self,
        transcriber: Transcriber,
        inbox: Channel[SttInput],
        state: SessionState,
        *,
        language: SpokenLanguage,
        on_partial: Callable[[PartialTranscript], None],
    ) -> None:
        self._transcriber = transcriber
        self._inbox = inbox
        self._state = state
        self._language = language
        self._on_partial = on_partial
        self._speech: Speech | None = None
        """What is, or was last, written down."""
        self._start_turn(None)

    def process(self, message: SttInput) -> Iterable[LlmInput]:
        match message:
            case Speech():
                self._speech = self._newest(message)
                return self._transcribe(self._speech)
            case Transcript() | ResponseAsked() | SessionEnd():
                return (message,)

    def set_language(self, language: str | None) -> None:
        """What is spoken from the next turn on; None: what is heard. From any thread."""
        self._language.fix(language)

    def failed(self, message: SttInput | None, error: Exception) -> Iterable[LlmInput]:
        if isinstance(message, Speech) and self._speech is not None:
            message = self._speech  # a newer one may have been taken with it
        if isinstance(message, Speech) and message.final and not self._stale(message):
            yield TranscriptFailed(
                f"speech could not be transcribed: {error}",
                message.turn,
                message.cancel_generation,
                message.speech_stopped_at_s,
                message.answered,
            )

    def end_session(self) -> None:
        self._start_turn(None)
        self._language.reset()

    def _newest(self, speech: Speech) -> Speech:
        """Skip to the newest speech of the same turn that waits: it holds all of the older."""
        turn_id = speech.turn.turn_id
        waiting = self._inbox.take_while(
            lambda other: isinstance(other, Speech) and other.turn.turn_id == turn_id
        )
        candidates = [speech, *(other for other in waiting if isinstance(other, Speech))]
        finals = [candidate for candidate in candidates if candidate.final]
        return finals[-1] if finals else candidates[-1]

    def _stale(self, speech: Speech) -> bool:
        if self._state.scope.is_stale(speech.cancel_generation):
            return True
        return speech.final and not self._state.turns.is_latest(speech.turn)

    def _transcribe(self, speech: Speech) -> Iterator[LlmInput]:
        if self._stale(speech):
            return
        if self._turn is None or self._turn.turn_id != speech.turn.turn_id:
            self._start_turn(speech.turn)
        result = self._hear(speech)
        if self._stale(speech):
            return
        if result.text:
            self._words = result
        elif self._stable.text and self._words is not None:
            result = self._words  # two hypotheses agreed on words: they were not nothing
        self._on_partial(self._partial(speech, result))
        if speech.final:
            self._state.metrics.mark(speech.turn, "transcript", self._state.clock.now())
            yield Transcript(
                result.text,
                result.language or self._language.current,
                speech.turn,
                speech.cancel_generation,
                speech.speech_stopped_at_s,
                speech.answered,
            )

    def _hear(self, speech: Speech) -> Transcription:
        """What is said, written down again where the language heard is not the one that counts."""
        stop = self._state.stop_when(lambda: self._stale(speech))
        turn_id, final, asked = speech.turn.turn_id, speech.final, self._language.asked

        def so_far(words: Transcription) -> None:
            self._tell_more(speech, words)

        with self._state.compute.working(Work.HEARING):
            heard = self._hearing.hear(
                speech.audio, final=final, language=asked, stop=stop, so_far=so_far
            )
            if asked is not None or stop():
                return heard
            language = self._language.choose(heard, turn_id, final=final)
            if language == heard.language or not heard.text:
                return replace(heard, language=language)
            return self._again.hear(speech.audio, final=final, language=language, stop=stop)

    def _start_turn(self, turn: TurnId | None) -> None:
        self._turn = turn
        self._hearing = hearing_of(self._transcriber)
        self._again = hearing_of(self._transcriber)
        self._words: Transcription | None = None
        self._stable = StableWords()
        self._told = ""
        """The words of the turn that were told last."""

    def _tell_more(self, speech: Speech, words: Transcription) -> None:
        """Tell the first words of what is being written, where they are more than is known. They
        are not all of any sound, so nothing follows from where they end."""
        if len(words.text) > len(self._told) and not self._stale(speech):
            self._told = words.text
            language = words.language or self._language.current
            self._on_partial(
                PartialTranscript(words.text, self._stable.text, speech.turn, 0, None, language)
            )

    def _partial(self, speech: Speech, heard: Transcription) -> PartialTranscript:
        self._told = heard.text
        return PartialTranscript(
            heard.text,
            self._stable.push(heard.text),
            speech.turn,
            len(speech.audio),
            heard.confidence,
            heard.language or self._language.current,
        )
