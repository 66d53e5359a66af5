"""The wake words of pymicro-wakeword, on synthetic and on human speech."""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block, Framer, resample
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.turns.orders.wake_word import MicroWakeModel, WakeWordError

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
