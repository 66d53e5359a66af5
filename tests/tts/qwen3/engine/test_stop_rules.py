"""What ends speech that does not end by itself."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.tts.qwen3.engine.stop_rules import UNGUARDED, Guards, StopReason, Watch


def ending_of(codes: list[int], guards: Guards, limit: int | None = None) -> tuple[int, StopReason]:
    """Frames until the end, and why."""
    watch = Watch(guards)
    for at, code in enumerate(codes, start=1):
        ending = watch.after(code, text_left=False, limit=limit)
        if ending is not None:
            return at, ending
    return len(codes), StopReason.END


@pytest.mark.parametrize(("tokens", "frames"), [(0, 50), (1, 50), (3, 50), (4, 57), (100, 825)])
def test_the_most_frames_grow_with_the_text(tokens: int, frames: int) -> None:
    assert Guards().limit(tokens) == frames


def test_the_limit_ends_it() -> None:
    assert ending_of(list(range(100)), Guards(), 60) == (60, StopReason.LIMIT)


def test_one_code_over_and_over_ends_it() -> None:
    assert ending_of([1, 2, *[7] * 40], Guards()) == (22, StopReason.REPETITION)


def test_a_group_of_four_over_and_over_ends_it() -> None:
    assert ending_of([9, 9, *[1, 2, 3, 4] * 20], Guards()) == (26, StopReason.REPETITION)


def test_silence_after_the_text_ends_it_in_the_second_half_only() -> None:
    guards = Guards(silent_codes={0, 1})
    silence = [0, 0, 1] * 30
    assert ending_of([5, 6, *silence], guards, 20) == (14, StopReason.SILENCE)
    assert ending_of([5, 6, *silence], guards, 60) == (30, StopReason.SILENCE)


def test_silence_while_text_is_left_goes_on() -> None:
    watch = Watch(Guards(silent_codes={0}, repeats=0))
    assert [watch.after(0, text_left=True, limit=1000) for _ in range(100)] == [None] * 100


def test_frames_that_said_nothing_are_counted() -> None:
    watch = Watch(Guards(silent_codes={0}))
    endings = [watch.after(code, text_left=False, limit=20) for code in [5, 6, *[0] * 12]]
    assert endings[-1] is StopReason.SILENCE
    assert watch.trailing_frames(StopReason.SILENCE) == 12
    assert watch.trailing_frames(StopReason.LIMIT) == 0


@given(st.lists(st.integers(0, 3)))
def test_without_guards_only_the_model_ends(codes: list[int]) -> None:
    assert ending_of(codes, UNGUARDED) == (len(codes), StopReason.END)


@given(st.lists(st.integers(0, 2000), min_size=1, max_size=300, unique=True))
def test_speech_that_does_not_repeat_goes_on_to_its_limit(codes: list[int]) -> None:
    guards = replace(Guards(), silent_codes={2001})
    assert ending_of(codes, guards, 400) == (len(codes), StopReason.END)
