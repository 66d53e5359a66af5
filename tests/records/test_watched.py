"""Models whose calls are noted give what they give alone, and every call is noted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest

from s2s.core.audio import Block
from s2s.core.clock import Clock, ManualClock
from s2s.core.markup import Call
from s2s.llm.base import ChatMessage
from s2s.records import keys
from s2s.records.watched import CallNotes, watched
from s2s.session.models import Models
from s2s.stt.base import StreamingTranscriber, Transcription
from s2s.testing.simulator import (
    EnergyVad,
    ModelCosts,
    ScriptedChat,
    ScriptedSynthesizer,
    ScriptedTranscriber,
    ScriptWords,
)
from s2s.tts.base import AudioChunk
from s2s.tts.speak import pace_of, takes_words

COSTS = ModelCosts()
ASKED = [ChatMessage("system", "Be brief."), ChatMessage("user", "why so")]


class Odds:
    """An end of turn, and an own voice, that are sure of everything."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def probability(self, audio: Block) -> float:
        self._clock.wait_until(self._clock.now() + 0.5)
        return 0.75

    def likeness(self, audio: Block) -> float:
        return 0.25


class Streaming(ScriptedTranscriber):
    """Hears each sample once."""

    interval_ms = 80

    def open(self, *, language: str | None = None) -> Streaming:
        self.heard = 0
        return self

    def push(self, audio: Block, *, stop: Callable[[], bool] = lambda: False) -> Transcription:
        self.heard += len(audio)
        return Transcription(f"{self.heard} so far")

    def end(self, *, stop: Callable[[], bool] = lambda: False) -> Transcription:
        return Transcription(f"{self.heard} in all")


class Fed(ScriptedSynthesizer):
    """Takes words while they are written, and knows its pace."""

    def pace(self, language: str | None = None) -> float:
        return 0.625

    def takes_words(self, voice: str | None = None, language: str | None = None) -> bool:
        return True

    def synthesize_written(
        self, text: Any, *, voice: str | None = None, language: str | None = None, **_: object
    ) -> Iterator[AudioChunk]:
        while (part := text.read(lambda: False)) != "":
            yield AudioChunk(np.full(100, 0.5, dtype=np.float32), len(part or ""))
        text.close()


class Written:
    """Text in three parts."""

    quiet = False

    def __init__(self) -> None:
        self.parts = ["One ", "two ", "three.", ""]

    def read(self, stale: Callable[[], bool]) -> str | None:
        return self.parts.pop(0)

    def close(self) -> None: ...


def made(
    clock: ManualClock, transcriber: Any = None, voice: Any = None
) -> tuple[Models, list[Mapping[str, Any]]]:
    words = ScriptWords(())
    odds = Odds(clock)
    models = Models(
        EnergyVad(),
        odds,
        transcriber or ScriptedTranscriber(words, clock, 0.25),
        ScriptedChat(clock, COSTS, lambda _: "Because it is."),
        voice or ScriptedSynthesizer(clock, COSTS),
        tts_rtf=0.5,
        own_voice=odds,
    )
    noted: list[Mapping[str, Any]] = []
    return watched(models, CallNotes(clock, -1.0, noted.append)), noted


def test_hearing_is_noted() -> None:
    clock = ManualClock()
    models, noted = made(clock)
    sound = np.full(600, 0.5, dtype=np.float32)
    assert models.transcriber.transcribe(sound, language="en").text == ""
    assert models.end_of_turn is not None
    assert models.end_of_turn.probability(sound) == 0.75
    assert models.own_voice is not None
    assert models.own_voice.likeness(sound) == 0.25
    heard, end, own = noted
    assert (heard["call"], heard["key"]) == ("transcribe", keys.of_sound(sound, "en"))
    assert (heard["at_s"], heard["took_s"]) == (1.0, 0.25)
    assert heard["heard"]["language"] == "en"
    assert (end["call"], end["value"], end["took_s"]) == ("end_of_turn", 0.75, 0.5)
    assert (own["call"], own["value"]) == ("own_voice", 0.25)


