"""Models that answer as they did in a record, and take as long as they took.

What they were not asked then, another model is asked: given as a function, so that it is loaded
when it is needed and not before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar, cast

import numpy as np

from s2s.core.audio import Block, empty
from s2s.core.clock import Clock
from s2s.core.markup import Call
from s2s.core.untyped import is_mapping
from s2s.core.work import Work
from s2s.llm.base import PLAIN, ChatMessage, ChatOptions, LlmError, Urgency, estimate_tokens
from s2s.records import keys
from s2s.records.replay.memory import (
    CallMemory,
    CallNote,
    ToldChunk,
    pieces_of,
    told_chunks,
)
from s2s.stt.base import SttError, Transcriber, Transcription
from s2s.tts.base import AudioChunk, Capabilities, TtsError, WrittenText
from s2s.turns.base import OwnVoice, TurnEnd

T = TypeVar("T")
Made = Callable[[], T]
"""Makes a model when it is needed; the same one every time."""

UNKNOWN = "The record has no answer to that."
"""What is answered where nothing like it was asked then."""
CHUNK_S = 0.08
HUM_HZ = 220.0
"""The sound of a replay is a hum, as loud as the voice was: a record keeps no sound that was not
heard."""


class _Remembering:
    """Lets the time pass that a call took."""

    def __init__(self, memory: CallMemory, clock: Clock) -> None:
        self.memory, self.clock = memory, clock

    def spend(self, seconds: float) -> None:
        if seconds > 0:
            self.clock.wait_until(self.clock.now() + seconds)


class RememberedTurnEnd(_Remembering):
    """`TurnEnd`."""

    def __init__(self, memory: CallMemory, clock: Clock, other: Made[TurnEnd]) -> None:
        super().__init__(memory, clock)
        self._other = other

    def probability(self, audio: Block) -> float:
        note = self.memory.next("end_of_turn", keys.of_sound(audio))
        if note is not None and note.value is not None:
            self.spend(note.took_s)
            return note.value
        value = self._other().probability(audio)
        self.spend(self.memory.typical_s("end_of_turn"))
        return value


class RememberedOwnVoice(_Remembering):
    """`OwnVoice`."""

    def __init__(self, memory: CallMemory, clock: Clock, other: Made[OwnVoice]) -> None:
        super().__init__(memory, clock)
        self._other = other

    def likeness(self, audio: Block) -> float:
        note = self.memory.next("own_voice", keys.of_sound(audio))
        if note is not None and note.value is not None:
            self.spend(note.took_s)
            return note.value
        value = self._other().likeness(audio)
        self.spend(self.memory.typical_s("own_voice"))
        return value


class RememberedTranscriber(_Remembering):
    """`Transcriber`."""

    def __init__(self, memory: CallMemory, clock: Clock, other: Made[Transcriber]) -> None:
        super().__init__(memory, clock)
        self._other = other

    def transcribe(
        self,
        audio: Block,
        *,
        language: str | None = None,
        earlier: Transcription | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Transcription:
        note = self.memory.next("transcribe", keys.of_sound(audio, language))
        if note is not None:
            self.spend(note.took_s)
            if error := note.text("error"):
                raise SttError(error)
            return _transcription(note)
        result = self._other().transcribe(audio, language=language, stop=stop)
        self.spend(self.memory.typical_s("transcribe"))
        return result

    def warm(self) -> None:
        """Nothing is loaded yet."""

    def close(self) -> None:
        """Nothing is its own."""


class RememberedStreamingTranscriber(RememberedTranscriber):
    """Likewise, of one that heard each sample once."""

    def __init__(
        self, memory: CallMemory, clock: Clock, other: Made[Transcriber], interval_ms: int
    ) -> None:
        super().__init__(memory, clock, other)
        self.interval_ms = interval_ms

    def open(self, *, language: str | None = None) -> RememberedStream:
        return RememberedStream(self, language)


class RememberedStream:
    """One utterance of it. What it was not asked then is heard as a whole."""

    def __init__(self, transcriber: RememberedTranscriber, language: str | None) -> None:
        self._transcriber, self._language = transcriber, language
        self._heard = empty()

    def push(self, audio: Block, *, stop: Callable[[], bool] = lambda: False) -> Transcription:
        self._heard = np.concatenate([self._heard, audio])
        return self._of("push", stop)

    def end(self, *, stop: Callable[[], bool] = lambda: False) -> Transcription:
        return self._of("end", stop)

    def _of(self, call: str, stop: Callable[[], bool]) -> Transcription:
        key = keys.of_sound(self._heard, self._language, call)
        note = self._transcriber.memory.next("transcribe", key)
        if note is None:
            return self._transcriber.transcribe(self._heard, language=self._language, stop=stop)
        self._transcriber.spend(note.took_s)
        return _transcription(note)


class RememberedChat(_Remembering):
    """`ChatModel`: what was answered then, to these messages or to the words most like them. A tool
    is not called again: the answer goes on as it did when it had been."""

    def __init__(
        self, memory: CallMemory, clock: Clock, begin_s: float, *, reads_ahead: bool
    ) -> None:
        """`begin_s`: what the clock reads at the beginning."""
        super().__init__(memory, clock)
        self._begin_s = begin_s
        self.reads_ahead = reads_ahead

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        stop: Callable[[], bool] = lambda: False,
        work: Urgency = lambda: Work.FIRST_SOUND,
        options: ChatOptions = PLAIN,
    ) -> Iterator[str | Call]:
        said, at_s = keys.last_said(messages), self.clock.now() - self._begin_s
        note = self.memory.answer(keys.of_messages(messages), said, at_s)
        if note is None:
            self.spend(self.memory.typical_s("answer"))
            yield UNKNOWN
        while note is not None:
            following: CallNote | None = None
            rest = [] if note.whole or note.text("error") else self.memory.rest_of(note)
            for after_s, piece in [*pieces_of(note), *rest]:
                self.spend(after_s)
                if stop():
                    return
                if isinstance(piece, Call):
                    following = self.memory.after_call(note)
                elif piece:
                    yield piece
            if error := note.text("error"):
                raise LlmError(error)
            if following is not None:
                self.spend(following.at_s - note.at_s - note.took_s)
            note = following

    def warm(self, messages: Sequence[ChatMessage], *, options: ChatOptions = PLAIN) -> None:
        note = self.memory.next("read", keys.of_messages(messages))
        self.spend(0.0 if note is None else note.took_s)

    def ending(
        self, messages: Sequence[ChatMessage], *, options: ChatOptions = PLAIN
    ) -> float | None:
        note = self.memory.next("ending", keys.of_messages(messages))
        if note is None:
            return None
        self.spend(note.took_s)
        return note.value

    def count_tokens(self, text: str) -> int:
        known = self.memory.tokens(keys.of_text(text))
        return estimate_tokens(text) if known is None else known

    def close(self) -> None:
        """Nothing is its own."""


class RememberedVoice(_Remembering):
    """`Synthesizer`: as much sound as there was of a text, as quickly as it came; of a text that
    was not spoken then, as much and as quickly as of others."""

    def __init__(self, memory: CallMemory, clock: Clock, about: Mapping[str, object]) -> None:
        """`about`: what the record says of the session."""
        super().__init__(memory, clock)
        voice = about.get("voice")
        self.capabilities = _capabilities(voice if is_mapping(voice) else {})
        self._takes_words = about.get("takes_words") is True
        pace = about.get("tts_rtf")
        self._pace = float(pace) if isinstance(pace, int | float) else 0.0
        self._phase = 0

    def pace(self, language: str | None = None) -> float:
        """As it was measured at the start."""
        return self._pace

    def takes_words(self, voice: str | None = None, language: str | None = None) -> bool:
        return self._takes_words

    def synthesize(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        note = self.memory.next("speak", keys.of_text(text))
        for chunk in self._chunks(note, text):
            self.spend(chunk.after_s)
            if stop():
                return
            if chunk.samples or chunk.spoken_chars is not None:
                yield self._sound(chunk)
        _fail_as(note)

    def synthesize_written(
        self,
        text: WrittenText,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        """The same of a text that is still being written: no word is spoken before it is there."""
        read, ended = "", False
        try:
            while not ended and not read.strip():
                read, ended = _read_on(text, read, stop)
            note = self.memory.beginning_with(read)
            if note is None:
                while not ended:
                    read, ended = _read_on(text, read, stop)
            for chunk in self._chunks(note, note.text("text") if note else read):
                self.spend(chunk.after_s)
                while not ended and len(read) < (chunk.spoken_chars or 0):
                    read, ended = _read_on(text, read, stop)
                if stop():
                    return
                if chunk.samples or chunk.spoken_chars is not None:
                    yield self._sound(chunk)
            _fail_as(note)
        finally:
            text.close()

    def warm(self) -> None:
        """Nothing is loaded."""

    def close(self) -> None:
        """Nothing is its own."""

    def _chunks(self, note: CallNote | None, text: str) -> Iterator[ToldChunk]:
        """What there was of `text`, and where it was given up, as much as there would have been."""
        known = [] if note is None else told_chunks(note)
        yield from known
        if note is None or not (note.whole or note.text("error")):
            spoken = max([chunk.spoken_chars or 0 for chunk in known], default=0)
            yield from self._guessed(len(text), spoken)

    def _guessed(self, chars: int, spoken: int) -> Iterator[ToldChunk]:
        """The sound of a text from a character on."""
        per_char, first_s, per_sample_s = self.memory.pace()
        total = round((chars - spoken) * per_char)
        size = max(1, round(CHUNK_S * self.capabilities.sample_rate_hz))
        for start in range(0, total, size):
            count = min(size, total - start)
            after_s = first_s if start == 0 and not spoken else count * per_sample_s
            told = spoken + (chars - spoken) * (start + count) // total
            yield ToldChunk(after_s, count, told, 0.1)

    def _sound(self, chunk: ToldChunk) -> AudioChunk:
        at = self._phase + np.arange(chunk.samples)
        self._phase += chunk.samples
        hum = chunk.peak * np.sin(2 * np.pi * HUM_HZ * at / self.capabilities.sample_rate_hz)
        return AudioChunk(hum.astype(np.float32), chunk.spoken_chars)


def _fail_as(note: CallNote | None) -> None:
    if note is not None and (error := note.text("error")):
        raise TtsError(error)


def _read_on(text: WrittenText, read: str, stop: Callable[[], bool]) -> tuple[str, bool]:
    """All that was read by now, and whether it has ended."""
    part = text.read(stop)
    return read + (part or ""), not part


def _transcription(note: CallNote) -> Transcription:
    heard = note.fields.get("heard")
    if not is_mapping(heard):
        return Transcription("")
    language, confidence, odds = (
        heard.get("language"),
        heard.get("confidence"),
        heard.get("languages"),
    )
    return Transcription(
        str(heard.get("text", "")),
        language if isinstance(language, str) else None,
        confidence=float(confidence) if isinstance(confidence, int | float) else None,
        languages={
            code: float(share)
            for code, share in (odds.items() if is_mapping(odds) else ())
            if isinstance(share, int | float)
        },
    )


def _capabilities(given: Mapping[str, object]) -> Capabilities:
    """Of a voice, as the record tells them."""
    known = {name: value for name, value in given.items() if name in Capabilities.__slots__}
    lists = {name: tuple(cast(list[object], v)) for name, v in known.items() if isinstance(v, list)}
    made = {"sample_rate_hz": 24_000, "streaming": True, "languages": ("en",), **known, **lists}
    return Capabilities(**cast(dict[str, object], made))  # pyright: ignore[reportArgumentType]
