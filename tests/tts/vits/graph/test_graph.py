"""Questions about a graph, and parts cut out of it."""

from __future__ import annotations

import numpy as np
import pytest

from s2s.models.onnx_file import (
    FLOAT,
    Node,
    OnnxFile,
    ValueInfo,
    read_model,
    tensor,
    write_model,
)
from s2s.system.onnx import onnx_session
from s2s.tts.vits.errors import CutError
from s2s.tts.vits.graph.graph import Graph
from tests.support.vits import VOICES


def test_a_graph_that_makes_a_value_twice_is_refused() -> None:
    model = read_model(VOICES / "steady.onnx")
    model.nodes.append(model.nodes[0])
    with pytest.raises(CutError, match="made twice"):
        Graph(model)


def small() -> OnnxFile:
    """y = relu(a + w) * v, beside z = a random number times w * w."""
    nodes = [
        Node("Add", ("a", "w"), ("sum",)),
        Node("Relu", ("sum",), ("r",)),
        Node("Mul", ("w", "w"), ("square",)),
        Node("RandomNormal", (), ("chance",)),
        Node("Mul", ("chance", "square"), ("z",)),
        Node("Mul", ("r", "v"), ("y",)),
    ]
    weights = {name: tensor(name, np.ones(2, np.float32)) for name in ("w", "v")}
    outputs = [ValueInfo(name, FLOAT, (2,)) for name in ("y", "z")]
    return OnnxFile(nodes, weights, [ValueInfo("a", FLOAT, (2,))], outputs)


def test_what_a_value_is_made_of_and_what_is_made_of_it() -> None:
    graph = Graph(small())
    assert graph.before(["r"]) == {"r", "sum", "a", "w"}
    assert graph.before(["y"], ["sum"]) == {"y", "r", "sum", "v"}
    assert graph.after(["sum"]) == {"sum", "r", "y"}
    assert graph.inputs_of(["y"]) == {"a"}
    assert graph.inputs_of(["y"], ["sum"]) == set()
    assert [node.op for node in graph.users_of("r")] == ["Mul"]
    assert graph.users_of("y") == []


def test_what_depends_on_no_input_and_no_chance_is_fixed() -> None:
    assert Graph(small()).fixed == {"w", "v", "square"}


def test_a_part_computes_what_the_whole_computes() -> None:
    middle, end = ValueInfo("middle", FLOAT, (2,)), ValueInfo("end", FLOAT, (2,))
    part = Graph(small()).cut({"sum": middle}, {"y": end})
    assert [node.op for node in part.nodes] == ["Relu", "Mul"]
    assert set(part.weights) == {"v"}
    (result,) = onnx_session(write_model(part)).run(
        None, {"middle": np.array([-1.0, 2.0], np.float32)}
    )
    assert result.tolist() == [0.0, 2.0]


def test_a_part_that_needs_more_than_it_is_given_is_refused() -> None:
    with pytest.raises(CutError, match=r"also needs \['a'\]"):
        Graph(small()).cut({}, {"y": ValueInfo("y", FLOAT, (2,))})
