"""End of turn: the features against another implementation, and the model on speech."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from s2s.core.audio import PIPELINE_HZ, read_wav
from s2s.models.store import Store
from s2s.turns.endpoint import EndOfTurn, log_mel, to_log_odds

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


def test_log_odds_are_bounded() -> None:
    assert to_log_odds(0.5) == 0.0
    assert to_log_odds(1.0) == pytest.approx(9.21, abs=0.01)
    assert to_log_odds(0.0) == pytest.approx(-9.21, abs=0.01)
