"""From frames to sound: what is given out, what is dropped, and when a run is discarded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pytest

from s2s.tts.qwen3.engine.chunk_schedule import ChunkSchedule, ScheduleConfig
from s2s.tts.qwen3.engine.decode_loop import Frame, FrameItem, Stop, takes_back
from s2s.tts.qwen3.engine.edges import UNTOUCHED, StartTrimmer
from s2s.tts.qwen3.engine.report import Report
from s2s.tts.qwen3.engine.sounding import Sounding
from s2s.tts.qwen3.engine.stop_rules import StopReason
from s2s.tts.qwen3.errors import SoundError
from s2s.tts.qwen3.interfaces import Floats, Ids, Stale, Stopped, never

SAMPLES = 3
PAIRS = ScheduleConfig(initial_codec_chunk_frames=2, codec_chunk_frames=2)
AT_ONCE = ScheduleConfig(codec_chunk_ramp=(100, 100))


@dataclass
class Nothing:
    def close(self) -> None: ...


class Loud:
    """Sound whose level is the first code; may itself find that it was cancelled."""

    def __init__(self, stops: bool = False) -> None:
        self.stops = stops
        self.frames = 0

    def new_state(self) -> Nothing:
        return Nothing()

    def fork(self, state: Nothing) -> Nothing:
        return state

    def decode(self, state: Nothing, codes: Ids, stale: Stale = never) -> Floats:
        if self.stops:
            raise Stopped
        self.frames += len(codes)
        return np.repeat(codes[:, 0], SAMPLES).astype(np.float32)


def frames(count: int) -> list[FrameItem]:
    return [Frame(index, np.array([index + 1, 0])) for index in range(count)]


def sounding_of(
    decoder: Loud,
    schedule: ScheduleConfig = PAIRS,
    *,
    stale: Stale = never,
    late: frozenset[int] = frozenset(),
) -> tuple[Sounding[Nothing], Report]:
    report = Report()
    sounding = Sounding(
        decoder,
        decoder.new_state(),
        ChunkSchedule(schedule),
        StartTrimmer(UNTOUCHED, 24_000, SAMPLES),
        text_late=late.__contains__,
        stale=stale,
        report=report,
    )
    return sounding, report


def heard(
    sounding: Sounding[Nothing], items: list[FrameItem], last: bool = True
) -> list[list[int]]:
    """The first codes of each chunk; their sound is checked on the way."""
    found = []
    for chunk in sounding.chunks(iter(items), last=last):
        codes = chunk.codes[:, 0]
        assert chunk.pcm.tolist() == np.repeat(codes, SAMPLES).tolist()
        found.append(codes.tolist())
    return found


def test_frames_leave_by_the_schedule_and_the_rest_at_the_stop() -> None:
    sounding, report = sounding_of(Loud())
    assert heard(sounding, [*frames(5), Stop(StopReason.END, 5)]) == [[1, 2], [3, 4], [5]]
    assert report.stop_reason is StopReason.END
    assert report.chunk_frames == report.decoded_frames == [2, 2, 1]


def test_frames_that_say_nothing_are_dropped_unless_they_were_heard() -> None:
    sounding, report = sounding_of(Loud(), AT_ONCE)
    assert heard(sounding, [*frames(5), Stop(StopReason.SILENCE, 2)]) == [[1, 2]]
    assert report.stop_reason is StopReason.SILENCE
    sounding, _ = sounding_of(Loud())
    assert heard(sounding, [*frames(5), Stop(StopReason.SILENCE, 1)]) == [[1, 2], [3, 4]]
    # Those that were taken back before they came are dropped once.
    sounding, _ = sounding_of(Loud(), AT_ONCE)
    assert heard(sounding, [*frames(2), Stop(StopReason.SILENCE, 2)]) == [[1, 2]]


def test_a_run_that_was_stopped_gives_nothing_more() -> None:
    sounding, report = sounding_of(Loud())
    assert heard(sounding, [*frames(3), Stop(StopReason.STOPPED, 3)]) == [[1, 2]]
    assert report.stop_reason is StopReason.STOPPED
    assert not sounding.discarded


def test_an_unheard_repetition_loop_is_discarded_but_not_the_last() -> None:
    items = [*frames(3), Stop(StopReason.REPETITION, 2)]
    sounding, _ = sounding_of(Loud(), AT_ONCE)
    assert heard(sounding, items, last=False) == []
    assert sounding.discarded
    sounding, _ = sounding_of(Loud(), AT_ONCE)
    assert heard(sounding, items, last=True) == [[1, 2]]
    assert not sounding.discarded
    sounding, _ = sounding_of(Loud(), PAIRS)
    assert heard(sounding, [*frames(4), Stop(StopReason.REPETITION, 4)], last=False) == [
        [1, 2],
        [3, 4],
    ]
    assert not sounding.discarded  # what was heard cannot be taken back


@pytest.mark.parametrize("questions", [0, 1, 2, 3])
def test_cancelled_before_or_after_a_decode_nothing_more_is_given_out(questions: int) -> None:
    asked: list[bool] = []

    def stale() -> bool:
        asked.append(len(asked) >= questions)
        return asked[-1]

    decoder = Loud()
    sounding, report = sounding_of(decoder, stale=stale)
    given = heard(sounding, [*frames(8), Stop(StopReason.END, 8)])
    assert given == [[1, 2]][: questions // 2]
    assert decoder.frames == 2 * ((questions + 1) // 2)
    assert report.stop_reason is StopReason.STOPPED


def test_a_decoder_that_finds_it_was_cancelled_ends_it() -> None:
    sounding, report = sounding_of(Loud(stops=True))
    assert heard(sounding, [*frames(8), Stop(StopReason.END, 8)]) == []
    assert report.stop_reason is StopReason.STOPPED


def test_while_text_is_waited_for_no_sound_is_held_back() -> None:
    sounding, _ = sounding_of(Loud(), AT_ONCE, late=frozenset({2}))
    items = iter([*frames(5), Stop(StopReason.END, 5)])
    assert [len(chunk.codes) for chunk in sounding.chunks(items, last=True)] == [3, 2]


def test_a_frame_may_tell_itself_that_its_text_is_late() -> None:
    sounding, _ = sounding_of(Loud(), AT_ONCE)
    first, second, *rest = frames(4)
    assert isinstance(second, Frame)
    items = [first, replace(second, text_late=True), *rest, Stop(StopReason.END, 4)]
    assert heard(sounding, items) == [[1, 2], [3, 4]]


def test_nothing_is_read_ahead_of_who_asks_for_chunks() -> None:
    read = 0

    def counted() -> Iterator[FrameItem]:
        nonlocal read
        for item in frames(8):
            read += 1
            yield item

    sounding, _ = sounding_of(Loud())
    chunks = sounding.chunks(counted(), last=True)
    assert read == 0
    next(chunks)
    assert read == 2


def test_a_stop_takes_back_unread_frames_that_say_nothing_and_nothing_else() -> None:
    stop, unread = Stop(StopReason.SILENCE, 3), frames(5)
    assert [takes_back(stop, frame) for frame in unread] == [False, False, False, True, True]
    assert not any(takes_back(frame, other) for frame in unread for other in unread)
    assert not takes_back(stop, stop)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_never_given_out(value: float) -> None:
    """The answer ends as failed; what was heard before stays."""

    class Broken(Loud):
        def decode(self, state: Nothing, codes: Ids, stale: Stale = never) -> Floats:
            pcm = super().decode(state, codes, stale)
            if self.frames > 2:
                pcm[-1] = value
            return pcm

    sounding, report = sounding_of(Broken())
    items = iter([*frames(5), Stop(StopReason.END, 5)])
    chunks = sounding.chunks(items, last=True)
    assert np.isfinite(next(chunks).pcm).all()
    with pytest.raises(SoundError, match="no number"):
        next(chunks)
    assert report.chunk_frames == [2]
