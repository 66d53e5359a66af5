"""The speech-to-text stage: the newest speech only, and nothing twice."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from s2s.core.audio import Block
from s2s.core.cancel import CancelScope
from s2s.core.channel import Channel
from s2s.core.clock import ManualClock
from s2s.core.messages import (
    LlmInput,
    PartialTranscript,
    Speech,
    SttInput,
    Transcript,
    TranscriptFailed,
    TurnId,
)
from s2s.core.metrics import Metrics
from s2s.core.speculation import SpeculativeTurns
from s2s.core.state import SessionState
from s2s.stt.base import Transcription
from s2s.stt.handler import SttHandler
from s2s.stt.languages import LanguageConfig, SpokenLanguage

TURN = TurnId("t", 0)


class Ear:
    """Hears a word for every second."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, Transcription | None]] = []
        self.words = ["one", "two", "three", "four", "five", "six"]
        self.during: Callable[[], object] = lambda: None

    def transcribe(
        self,
        audio: Block,
        *,
        language: str | None = None,
        earlier: Transcription | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Transcription:
        self.calls.append((len(audio), earlier))
        self.during()
        return Transcription(" ".join(self.words[: len(audio) // 16_000]))

    def warm(self) -> None: ...

    def close(self) -> None: ...


class Rig:
    def __init__(self, language: str | None = "en", ear: Ear | None = None) -> None:
        clock = ManualClock()
        self.ear = ear or Ear()
        self.scope, self.turns = CancelScope(clock), SpeculativeTurns(clock)
        self.inbox: Channel[SttInput] = Channel(8, clock=clock)
        self.partials: list[PartialTranscript] = []
        state = SessionState(self.scope, self.turns, clock, Metrics(), lambda event: None)
        self.handler = SttHandler(
            self.ear,
            self.inbox,
            state,
            language=SpokenLanguage(LanguageConfig(), language),
            on_partial=self.partials.append,
        )
        self.turns.observe(TURN)

    def send(self, *messages: SttInput) -> list[LlmInput]:
        for message in messages:
            self.inbox.put(message)
        out: list[LlmInput] = []
        while len(self.inbox):
            out += self.handler.process(self.inbox.get())
        return out


def speech(
    seconds: float, *, final: bool = True, turn: TurnId = TURN, generation: int = 0
) -> Speech:
    return Speech(np.ones(int(seconds * 16_000), dtype=np.float32), turn, generation, final, 0.0)


def test_a_final_becomes_a_transcript() -> None:
    assert Rig().send(speech(2.0)) == [Transcript("one two", "en", TURN, 0, 0.0)]


def test_an_empty_final_is_still_a_transcript() -> None:
    assert Rig().send(speech(0.5)) == [Transcript("", "en", TURN, 0, 0.0)]


def test_only_the_newest_of_a_turn_is_transcribed() -> None:
    rig = Rig()
    out = rig.send(speech(1.0, final=False), speech(2.0, final=False), speech(3.0))
    assert [m.text for m in out if isinstance(m, Transcript)] == ["one two three"]
    assert [length for length, _ in rig.ear.calls] == [48_000]


def test_the_same_audio_is_not_transcribed_twice() -> None:
    rig = Rig()
    rig.send(speech(2.0, final=False))
    assert rig.send(speech(2.0)) == [Transcript("one two", "en", TURN, 0, 0.0)]
    assert len(rig.ear.calls) == 1


def test_an_earlier_result_of_the_turn_is_handed_on_and_of_another_turn_is_not() -> None:
    rig = Rig()
    rig.send(speech(1.0, final=False))
    rig.send(speech(2.0, final=False))
    other = TurnId("u", 0)
    rig.turns.observe(other)
    rig.send(speech(3.0, turn=other))
    assert [earlier.text if earlier else None for _, earlier in rig.ear.calls] == [
        None,
        "one",
        None,
    ]


def test_stale_speech_is_not_transcribed() -> None:
    rig = Rig()
    rig.turns.confirm_reopen("t")
    assert rig.send(speech(1.0)) == []
    rig.scope.cancel()
    assert rig.send(speech(1.0, turn=TurnId("t", 1))) == []
    assert rig.ear.calls == []


def test_what_became_stale_meanwhile_is_not_told() -> None:
    rig = Rig()
    rig.ear.during = lambda: rig.turns.confirm_reopen("t")
    assert rig.send(speech(1.0)) == []
    assert rig.partials == []


def test_stable_words_only_grow_and_are_agreed_on_twice() -> None:
    rig = Rig()
    for seconds, words in (
        (1, "one"),
        (2, "one too"),
        (3, "one two three"),
        (4, "One two, three four"),
    ):
        rig.ear.words = words.split()
        rig.send(speech(seconds, final=False))
    assert [p.stable for p in rig.partials] == ["", "one", "one", "one two, three"]


def test_a_final_that_was_taken_with_a_partial_is_told_to_have_failed() -> None:
    rig = Rig()

    def fail() -> None:
        raise RuntimeError("no ear")

    rig.ear.during = fail
    partial = speech(1.0, final=False)
    rig.inbox.put(speech(1.0))
    with pytest.raises(RuntimeError):
        rig.send(partial)
    (failed,) = rig.handler.failed(partial, RuntimeError("no ear"))
    assert isinstance(failed, TranscriptFailed)


def test_a_failure_of_a_final_is_told_and_of_a_partial_is_not() -> None:
    rig = Rig()
    failed = rig.handler.failed(speech(1.0), RuntimeError("broken"))
    assert list(failed) == [
        TranscriptFailed("speech could not be transcribed: broken", TURN, 0, 0.0)
    ]
    assert list(rig.handler.failed(speech(1.0, final=False), RuntimeError("broken"))) == []


def test_the_language_heard_wins_over_the_one_configured() -> None:
    rig = Rig()
    rig.ear.transcribe = lambda audio, **options: Transcription("hallo", "de")  # type: ignore[method-assign]
    (out,) = rig.send(speech(1.0))
    assert isinstance(out, Transcript)
    assert out.language == "de"


@pytest.mark.parametrize("final", [True, False])
def test_partials_are_told_for_finals_too(final: bool) -> None:
    rig = Rig()
    rig.send(speech(2.0, final=final))
    assert [p.text for p in rig.partials] == ["one two"]


def test_words_that_were_agreed_on_are_not_lost_to_an_empty_final() -> None:
    rig = Rig()
    for seconds in (1, 2, 3):
        rig.send(speech(seconds, final=False))
    rig.ear.words = []
    (out,) = rig.send(speech(4.0))
    assert isinstance(out, Transcript)
    assert out.text == "one two three"


def test_words_that_were_heard_only_once_may_turn_out_to_be_nothing() -> None:
    rig = Rig()
    rig.send(speech(1, final=False))
    rig.ear.words = []
    (out,) = rig.send(speech(2.0))
    assert isinstance(out, Transcript)
    assert out.text == ""


def test_speech_is_written_down_again_in_the_language_that_counts() -> None:
    rig = Rig(language=None)
    asked: list[str | None] = []

    def hear(audio: Block, *, language: str | None, **options: object) -> Transcription:
        asked.append(language)
        seconds = len(audio) // 16_000
        text = "a sentence of enough words" if seconds > 1 else "ja"
        guess = "en" if seconds > 1 else "de"
        return Transcription(text, language or guess, languages={guess: 0.99})

    rig.ear.transcribe = hear  # type: ignore[method-assign]
    (first,) = rig.send(speech(2.0))
    other = TurnId("u", 0)
    rig.turns.observe(other)
    (second,) = rig.send(speech(1.0, turn=other))
    assert isinstance(first, Transcript)
    assert isinstance(second, Transcript)
    assert (first.language, second.language) == ("en", "en")
    assert asked == [None, None, "en"]
    assert [partial.language for partial in rig.partials] == ["en", "en"]


class GrowingEar(Ear):
    """Writes its words one by one."""

    def transcribe_growing(
        self,
        audio: Block,
        *,
        so_far: Callable[[Transcription], None],
        language: str | None = None,
        earlier: Transcription | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Transcription:
        whole = self.transcribe(audio, language=language, earlier=earlier, stop=stop)
        words = whole.text.split()
        for count in range(1, len(words)):
            so_far(Transcription(" ".join(words[:count])))
        return whole


def test_words_are_told_while_the_others_are_written_where_they_are_more() -> None:
    """They say nothing of how far the sound is read, and make no word stable."""
    rig = Rig(ear=GrowingEar())
    rig.send(speech(3.0, final=False))
    told = [(each.text, each.stable, each.audio_samples) for each in rig.partials]
    assert told == [("one", "", 0), ("one two", "", 0), ("one two three", "", 48_000)]
    rig.partials.clear()
    out = rig.send(speech(5.0))
    assert [each.text for each in rig.partials] == ["one two three four", "one two three four five"]
    assert rig.partials[-1].stable == "one two three"
    assert out == [Transcript("one two three four five", "en", TURN, 0, 0.0)]


def test_nothing_is_told_of_a_turn_that_is_stale() -> None:
    rig = Rig(ear=GrowingEar())
    rig.ear.during = rig.scope.cancel
    rig.send(speech(3.0))
    assert rig.partials == []


def test_what_was_typed_is_passed_on_as_it_is() -> None:
    rig = Rig()
    typed = Transcript("hello", None, TURN, 0, 0.0)
    assert rig.send(typed) == [typed]
    assert rig.ear.calls == []
