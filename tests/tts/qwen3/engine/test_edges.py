"""The start of an utterance's sound: silence trimmed, the first samples faded in."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.tts.qwen3.engine.edges import UNTOUCHED, StartTrim, StartTrimmer

FRAME, HZ = 100, 1000
LOUD, SILENT = np.ones(FRAME, np.float32), np.zeros(FRAME, np.float32)


def trimmed(frames: list[np.ndarray], sizes: list[int], how: StartTrim) -> tuple[np.ndarray, int]:
    """What is heard of the frames in chunks of so many, and how many were trimmed."""
    trimmer, parts, at = StartTrimmer(how, HZ, FRAME), [], 0
    for size in sizes:
        parts.append(trimmer.trim(np.concatenate(frames[at : at + size])))
        at += size
    return np.concatenate(parts), trimmer.trimmed_frames


def test_leading_silence_goes_and_the_rest_fades_in() -> None:
    heard, count = trimmed([SILENT, SILENT, LOUD, SILENT], [4], StartTrim(6, -60.0, 5.0))
    assert count == 2
    assert len(heard) == 2 * FRAME
    np.testing.assert_allclose(heard[:6], [0, 0.2, 0.4, 0.6, 0.8, 1.0], atol=1e-6)
    assert not heard[FRAME:].any()  # silence after the start is the speech's own


def test_no_more_is_trimmed_than_allowed() -> None:
    heard, count = trimmed([SILENT] * 5 + [LOUD], [6], StartTrim(3, -60.0, 0.0))
    assert (len(heard), count) == (3 * FRAME, 3)


@pytest.mark.parametrize(("level", "kept"), [(0.02, 1), (0.0005, 0)])
def test_what_is_quiet_enough_is_silence(level: float, kept: int) -> None:
    heard, _ = trimmed([LOUD * np.float32(level)], [1], StartTrim(6, -60.0, 0.0))
    assert len(heard) == kept * FRAME


def test_untouched_is_as_it_was() -> None:
    heard, count = trimmed([SILENT, LOUD], [1, 1], UNTOUCHED)
    np.testing.assert_array_equal(heard, np.concatenate([SILENT, LOUD]))
    assert count == 0


@given(
    st.lists(st.booleans(), min_size=1, max_size=8),
    st.lists(st.integers(1, 3), min_size=8, max_size=8),
)
def test_the_pieces_do_not_matter(loud: list[bool], sizes: list[int]) -> None:
    frames = [LOUD if each else SILENT for each in loud]
    how, left, chunks = StartTrim(), len(frames), []
    for size in sizes:
        if left:
            chunks.append(min(size, left))
            left -= chunks[-1]
    whole, pieces = trimmed(frames, [len(frames)], how), trimmed(frames, chunks, how)
    np.testing.assert_array_equal(whole[0], pieces[0])
    assert whole[1] == pieces[1]
