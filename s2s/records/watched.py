"""Models whose calls are noted: what was asked, when, how long it took, and what came of it.

They stand between a session and its models and change nothing. The voice detector is not among
them: it is asked 31 times a second, costs little, and is deterministic.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import asdict, replace

import numpy as np

from s2s.core.audio import Block, empty
from s2s.core.markup import Call
from s2s.core.work import Work
from s2s.llm.base import PLAIN, ChatMessage, ChatModel, ChatOptions, Urgency
from s2s.records import keys
from s2s.records.call_notes import CallNotes
from s2s.records.noted_voice import noted_voice
from s2s.session.models import Models
from s2s.stt.base import (
    GrowingTranscriber,
    StreamingTranscriber,
    Transcriber,
    Transcription,
    TranscriptionStream,
)
from s2s.turns.base import OwnVoice, TurnEnd


def watched(models: Models, notes: CallNotes) -> Models:
    """The same models, their calls noted."""
    end, voice, transcriber = models.end_of_turn, models.own_voice, models.transcriber
    hears = NotedTranscriber(transcriber, notes)
    if isinstance(transcriber, StreamingTranscriber):
        hears = NotedStreamingTranscriber(transcriber, transcriber, notes)
    return replace(
        models,
        end_of_turn=None if end is None else NotedTurnEnd(end, notes),
        own_voice=None if voice is None else NotedOwnVoice(voice, notes),
        transcriber=hears,
        chat=NotedChat(models.chat, notes),
        synthesizer=noted_voice(models.synthesizer, models.tts_rtf, notes),
    )


class NotedTurnEnd:
    """`TurnEnd`, noted."""

    def __init__(self, inner: TurnEnd, notes: CallNotes) -> None:
        self._inner, self._notes = inner, notes

    def probability(self, audio: Block) -> float:
        began_s = self._notes.now()
        value = self._inner.probability(audio)
        self._notes.note(
            "end_of_turn", keys.of_sound(audio), began_s, samples=len(audio), value=value
        )
        return value


class NotedOwnVoice:
    """`OwnVoice`, noted."""

    def __init__(self, inner: OwnVoice, notes: CallNotes) -> None:
        self._inner, self._notes = inner, notes

    def likeness(self, audio: Block) -> float:
        began_s = self._notes.now()
        value = self._inner.likeness(audio)
        self._notes.note("own_voice", keys.of_sound(audio), began_s, value=value)
        return value


def _heard(result: Transcription) -> dict[str, object]:
    return {**asdict(result), "tokens": None}


def _nobody(heard: Transcription) -> None:
    """Nobody reads along."""


class NotedTranscriber:
    """`Transcriber`, noted."""

    def __init__(self, inner: Transcriber, notes: CallNotes) -> None:
        self._inner, self._notes = inner, notes
        self.warm, self.close = inner.warm, inner.close

    def transcribe(
        self,
        audio: Block,
        *,
        language: str | None = None,
        earlier: Transcription | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Transcription:
        return self.transcribe_growing(
            audio, so_far=_nobody, language=language, earlier=earlier, stop=stop
        )

    def transcribe_growing(
        self,
        audio: Block,
        *,
        so_far: Callable[[Transcription], None],
        language: str | None = None,
        earlier: Transcription | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Transcription:
        """See `GrowingTranscriber`; all at once of one that is none."""
        began_s = self._notes.now()
        key, inner = keys.of_sound(audio, language), self._inner
        with self._notes.failing("transcribe", key, began_s):
            if so_far is not _nobody and isinstance(inner, GrowingTranscriber):
                result = inner.transcribe_growing(
                    audio, so_far=so_far, language=language, earlier=earlier, stop=stop
                )
            else:
                result = inner.transcribe(audio, language=language, earlier=earlier, stop=stop)
        whole = not stop()
        self._notes.note(
            "transcribe", key, began_s, samples=len(audio), heard=_heard(result), whole=whole
        )
        return result


class NotedStreamingTranscriber(NotedTranscriber):
    """Likewise, of one that hears each sample once."""

    def __init__(
        self, inner: Transcriber, streaming: StreamingTranscriber, notes: CallNotes
    ) -> None:
        super().__init__(inner, notes)
        self._streaming = streaming

    @property
    def interval_ms(self) -> int:
        return self._streaming.interval_ms

    def open(self, *, language: str | None = None) -> TranscriptionStream:
        return _NotedStream(self._streaming.open(language=language), language, self._notes)


class _NotedStream:
    def __init__(self, inner: TranscriptionStream, language: str | None, notes: CallNotes) -> None:
        self._inner, self._language, self._notes = inner, language, notes
        self._heard = [empty()]

    def push(self, audio: Block, *, stop: Callable[[], bool] = lambda: False) -> Transcription:
        began_s = self._notes.now()
        self._heard.append(audio.copy())
        return self._noted("push", began_s, self._inner.push(audio, stop=stop), stop)

    def end(self, *, stop: Callable[[], bool] = lambda: False) -> Transcription:
        return self._noted("end", self._notes.now(), self._inner.end(stop=stop), stop)

    def _noted(
        self, call: str, began_s: float, result: Transcription, stop: Callable[[], bool]
    ) -> Transcription:
        self._heard = [np.concatenate(self._heard)]
        audio = self._heard[0]
        key = keys.of_sound(audio, self._language, call)
        self._notes.note(
            "transcribe", key, began_s, samples=len(audio), heard=_heard(result), whole=not stop()
        )
        return result


class NotedChat:
    """`ChatModel`, noted: each piece of an answer with the time since the piece before it."""

    def __init__(self, inner: ChatModel, notes: CallNotes) -> None:
        self._inner, self._notes = inner, notes
        self.close = inner.close

    @property
    def reads_ahead(self) -> bool:
        return self._inner.reads_ahead

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        stop: Callable[[], bool] = lambda: False,
        work: Urgency = lambda: Work.FIRST_SOUND,
        options: ChatOptions = PLAIN,
    ) -> Iterator[str | Call]:
        began_s, pieces, whole = self._notes.now(), list[tuple[float, object]](), False
        asked_s, failed = began_s, None
        key, said = keys.of_messages(messages), keys.last_said(messages)
        inner = self._inner.stream(messages, stop=stop, work=work, options=options)
        try:
            while (piece := next(inner, None)) is not None:
                after_s = self._notes.now() - asked_s
                pieces.append((after_s, piece if isinstance(piece, str) else asdict(piece)))
                self._notes.piece(piece)
                yield piece
                asked_s = self._notes.now()
            whole = not stop()
            pieces.append((self._notes.now() - asked_s, ""))
        except Exception as error:
            failed = str(error)
            pieces.append((self._notes.now() - asked_s, ""))
            raise
        finally:
            if isinstance(inner, Generator):
                inner.close()
            self._notes.note(
                "answer", key, began_s, said=said, pieces=pieces, whole=whole, error=failed
            )

    def warm(self, messages: Sequence[ChatMessage], *, options: ChatOptions = PLAIN) -> None:
        began_s = self._notes.now()
        self._inner.warm(messages, options=options)
        self._notes.note("read", keys.of_messages(messages), began_s)

    def ending(
        self, messages: Sequence[ChatMessage], *, options: ChatOptions = PLAIN
    ) -> float | None:
        began_s = self._notes.now()
        value = self._inner.ending(messages, options=options)
        key, said = keys.of_messages(messages), keys.last_said(messages)
        self._notes.note("ending", key, began_s, said=said, value=value)
        return value

    def count_tokens(self, text: str) -> int:
        tokens = self._inner.count_tokens(text)
        self._notes.counted(text, tokens)
        return tokens
