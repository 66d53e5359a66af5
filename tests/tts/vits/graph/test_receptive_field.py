"""The computed context, against what a disturbance of one frame really changes."""

import numpy as np
import pytest

from s2s.models.onnx_file import FLOAT, Node, OnnxFile, ValueInfo, read_model, tensor, write_model
from s2s.system.onnx import onnx_session
from s2s.tts.vits.check import FramesOf, decode_at_once, fixed_inputs, random_frames
from s2s.tts.vits.errors import CutError
from s2s.tts.vits.graph.graph import Graph
from s2s.tts.vits.graph.receptive_field import kernel_of, receptive_field
from s2s.tts.vits.parts import CUTS, Cut, Parts, adopt_pair, cut_voice
from tests.support.vits import VOICES


def parts_of(name: str, cut: Cut) -> Parts:
    if name == "pair":
        return adopt_pair(
            read_model(VOICES / "pair/encoder.onnx"), read_model(VOICES / "pair/decoder.onnx")
        )
    return cut_voice(read_model(VOICES / f"{name}.onnx"), cut)


CUT_VOICES = [(name, cut) for name in ("plain", "speakers", "coarse", "steady") for cut in CUTS]


@pytest.mark.parametrize(("name", "cut"), [*CUT_VOICES, ("pair", "latent")])
def test_the_margin_is_where_a_disturbance_ends(name: str, cut: Cut) -> None:
    parts = parts_of(name, cut)
    context, hop = parts.receptive_field()
    assert hop is not None
    at = context.both + 4
    frames = random_frames(parts, 2 * at)
    disturbed = {key: value.copy() for key, value in frames.items()}
    for value in disturbed.values():
        value[:, :, at] += 30.0
    session = onnx_session(write_model(parts.decoder))
    fixed = fixed_inputs(parts)
    before = decode_at_once(session, frames, fixed, parts.mask)
    after = decode_at_once(session, disturbed, fixed, parts.mask)
    changed = np.flatnonzero(before != after)
    first, last = changed[0] // hop, changed[-1] // hop
    assert first >= at - context.right
    assert last <= at + context.left
    # The context is not just safe. What passes many taps near zero is lost in rounding, so through
    # the flow a few frames of it seem unused.
    unseen = 1 if cut == "latent" else context.both // 8
    assert first <= at - context.right + unseen
    assert last >= at + context.left - unseen


def test_a_graph_of_unknown_receptive_field_gets_the_safe_context() -> None:
    context, hop = parts_of("pooled", "latent").receptive_field()
    assert (context.left, context.right, hop) == (32, 32, None)


def conv(name: str, **attributes: tuple[int, ...]) -> OnnxFile:
    from s2s.models.onnx_file import ints_attribute

    node = Node(
        name, ("x", "w"), ("y",), "the node", "",
        tuple(ints_attribute(key, value) for key, value in attributes.items()),
    )  # fmt: skip
    return OnnxFile(
        [node],
        {"w": tensor("w", np.ones((1, 1, 4), np.float32))},
        [ValueInfo("x", FLOAT, (1, 1, "t"))],
        [ValueInfo("y", FLOAT, (1, 1, "t"))],
    )


def test_by_hand() -> None:
    found = receptive_field(Graph(conv("Conv", dilations=(2,), pads=(4, 2))), ["x"], "y")
    assert (found.context.left, found.context.right, found.hop) == (4, 2, 1)
    found = receptive_field(Graph(conv("ConvTranspose", strides=(2,), pads=(1, 1))), ["x"], "y")
    assert (found.context.left, found.context.right, found.hop) == (1, 1, 2)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (conv("Conv"), "whole number"),
        (conv("Conv", strides=(2,), pads=(1, 1)), "whole number"),
        (conv("Conv", kernel_shape=(2, 2), pads=(0, 1)), "one-dimensional"),
        (conv("Conv", pads=(-1, 4)), "one-dimensional"),
        (conv("Conv", dilations=(0,), pads=(0, 0)), "impossible"),
        (conv("ConvTranspose", strides=(3,), pads=(1, 1)), "whole number"),
        (conv("MaxPool", kernel_shape=(3,)), "not known"),
    ],
)
def test_what_is_not_understood_is_refused(model: OnnxFile, reason: str) -> None:
    with pytest.raises(CutError, match=reason):
        receptive_field(Graph(model), ["x"], "y")


def test_an_output_that_does_not_move_is_refused() -> None:
    model = conv("Conv", pads=(1, 2))
    with pytest.raises(CutError, match="does not depend"):
        receptive_field(Graph(model), ["x"], "w")


def test_a_kernel_is_read_from_its_weight() -> None:
    model = conv("Conv", pads=(1, 2))
    assert kernel_of(model.nodes[0], Graph(model)).size == 4


def test_frames_are_sliced() -> None:
    frames = FramesOf({"x": np.arange(6, dtype=np.float32).reshape(1, 1, 6)})
    assert frames(2, 4)["x"].tolist() == [[[2.0, 3.0]]]
