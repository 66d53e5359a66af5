"""Where a voice can be cut is found by its structure, whatever its exporter called things."""

from __future__ import annotations

import numpy as np
import pytest

from s2s.models.onnx_file import (
    Node,
    OnnxFile,
    parse_model,
    read_model,
    write_model,
)
from s2s.tts.vits.check import TRIALS, parts_sounds
from s2s.tts.vits.errors import CutError
from s2s.tts.vits.graph.cuts import find_decoder, find_flow, find_inputs
from s2s.tts.vits.graph.graph import Graph
from s2s.tts.vits.parts import cut_voice
from tests.support.vits import VOICES


@pytest.mark.parametrize("opset", [0, 10, 27, 9999])
def test_a_wrong_operator_set_is_refused(opset: int) -> None:
    model = read_model(VOICES / "plain.onnx")
    model.opsets = {"": opset}
    with pytest.raises(CutError, match=f"operator set {opset} is not supported"):
        find_inputs(model)


def test_names_do_not_matter() -> None:
    model = read_model(VOICES / "speakers.onnx")
    names = {
        name: f"x{i}" for i, name in enumerate([n for node in model.nodes for n in node.outputs])
    }
    keep = {value.name for value in model.outputs}
    renamed = [
        Node(
            node.op,
            tuple(names.get(n, n) for n in node.inputs),
            tuple(n if n in keep else names[n] for n in node.outputs),
            "",
            node.domain,
            node.attributes,
        )
        for node in model.nodes
    ]
    other = parse_model(
        write_model(
            OnnxFile(renamed, model.weights, model.inputs, model.outputs, 8, {"": model.opset})
        )
    )
    ours = parts_sounds(cut_voice(model, "before_flow"), TRIALS)
    theirs = parts_sounds(cut_voice(other, "before_flow"), TRIALS)
    for one, two in zip(ours, theirs, strict=True):
        assert np.array_equal(one, two)


def test_the_cut_is_before_the_first_upsampling_not_in_the_flow() -> None:
    model = read_model(VOICES / "speakers.onnx")
    graph = Graph(model)
    inputs = find_inputs(model)
    assert (inputs.ids, inputs.lengths, inputs.scales) == ("input", "input_lengths", "scales")
    assert inputs.speaker == "sid"
    cut = find_decoder(graph, inputs)
    assert cut.channels == 12
    assert cut.speaker_shape == (1, 6, 1)
    users = graph.users_of(cut.latent)
    assert [node.op for node in users] == ["Conv"]
    assert users[0].ints_attribute("kernel_shape") == (7,)
    flow = find_flow(graph, inputs, cut.latent, cut.speaker)
    assert flow.mask is not None
    assert flow.duration_noise is not None
