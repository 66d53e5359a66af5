"""Nothing that is audible in a channel is lost on the way to one; the usual case is the mean."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.audio import rms_db
from s2s.core.audio.downmix import StreamDownmix, downmix

HZ = 16_000
RANDOM = np.random.default_rng(0)
VOICE = (RANDOM.standard_normal(2 * HZ) * (0.02 + np.hanning(2 * HZ)) * 0.2).astype(np.float32)
OTHER = (RANDOM.standard_normal(2 * HZ) * 0.15).astype(np.float32)
NOTHING = np.zeros(2 * HZ, dtype=np.float32)
FAINT = (RANDOM.standard_normal(2 * HZ) * 1e-3).astype(np.float32)
HALF = np.arange(2 * HZ) < HZ


def likeness(heard: np.ndarray, wanted: np.ndarray) -> float:
    """Of two signals, 1 for equal up to loudness and sign."""
    return abs(float(np.corrcoef(heard, wanted)[0, 1]))


@pytest.mark.parametrize("channels", [1, 2, 3, 6])
def test_channels_that_agree_give_their_mean_to_the_bit(channels: int) -> None:
    samples = np.repeat(VOICE[:, None], channels, axis=1)
    samples += RANDOM.standard_normal(samples.shape).astype(np.float32) * 1e-4
    assert np.array_equal(downmix(samples, HZ), samples.mean(axis=1, dtype=np.float32))


PARTS = {
    "voice": VOICE,
    "opposite": -VOICE,
    "opposite, quieter": -0.4 * VOICE,
    "nothing": NOTHING,
    "faint noise": FAINT,
    "an offset": NOTHING + 0.5,
    "opposite and an offset": 0.3 - VOICE,
    "opposite from the middle on": np.where(HALF, VOICE, -VOICE).astype(np.float32),
    "only in the first half": np.where(HALF, VOICE, 0).astype(np.float32),
}
CASES = [
    each
    for channels in (2, 3, 6)
    for each in (
        itertools.product(PARTS, repeat=2)
        if channels == 2
        else [
            (a, "nothing", b, "faint noise", "nothing", c)[:channels]
            for a in PARTS
            for b in PARTS
            for c in ("voice", "opposite")
        ]
    )
    if any(name.startswith(("voice", "opposite")) for name in each)
]


@pytest.mark.parametrize("names", CASES, ids="|".join)
def test_a_voice_in_any_channel_the_right_way_round_or_not_is_heard(names: tuple[str, ...]) -> None:
    samples = np.stack([PARTS[name] for name in names], axis=1)
    heard = downmix(samples, HZ)
    loudest = max(rms_db(s - s.mean()) for s in samples.T)
    assert rms_db(heard - heard.mean()) > loudest - 3.5
    for half in (HALF, ~HALF):
        assert likeness(heard[half], VOICE[half]) > 0.97


@pytest.mark.parametrize("quieter", [1.0, 0.3, 0.1, 0.03])
def test_two_people_on_a_channel_each_are_both_heard(quieter: float) -> None:
    heard = downmix(np.stack([VOICE, quieter * OTHER], axis=1), HZ)
    weights = np.linalg.lstsq(np.stack([VOICE, quieter * OTHER], axis=1), heard, rcond=None)[0]
    assert weights == pytest.approx([weights[0], weights[0]], rel=0.02)
    assert weights[0] >= 0.49


def test_an_echo_of_the_other_channel_that_cancels_it_is_left_out() -> None:
    late = np.roll(-VOICE, 1)
    smooth = np.convolve(VOICE, np.ones(8) / 8, mode="same").astype(np.float32)
    heard = downmix(np.stack([smooth, np.roll(-smooth, 1)], axis=1), HZ)
    assert likeness(heard, smooth) > 0.95
    assert len(downmix(np.stack([VOICE, late], axis=1), HZ)) == len(VOICE)


@given(
    st.lists(st.integers(-32768, 32767), max_size=60),
    st.integers(1, 4),
    st.sampled_from([8_000, 16_000, 44_100]),
)
def test_any_samples_stay_finite_and_within_the_loudest(
    values: list[int], channels: int, rate_hz: int
) -> None:
    count = len(values) // channels
    samples = np.array(values[: count * channels], dtype=np.float32).reshape(
        count, channels
    ) / np.float32(32768)
    heard = downmix(samples, rate_hz)
    assert heard.shape == (count,)
    assert np.isfinite(heard).all()
    assert not count or np.abs(heard).max() <= 1.0 + 1e-6


@pytest.mark.parametrize("names", [c for c in CASES if len(c) == 2], ids="|".join)
def test_a_stream_is_heard_as_well_but_for_its_first_moments(names: tuple[str, ...]) -> None:
    samples = np.stack([PARTS[name] for name in names], axis=1)
    mixer = StreamDownmix(2, HZ)
    heard = np.concatenate([mixer.push(block) for block in np.split(samples, 125)])
    settled = np.ones(2 * HZ, dtype=bool)
    settled[: HZ // 10] = settled[HZ : HZ + HZ // 2] = False
    if any("offset" in name for name in names):
        settled[: HZ // 2] = False
    for half in (HALF, ~HALF):
        assert likeness(heard[half & settled], VOICE[half & settled]) > 0.9
    assert rms_db(heard[settled]) > max(rms_db(s[settled] - s.mean()) for s in samples.T) - 7
