"""Models whose calls are noted give what they give alone, and every call is noted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from s2s.core.audio import Block
from s2s.core.clock import Clock, ManualClock
from s2s.core.markup import Call
from s2s.llm.base import ChatMessage
from s2s.records import keys
from s2s.records.call_notes import CallNotes
from s2s.records.watched import watched
from s2s.session.models import Models
from s2s.stt.base import GrowingTranscriber, StreamingTranscriber, Transcription
from s2s.testing.simulator import (
    EnergyVad,
    ModelCosts,
    ScriptedChat,
    ScriptedSynthesizer,
    ScriptedTranscriber,
    ScriptWords,
)

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


def made(clock: ManualClock, transcriber: Any = None) -> tuple[Models, list[Mapping[str, Any]]]:
    words = ScriptWords(())
    odds = Odds(clock)
    models = Models(
        EnergyVad(),
        odds,
        transcriber or ScriptedTranscriber(words, clock, 0.25),
        ScriptedChat(clock, COSTS, lambda _: "Because it is."),
        ScriptedSynthesizer(clock, COSTS),
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


def test_words_that_come_while_a_recording_is_written_down_come_on() -> None:
    clock = ManualClock()

    class Growing(ScriptedTranscriber):
        def transcribe_growing(
            self, audio: Block, *, so_far: Callable[[Transcription], None], **_: object
        ) -> Transcription:
            so_far(Transcription("one"))
            return Transcription("one two")

    sound, came = np.full(600, 0.5, dtype=np.float32), list[Transcription]()
    models, noted = made(clock, Growing(ScriptWords(()), clock, 0.0))
    hears = models.transcriber
    assert isinstance(hears, GrowingTranscriber)
    assert hears.transcribe_growing(sound, so_far=came.append).text == "one two"
    assert [each.text for each in came] == ["one"]
    assert noted[0]["heard"]["text"] == "one two"
    plain = made(clock)[0].transcriber
    assert isinstance(plain, GrowingTranscriber)
    assert plain.transcribe_growing(sound, so_far=came.append).text == ""
    assert len(came) == 1
