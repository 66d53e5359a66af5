"""Models whose calls are noted: what was asked, when, how long it took, and what came of it.

They stand between a session and its models and change nothing. The voice detector is not among
them: it is asked 31 times a second, costs little, and is deterministic.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace

import numpy as np

from s2s.core.audio import Block, empty
from s2s.core.clock import Clock
from s2s.core.markup import Call
from s2s.core.work import Work
from s2s.llm.base import PLAIN, ChatMessage, ChatModel, ChatOptions, Urgency
from s2s.records import keys
from s2s.session.models import Models
from s2s.stt.base import (
    StreamingTranscriber,
    Transcriber,
    Transcription,
    TranscriptionStream,
)
from s2s.tts.base import (
    AudioChunk,
    Capabilities,
    FedSynthesizer,
    PacedSynthesizer,
    Synthesizer,
    WrittenText,
)
from s2s.turns.base import OwnVoice, TurnEnd

CallSink = Callable[[Mapping[str, object]], None]
"""Takes the note of a call that is over; from any thread, must not wait."""


class CallNotes:
    """Notes calls on a session's clock.

    Args:
        clock: the session's.
        begin_s: what it read at the beginning of the record.
        sink: takes the notes.
    """

    def __init__(self, clock: Clock, begin_s: float, sink: CallSink) -> None:
        self._clock = clock
        self._begin_s = begin_s
        self._sink = sink
        self._counted: set[str] = set()

    def now(self) -> float:
        return self._clock.now()

    def piece(self, piece: str | Call) -> None:
        """A piece of an answer has come: for those who count them while they come."""

    def chunk(self, seconds: float) -> None:
        """So much sound of a voice has come: likewise."""

    def note(self, call: str, key: str, began_s: float, **result: object) -> None:
        """A call that began at `began_s` is over."""
        took_s = self._clock.now() - began_s
        at_s = began_s - self._begin_s
        self._sink({"at_s": at_s, "call": call, "key": key, "took_s": took_s, **result})

    @contextmanager
    def failing(self, call: str, key: str, began_s: float) -> Generator[None]:
        """Note that a call has failed, if it does."""
        try:
            yield
        except Exception as error:
            self.note(call, key, began_s, error=str(error))
            raise

    def counted(self, text: str, tokens: int) -> None:
        """A text has so many tokens; noted once."""
        key = keys.of_text(text)
        if key not in self._counted:
            self._counted.add(key)
            self.note("tokens", key, self._clock.now(), value=tokens)


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
        synthesizer=NotedVoice(models.synthesizer, models.tts_rtf, notes),
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
        began_s = self._notes.now()
        key = keys.of_sound(audio, language)
        with self._notes.failing("transcribe", key, began_s):
            result = self._inner.transcribe(audio, language=language, earlier=earlier, stop=stop)
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


class NotedVoice:
    """`Synthesizer`, noted: of each chunk the time since the chunk before it, how much sound it is
    and how loud, not the sound itself."""

    def __init__(self, inner: Synthesizer, real_time_factor: float, notes: CallNotes) -> None:
        self._inner, self._notes = inner, notes
        self._real_time_factor = real_time_factor
        self.warm, self.close = inner.warm, inner.close

    @property
    def capabilities(self) -> Capabilities:
        return self._inner.capabilities

    def pace(self, language: str | None = None) -> float:
        """See `PacedSynthesizer`; as it was measured at the start, of one that is none."""
        inner = self._inner
        return (
            inner.pace(language) if isinstance(inner, PacedSynthesizer) else self._real_time_factor
        )

    def takes_words(self, voice: str | None = None, language: str | None = None) -> bool:
        inner = self._inner
        return isinstance(inner, FedSynthesizer) and inner.takes_words(voice, language)

    def synthesize(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        chunks = self._inner.synthesize(text, voice=voice, language=language, stop=stop)
        return self._noted(chunks, lambda: text, stop)

    def synthesize_written(
        self,
        text: WrittenText,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        inner, read = self._inner, _ReadAlong(text)
        if not isinstance(inner, FedSynthesizer):
            raise TypeError(f"{type(inner).__name__} does not take text while it is written")
        chunks = inner.synthesize_written(read, voice=voice, language=language, stop=stop)
        return self._noted(chunks, lambda: read.text, stop)

    def _noted(
        self, chunks: Iterator[AudioChunk], text: Callable[[], str], stop: Callable[[], bool]
    ) -> Iterator[AudioChunk]:
        made: list[tuple[float, int, int | None, float]] = []
        began_s, whole, failed = self._notes.now(), False, None
        asked_s = began_s
        try:
            while (chunk := next(chunks, None)) is not None:
                peak = float(np.abs(chunk.samples).max()) if len(chunk.samples) else 0.0
                after_s = self._notes.now() - asked_s
                made.append((after_s, len(chunk.samples), chunk.spoken_chars, round(peak, 3)))
                self._notes.chunk(len(chunk.samples) / self.capabilities.sample_rate_hz)
                yield chunk
                asked_s = self._notes.now()
            whole = not stop()
            made.append((self._notes.now() - asked_s, 0, None, 0.0))
        except Exception as error:
            failed = str(error)
            made.append((self._notes.now() - asked_s, 0, None, 0.0))
            raise
        finally:
            if isinstance(chunks, Generator):
                chunks.close()
            said = text()
            self._notes.note(
                "speak",
                keys.of_text(said),
                began_s,
                text=said,
                chunks=made,
                whole=whole,
                error=failed,
            )


class _ReadAlong:
    """`WrittenText` that remembers what was read of it."""

    def __init__(self, inner: WrittenText) -> None:
        self._inner = inner
        self.text = ""
        self.close = inner.close

    @property
    def quiet(self) -> bool:
        return self._inner.quiet

    def read(self, stale: Callable[[], bool]) -> str | None:
        part = self._inner.read(stale)
        self.text += part or ""
        return part