def test_a_stream_of_hearing_is_noted() -> None:
    clock = ManualClock()
    models, noted = made(clock, Streaming(ScriptWords(()), clock, 0.0))
    hears = models.transcriber
    assert isinstance(hears, StreamingTranscriber)
    assert hears.interval_ms == 80
    stream = hears.open(language="en")
    parts = [np.full(count, 0.5, dtype=np.float32) for count in (100, 50)]
    assert [stream.push(part).text for part in parts] == ["100 so far", "150 so far"]
    assert stream.end().text == "150 in all"
    whole = np.concatenate(parts)
    assert [note["key"] for note in noted] == [
        keys.of_sound(parts[0], "en", "push"),
        keys.of_sound(whole, "en", "push"),
        keys.of_sound(whole, "en", "end"),
    ]


def test_an_answer_is_noted_with_the_time_of_each_piece() -> None:
    clock = ManualClock()
    models, noted = made(clock)
    pieces = []
    for piece in models.chat.stream(ASKED):
        pieces.append(piece)
        clock.wait_until(clock.now() + 10)  # who reads is slow: that is not the model's time
    assert pieces == ["Because ", "it ", "is."]
    (note,) = noted
    assert (note["call"], note["said"], note["whole"]) == ("answer", "why so", True)
    assert [text for _, text in note["pieces"]] == [*pieces, ""]
    waits = [round(after_s, 6) for after_s, _ in note["pieces"]]
    assert waits == [COSTS.first_token_s, COSTS.token_s, COSTS.token_s, COSTS.token_s]


def test_an_answer_that_is_given_up_is_noted_as_far_as_it_came() -> None:
    models, noted = made(ManualClock())
    answer = iter(models.chat.stream(ASKED))
    next(answer)
    answer.close()  # type: ignore[attr-defined]
    assert [text for _, text in noted[0]["pieces"]] == ["Because "]
    assert noted[0]["whole"] is False


def test_a_call_of_a_tool_is_noted() -> None:
    clock = ManualClock()
    models, noted = made(clock)

    class Calls(ScriptedChat):
        def stream(self, *_: object, **__: object) -> Iterator[Any]:
            yield Call("look", "{}")

    models = watched(
        Models(EnergyVad(), None, models.transcriber, Calls(clock, COSTS, str), models.synthesizer),
        CallNotes(clock, 0.0, noted.append),
    )
    assert list(models.chat.stream(ASKED)) == [Call("look", "{}")]
    assert noted[-1]["pieces"][0][1] == {"name": "look", "arguments": "{}"}


def test_what_else_a_language_model_is_asked() -> None:
    models, noted = made(ManualClock())
    chat = models.chat
    assert chat.reads_ahead
    chat.warm(ASKED)
    assert chat.ending(ASKED) is None
    assert [chat.count_tokens("one two"), chat.count_tokens("one two")] == [2, 2]
    assert [note["call"] for note in noted] == ["read", "ending", "tokens"]
    assert noted[-1]["value"] == 2


def test_speech_is_noted_without_its_sound() -> None:
    models, noted = made(ManualClock())
    voice = models.synthesizer
    assert not takes_words(voice, 0.5)
    assert pace_of(voice, 0.5) == 0.5
    sound = np.concatenate([chunk.samples for chunk in voice.synthesize("Good evening.")])
    (note,) = noted
    assert (note["call"], note["text"], note["whole"]) == ("speak", "Good evening.", True)
    assert note["key"] == keys.of_text("Good evening.")
    assert sum(count for _, count, _, _ in note["chunks"]) == len(sound)
    assert max(peak for *_, peak in note["chunks"]) == pytest.approx(0.1, abs=0.01)


def test_speech_that_is_fed_word_by_word_is_noted_with_all_its_words() -> None:
    clock = ManualClock()
    models, noted = made(clock, voice=Fed(clock, COSTS))
    voice = models.synthesizer
    assert takes_words(voice, 0.5)
    assert pace_of(voice, 0.5) == 0.625
    written: Any = voice
    chunks = list(written.synthesize_written(Written()))
    assert len(chunks) == 3
    assert noted[0]["text"] == "One two three."
    plain: Any = made(clock)[0].synthesizer
    with pytest.raises(TypeError, match="ScriptedSynthesizer"):
        plain.synthesize_written(Written())
