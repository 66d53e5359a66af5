"""The wake words of pymicro-wakeword, on synthetic and on human speech."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block, Framer, resample
from s2s.core.clock import Clock
from s2s.core.events import Heard, ResponseDone
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.session.models import Models
from s2s.testing.simulator import Said, Simulation
from s2s.turns.orders.wake_word import MicroWakeModel, WakeWordError, over_for
from s2s.turns.vad import SileroVad

NAMES = ("okay_nabu", "hey_jarvis", "hey_mycroft", "alexa")
SAID = {
    "okay_nabu": "Okay Nabu",
    "hey_jarvis": "Hey Jarvis",
    "hey_mycroft": "Hey Mycroft",
    "alexa": "Alexa",
}


@pytest.fixture(autouse=True)
def package(request: pytest.FixtureRequest) -> None:
    if "missing" not in request.node.name:
        pytest.importorskip("pymicro_wakeword")


def recognised(name: str, audio: Block) -> list[int]:
    """Samples at which `name` is recognised in `audio`, after half a second of silence."""
    stream = MicroWakeModel(name).open()
    padded = np.pad(audio, (PIPELINE_HZ // 2, PIPELINE_HZ))
    found, sample = [], -PIPELINE_HZ // 2
    for block in Framer(BLOCK_SAMPLES).push(padded):
        sample += BLOCK_SAMPLES
        if stream.heard(block) is not None:
            found.append(sample)
    return found


@lru_cache
def spoken(text: str) -> Block:
    """`text` in the embedded voice, float32 [samples] at 16 kHz."""
    from s2s.config import registry

    voice = registry.create_synthesizer("hibari", None, Resources(Store(), threads=1))
    sound = np.concatenate([chunk.samples for chunk in voice.synthesize(text)])
    voice.close()
    return resample(sound, voice.capabilities.sample_rate_hz, PIPELINE_HZ)


def test_missing_package_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pymicro_wakeword", None)
    with pytest.raises(WakeWordError, match=r"pip install 's2s\[wake-word\]'"):
        MicroWakeModel("okay_nabu")


def test_an_unknown_word_is_refused_with_those_there_are() -> None:
    with pytest.raises(WakeWordError, match="alexa, hey_jarvis, hey_mycroft, okay_nabu"):
        MicroWakeModel("hey_you")


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "mine.json"
    broken.write_text('{"model": "mine.tflite"}', encoding="utf-8")
    with pytest.raises(WakeWordError, match=r"mine\.json"):
        MicroWakeModel(str(broken))


@pytest.mark.parametrize("name", NAMES)
def test_every_model_loads_and_tells_its_phrase(name: str) -> None:
    assert MicroWakeModel(name).open().phrase == SAID[name]


@pytest.mark.parametrize("name", NAMES)
def test_silence_and_noise_wake_nothing(name: str, wordless: dict[str, Block]) -> None:
    for what, audio in wordless.items():
        if np.isfinite(audio).all():
            assert recognised(name, audio) == [], what


SPOKEN = [
    ("hey_jarvis", "Hey Jarvis."),
    ("hey_mycroft", "Hey Mycroft."),
    ("alexa", "Alexa."),
    ("okay_nabu", "Okay nah boo, what time is it?"),  # as the embedded voice says Nabu rightly
]


@pytest.mark.models
@pytest.mark.parametrize(("name", "text"), SPOKEN)
def test_a_word_is_recognised_once_when_it_is_over(name: str, text: str) -> None:
    (sample,) = recognised(name, spoken(text))
    assert 0.6 <= sample / PIPELINE_HZ <= 1.2


@pytest.mark.models
@pytest.mark.parametrize("name", NAMES)
def test_other_words_wake_nothing(name: str) -> None:
    others = [text for other, text in SPOKEN if other != name]
    for text in [*others, "What time is it?", "Okay, now who is coming with us to the harvest?"]:
        assert recognised(name, spoken(text)) == [], text


@pytest.mark.parametrize("name", NAMES)
def test_human_speech_wakes_nothing(name: str, librivox: dict[str, tuple[Block, str]]) -> None:
    for recording, (audio, _) in librivox.items():
        assert recognised(name, audio) == [], recording


@pytest.mark.models
@pytest.mark.parametrize("name", ["hey_jarvis", "hey_mycroft"])
def test_words_in_the_same_breath_are_heard_and_the_wake_word_is_not(
    name: str, resources: Resources
) -> None:
    from s2s.stt.moonshine import Moonshine, MoonshineConfig

    def real(models: Models, _clock: Clock) -> Models:
        store = resources.store
        return replace(
            models,
            vad=SileroVad(store.path("silero-vad")),
            transcriber=Moonshine(MoonshineConfig(), resources),
            wake_word=MicroWakeModel(name),
        )

    person = Said(spoken(f"{SAID[name]}, what time is it?"), "")
    simulation = Simulation([person], models=real).run()
    told = [event for _, event in simulation.events]
    assert [e.text for e in told if isinstance(e, Heard) and e.final] == ["What time is it?"]
    assert [e.status for e in told if isinstance(e, ResponseDone)] == ["completed"]
    assert simulation.chat.prompts[-1][-1].content == "What time is it?"


def test_a_word_is_over_at_the_last_pause() -> None:
    heard = np.full(4096, 0.1, dtype=np.float32)
    assert over_for(heard) == 192 * 16, "in one breath"
    heard[1000:1500] = 0.0  # as within "Mycroft"
    heard[2000:3400] = 0.001
    assert over_for(heard) / 16 == pytest.approx((4096 - 3400) / 16, abs=25)


def test_a_word_that_is_just_over_is_over_now() -> None:
    heard = np.full(4096, 0.1, dtype=np.float32)
    heard[-1000:] = 0.0
    assert over_for(heard) / 16 < 25


def test_of_less_than_is_looked_at_no_more_is_said_than_was_heard() -> None:
    for samples in (0, 100, 512):
        assert 0 <= over_for(np.full(samples, 0.1, dtype=np.float32)) <= samples
