"""Spoken by the embedded voice, heard by the embedded recogniser: nothing may get lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from s2s.bench.hearing import wer
from s2s.config import registry
from s2s.core.audio import PIPELINE_HZ, Block, resample
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.stt.base import Transcriber
from s2s.tts.base import Synthesizer
from s2s.tts.text import speakable

SENTENCES = (
    "The museum opens at 9:30 on weekdays.",
    "A ticket costs $12.50 for adults.",
    "The meeting is on March 5th, 2024.",
    "Dr. Smith lives at 42 Oak St. in Boston.",
    "It was built in 1889 and restored in 1985.",
    "The temperature will reach 25°C tomorrow.",
    "About 75% of the students passed the test.",
    "The train leaves from platform 4 at 14:05.",
    "She paid €20 for the book.",
    "The recipe needs 1/2 cup of sugar.",
    "World War II ended in 1945.",
    "King Henry VIII had six wives.",
    "The car drove at 60 mph on the highway.",
    "He weighs 80 kg and is 6'2\" tall.",
    "Call me at 555-1234 after lunch.",
    "The company made $1.2 million last year.",
    "Please read chapter 7 on pages 10-20.",
    "The 21st century began in 2001.",
    "My flight lands at 3 p.m. on Friday.",
    "There are 1,500 people in the hall.",
    "The **final** score was 3-2 for the home team.",
    "Mr. and Mrs. Brown arrived at noon.",
    "The laptop has 16 GB of memory.",
    "It takes 20-25 minutes to cook.",
    "The distance is 384,400 km from the Earth.",
    "In the 1990s the internet became popular.",
    "Visit example.com for more information.",
    "The FBI opened an investigation on Monday.",
    "We need 2 apples, 3 pears & 5 oranges.",
    "The answer is -5, not 5.",
    "Two plus two = 4 in every country.",
    "He finished in 1st place, and she came in 3rd.",
    "The budget grew by 3.5 percent this year.",
    "I was born on 12/25/1990 in Chicago.",
    "The museum is closed on Mondays, e.g. today.",
    "Use the `print` function to show the result.",
    "NASA launched the rocket in July 1969.",
    "The room is 20 m² in size.",
    "About 3/4 of the water is gone.",
    "Prof. Jones will speak at 10 o'clock.",
)
MAX_WORD_ERROR_RATE = 0.05


@pytest.fixture(scope="module")
def voice() -> Iterator[Synthesizer]:
    made = registry.create_synthesizer("hibari", None, Resources(Store()))
    yield made
    made.close()


@pytest.fixture(scope="module")
def ears() -> Iterator[Transcriber]:
    made = registry.create_transcriber("moonshine", None, Resources(Store()))
    yield made
    made.close()


def speak(voice: Synthesizer, text: str) -> Block:
    """The sound of `text`, float32 [samples] at 16 kHz."""
    chunks = [chunk.samples for chunk in voice.synthesize(speakable(text, "en").text)]
    return resample(np.concatenate(chunks), voice.capabilities.sample_rate_hz, PIPELINE_HZ)


def as_said(text: str) -> str:
    """`text` in words: a recogniser may write "$5" or "five dollars"."""
    return speakable(text, "en").text


@pytest.mark.models
def test_forty_sentences_survive_being_spoken_and_heard(
    voice: Synthesizer, ears: Transcriber, record_property: Callable[[str, object], None]
) -> None:
    wrong, total = 0, 0
    misheard: list[tuple[str, str]] = []
    lost: list[tuple[str, str]] = []
    for sentence in SENTENCES:
        said = as_said(sentence)
        heard = as_said(ears.transcribe(speak(voice, sentence), language="en").text)
        errors, words = wer.errors(said, heard)
        wrong, total = wrong + errors, total + words
        if errors:
            misheard.append((said, heard))
        ends = [(each[0], each[-1]) for each in (wer.words(said), wer.words(heard)) if each]
        if len(ends) < 2 or ends[0] != ends[1]:
            lost.append((said, heard))
    record_property("word_error_rate", wrong / total)
    assert len(SENTENCES) == 40
    assert lost == [], "first or last word missing"
    assert wrong / total <= MAX_WORD_ERROR_RATE, misheard
