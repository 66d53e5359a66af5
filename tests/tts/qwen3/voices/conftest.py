"""A voice that was enrolled with a tiny model, for all tests of voices."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.core.audio import read_wav
from s2s.tts.qwen3.voices.enrol import Enrolment
from s2s.tts.qwen3.voices.store import Voice
from tests.support.recordings import DATA, WORDS_0880


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def enrolment(tiny_qwen3: Callable[[str], Path], cache: Path) -> Enrolment:
    return Enrolment.open(tiny_qwen3("0.6b-base"), cache)


@pytest.fixture(scope="module")
def pcm() -> np.ndarray:
    return read_wav(DATA / "librivox_0880.wav", 24_000)[0]


@pytest.fixture(scope="module")
def voice(enrolment: Enrolment, pcm: np.ndarray) -> Voice:
    return enrolment.enrol("anna", pcm, WORDS_0880)[0]
