"""Measures of one utterance's chunks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.bench.synthesis import Arrivals, record
from s2s.core.clock import ManualClock
from s2s.tts.base import AudioChunk

LATE_SECOND = Arrivals(at_s=(0.1, 0.9, 1.0), lasts_s=(0.5, 1.0, 1.0))


def test_the_measures() -> None:
    assert LATE_SECOND.first_audio_s == 0.1
    assert LATE_SECOND.audio_s == 2.5
    assert LATE_SECOND.real_time_factor == pytest.approx(0.4)
    assert LATE_SECOND.gaps_s == pytest.approx((0.8, 0.1))


def test_playback_starts_so_late_that_the_second_chunk_is_there_in_time() -> None:
    assert LATE_SECOND.uninterrupted_start_s == pytest.approx(0.4)


def test_a_steady_stream_can_start_at_once() -> None:
    assert Arrivals((0.1, 0.3, 0.5), (0.4, 0.4, 0.4)).uninterrupted_start_s == 0.1


@given(
    st.lists(st.tuples(st.floats(0.001, 2), st.floats(0.01, 2)), min_size=1, max_size=20).map(
        lambda steps: Arrivals(
            tuple(float(t) for t in np.cumsum([step for step, _ in steps])),
            tuple(length for _, length in steps),
        )
    )
)
def test_from_the_start_on_playback_never_runs_dry_and_any_earlier_it_does(run: Arrivals) -> None:
    def dry(start_s: float) -> bool:
        return any(at > start_s + sum(run.lasts_s[:n]) + 1e-9 for n, at in enumerate(run.at_s))

    assert not dry(run.uninterrupted_start_s)
    assert dry(run.uninterrupted_start_s - 0.001)


def test_record_notes_when_sound_came_and_skips_empty_chunks() -> None:
    clock = ManualClock()

    def chunks() -> Iterator[AudioChunk]:
        yield AudioChunk(np.zeros(0, dtype=np.float32))
        clock.wait_until(0.25)
        yield AudioChunk(np.zeros(8000, dtype=np.float32))
        clock.wait_until(0.5)
        yield AudioChunk(np.zeros(4000, dtype=np.float32))

    assert record(chunks(), 16_000, clock) == Arrivals((0.25, 0.5), (0.5, 0.25))


def test_no_sound_is_an_error() -> None:
    with pytest.raises(ValueError, match="0 arrivals"):
        record([], 16_000, ManualClock())
