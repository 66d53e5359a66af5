"""Where long recordings are cut."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.stt.windows import quiet_windows

SECOND = 16_000


def noise(seconds: float, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 0.1, int(seconds * SECOND)).astype(np.float32)


@given(st.integers(0, 12 * SECOND), st.integers(SECOND, 4 * SECOND))
def test_windows_cover_the_audio_and_none_is_too_long(samples: int, window: int) -> None:
    cuts = quiet_windows(noise(samples / SECOND), window)
    assert [cut.start for cut in cuts] == [0, *(cut.stop for cut in cuts[:-1])][: len(cuts)]
    assert sum(cut.stop - cut.start for cut in cuts) == int(samples / SECOND * SECOND)
    assert all(0 < cut.stop - cut.start <= window for cut in cuts)


def test_a_window_ends_in_the_pause() -> None:
    audio = noise(12)
    audio[int(7.0 * SECOND) : int(7.4 * SECOND)] = 0
    first = quiet_windows(audio, 10 * SECOND)[0]
    assert 7.0 * SECOND < first.stop < 7.4 * SECOND


def test_a_cut_stays_when_the_recording_grows() -> None:
    audio = noise(30)
    longer = quiet_windows(audio, 4 * SECOND)
    for seconds in (5, 11, 23):
        shorter = quiet_windows(audio[: seconds * SECOND], 4 * SECOND)
        assert shorter[:-1] == longer[: len(shorter) - 1]


def test_a_window_below_a_second_is_refused() -> None:
    with pytest.raises(ValueError, match="15999"):
        quiet_windows(noise(1), SECOND - 1)
