"""A stream of codes over a line of 80 ms, 2 % losses and 64 kB/s, in simulated time.

The figures of docs/codec-stream.md are those that `test_the_figures_in_the_docs` computes.
"""

from __future__ import annotations

import numpy as np
import pytest

from s2s.tts.qwen3 import Costs, ScheduleConfig, edge_schedule
from tests.support.slow_link import Device, LineShape, random_frames, speak

LOOPBACK = LineShape()
FAR = LineShape(delay_s=0.08, loss=0.02, again_s=0.24, bytes_per_s=64_000)
"""What is lost is sent again after the usual time-out of TCP on such a line."""
EDGE = edge_schedule(Costs(35.0, 4.0, 12.0, overlapped=True))
RAMP = ScheduleConfig(codec_chunk_ramp=(2, 4, 8, 16, 25))
SEEDS = range(20)
ANSWER = random_frames(125)  # ten seconds


@pytest.mark.parametrize("line", [LOOPBACK, FAR], ids=["loopback", "far"])
@pytest.mark.parametrize("schedule", [EDGE, RAMP], ids=["edge", "ramp"])
def test_every_frame_arrives_as_it_was_made(line: LineShape, schedule: ScheduleConfig) -> None:
    for seed in SEEDS:
        heard = speak(ANSWER, line, Device(schedule), seed=seed)
        assert np.array_equal(np.stack(heard.codes), ANSWER)


def test_a_second_of_speech_takes_less_than_600_bytes() -> None:
    for seconds in (5, 10, 30):
        heard = speak(random_frames(round(12.5 * seconds)), FAR, Device(EDGE))
        assert heard.bytes_per_s <= 600, seconds


def test_the_first_sound_comes_a_round_trip_later_than_over_loopback() -> None:
    near = speak(ANSWER, LOOPBACK, Device(EDGE))
    far = speak(ANSWER, FAR, Device(EDGE), seed=3)
    assert near.first_chunk_s < 0.2
    assert far.first_chunk_s - near.first_chunk_s == pytest.approx(0.16 + 0.02, abs=0.03)


def test_what_is_lost_is_not_heard_but_once_at_the_start() -> None:
    """A retransmission takes 240 ms; the first chunks hold less. Later there is sound ahead."""
    stalls = sorted(speak(ANSWER, FAR, Device(EDGE), seed=seed).stall_s for seed in SEEDS)
    assert stalls[len(SEEDS) // 2] == 0
    assert stalls[-1] <= 0.5


def test_the_server_is_never_further_ahead_than_it_was_granted() -> None:
    for window in (8, 48):
        heard = speak(ANSWER, FAR, Device(EDGE, window=window), frame_s=0.005)
        # What was granted and is not decoded: the window, and a chunk that is being collected.
        assert heard.ahead <= window + 25
        assert heard.frames == len(ANSWER)


@pytest.mark.parametrize("line", [LOOPBACK, FAR], ids=["loopback", "far"])
def test_a_cancel_is_acknowledged_after_a_round_trip_and_stops_the_talker(line: LineShape) -> None:
    for seed in SEEDS:
        device = Device(EDGE, cancel_after_s=1.0)
        heard = speak(ANSWER, line, device, seed=seed)
        assert heard.cancel_s is not None
        assert heard.cancel_s <= 2 * line.delay_s + 4 * line.again_s + 0.01
        assert heard.made_after_cancel <= 1
        assert heard.made < len(ANSWER)
