"""What echo is expected: delay, coupling and noise, learned from speech and bad loudspeakers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block, read_wav
from s2s.testing.echo_room import LoudspeakerPath, OpenLoudspeaker
from s2s.transport.expected_echo import ExpectedEcho
from tests.support.recordings import DATA

PATH = LoudspeakerPath(delay_ms=120.0, clip=0.1, gain_db=-8.0, noise_db=-70.0, seed=4)
BAR_DB = 6.0


def speech(*names: str, peak: float = 0.5) -> Block:
    """Whole windows of recordings one after another."""
    joined = np.concatenate(
        [read_wav(DATA / f"librivox_{name}.wav", PIPELINE_HZ)[0] for name in names]
    )
    whole = joined[: len(joined) // BLOCK_SAMPLES * BLOCK_SAMPLES]
    return (whole * (peak / np.abs(whole).max())).astype(np.float32)


def heard(path: LoudspeakerPath, played: Block, person: Block | None = None) -> Block:
    """What the microphone hears: echo, noise, and the person from the start."""
    loudspeaker = OpenLoudspeaker(path)
    windows = played.reshape(-1, BLOCK_SAMPLES)
    near = np.concatenate([loudspeaker.echo(each) for each in windows])
    near = near + loudspeaker.noise(len(near))
    if person is not None:
        near[: len(person)] += person[: len(near)]
    return near.astype(np.float32)


def over_db(expected: ExpectedEcho, near: Block, played: Block) -> np.ndarray:
    """By how much each window is louder than its echo; the canceller does nothing."""
    pairs = zip(near.reshape(-1, BLOCK_SAMPLES), played.reshape(-1, BLOCK_SAMPLES), strict=True)
    return np.array([expected.hear(one, far, one) for one, far in pairs])


def learned(path: LoudspeakerPath = PATH) -> ExpectedEcho:
    expected = ExpectedEcho()
    played = speech("0870", "0880")
    over_db(expected, heard(path, played), played)
    return expected


def silence(seconds: float) -> Block:
    return np.zeros(int(seconds * PIPELINE_HZ) // BLOCK_SAMPLES * BLOCK_SAMPLES, dtype=np.float32)


@pytest.mark.parametrize("delay_ms", [30.0, 90.0, 170.0, 240.0, 300.0])
def test_the_delay_is_found(delay_ms: float) -> None:
    found_ms = learned(replace(PATH, delay_ms=delay_ms)).delay_ms
    assert found_ms is not None
    assert abs(found_ms - delay_ms) <= 16.0


@pytest.mark.parametrize("drift_ppm", [2000.0, -2000.0])
def test_a_delay_that_drifts_is_followed(drift_ppm: float) -> None:
    path = replace(PATH, drift_ppm=drift_ppm)
    expected = ExpectedEcho()
    played = np.concatenate([speech("0870", "0880", "0890", "0920", "0930")] * 2)
    over_db(expected, heard(path, played), played)
    found_ms, drifted_ms = expected.delay_ms, drift_ppm * 1e-3 * len(played) / PIPELINE_HZ
    assert abs(drifted_ms) > 90.0
    assert found_ms is not None
    assert abs(found_ms - (path.delay_ms + drifted_ms)) <= 24.0


def test_an_echo_is_seldom_louder_than_expected_and_a_person_mostly_is() -> None:
    expected = learned()
    played = speech("0890")
    alone = over_db(expected, heard(PATH, played), played)
    expected = learned()
    person = speech("0920", peak=0.35)[: 3 * PIPELINE_HZ // BLOCK_SAMPLES * BLOCK_SAMPLES]
    both = over_db(expected, heard(PATH, played, person), played)[: len(person) // BLOCK_SAMPLES]
    loud = np.square(person.reshape(-1, BLOCK_SAMPLES)).mean(axis=1) > 1e-3
    assert np.mean(alone[np.isfinite(alone)] > BAR_DB) <= 0.03
    assert np.mean(both[loud] > BAR_DB) >= 0.7


def test_it_counts_what_is_played_after_ducking() -> None:
    person = speech("0920", peak=0.35)[: 3 * PIPELINE_HZ // BLOCK_SAMPLES * BLOCK_SAMPLES]
    played = speech("0890")[: len(person)]
    loud = heard(PATH, played, person)
    ducked = heard(PATH, played * np.float32(0.25), person)
    before = over_db(learned(), loud, played)
    after = over_db(learned(), ducked, played * np.float32(0.25))
    both = np.isfinite(before) & np.isfinite(after)
    assert np.median(after[both] - before[both]) >= 4.0


def test_nothing_is_expected_where_nothing_plays_and_before_anything_is_known() -> None:
    expected = ExpectedEcho()
    quiet = silence(1.0)
    assert np.all(over_db(expected, heard(PATH, quiet), quiet) == np.inf)
    assert not expected.known
    assert expected.delay_ms is None
    played = speech("0870")[: 8 * BLOCK_SAMPLES] + np.float32(1e-3)
    assert over_db(expected, heard(PATH, played), played)[-1] == -np.inf


def test_headphones_have_no_echo() -> None:
    expected = ExpectedEcho()
    quiet, played = silence(2.0), speech("0870", "0880")
    over_db(expected, heard(replace(PATH, gain_db=-90.0), quiet), quiet)
    over = over_db(expected, heard(replace(PATH, gain_db=-90.0), played), played)
    assert expected.delay_ms is None
    assert np.mean(over[2 * PIPELINE_HZ // BLOCK_SAMPLES :] == np.inf) >= 0.95


def test_the_rooms_noise_is_not_learned_from_an_echo() -> None:
    expected = ExpectedEcho()
    quiet = silence(2.0)
    over_db(expected, heard(PATH, quiet), quiet)
    before_db = expected.noise_db
    assert before_db == pytest.approx(-70.0, abs=4.0)
    played = speech("0870", "0880")
    over_db(expected, heard(PATH, played), played)
    assert expected.noise_db == pytest.approx(before_db, abs=1.0)
