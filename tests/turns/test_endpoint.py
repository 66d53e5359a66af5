"""End of turn: the features against another implementation, the model on speech, the grace."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.audio import PIPELINE_HZ, read_wav
from s2s.models.store import Store
from s2s.turns.endpoint import EAGERNESS, EndOfTurn, GraceConfig, grace_ms, log_mel

DATA = Path(__file__).parents[1] / "data"
END_S = {
    "librivox_0870": 6.762,
    "librivox_0880": 2.774,
    "librivox_0890": 5.057,
    "librivox_0920": 5.813,
    "librivox_0930": 3.037,
}
"""Last sound, labelled by hand (pocketsphinx 5.1.1, test/data/librivox/*.lab). 0880 is a clause in
the middle of a sentence, and read like one."""
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


@pytest.mark.models
def test_whole_sentences_are_complete_and_cut_ones_are_not(end_of_turn: EndOfTurn) -> None:
    complete, cut = [], []
    for name, end_s in END_S.items():
        audio, _ = read_wav(DATA / f"{name}.wav", PIPELINE_HZ)
        heard = audio[: int((end_s + 0.2) * PIPELINE_HZ)]
        complete.append(end_of_turn.probability(heard))
        cut.append(end_of_turn.probability(audio[: int(0.55 * len(audio))]))
    assert sum(probability > 0.5 for probability in complete) >= 4, complete
    assert sum(probability < 0.5 for probability in cut) >= 3, cut


@pytest.mark.models
def test_only_the_last_eight_seconds_count(end_of_turn: EndOfTurn) -> None:
    audio, _ = read_wav(DATA / "librivox_0870.wav", PIPELINE_HZ)
    long = np.concatenate([audio, audio])
    assert end_of_turn.probability(long) == end_of_turn.probability(long[-8 * PIPELINE_HZ :])
    assert 0.0 <= end_of_turn.probability(audio[:0]) <= 1.0


# --- the grace -----------------------------------------------------------------------------------


def test_the_grace_has_the_ends_that_were_configured() -> None:
    assert grace_ms(0.99, "Yes.", CONFIG) == pytest.approx(CONFIG.complete_ms, abs=20)
    assert grace_ms(0.9999, "Yes.", CONFIG) == CONFIG.complete_ms == 100
    assert grace_ms(0.97, "", CONFIG) == pytest.approx(240, abs=5)
    assert grace_ms(0.01, "", CONFIG) == CONFIG.incomplete_ms == 2000
    assert grace_ms(None, "", CONFIG) == CONFIG.silence_ms == 700


@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.text(max_size=20))
def test_the_grace_falls_as_the_turn_is_surer_to_be_over(a: float, b: float, text: str) -> None:
    low, high = sorted((a, b))
    assert grace_ms(low, text, CONFIG) >= grace_ms(high, text, CONFIG)
    assert CONFIG.complete_ms <= grace_ms(a, text, CONFIG) <= CONFIG.incomplete_ms


@given(st.floats(0.001, 0.999))
def test_the_grace_has_no_jumps(probability: float) -> None:
    step = abs(grace_ms(probability, "", CONFIG) - grace_ms(probability + 0.001, "", CONFIG))
    assert step <= 200


@pytest.mark.parametrize("probability", [None, 0.9, 0.97])
def test_a_trailing_and_is_waited_for(probability: float | None) -> None:
    said = "Turn off all of the lights"
    assert grace_ms(probability, f"{said} and", CONFIG) >= 1500
    assert grace_ms(probability, f"{said}.", CONFIG) <= 700


def test_without_a_model_a_whole_answer_is_answered_soon() -> None:
    assert grace_ms(None, "Yes.", CONFIG) == 175


def test_the_three_manners_are_in_order() -> None:
    for probability in (0.05, 0.5, 0.7, 0.9, 0.97):
        low, medium, high = (
            grace_ms(probability, "", EAGERNESS[name]) for name in ("low", "medium", "high")
        )
        assert low >= medium >= high


def test_a_bias_moves_it() -> None:
    patient = GraceConfig(bias=-3.0)
    assert grace_ms(0.97, "", patient) > grace_ms(0.97, "", CONFIG)


@pytest.mark.parametrize(
    "wrong",
    [
        {"curve": ((0.0, 2000),)},
        {"curve": ((1.0, 2000), (0.0, 100))},
        {"curve": ((0.0, 100), (1.0, 2000))},
        {"curve": ((0.0, 2000), (1.0, -1))},
        {"silence_ms": 5000},
        {"silence_ms": 50},
    ],
)
def test_a_wrong_config_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"\d"):
        GraceConfig(**wrong)  # pyright: ignore[reportArgumentType]


def test_no_wait_at_all_can_be_configured() -> None:
    config = GraceConfig(curve=((0.0, 0), (1.0, 0)), silence_ms=0)
    assert grace_ms(0.5, "", config) <= 1
    assert grace_ms(None, "", config) <= 1
