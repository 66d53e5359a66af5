"""Runs of fixed numbers of frames: how a call is cut, and what state each of them is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from s2s.tts.qwen3.checkpoint.codec_spec import CodecDecoderSpec, read_codec_spec
from s2s.tts.qwen3.codec.tensors import NEXT_PREFIX, STATE_PREFIX, state_shapes
from s2s.tts.qwen3.fixed.windowed_codec import WindowedDecoder
from s2s.tts.qwen3.interfaces import Floats


class Counts(WindowedDecoder):
    """Gives silence; keeps how many frames each run had, and how much of the past it sees."""

    FRAMES = (1, 2, 4)

    def __init__(self, spec: CodecDecoderSpec) -> None:
        super().__init__(spec)
        self.spec = spec
        self.runs: list[tuple[int, int]] = []

    def _computed(self, frames: int, feeds: Mapping[str, np.ndarray]) -> Mapping[str, Floats]:
        past = self.spec.window_frames - 1
        self.runs.append((frames, int((feeds["mask"][0, :past] == 0).sum())))
        shapes = state_shapes(self.spec, self.spec.window_frames)
        assert all(feeds[name].shape == shape for name, shape in shapes.items())
        found = {NEXT_PREFIX + name.removeprefix(STATE_PREFIX): feeds[name] for name in shapes}
        return {"pcm": np.zeros((1, frames * self.samples_per_frame), np.float32), **found}


@pytest.fixture
def counts(tiny_qwen3: Callable[[str], Path]) -> Counts:
    return Counts(read_codec_spec(tiny_qwen3("0.6b-base") / "speech_tokenizer").decoder)


def test_the_largest_runs_come_first_and_see_all_that_was(counts: Counts) -> None:
    state = counts.new_state()
    sound = counts.decode(state, np.zeros((7, counts.code_groups), np.int64))
    assert len(sound) == 7 * counts.samples_per_frame
    assert counts.runs == [(4, 0), (2, 4), (1, 6)]
    assert state.position == 7
