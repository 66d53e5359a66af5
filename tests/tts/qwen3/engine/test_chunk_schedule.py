"""Chunk schedules: the server's formulas, and what no schedule may do."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from s2s.tts.qwen3.engine.chunk_schedule import (
    FRAME_MS,
    ChunkSchedule,
    Costs,
    ScheduleConfig,
    compute_dynamic_initial_chunk_size,
    edge_schedule,
    max_ic_for_chunk_size,
    ramp_chunk_size,
    ramp_cumulative,
    ramp_decode_windows,
    uninterrupted_start_ms,
)
from tests.tts.qwen3.schedules import chunk_sizes, followed, stall_ms, timeline

CONFIGS = st.builds(
    ScheduleConfig,
    initial_codec_chunk_frames=st.integers(0, 30),
    codec_chunk_frames=st.integers(1, 40),
    codec_chunk_ramp=st.one_of(
        st.just(()), st.lists(st.integers(1, 30), min_size=2, max_size=6).map(tuple)
    ),
    codec_chunk_adaptive=st.booleans(),
)


def static(initial: int, steady: int = 25) -> ScheduleConfig:
    return ScheduleConfig(initial_codec_chunk_frames=initial, codec_chunk_frames=steady)


def ramp(*sizes: int) -> ScheduleConfig:
    return ScheduleConfig(codec_chunk_ramp=sizes)


@given(CONFIGS, st.integers(1, 200), st.floats(1, 200))
def test_every_frame_goes_out_once_and_in_order(
    config: ScheduleConfig, frames: int, frame_ms: float
) -> None:
    schedule, seen = ChunkSchedule(config), 0
    for length in range(1, frames + 1):
        seen += schedule.emit(length, length == frames, length * frame_ms)
        assert seen == schedule.emitted <= length
    assert seen == frames
    assert schedule.emit(frames, True, 1e9) == 0


@given(CONFIGS, st.lists(st.tuples(st.integers(1, 60), st.floats(0, 500)), min_size=1))
def test_frames_may_come_in_bursts(config: ScheduleConfig, bursts: list[tuple[int, float]]) -> None:
    schedule, length, now_ms = ChunkSchedule(config), 0, 0.0
    for frames, passed_ms in bursts:
        length, now_ms = length + frames, now_ms + passed_ms
        assert 0 <= schedule.emit(length, False, now_ms) <= length
    schedule.emit(length, True, now_ms)
    assert schedule.emitted == length


@given(CONFIGS, st.integers(1, 300), st.floats(1, 200))
def test_no_chunk_is_larger_than_the_largest_configured(
    config: ScheduleConfig, frames: int, frame_ms: float
) -> None:
    largest = max(config.codec_chunk_frames, *config.codec_chunk_ramp, 0, 0)
    assert max(chunk_sizes(config, frames, Costs(frame_ms))) <= largest


@given(st.integers(1, 200), st.floats(1, 79))
def test_an_adaptive_schedule_never_shrinks_before_the_end(frames: int, frame_ms: float) -> None:
    sizes = chunk_sizes(ScheduleConfig(codec_chunk_adaptive=True), frames, Costs(frame_ms))
    assert sizes[1:-1] == sorted(sizes[1:-1])


SPARE = 0.5  # by which a chunk may take longer than the schedule thinks

COSTS = st.builds(
    Costs,
    codes_ms=st.floats(3, 60),
    call_ms=st.floats(0, 40),
    decode_ms=st.floats(1, 40),
    overlapped=st.booleans(),
)


def start_ms(config: ScheduleConfig, costs: Costs, frames: int = 125) -> float:
    return uninterrupted_start_ms(timeline(config, frames, costs))


def keeps_up(costs: Costs) -> bool:
    return costs.frame_ms(edge_schedule(costs).codec_chunk_frames) <= FRAME_MS


@given(st.floats(1, 79.9), st.integers(1, 300))
def test_the_edge_schedule_never_runs_dry_below_real_time(frame_ms: float, frames: int) -> None:
    costs = Costs(frame_ms)
    assert stall_ms(edge_schedule(costs), frames, costs) == pytest.approx(0, abs=1e-6)


@given(COSTS.filter(keeps_up), st.floats(0.8, 1.0), st.integers(1, 400))
def test_a_machine_that_is_as_quick_as_measured_never_runs_dry(
    costs: Costs, share: float, frames: int
) -> None:
    """Or quicker: the schedule is told the costs, the machine needs a share of them."""
    config = edge_schedule(costs)
    real = Costs(
        costs.codes_ms * share, costs.call_ms * share, costs.decode_ms * share, costs.overlapped
    )
    assert stall_ms(config, frames, real) == pytest.approx(0, abs=1e-3)


@given(COSTS.filter(keeps_up), st.integers(50, 400))
def test_with_something_in_reserve_a_slower_moment_is_not_heard(costs: Costs, frames: int) -> None:
    config = edge_schedule(costs)
    first = config.initial_codec_chunk_frames
    reserve = FRAME_MS / costs.frame_ms(first)
    assume(reserve > 1.06)
    slower = Costs(
        costs.codes_ms * 1.05, costs.call_ms * 1.05, costs.decode_ms * 1.05, costs.overlapped
    )
    assert stall_ms(config, frames, slower) == pytest.approx(0, abs=1e-3)


def silence_ms(chunks: list[tuple[float, int]]) -> float:
    return uninterrupted_start_ms(chunks) - chunks[0][0]


@given(st.floats(500, 6000), st.floats(1.1, 1.5))
def test_a_machine_that_becomes_slower_within_an_utterance_is_followed(
    from_ms: float, times: float
) -> None:
    measured = Costs(20.0, 2.0, 9.0)
    slower = Costs(20.0 * times, 2.0 * times, 9.0 * times)

    def costs_at(now_ms: float) -> Costs:
        return slower if now_ms >= from_ms else measured

    chunks = followed(edge_schedule(measured), 200, costs_at)
    assert silence_ms(chunks) == pytest.approx(0, abs=1e-6)
    assert sum(size for _, size in chunks) == 200


def test_a_large_chunk_is_given_up_when_its_frames_take_too_long() -> None:
    """At whatever moment the machine becomes half as fast: less silence in all."""
    measured, slower = Costs(20.0, 2.0, 9.0), Costs(40.0, 4.0, 18.0)

    def silence(from_ms: int, *, told: bool) -> float:
        chunks = followed(
            edge_schedule(measured),
            120,
            lambda ms: slower if ms >= from_ms else measured,
            told=told,
        )
        return silence_ms(chunks)

    moments = range(300, 4000, 50)
    untold = sum(silence(from_ms, told=False) for from_ms in moments)
    told = sum(silence(from_ms, told=True) for from_ms in moments)
    assert told < 0.8 * untold


def test_what_is_played_faster_has_to_be_made_faster() -> None:
    costs = Costs(30.0, 5.0, 12.0)
    own, faster = edge_schedule(costs), edge_schedule(costs, 1.5)
    assert faster.initial_codec_chunk_frames >= own.initial_codec_chunk_frames
    chunks = followed(faster, 200, lambda _: costs)
    played = [(at_ms * 1.5, size) for at_ms, size in chunks]  # as if played at its own pace
    assert silence_ms(played) == pytest.approx(0, abs=1e-6)


def _backlog_share(costs: Costs, frames: int) -> float:
    """Of a frame's own time, what the frames that wait for the decoder count with the spare: the
    computed codes run ahead of it without end, those of an utterance by few frames only."""
    waits_ms = costs.frame_ms(frames) - costs.codes_ms
    return (costs.codes_ms + (1 + SPARE) * waits_ms) / FRAME_MS


@given(COSTS.filter(keeps_up))
def test_chunks_grow_to_the_largest_where_there_is_time(costs: Costs) -> None:
    config = edge_schedule(costs)
    first, most = config.initial_codec_chunk_frames, config.codec_chunk_frames
    least = config.edge_least_frames
    assume(costs.frame_ms(least) < 0.95 * FRAME_MS)
    assume(not costs.overlapped or _backlog_share(costs, least) < 0.95)
    sizes = chunk_sizes(config, 1500, costs)
    assert sizes[0] == first
    assert all(least <= size <= most for size in sizes[:-1])
    assert max(sizes) == most


@pytest.mark.parametrize(
    ("codes_ms", "first_frames", "first_ms"),
    [(8, 1, 57), (15, 2, 103), (25, 2, 123), (35, 3, 202), (38, 3, 211), (45, 5, 370)],
)
def test_the_first_chunk_where_a_call_of_the_decoder_has_a_price(
    codes_ms: float, first_frames: int, first_ms: float
) -> None:
    """25 ms a call and 24 ms a frame: a convolution stack on two cores."""
    costs = Costs(codes_ms, 25, 24)
    config = edge_schedule(costs)
    assert config.initial_codec_chunk_frames == first_frames
    assert timeline(config, 125, costs)[0][0] == first_ms
    assert start_ms(config, costs) == first_ms


@given(COSTS.filter(keeps_up))
def test_the_second_chunk_may_be_late_by_so_much(costs: Costs) -> None:
    """20 ms of the first are unplayed when it comes: what is cut off as silence, and what the
    language model takes meanwhile, is not heard as a gap."""
    config = edge_schedule(costs)
    first, least = config.initial_codec_chunk_frames, config.edge_least_frames
    at_ms = costs.ready_ms(0, 0, first)
    left_ms = at_ms + first * FRAME_MS - costs.ready_ms(at_ms, first, least)
    assert left_ms >= 20 or first == config.codec_chunk_frames


def test_silence_that_is_cut_off_at_the_start_does_not_wait_to_be_played() -> None:
    """The first frame is digital silence: playback begins with the second chunk."""
    costs = Costs(20, 5, 12)
    schedule = ChunkSchedule(edge_schedule(costs))
    assert schedule.emit(1, False, 20) == 1
    schedule.decoded(1, 17)
    schedule.silent(1)
    assert schedule.emit(2, False, 57) == 1
    schedule.decoded(1, 17)
    heard = ChunkSchedule(edge_schedule(costs))
    assert heard.emit(1, False, 57) == 1
    heard.decoded(1, 17)
    for length in range(2, 60):
        now_ms = 37.0 + 20 * length
        assert schedule.emit(length + 1, False, now_ms) == heard.emit(length, False, now_ms)


def test_calls_are_no_longer_than_a_stop_may_take() -> None:
    assert edge_schedule(Costs(20, 25, 24)).codec_chunk_frames == 9
    assert edge_schedule(Costs(5, 1, 1)).codec_chunk_frames == 25


def test_a_machine_that_cannot_keep_up_does_the_least_work() -> None:
    assert chunk_sizes(edge_schedule(Costs(60, 25, 24)), 30, Costs(60)) == [9, 9, 9, 3]


@given(st.floats(0, 50), st.floats(0, 50), st.lists(st.integers(1, 25), min_size=1))
def test_the_price_of_a_call_is_found_from_calls_of_two_sizes(
    call_ms: float, decode_ms: float, frames: list[int]
) -> None:
    calls = [(size, call_ms + size * decode_ms) for size in frames]
    found = Costs.measured(7, calls)
    for size in (min(frames), max(frames)):
        expected = call_ms + size * decode_ms
        assert found.frame_ms(size) == pytest.approx(7 + expected / size, abs=1e-6)
    if len(set(frames)) > 1:
        assert found.call_ms == pytest.approx(call_ms, abs=1e-6)


def test_costs_that_cannot_be_told_apart_are_not_negative() -> None:
    assert Costs.measured(7, []) == Costs(7)
    assert Costs.measured(7, [(1, 50.0), (8, 20.0)]) == Costs(7, 20.0, 0.0)


def test_static_sizes() -> None:
    assert chunk_sizes(static(1), 60, Costs(10)) == [1, 25, 25, 9]
    assert chunk_sizes(static(1), 51, Costs(10)) == [1, 25, 25]
    assert chunk_sizes(static(30), 30, Costs(10)) == [25, 5]


def test_ramp_sizes() -> None:
    assert chunk_sizes(ramp(1, 4, 8, 16, 25), 90, Costs(10)) == [1, 4, 8, 16, 25, 25, 11]
    assert [ramp_chunk_size((2, 4), 25, at) for at in range(4)] == [2, 4, 25, 25]
    assert [ramp_cumulative((2, 4), 25, at) for at in range(4)] == [2, 6, 31, 56]


def test_windows_of_a_decoder_without_state() -> None:
    assert ramp_decode_windows((1, 2, 4, 8, 16, 25), 25) == [1, 3, 7, 15, 31, 50]


def test_adaptive_sizes_at_eleven_milliseconds_a_frame() -> None:
    """The example the server's authors give: 11 ms a frame."""
    adaptive = ScheduleConfig(codec_chunk_adaptive=True)
    assert chunk_sizes(adaptive, 59, Costs(11)) == [2, 4, 25, 25, 3]


