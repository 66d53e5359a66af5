"""The embedded voice, and the round trip through the embedded ear."""

from __future__ import annotations

import numpy as np
import pytest

from s2s.bench.hearing import wer
from s2s.core.audio import Block, resample, rms_db
from s2s.models.resources import Resources
from s2s.stt.moonshine import Moonshine, MoonshineConfig
from s2s.tts.backends.hibari import HibariConfig, HibariTts
from s2s.tts.base import TtsError

pytest.importorskip("hibari")

SENTENCES = (
    "The weather looks nice today.",
    "I will be there in about twenty minutes.",
    "Can you tell me where the station is?",
    "Penguins live mostly in the southern half of the world.",
    "She bought three apples and a loaf of bread.",
    "Paris is the capital of France.",
    "Please close the window before you leave.",
    "The meeting starts at nine in the morning.",
    "My favorite color is dark green.",
    "A pound has sixteen ounces.",
    "He forgot his umbrella on the train.",
    "The children played in the garden until dinner.",
    "We should plan a trip to the mountains.",
    "This soup needs a little more salt.",
    "The library closes early on Fridays.",
    "Thank you for calling, how can I help?",
    "Water boils at one hundred degrees.",
    "I have never seen such a beautiful lake.",
    "Turn left after the second traffic light.",
    "Good night, and sleep well.",
)


@pytest.fixture(scope="module")
def hibari(resources: Resources) -> HibariTts:
    return HibariTts(HibariConfig(), resources)


@pytest.fixture(scope="module")
def spoken(hibari: HibariTts) -> dict[str, Block]:
    return {
        text: np.concatenate([chunk.samples for chunk in hibari.synthesize(text)])
        for text in SENTENCES
    }


def first_loud_ms(samples: Block) -> float:
    return float(np.argmax(np.abs(samples) > 0.01)) / 24.0


def test_sentences_start_at_once_and_end_soon(spoken: dict[str, Block]) -> None:
    for text, samples in spoken.items():
        assert first_loud_ms(samples) <= 40.5, text
        assert first_loud_ms(samples[::-1]) <= 200.5, text


def test_the_level_is_about_minus_20_db_and_nothing_clips(spoken: dict[str, Block]) -> None:
    levels = [rms_db(samples) for samples in spoken.values()]
    assert np.mean(levels) == pytest.approx(-21.0, abs=1.0)  # pauses and both ends included
    assert max(levels) - min(levels) < 4.0
    assert max(float(np.abs(samples).max()) for samples in spoken.values()) < 0.99


@pytest.mark.models
def test_the_embedded_ear_understands_the_embedded_voice(
    spoken: dict[str, Block], resources: Resources
) -> None:
    ear = Moonshine(MoonshineConfig(), resources)
    heard = [
        (text, ear.transcribe(resample(samples, 24_000, 16_000)).text)
        for text, samples in spoken.items()
    ]
    assert wer.rate(heard) <= 0.03


def test_one_chunk_a_sentence_and_how_far_it_is(hibari: HibariTts) -> None:
    text = "Hello there. How are you?  Fine!"
    chunks = list(hibari.synthesize(text))
    assert [chunk.spoken_chars for chunk in chunks] == [12, 25, len(text)]
    assert all(len(chunk.samples) for chunk in chunks)


@pytest.mark.parametrize("text", ["", "  ", "😀🎉", "...", "—", "你好"])
def test_nothing_to_say(text: str, hibari: HibariTts) -> None:
    assert not list(hibari.synthesize(text))


def test_the_same_text_gives_the_same_samples(hibari: HibariTts) -> None:
    one, two = (next(hibari.synthesize("Hello there.")).samples for _ in range(2))
    assert np.array_equal(one, two)


def test_a_long_text_starts_as_soon_as_a_short_one_and_can_be_stopped(hibari: HibariTts) -> None:
    text = ("A rather long text about nothing in particular, and it goes on and on " * 150)[:10_000]
    asked = [0]

    def stop() -> bool:
        asked[0] += 1
        return asked[0] > 2

    chunks = list(hibari.synthesize(text, stop=stop))
    assert len(chunks) == 2
    assert all(len(chunk.samples) < 25 * 24_000 for chunk in chunks)
    last = chunks[-1].spoken_chars
    assert last is not None
    assert 300 < last <= 480


def test_an_unknown_voice_is_named(hibari: HibariTts, resources: Resources) -> None:
    with pytest.raises(TtsError, match=r"no voice 'bob'.*heart"):
        list(hibari.synthesize("Hello.", voice="bob"))
    with pytest.raises(TtsError, match="HF_HUB_OFFLINE"):
        list(hibari.synthesize("Hello.", voice="fenrir"))
    with pytest.raises(ValueError, match="speed"):
        HibariTts(HibariConfig(speed=3.0), resources)


def test_it_cannot_be_used_after_close(resources: Resources) -> None:
    closed = HibariTts(HibariConfig(), resources)
    closed.close()
    closed.close()
    with pytest.raises(TtsError, match="closed"):
        list(closed.synthesize("Hello."))
