"""Where there is speech in a recording."""

from __future__ import annotations

import numpy as np
import pytest

from s2s.testing.simulator import EnergyVad, tone
from s2s.turns.speech_regions import speech_regions


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [
        ("", []),
        ("__________", []),
        ("s", [(0.0, 1.7)]),
        ("_____s_____", [(4.3, 6.7)]),
        ("ss__ss", [(0.0, 6.0)]),
        ("s_____s____s", [(0.0, 1.7), (5.3, 7.7), (10.3, 12.0)]),
        (".", []),
        ("s___.___s", [(0.0, 1.7), (7.3, 9.0)]),
    ],
    ids=[
        "nothing",
        "silence",
        "all",
        "inside",
        "a pause",
        "long pauses",
        "a click",
        "click in pause",
    ],
)
def test_regions_are_where_speech_is(pattern: str, wanted: list[tuple[float, float]]):
    click = np.zeros(16_000, dtype=np.float32)
    click[8000:8100] = 0.9
    parts = {"s": tone(1.0).astype(np.float32), "_": np.zeros(16_000, dtype=np.float32), ".": click}
    recording = np.concatenate([np.zeros(0, dtype=np.float32), *(parts[p] for p in pattern)])
    regions = speech_regions(recording, EnergyVad().open())
    found = [(region.start / 16_000, region.stop / 16_000) for region in regions]
    assert len(found) == len(wanted)
    for (start, end), (want_start, want_end) in zip(found, wanted, strict=True):
        assert start == pytest.approx(want_start, abs=0.1)
        assert end == pytest.approx(min(want_end, len(pattern)), abs=0.1)


def test_a_shorter_gap_parts_regions_that_do_not_overlap():
    parts = [tone(1.0), np.zeros(24_000), tone(1.0)]
    recording = np.concatenate(parts).astype(np.float32)
    assert len(speech_regions(recording, EnergyVad().open())) == 1
    first, second = speech_regions(recording, EnergyVad().open(), gap_s=1.0)
    assert first.stop <= second.start
