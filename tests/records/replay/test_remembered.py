"""Models that answer as they did in a record."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

import numpy as np
import pytest

from s2s.core.clock import ManualClock
from s2s.llm.base import ChatMessage, LlmError, estimate_tokens
from s2s.records import keys
from s2s.records.replay.memory import CallMemory
from s2s.records.replay.remembered import (
    UNKNOWN,
    RememberedChat,
    RememberedOwnVoice,
    RememberedStreamingTranscriber,
    RememberedTranscriber,
    RememberedTurnEnd,
    RememberedVoice,
)
from s2s.stt.base import StreamingTranscriber, SttError, Transcription
from s2s.tts.base import FedSynthesizer, TtsError

SOUND = np.full(600, 0.5, dtype=np.float32)
ASKED = [ChatMessage("system", "Be brief."), ChatMessage("user", "why so")]


def note(call: str, key: str, took_s: float = 0.25, **fields: object) -> dict[str, object]:
    return {"call": call, "key": key, "at_s": 1.0, "took_s": took_s, **fields}


def nobody() -> NoReturn:
    pytest.fail("another model is asked")


class Other:
    """A model that is asked what nobody was asked then."""

    def probability(self, audio: np.ndarray) -> float:
        return 0.125

    def likeness(self, audio: np.ndarray) -> float:
        return 0.375

    def transcribe(self, audio: np.ndarray, **_: object) -> Transcription:
        return Transcription(f"{len(audio)} anew")


def test_hearing_comes_from_the_record_and_takes_as_long() -> None:
    clock = ManualClock()
    heard = {"text": "hello", "language": "en", "confidence": -0.5, "languages": {"en": 0.75}}
    memory = CallMemory(
        [
            note("transcribe", keys.of_sound(SOUND, None), heard=heard),
            note("end_of_turn", keys.of_sound(SOUND), value=0.75),
            note("own_voice", keys.of_sound(SOUND), value=0.5),
        ]
    )
    found = RememberedTranscriber(memory, clock, nobody).transcribe(SOUND)
    assert (found.text, found.language, found.confidence) == ("hello", "en", -0.5)
    assert found.languages == {"en": 0.75}
    assert RememberedTurnEnd(memory, clock, nobody).probability(SOUND) == 0.75
    assert RememberedOwnVoice(memory, clock, nobody).likeness(SOUND) == 0.5
    assert clock.now() == 0.75


def test_what_nobody_was_asked_then_others_are_asked() -> None:
    clock, other = ManualClock(), Other()
    memory = CallMemory(
        [note(call, "k", value=1) for call in ("transcribe", "end_of_turn", "own_voice")]
    )
    assert RememberedTranscriber(memory, clock, lambda: other).transcribe(SOUND).text == "600 anew"  # type: ignore[arg-type, return-value]
    assert RememberedTurnEnd(memory, clock, lambda: other).probability(SOUND) == 0.125
    assert RememberedOwnVoice(memory, clock, lambda: other).likeness(SOUND) == 0.375
    assert clock.now() == 0.75, "and take as long as such a call took then"


def test_a_stream_of_hearing_comes_from_the_record() -> None:
    clock, other = ManualClock(), Other()
    memory = CallMemory(
        [note("transcribe", keys.of_sound(SOUND, "en", "push"), heard={"text": "so far"})]
    )
    hears = RememberedStreamingTranscriber(memory, clock, lambda: other, 80)  # type: ignore[arg-type, return-value]
    assert isinstance(hears, StreamingTranscriber)
    stream = hears.open(language="en")
    stream.push(SOUND[:200])
    assert stream.push(SOUND[200:]).text == "so far"
    assert stream.end().text == "600 anew"
    hears.warm()
    hears.close()


def test_answers_come_from_the_record_piece_by_piece() -> None:
    clock = ManualClock()
    pieces = [[0.5, "Because "], [0.25, "it is."], [0.125, ""]]
    memory = CallMemory(
        [
            note("answer", keys.of_messages(ASKED), said="why so", pieces=pieces, whole=True),
            note("read", keys.of_messages(ASKED), 1.0),
            note("ending", keys.of_messages(ASKED), 0.5, value=1.5),
            note("tokens", keys.of_text("two words"), value=2),
        ]
    )
    chat = RememberedChat(memory, clock, 0.0, reads_ahead=True)
    times = [(piece, clock.now()) for piece in chat.stream(ASKED)]
    assert times == [("Because ", 0.5), ("it is.", 0.75)]
    assert clock.now() == 0.875
    chat.warm(ASKED)
    assert clock.now() == 1.875
    assert chat.ending(ASKED) == 1.5
    assert chat.ending(ASKED[1:]) is None
    assert chat.count_tokens("two words") == 2
    assert chat.count_tokens("three other words") == estimate_tokens("three other words")
    assert list(chat.stream([ChatMessage("user", "tell me a story")])) == [UNKNOWN]
    chat.close()


def test_who_stops_an_answer_gets_no_more_of_it() -> None:
    pieces = [[0.1, "One "], [0.1, "two."]]
    memory = CallMemory([note("answer", keys.of_messages(ASKED), pieces=pieces)])
    chat = RememberedChat(memory, ManualClock(), 0.0, reads_ahead=False)
    assert list(chat.stream(ASKED, stop=lambda: True)) == []


def test_no_tool_is_called_again() -> None:
    calls = [
        note("answer", keys.of_messages(ASKED), 0.5, said="why so",
             pieces=[[0.5, {"name": "look", "arguments": "{}"}]], whole=True),
        {**note("answer", "later", said="why so", pieces=[[0.25, "So."]]), "at_s": 3.5},
    ]  # fmt: skip
    clock = ManualClock()
    chat = RememberedChat(CallMemory(calls), clock, 0.0, reads_ahead=False)
    assert list(chat.stream(ASKED)) == ["So."]
    assert clock.now() == 0.5 + 2.0 + 0.25, "and it takes as long"


ABOUT = {"voice": {"sample_rate_hz": 16_000, "streaming": True, "languages": ["en", "de"]},
         "tts_rtf": 0.5, "takes_words": True}  # fmt: skip


def spoken(text: str, *chunks: tuple[float, int, int | None, float], whole: bool = True) -> object:
    return note(
        "speak", keys.of_text(text), text=text, chunks=[list(c) for c in chunks], whole=whole
    )


def test_speech_is_as_long_as_it_was_and_comes_as_quickly() -> None:
    clock = ManualClock()
    memory = CallMemory(
        [spoken("Hello you.", (0.5, 800, 5, 0.25), (0.25, 400, 10, 0.5), (0.1, 0, None, 0.0))]
    )  # type: ignore[list-item]
    voice = RememberedVoice(memory, clock, ABOUT)
    assert (voice.capabilities.sample_rate_hz, voice.capabilities.languages) == (
        16_000,
        ("en", "de"),
    )
    assert (voice.pace(), voice.takes_words()) == (0.5, True)
    chunks = [(len(c.samples), c.spoken_chars, clock.now()) for c in voice.synthesize("Hello you.")]
    assert chunks == [(800, 5, 0.5), (400, 10, 0.75)]
    loudest = [round(float(np.abs(c.samples).max()), 2) for c in voice.synthesize("Hello you.")]
    assert loudest == [0.25, 0.5]
    assert list(voice.synthesize("Hello you.", stop=lambda: True)) == []
    voice.warm()
    voice.close()


def test_what_was_not_spoken_then_is_spoken_as_other_texts_were() -> None:
    clock = ManualClock()
    memory = CallMemory(
        [
            spoken("x" * 10, (0.5, 2000, 10, 0.25)),
            spoken("cut short", (0.1, 400, 3, 0.1), whole=False),
        ]
    )  # type: ignore[list-item]
    voice = RememberedVoice(memory, clock, ABOUT)
    chunks = list(voice.synthesize("y" * 20))
    assert sum(len(chunk.samples) for chunk in chunks) == 4000
    assert chunks[-1].spoken_chars == 20
    rest = list(voice.synthesize("cut short"))
    assert sum(len(chunk.samples) for chunk in rest) == 400 + 6 * 200
    assert rest[-1].spoken_chars == 9


class Written:
    """Text that is written while it is spoken, a part each second."""

    quiet = False

    def __init__(self, clock: ManualClock, *parts: str) -> None:
        self.clock, self.parts, self.closed = clock, [*parts, ""], False

    def read(self, stale: Callable[[], bool]) -> str | None:
        self.clock.wait_until(self.clock.now() + 1.0)
        return self.parts.pop(0)

    def close(self) -> None:
        self.closed = True


def test_no_word_is_spoken_before_it_is_written() -> None:
    clock = ManualClock()
    memory = CallMemory([spoken("One two three.", (0.25, 800, 4, 0.25), (0.25, 800, 14, 0.25))])  # type: ignore[list-item]
    voice = RememberedVoice(memory, clock, ABOUT)
    assert isinstance(voice, FedSynthesizer)
    text = Written(clock, "One ", "two ", "three.")
    times = [(len(c.samples), clock.now()) for c in voice.synthesize_written(text)]
    assert times == [(800, 1.25), (800, 3.5)]
    assert text.closed
    other = Written(clock, "Something else.")
    chunks = list(voice.synthesize_written(other))
    assert chunks[-1].spoken_chars == len("Something else.")


def test_what_failed_then_fails_again() -> None:
    clock = ManualClock()
    memory = CallMemory(
        [
            note("transcribe", keys.of_sound(SOUND, None), error="no ears"),
            note("answer", keys.of_messages(ASKED), pieces=[[0.1, "So"]], error="no head"),
            note(
                "speak", keys.of_text("So"), text="So", chunks=[[0.1, 80, 2, 0.1]], error="no mouth"
            ),
        ]
    )
    with pytest.raises(SttError, match="no ears"):
        RememberedTranscriber(memory, clock, nobody).transcribe(SOUND)
    answer = RememberedChat(memory, clock, 0.0, reads_ahead=False).stream(ASKED)
    assert next(answer) == "So"
    with pytest.raises(LlmError, match="no head"):
        next(answer)
    speech = RememberedVoice(memory, clock, ABOUT).synthesize("So")
    assert len(next(speech).samples) == 80
    with pytest.raises(TtsError, match="no mouth"):
        next(speech)
