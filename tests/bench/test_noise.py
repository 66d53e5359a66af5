"""What the noise benchmark mixes is what it says."""

from __future__ import annotations

import numpy as np
import pytest

from s2s.bench.noise import active_level, babble, hum, mixed, white
from s2s.core.audio import PIPELINE_HZ, Block
from s2s.testing.simulator import tone


@pytest.mark.parametrize("snr_db", [0, 5, 10])
def test_noise_is_as_much_below_the_speech_as_said(snr_db: int) -> None:
    speech = tone(2.0, level=0.1)
    noise = white(len(speech) + 2 * PIPELINE_HZ, np.random.default_rng(1))
    both = mixed(speech, noise, snr_db)
    left = both - np.pad(speech, PIPELINE_HZ)
    ratio_db = 20 * np.log10(active_level(speech) / np.std(left))
    assert ratio_db == pytest.approx(snr_db, abs=0.1)


def test_pauses_do_not_count_as_speech() -> None:
    speech = tone(1.0)
    paused = np.concatenate([speech, np.zeros_like(speech), speech])
    assert active_level(paused) == pytest.approx(active_level(speech), rel=0.1)


def test_a_mixture_is_never_louder_than_full_scale() -> None:
    speech = tone(1.0, level=0.7)
    noise = white(len(speech) + 2 * PIPELINE_HZ, np.random.default_rng(1))
    assert float(np.abs(mixed(speech, noise, 0)).max()) <= 1.0


def test_each_noise_is_as_long_as_asked_for_and_the_same_each_time() -> None:
    others: list[Block] = [tone(0.7), tone(1.1, 240.0)]
    for made in (white, hum, babble(others)):
        one, two = (made(20_000, np.random.default_rng(3)) for _ in range(2))
        assert one.shape == (20_000,)
        np.testing.assert_array_equal(one, two)
        assert float(np.std(one)) > 0.1


def test_hum_is_of_the_mains() -> None:
    spectrum = np.abs(np.fft.rfft(hum(PIPELINE_HZ, np.random.default_rng(1))))
    assert int(spectrum.argmax()) == 50
