"""Convolutions over an image of height one give what convolutions over a line give."""

import numpy as np
import pytest

from s2s.models.onnx_file import FLOAT, Node, OnnxFile, ValueInfo, read_model, tensor, write_model
from s2s.system.onnx import onnx_session
from s2s.tts.vits.check import decode_at_once, fixed_inputs, random_frames
from s2s.tts.vits.graph.images import convolve_as_images
from s2s.tts.vits.parts import CUTS, Cut, cut_voice
from s2s.tts.vits.reference import difference
from tests.support.vits import VOICES


@pytest.mark.parametrize("name", ["plain", "speakers", "coarse"])
@pytest.mark.parametrize("cut", CUTS)
def test_the_sound_stays(name: str, cut: Cut) -> None:
    parts = cut_voice(read_model(VOICES / f"{name}.onnx"), cut)
    images = convolve_as_images(parts.decoder)
    frames, fixed = random_frames(parts, 40), fixed_inputs(parts)
    one, other = (
        decode_at_once(onnx_session(write_model(model)), frames, fixed, parts.mask)
        for model in (parts.decoder, images)
    )
    assert difference(one, other) < 1e-5
    kernels = [n.ints_attribute("kernel_shape") for n in images.nodes if n.op == "Conv"]
    assert kernels
    assert all(kernel is not None and len(kernel) == 2 for kernel in kernels)


def test_a_computed_weight_stays_a_line() -> None:
    model = OnnxFile(
        [Node("Neg", ("w",), ("v",)), Node("Conv", ("x", "v"), ("y",))],
        {"w": tensor("w", np.ones((1, 1, 3), np.float32))},
        [ValueInfo("x", FLOAT, (1, 1, None))],
        [ValueInfo("y", FLOAT, (1, 1, None))],
    )
    assert convolve_as_images(model).nodes == model.nodes
    assert list(convolve_as_images(model).weights) == ["w"]


def test_one_weight_of_two_convolutions_is_stored_once() -> None:
    model = OnnxFile(
        [Node("Conv", ("x", "w"), ("y",)), Node("Conv", ("y", "w"), ("z",))],
        {"w": tensor("w", np.full((1, 1, 2), 0.5, np.float32))},
        [ValueInfo("x", FLOAT, (1, 1, None))],
        [ValueInfo("z", FLOAT, (1, 1, None))],
    )
    images = convolve_as_images(model)
    assert [name for name in images.weights if name.startswith("w")] == ["w/image"]
    x = np.array([[[1.0, 3.0, 5.0]]], np.float32)
    assert onnx_session(write_model(images)).run(None, {"x": x})[0].tolist() == [[[3.0]]]
