"""One stream of sound: its voice, its words, and those that are certain ahead of its end."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from s2s.core.audio import PIPELINE_HZ, Block
from s2s.stt.base import Transcription
from s2s.testing.simulator import tone
from s2s.transport.wyoming.hearing import PARTIAL_MOST_S, SoundToWords, VoiceChange
from tests.support.wyoming import fake_wyoming, said, silence, spoken

WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


class Counting:
    """Hears another word every half second."""

    def __init__(self) -> None:
        self.earlier: list[bool] = []

    def transcribe(
        self,
        audio: Block,
        *,
        language: str | None = None,
        earlier: Transcription | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Transcription:
        self.earlier.append(earlier is not None)
        return Transcription(" ".join(WORDS[: 2 * len(audio) // PIPELINE_HZ]), "en")

    def warm(self) -> None: ...

    def close(self) -> None: ...


def stream(
    *, whole: bool = True, most_s: float = 60.0, ear: Counting | None = None
) -> SoundToWords:
    services = fake_wyoming(transcriber=ear or Counting())
    return SoundToWords(services, None, whole=whole, most_s=most_s)


def test_each_speech_has_its_beginning_and_its_end() -> None:
    sound = stream()
    changes = sound.hear(spoken((silence, 0.5), (tone, 1.0), (silence, 1.5), (tone, 1.0)))
    changes += sound.stop()
    assert [change.speaks for change in changes] == [True, False, True, False]
    assert [round(change.at_ms / 100) for change in changes] == [5, 15, 30, 40]


def test_a_short_pause_ends_nothing_and_a_noise_begins_nothing() -> None:
    sound = stream()
    assert sound.hear(spoken((tone, 0.06), (silence, 1.5))) == []
    changes = sound.hear(spoken((tone, 1.0), (silence, 0.3), (tone, 1.0), (silence, 1.5)))
    assert [change.speaks for change in changes] == [True, False]
    assert sound.stop() == []


def test_words_are_read_ahead_while_somebody_speaks() -> None:
    ear = Counting()
    sound = stream(ear=ear)
    told: list[str] = []
    for _ in range(6):
        sound.hear(tone(0.5))
        assert sound.wants_to_read()
        told.append(sound.ahead()(lambda: False))
        assert not sound.wants_to_read()
    assert told[0] == ""
    assert told[-1] == " ".join(WORDS[:5])
    assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(told))
    assert ear.earlier == [False, *[True] * 5]
    sound.hear(silence(1.5))
    assert not sound.wants_to_read()
    assert (
        sound.words(lambda: False).text.split()
        == WORDS[: len(sound.words(lambda: False).text.split())]
    )


def test_reading_ahead_that_is_given_up_tells_nothing_new() -> None:
    sound = stream()
    sound.hear(tone(0.7))
    assert sound.ahead()(lambda: True) == ""


def test_a_long_speech_is_not_read_again_and_again() -> None:
    sound = stream(most_s=120.0)
    sound.hear(tone(PARTIAL_MOST_S + 2))
    assert not sound.wants_to_read()


def test_all_speech_is_written_down_and_what_is_between_is_not() -> None:
    sound = stream()
    sound.hear(spoken((said, 1.0), (silence, 4.0), (said, 1.0)))
    sound.stop()
    heard = sound.words(lambda: False)
    assert heard.language == "en"
    assert heard.text.split().count("zero") == 2
    assert stream().words(lambda: False) == Transcription("", None)
    assert sound.words(lambda: True).text == ""


def test_a_microphone_that_is_always_on_keeps_its_newest_sound() -> None:
    sound = stream(whole=False, most_s=2.0)
    changes: list[VoiceChange] = []
    for _ in range(10):
        changes = sound.hear(spoken((tone, 1.0), (silence, 1.0)))
        assert not sound.full
    assert abs(changes[-1].at_ms - 19_000) < 64
    assert not sound.wants_to_read()
    asked = stream(most_s=2.0)
    asked.hear(silence(2.5))
    assert asked.full
