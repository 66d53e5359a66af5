"""The segmenter on invented probabilities: what starts, what ends, and that nothing is lost."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2s.core.audio import BLOCK_SAMPLES, Block
from s2s.turns.segmenter import (
    FalseStart,
    Onset,
    ProvisionalEnd,
    Resumed,
    Segmenter,
    SegmenterConfig,
    SegmenterEvent,
    Started,
    TurnClosed,
    TurnCut,
    TurnWithdrawn,
)

WINDOW = 512
MS = 16


def ramp(start: int, samples: int) -> Block:
    """Audio in which every sample names its own position."""
    return np.arange(start, start + samples, dtype=np.float32)


def hear(segmenter: Segmenter, probabilities: list[float]) -> list[SegmenterEvent]:
    events: list[SegmenterEvent] = []
    for probability in probabilities:
        events += segmenter.push(ramp(segmenter.sample, WINDOW), probability)
    return events


def speech(windows: int, probability: float = 0.8) -> list[float]:
    return [probability] * windows


def silence(windows: int) -> list[float]:
    return [0.05] * windows


def test_a_turn_starts_after_384_ms_and_ends_after_64_ms_of_silence() -> None:
    segmenter = Segmenter()
    events = hear(segmenter, silence(30) + speech(11))
    assert events == [Onset(30 * WINDOW)]
    events = hear(segmenter, speech(1))
    assert events == [Started(30 * WINDOW - 500 * MS, 30 * WINDOW)]
    assert segmenter.open
    assert segmenter.speaking
    events = hear(segmenter, speech(8) + silence(1))
    assert events == []
    events = hear(segmenter, silence(1))
    assert events == [ProvisionalEnd(50 * WINDOW)]
    assert segmenter.open
    assert not segmenter.speaking


def test_the_audio_of_a_turn_begins_with_the_pre_roll_and_has_no_gaps() -> None:
    segmenter = Segmenter()
    hear(segmenter, silence(30) + speech(20) + silence(10) + speech(10) + silence(5))
    start = 30 * WINDOW - 500 * MS
    assert segmenter.start_sample == start
    np.testing.assert_array_equal(segmenter.audio(), ramp(start, 75 * WINDOW - start))
    np.testing.assert_array_equal(segmenter.audio(50 * WINDOW), ramp(start, 50 * WINDOW - start))


def test_a_turn_at_the_very_beginning_has_only_the_pre_roll_that_exists() -> None:
    segmenter = Segmenter(first_sample=1000)
    assert hear(segmenter, speech(12))[-1] == Started(1000, 1000)


@pytest.mark.parametrize("windows", [1, 3, 5])
def test_a_burst_starts_nothing_however_sure(windows: int) -> None:
    segmenter = Segmenter()
    events = hear(segmenter, silence(20) + speech(windows, 0.99) + silence(20))
    assert events == [Onset(20 * WINDOW), FalseStart((20 + windows) * WINDOW)]
    assert len(segmenter.audio()) == 0


def test_unsure_noise_below_the_minimum_starts_nothing() -> None:
    events = hear(Segmenter(), speech(11, 0.7) + silence(3))
    assert events == [Onset(0), FalseStart(11 * WINDOW)]


def test_a_short_word_that_is_surely_speech_is_a_turn_once_it_ends() -> None:
    segmenter = Segmenter()
    events = hear(segmenter, silence(20) + speech(8, 0.97))
    assert events == [Onset(20 * WINDOW)]
    events = hear(segmenter, silence(2))
    assert events == [Started(20 * WINDOW - 500 * MS, 20 * WINDOW), ProvisionalEnd(28 * WINDOW)]


def test_sure_words_can_be_switched_off() -> None:
    segmenter = Segmenter(SegmenterConfig(sure_probability=2.0))
    assert hear(segmenter, speech(11, 1.0) + silence(2)) == [Onset(0), FalseStart(11 * WINDOW)]


def test_hysteresis_holds_speech_but_does_not_begin_it() -> None:
    segmenter = Segmenter()
    assert hear(segmenter, [0.5] * 40) == []
    events = hear(segmenter, [0.7] + [0.5] * 30)
    assert [type(event) for event in events] == [Onset, Started]
    assert [type(event) for event in hear(segmenter, [0.44] * 2)] == [ProvisionalEnd]


def test_an_open_turn_goes_on_after_192_ms() -> None:
    segmenter = Segmenter()
    hear(segmenter, speech(20) + silence(10))
    assert hear(segmenter, speech(5)) == [Onset(30 * WINDOW)]
    assert hear(segmenter, speech(1)) == [Resumed(30 * WINDOW)]
    assert hear(segmenter, silence(2)) == [ProvisionalEnd(36 * WINDOW)]


def test_a_phantom_in_a_pause_changes_nothing() -> None:
    segmenter = Segmenter()
    hear(segmenter, speech(20) + silence(10))
    assert hear(segmenter, speech(2, 0.99) + silence(2)) == [
        Onset(30 * WINDOW),
        FalseStart(32 * WINDOW),
    ]
    assert segmenter.open
    np.testing.assert_array_equal(segmenter.audio(), ramp(0, 34 * WINDOW))


def test_after_close_the_next_speech_is_a_new_turn_without_the_old_words() -> None:
    segmenter = Segmenter()
    hear(segmenter, speech(20) + silence(4))
    segmenter.close()
    assert not segmenter.open
    assert len(segmenter.audio()) == 0
    events = hear(segmenter, speech(12))
    assert events == [Onset(24 * WINDOW), Started(20 * WINDOW, 24 * WINDOW)]


def test_close_during_returning_speech_gives_it_to_the_next_turn() -> None:
    segmenter = Segmenter()
    hear(segmenter, speech(20) + silence(10) + speech(4))
    segmenter.close()
    assert not segmenter.open
    np.testing.assert_array_equal(segmenter.audio(), ramp(20 * WINDOW, 14 * WINDOW))
    assert hear(segmenter, speech(7)) == []
    assert hear(segmenter, speech(1)) == [Started(20 * WINDOW, 30 * WINDOW)]


def test_close_after_resuming_keeps_what_was_said_since_the_provisional_end() -> None:
    segmenter = Segmenter()
    hear(segmenter, speech(20) + silence(2) + speech(15))
    segmenter.close()
    assert hear(segmenter, speech(1)) == [Started(20 * WINDOW, 22 * WINDOW)]
    np.testing.assert_array_equal(segmenter.audio(), ramp(20 * WINDOW, 18 * WINDOW))


def test_close_before_any_soft_end_ends_the_turn_here() -> None:
    segmenter = Segmenter()
    hear(segmenter, speech(20))
    segmenter.close()
    assert hear(segmenter, speech(12)) == [
        Onset(20 * WINDOW),
        Started(20 * WINDOW, 20 * WINDOW),
    ]


def test_frames_that_stop_coming_end_the_speech() -> None:
    segmenter = Segmenter()
    hear(segmenter, speech(20))
    assert segmenter.stalled() == [ProvisionalEnd(20 * WINDOW)]
    assert segmenter.stalled() == []
    segmenter.close()
    hear(segmenter, speech(2))
    assert segmenter.stalled() == [FalseStart(22 * WINDOW)]


def test_a_turn_that_nobody_closes_ends_by_itself() -> None:
    segmenter = Segmenter(SegmenterConfig(max_pause_ms=1000))
    hear(segmenter, speech(20))
    events = hear(segmenter, silence(40))
    assert events == [ProvisionalEnd(20 * WINDOW), TurnClosed(52 * WINDOW)]
    assert not segmenter.open


def test_phantoms_do_not_hold_a_pause_open() -> None:
    segmenter = Segmenter(SegmenterConfig(max_pause_ms=1000))
    hear(segmenter, speech(20) + silence(2))
    events = hear(segmenter, (speech(2) + silence(2)) * 12)
    assert sum(isinstance(event, TurnClosed) for event in events) == 1


def test_too_long_a_turn_is_split_at_its_quietest_point() -> None:
    config = SegmenterConfig(max_turn_ms=4000)
    segmenter = Segmenter(config)
    events: list[SegmenterEvent] = []
    loud = np.ones(WINDOW, dtype=np.float32)
    for window in range(130):
        events += segmenter.push(loud * (0.01 if window == 90 else 0.5), 0.9)
    (split,) = [event for event in events if isinstance(event, TurnCut)]
    assert split.cut_sample == 90 * WINDOW + WINDOW // 2
    assert len(split.audio) == split.cut_sample
    assert segmenter.start_sample == split.cut_sample
    assert segmenter.speaking
    whole = np.concatenate([split.audio, segmenter.audio()])
    assert len(whole) == 130 * WINDOW


def test_constant_noise_never_holds_a_turn_beyond_the_maximum() -> None:
    config = SegmenterConfig(max_turn_ms=3000)
    segmenter = Segmenter(config)
    splits = 0
    for _ in range(1000):
        events = segmenter.push(ramp(segmenter.sample, WINDOW), 0.9)
        splits += sum(isinstance(event, TurnCut) for event in events)
        assert len(segmenter.audio()) <= 3000 * MS
    assert splits >= 1000 * WINDOW // (3000 * MS)


@pytest.mark.parametrize(
    "wrong",
    [
        {"threshold": 0.1},
        {"threshold": 1.5},
        {"min_silence_ms": 0},
        {"pre_roll_ms": -1},
        {"max_turn_ms": 1000},
        {"max_pause_ms": 10},
    ],
)
def test_a_wrong_config_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"\d"):
        SegmenterConfig(**wrong)  # pyright: ignore[reportArgumentType]


# --- any input -----------------------------------------------------------------------------------

SMALL = SegmenterConfig(max_turn_ms=2500, max_pause_ms=1500)

_stretch = st.tuples(
    st.sampled_from([0.0, 0.3, 0.5, 0.7, 0.9, 1.0]), st.integers(min_value=1, max_value=40)
)
_act = st.one_of(_stretch, st.sampled_from(["close", "stalled"]))


class Follower:
    """Checks the grammar of the events and puts the turns together again from them."""

    def __init__(self) -> None:
        self.state = "quiet"
        self.turns: list[tuple[int, int]] = []
        self.last_end = 0
        self.onset = 0

    def follow(self, event: SegmenterEvent, now: int) -> None:
        match event:
            case Onset(sample):
                assert self.state in ("quiet", "paused")
                assert sample >= self.last_end
                self.onset = sample
                self.state = "candidate" if self.state == "quiet" else "returning"
            case FalseStart(sample):
                assert self.onset < sample <= now
                self.state = {"candidate": "quiet", "returning": "paused"}[self.state]
            case Started(start, onset):
                assert self.state == "candidate"
                assert self.last_end <= start <= onset == self.onset
                assert onset - start <= 500 * MS
                self.state = "speaking"
            case Resumed(sample):
                assert self.state == "returning"
                assert sample == self.onset
                self.state = "speaking"
            case ProvisionalEnd(end):
                assert self.state == "speaking"
                assert self.last_end < end <= now
                self.last_end = end
                self.state = "paused"
            case TurnCut(cut, audio):
                assert self.state == "speaking"
                assert len(audio) > 0
                assert cut == audio[-1] + 1
                assert cut < now
                self.last_end = cut
            case TurnClosed():
                assert self.state == "paused"
                self.state = "quiet"

    def close(self, now: int, ended_since_start: bool) -> None:
        if self.state == "speaking" and not ended_since_start:
            self.last_end = now
        self.state = {
            "quiet": "quiet",
            "candidate": "candidate",
            "paused": "quiet",
            "returning": "candidate",
            "speaking": "candidate" if ended_since_start else "quiet",
        }[self.state]


@settings(max_examples=300, deadline=None)
@given(st.lists(_act, max_size=25))
def test_events_are_well_formed_and_the_audio_is_whole_and_bounded(
    acts: list[tuple[float, int] | str],
) -> None:
    segmenter = Segmenter(SMALL)
    follower = Follower()
    longest = (2500 + 1500 + 2 * 384 + 500) * MS
    for act in acts:
        match act:
            case "close":
                ended = segmenter.open and follower.last_end > segmenter.start_sample
                segmenter.close()
                follower.close(segmenter.sample, ended)
            case "stalled":
                for event in segmenter.stalled():
                    follower.follow(event, segmenter.sample)
                assert not segmenter.speaking
            case (probability, windows):
                for _ in range(windows):
                    block = ramp(segmenter.sample, WINDOW)
                    for event in segmenter.push(block, probability):
                        follower.follow(event, segmenter.sample)
                    assert segmenter.sample - segmenter.start_sample <= longest
        expected = ramp(segmenter.start_sample, segmenter.sample - segmenter.start_sample)
        np.testing.assert_array_equal(segmenter.audio(), expected)
        assert segmenter.speaking == (follower.state == "speaking")
        assert segmenter.open == (follower.state in ("speaking", "paused", "returning"))


@settings(max_examples=100, deadline=None)
@given(st.lists(_stretch, min_size=1, max_size=20))
def test_every_stretch_of_long_speech_is_in_exactly_one_turn(
    stretches: list[tuple[float, int]],
) -> None:
    segmenter = Segmenter(SMALL)
    heard: list[Block] = []
    spoken: list[int] = []
    run = 0

    def note(events: list[SegmenterEvent]) -> None:
        for event in events:
            match event:
                case TurnCut(_, audio):
                    heard.append(audio)
                case ProvisionalEnd(end):
                    heard.append(segmenter.audio(end))
                    segmenter.close()
                case _:
                    pass

    for probability, windows in [*stretches, (0.0, 10)]:
        for _ in range(windows):
            run = run + 1 if probability > 0.6 else 0
            if run >= 12:  # 384 ms without a break: surely speech
                spoken.append(segmenter.sample)
            note(segmenter.push(ramp(segmenter.sample, WINDOW), probability))
    samples = list(itertools.chain.from_iterable(block.tolist() for block in heard))
    assert samples == sorted(set(samples)), "a sample is in two turns"
    assert set(spoken) <= set(samples), "speech is in no turn"


@given(st.integers(0, 5 * BLOCK_SAMPLES))
def test_what_was_heard_after_a_sample_is_heard_again_as_what_comes_next(back: int) -> None:
    segmenter = Segmenter()
    for number in range(20):
        segmenter.push(np.full(BLOCK_SAMPLES, number + 1, dtype=np.float32), 0.9)
    sample = segmenter.sample - back
    again = segmenter.rewind(sample)
    heard = np.concatenate([np.zeros(0, np.float32), *again])
    assert not segmenter.open
    assert segmenter.sample + len(heard) == 20 * BLOCK_SAMPLES
    assert int(np.count_nonzero(heard)) == back
    assert len(heard) - back < BLOCK_SAMPLES
    assert not heard[: len(heard) - back].any()


def test_a_turn_that_is_withdrawn_whole_leaves_nothing() -> None:
    segmenter = Segmenter()
    hear(segmenter, silence(30) + speech(20))
    (withdrawn,) = segmenter.withdraw(30 * WINDOW)
    assert isinstance(withdrawn, TurnWithdrawn)
    assert len(withdrawn.audio) > 20 * WINDOW
    assert not segmenter.open
    hear(segmenter, speech(20))
    assert segmenter.start_sample >= 50 * WINDOW, "the next turn holds nothing of it"


def test_what_comes_after_the_persons_words_is_withdrawn_and_the_turn_ends_there() -> None:
    segmenter = Segmenter()
    hear(segmenter, silence(30) + speech(50))
    assert segmenter.withdraw(60 * WINDOW) == [ProvisionalEnd(60 * WINDOW)]
    assert not segmenter.audio()[-20 * WINDOW :].any()
    assert segmenter.audio(60 * WINDOW).all()
    assert segmenter.open


def test_what_reopened_a_turn_is_withdrawn_and_it_ends_where_it_did() -> None:
    segmenter = Segmenter()
    hear(segmenter, silence(30) + speech(20) + silence(5) + speech(20))
    assert segmenter.withdraw(55 * WINDOW) == [ProvisionalEnd(50 * WINDOW)]


@pytest.mark.parametrize("before", [[], speech(20) + silence(5)])
def test_what_was_no_speech_yet_is_a_false_start(before: list[float]) -> None:
    segmenter = Segmenter()
    hear(segmenter, silence(30) + before + speech(3))
    (event,) = segmenter.withdraw(segmenter.sample - 3 * WINDOW)
    assert isinstance(event, FalseStart)
    assert segmenter.open == bool(before)
    assert segmenter.withdraw(0) == []
