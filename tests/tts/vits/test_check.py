"""The checks of a cut voice: they pass for what is the same, and fail for what is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from s2s.models.onnx_file import read_model, tensor
from s2s.tts.vits.check import (
    QUIET,
    TRIALS,
    compare_steps,
    compare_windows,
    fixed_inputs,
    hop_of,
    parts_sounds,
    random_frames,
    sentence,
    sliced,
    whole_feed,
)
from s2s.tts.vits.graph.cuts import find_inputs
from s2s.tts.vits.graph.stepwise import make_stepwise
from s2s.tts.vits.parts import AUDIO, Parts, cut_voice
from s2s.tts.vits.reference import ReferenceSounds
from s2s.tts.vits.windows import Context
from tests.support.vits import VOICES


def parts_of(name: str = "plain") -> Parts:
    return cut_voice(read_model(VOICES / f"{name}.onnx"), "before_flow")


def test_frames_and_speakers_are_drawn_once_for_all() -> None:
    parts = parts_of("speakers")
    one, other = random_frames(parts, 9), random_frames(parts, 9)
    assert {name: value.shape for name, value in one.items()} == {
        name: (1, channels, 9) for name, channels in parts.moving.items()
    }
    for name, value in one.items():
        np.testing.assert_array_equal(value, other[name])
    assert set(fixed_inputs(parts)) | set(parts.moving) | {"mask"} >= {
        value.name for value in parts.decoder.inputs
    }


def test_a_frame_has_a_whole_number_of_samples() -> None:
    assert [hop_of(parts_of(name)) for name in ("plain", "speakers", "coarse")] == [8, 12, 32]


def test_the_two_parts_say_what_the_whole_says() -> None:
    path = VOICES / "speakers.onnx"
    inputs = find_inputs(read_model(path))
    whole = ReferenceSounds(path, [whole_feed(inputs, trial) for trial in TRIALS])
    assert whole.compare(parts_sounds(parts_of("speakers"), TRIALS)).same


def test_steps_that_give_something_else_are_noticed() -> None:
    parts = parts_of()
    stepper, steps = make_stepwise(parts.decoder, parts.moving, AUDIO, parts.mask)
    assert compare_steps(parts, stepper, steps).same
    name, weight = next(
        (name, weight) for name, weight in stepper.weights.items() if len(weight.dims) == 3
    )
    changed = {name: tensor(name, weight.array() * np.float32(1.001))}
    assert not compare_steps(
        parts, replace(stepper, weights=dict(stepper.weights) | changed), steps
    ).same


def test_windows_that_are_too_narrow_are_noticed() -> None:
    parts = parts_of()
    context, hop = parts.receptive_field()
    assert hop is not None
    assert compare_windows(parts, context, hop).same
    assert not compare_windows(parts, Context(context.left // 3, context.right // 3), hop).same


def test_trials_are_sentences_without_chance_of_many_lengths() -> None:
    assert sentence(5) == sentence(5)
    assert sentence(5)[0] == 1
    assert sentence(5)[-1] == 2
    assert len({len(trial.ids) for trial in TRIALS}) == len(TRIALS)
    assert all(trial.scales.noise == QUIET.noise == 0 for trial in TRIALS)


@pytest.mark.parametrize(("first", "last"), [(0, 3), (2, 9)])
def test_frames_are_given_by_their_place(first: int, last: int) -> None:
    frames = random_frames(parts_of(), 9)
    for name, value in sliced(frames)(first, last).items():
        np.testing.assert_array_equal(value, frames[name][:, :, first:last])
