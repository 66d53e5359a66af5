"""Who speaks where a voice cannot, and when it is tried again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import pytest

from s2s.core.clock import SystemClock
from s2s.tts.base import AudioChunk, Capabilities, InstructedSynthesizer, Measured, TtsError
from s2s.tts.spare_voice import AGAIN_S, SpareVoice

HZ = 24_000


@dataclass
class Tone:
    """Speaks ten blocks of one level; fails behind so many of them."""

    level: float
    rate_hz: int = HZ
    fails_after: int | None = None
    asked: list[tuple[str, str, str | None, str | None]] = field(default_factory=list)
    """Text, instructions, voice and language."""
    closed: bool = False

    description = "a tone"
    real_time_factor = 0.25
    measured_how = "by ear"
    takes_instructions = True

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(self.rate_hz, streaming=True, languages=("en",), voices=("a",))

    def synthesize(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        return self.synthesize_instructed(text, "", voice=voice, language=language, stop=stop)

    def synthesize_instructed(
        self,
        text: str,
        instructions: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        self.asked.append((text, instructions, voice, language))
        for block in range(10):
            if block == self.fails_after:
                raise TtsError("the line broke")
            if stop():
                return
            yield AudioChunk(np.full(self.rate_hz // 10, self.level, np.float32))

    def warm(self) -> None:
        list(self.synthesize("Hello."))

    def close(self) -> None:
        self.closed = True


class Hands(SystemClock):
    """A clock that a test sets."""

    at_s = 0.0

    def now(self) -> float:
        return self.at_s


@dataclass
class Both:
    main: Tone
    spare: Tone
    clock: Hands
    voice: SpareVoice


def both(main: Tone | None = None, spare: Tone | None = None) -> Both:
    main, spare, clock = main or Tone(0.5), spare or Tone(0.25), Hands()
    return Both(main, spare, clock, SpareVoice(main, spare, clock))


def levels(chunks: Iterator[AudioChunk]) -> set[float]:
    return {float(each) for chunk in chunks for each in np.unique(chunk.samples)}


def test_the_first_speaks_as_long_as_it_can() -> None:
    made = both()
    assert levels(made.voice.synthesize("Hi.", voice="a", language="en")) == {0.5}
    assert made.main.asked == [("Hi.", "", "a", "en")]
    list(made.voice.synthesize_instructed("Hi.", "softly"))
    assert made.main.asked[-1] == ("Hi.", "softly", None, None)
    assert made.spare.asked == []
    assert made.voice.capabilities == made.main.capabilities


def test_the_spare_one_speaks_what_the_first_could_not_begin_and_goes_on_for_a_while() -> None:
    made = both(Tone(0.5, fails_after=0))
    assert levels(made.voice.synthesize("Hi.", voice="a", language="de")) == {0.25}
    assert made.spare.asked == [("Hi.", "", None, None)]
    made.main.fails_after = None
    assert levels(made.voice.synthesize("And on.", language="en")) == {0.25}
    assert made.spare.asked[-1] == ("And on.", "", None, "en")
    assert len(made.main.asked) == 1
    made.clock.at_s = AGAIN_S
    assert levels(made.voice.synthesize("Again.")) == {0.5}
    assert levels(made.voice.synthesize("And on.")) == {0.5}


def test_what_was_begun_fails_and_the_next_text_has_the_spare_voice() -> None:
    made = both(Tone(0.5, fails_after=3))
    heard: list[AudioChunk] = []
    with pytest.raises(TtsError, match="the line broke"):
        heard.extend(made.voice.synthesize("Hi."))
    assert len(heard) == 3
    assert levels(made.voice.synthesize("Hi.")) == {0.25}


def test_nothing_is_spoken_of_what_was_stopped() -> None:
    made = both(Tone(0.5, fails_after=0))
    with pytest.raises(TtsError):
        list(made.voice.synthesize("Hi.", stop=lambda: True))
    assert made.spare.asked == []


def test_the_spare_one_is_heard_at_the_rate_of_the_first() -> None:
    made = both(Tone(0.5, fails_after=0), Tone(0.25, rate_hz=16_000))
    samples = sum(len(each.samples) for each in made.voice.synthesize("Hi."))
    assert samples == pytest.approx(HZ, abs=2)


def test_at_the_start_only_the_spare_one_must_work(caplog: pytest.LogCaptureFixture) -> None:
    made = both(Tone(0.5, fails_after=0))
    made.voice.warm()
    assert "the spare voice speaks: the line broke" in caplog.text
    assert levels(made.voice.synthesize("Hi.")) == {0.25}
    made.voice.close()
    assert made.main.closed
    assert made.spare.closed
    with pytest.raises(TtsError):
        both(spare=Tone(0.25, fails_after=0)).voice.warm()


def test_it_is_told_what_the_first_is() -> None:
    voice = both().voice
    assert isinstance(voice, Measured)
    assert isinstance(voice, InstructedSynthesizer)
    assert voice.description == "a tone, with a spare voice"
    assert (voice.real_time_factor, voice.measured_how) == (0.25, "by ear")
    assert voice.takes_instructions
