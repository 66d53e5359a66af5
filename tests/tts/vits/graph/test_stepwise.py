"""A graph rewritten to run in steps: what is kept from one to the next."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from s2s.models.onnx_file import (
    FLOAT,
    Node,
    OnnxFile,
    ValueInfo,
    ints_attribute,
    read_model,
    tensor,
    write_model,
)
from s2s.system.onnx import onnx_session
from s2s.tts.vits.errors import CutError
from s2s.tts.vits.graph.stepwise import initial_state, make_stepwise, step_inputs
from s2s.tts.vits.parts import AUDIO, Cut, Parts, adopt_pair, cut_voice
from tests.support.vits import VOICES


@cache
def parts_of(name: str, cut: Cut) -> Parts:
    if name == "pair":
        pair = (read_model(VOICES / f"pair/{half}.onnx") for half in ("encoder", "decoder"))
        return adopt_pair(*pair)
    return cut_voice(read_model(VOICES / f"{name}.onnx"), cut)


def test_an_unknown_operator_has_no_steps() -> None:
    parts = parts_of("pooled", "latent")
    with pytest.raises(CutError, match="AveragePool"):
        make_stepwise(parts.decoder, parts.moving, AUDIO, parts.mask)


def one_convolution(**how: tuple[int, ...]) -> OnnxFile:
    attributes = tuple(ints_attribute(name, values) for name, values in how.items())
    op = "ConvTranspose" if "strides" in how else "Conv"
    weight = np.arange(1, 5, dtype=np.float32).reshape(1, 1, 4)
    return OnnxFile(
        [Node(op, ("x", "w"), (AUDIO,), attributes=attributes)],
        {"w": tensor("w", weight)},
        [ValueInfo("x", FLOAT, (1, 1, "t"))],
        [ValueInfo(AUDIO, FLOAT, (1, 1, "t"))],
    )


@pytest.mark.parametrize(
    "how",
    [
        {"pads": (3, 0)},
        {"pads": (1, 2)},
        {"dilations": (2,), "pads": (2, 4)},
        {"strides": (2,), "pads": (1, 1)},
        {"strides": (4,), "pads": (0, 0)},
    ],
)
@pytest.mark.parametrize("sizes", [(40,), (9, 5, 7, 19), (10, 10, 10, 10)])
def test_one_convolution_in_steps_is_the_one_at_once(
    how: dict[str, tuple[int, ...]], sizes: tuple[int, ...]
) -> None:
    model = one_convolution(**how)
    stepper, steps = make_stepwise(model, {"x": 1}, AUDIO)
    x = np.random.default_rng(0).standard_normal((1, 1, sum(sizes)), np.float32)
    (whole,) = onnx_session(write_model(model)).run(None, {"x": x})
    session, state, at = onnx_session(write_model(stepper)), initial_state(steps), 0
    names = [value.name for value in session.get_outputs()]
    assert sizes[0] >= steps.lead or len(sizes) == 1
    pieces = []
    for number, size in enumerate(sizes):
        last = number == len(sizes) - 1
        feed = {"x": x[:, :, at : at + size], **state}
        feed |= step_inputs(steps, first=number == 0, last=last)
        made = dict(zip(names, session.run(None, feed), strict=True))
        pieces.append(made[names[0]].reshape(-1))
        state = {each.source: made[each.result] for each in steps.states}
        at += size
    np.testing.assert_array_equal(np.concatenate(pieces), whole.reshape(-1))


def test_the_lead_is_what_the_first_step_needs_to_give_a_sample() -> None:
    _, steps = make_stepwise(one_convolution(pads=(1, 2)), {"x": 1}, AUDIO)
    assert (steps.lag, steps.hop, steps.lead) == (2, 1, 3)
