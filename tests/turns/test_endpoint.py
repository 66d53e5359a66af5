"""End of turn: the features against another implementation, the model on speech, the grace."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.audio import PIPELINE_HZ, read_wav
from s2s.store import Store
from s2s.turns.endpoint import EndOfTurn, GraceConfig, grace_ms, log_mel

DATA = Path(__file__).parents[1] / "data"
LIBRIVOX = ["librivox_0870", "librivox_0880", "librivox_0890", "librivox_0920", "librivox_0930"]
CONFIG = GraceConfig()


@pytest.mark.parametrize("seconds", [0.0, 0.01, 0.3, 2.99, 7.99, 8.0, 8.5])
def test_features_are_whispers(seconds: float) -> None:
    whisper = pytest.importorskip("faster_whisper.feature_extractor")
    speech, _ = read_wav(DATA / "librivox_0870.wav", PIPELINE_HZ)
    audio = np.tile(speech, 2)[: int(seconds * PIPELINE_HZ)]
    whole = np.zeros(8 * PIPELINE_HZ, dtype=np.float32)
    if len(audio):
        whole[-len(audio) :] = audio[-len(whole) :]
    whole = (whole - whole.mean()) / np.sqrt(whole.var() + 1e-7)
    extractor = whisper.FeatureExtractor(feature_size=80, hop_length=160, n_fft=400)
    expected = extractor(whole, padding=0)
    features = log_mel(audio)
    assert features.shape == (80, 800)
    assert features.dtype == np.float32
    np.testing.assert_allclose(features, expected, atol=2e-4)


@pytest.fixture(scope="module")
def end_of_turn() -> EndOfTurn:
    return EndOfTurn(Store().path("smart-turn-v3"))


# --- the grace -----------------------------------------------------------------------------------


def test_the_grace_has_the_ends_that_were_configured() -> None:
    assert grace_ms(0.99, "", CONFIG) == CONFIG.complete_ms
    assert grace_ms(0.01, "", CONFIG) == CONFIG.incomplete_ms
    assert grace_ms(None, "", CONFIG) == CONFIG.silence_ms


@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.text(max_size=20))
def test_the_grace_falls_as_the_turn_is_surer_to_be_over(a: float, b: float, text: str) -> None:
    low, high = sorted((a, b))
    assert grace_ms(low, text, CONFIG) >= grace_ms(high, text, CONFIG)
    assert CONFIG.complete_ms <= grace_ms(a, text, CONFIG) <= CONFIG.incomplete_ms


@given(st.floats(0.001, 0.999))
def test_the_grace_has_no_jumps(probability: float) -> None:
    step = abs(grace_ms(probability, "", CONFIG) - grace_ms(probability + 0.001, "", CONFIG))
    assert step <= 150


@given(st.one_of(st.none(), st.floats(0.2, 0.9)))
def test_a_trailing_and_is_waited_for(probability: float | None) -> None:
    longer = grace_ms(probability, "Turn off the lights and", CONFIG)
    shorter = grace_ms(probability, "Turn off the lights.", CONFIG)
    assert longer >= 2 * shorter or longer == CONFIG.incomplete_ms
    assert shorter == grace_ms(probability, "", CONFIG)


@pytest.mark.parametrize(
    "wrong",
    [
        {"complete_ms": 3000},
        {"complete_ms": -1},
        {"silence_ms": 5000},
        {"sure_complete": 0.01},
        {"sure_complete": 1.0},
    ],
)
def test_a_wrong_config_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"\d"):
        GraceConfig(**wrong)  # pyright: ignore[reportArgumentType]


def test_no_wait_at_all_can_be_configured() -> None:
    config = GraceConfig(complete_ms=0, silence_ms=0, incomplete_ms=0)
    assert grace_ms(0.5, "", config) <= 1
