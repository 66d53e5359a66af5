"""Leading silence is cut, the onset never is, and blocks do not matter."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2s.core.audio import Block
from s2s.tts.trim import THRESHOLD, LeadTrimmer, trimmed

RATE_HZ = 16_000
PREROLL = 640


def trim(blocks: list[Block]) -> Block:
    trimmer = LeadTrimmer(RATE_HZ)
    return np.concatenate([*(trimmer.push(block) for block in blocks), trimmer.flush()])


def signal(quiet: int, loud: int) -> Block:
    samples = np.linspace(0.001, 0.009, quiet + loud, dtype=np.float32)
    samples[quiet:] = 0.5
    return samples


def test_silence_is_cut_to_40_ms_before_the_first_loud_sample() -> None:
    samples = signal(2000, 100)
    assert np.array_equal(trim([samples]), samples[2000 - PREROLL :])


def test_preroll_reaches_back_into_blocks_already_seen() -> None:
    samples = signal(2000, 100)
    blocks = [samples[:1000], samples[1000:1900], samples[1900:1990], samples[1990:]]
    assert np.array_equal(trim(blocks), samples[2000 - PREROLL :])


def test_speech_that_starts_at_once_loses_nothing() -> None:
    samples = signal(100, 100)
    assert np.array_equal(trim([samples]), samples)


@pytest.mark.parametrize("level", [0.0, 0.01, -0.01])
def test_one_percent_is_not_yet_speech(level: float) -> None:
    assert len(trim([np.full(5000, level, dtype=np.float32)])) == 0


def test_a_negative_sample_is_as_loud() -> None:
    assert len(trim([np.array([-0.011], dtype=np.float32)])) == 1


def test_pauses_after_the_onset_stay() -> None:
    trimmer = LeadTrimmer(RATE_HZ)
    trimmer.push(signal(0, 10))
    assert len(trimmer.push(np.zeros(3000, dtype=np.float32))) == 3000


def test_flush_starts_a_new_utterance() -> None:
    trimmer = LeadTrimmer(RATE_HZ)
    trimmer.push(signal(100, 100))
    trimmer.flush()
    assert len(trimmer.push(np.zeros(3000, dtype=np.float32))) == 0


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="rate_hz"):
        LeadTrimmer(0)


@settings(max_examples=100, deadline=None)
@given(
    quiet=st.integers(0, 3000),
    loud=st.integers(0, 500),
    cuts=st.lists(st.integers(0, 3500), max_size=12),
)
def test_any_split_gives_the_same_samples(quiet: int, loud: int, cuts: list[int]) -> None:
    samples = signal(quiet, loud)
    edges = [0, *sorted(min(cut, len(samples)) for cut in cuts), len(samples)]
    blocks = [samples[a:b] for a, b in pairwise(edges)]
    assert np.array_equal(trim(blocks), trim([samples]))


def test_a_sentence_keeps_40_ms_before_and_200_ms_after() -> None:
    samples = np.concatenate([signal(5000, 300), np.zeros(9000, np.float32)])
    first = int(np.flatnonzero(np.abs(samples) > THRESHOLD)[0])
    last = int(np.flatnonzero(np.abs(samples) > THRESHOLD)[-1])
    expected = samples[first - RATE_HZ * 40 // 1000 : last + 1 + RATE_HZ * 200 // 1000]
    assert np.array_equal(trimmed(samples, RATE_HZ), expected)


def test_trimming_silence_leaves_nothing() -> None:
    assert len(trimmed(np.full(24_000, 0.005, dtype=np.float32), 24_000)) == 0