@pytest.mark.parametrize(
    ("config", "frame_ms", "expected"),
    [
        (static(1), 6, 70),
        (static(1), 16, 320),
        (static(1), 44, 1020),
        (ramp(1, 4, 8, 16, 25), 16, 0),
        (ramp(1, 4, 8, 16, 25), 36, 64),
        (ramp(1, 4, 8, 16, 25), 44, 192),
        (ramp(2, 4, 8, 16, 25), 36, 0),
        (ramp(2, 4, 8, 16, 25), 44, 112),
        (ramp(4, 4, 8, 16, 25), 44, 0),
        (static(2, 2), 72, 0),
        (static(4, 4), 72, 0),
    ],
)
def test_stalls_are_those_worked_out_for_the_server(
    config: ScheduleConfig, frame_ms: float, expected: float
) -> None:
    assert stall_ms(config, 200, Costs(frame_ms)) == pytest.approx(expected)


def test_the_first_chunk_follows_the_load() -> None:
    assert [max_ic_for_chunk_size(size) for size in (1, 2, 3, 16, 25)] == [1, 1, 2, 8, 16]
    sizes = [compute_dynamic_initial_chunk_size(active, 8, 16) for active in (0, 4, 8, 99)]
    assert sizes == [2, 4, 16, 16] or sizes == [2, 8, 16, 16]
    assert compute_dynamic_initial_chunk_size(5, 0, 16) == 2


def test_the_uninterrupted_start_waits_for_the_worst_gap() -> None:
    assert uninterrupted_start_ms([(100.0, 1), (200.0, 1), (500.0, 10)]) == 500 - 2 * FRAME_MS


@pytest.mark.parametrize("ramp", [(4,), (4, 0), (4, -1)])
def test_a_bad_ramp_is_an_error(ramp: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="ramp"):
        ScheduleConfig(codec_chunk_ramp=ramp)


def test_no_chunk_can_have_less_than_a_frame() -> None:
    with pytest.raises(ValueError, match="1 and 0 frames"):
        ScheduleConfig(codec_chunk_frames=0)
    with pytest.raises(ValueError, match="-1 and 25 frames"):
        ScheduleConfig(initial_codec_chunk_frames=-1)
