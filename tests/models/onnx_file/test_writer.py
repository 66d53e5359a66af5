"""What is written is what the onnx package writes, and runs."""

from __future__ import annotations

import numpy as np
import pytest

from s2s.models.onnx_file import (
    FLOAT,
    Node,
    OnnxFile,
    ValueInfo,
    external_tensor,
    float_attribute,
    graph_attribute,
    int_attribute,
    ints_attribute,
    parse_model,
    tensor,
    text_attribute,
    write_graph,
    write_model,
)
from s2s.system.onnx import onnx_session
from tests.support.vits import VOICES

ANY_SHAPE = ValueInfo("z", FLOAT, (), ranked=False)


STEADY = (VOICES / "steady.onnx").read_bytes()


def test_a_rewritten_voice_says_the_same() -> None:
    feed = {
        "input": np.array([[1, 5, 9, 2]]),
        "input_lengths": np.array([4]),
        "scales": np.array([0.0, 1.0, 0.0], np.float32),
    }
    before = onnx_session(STEADY).run(None, feed)[0]
    after = onnx_session(write_model(parse_model(STEADY))).run(None, feed)[0]
    assert np.array_equal(before, after)


def test_built_nodes_run() -> None:
    nodes = [
        Node("Transpose", ("x",), ("t",), attributes=(ints_attribute("perm", (1, 0)),)),
        Node("Concat", ("t", "w"), ("y",), attributes=(int_attribute("axis", -1),)),
    ]
    model = OnnxFile(
        nodes,
        {"w": tensor("w", np.array([[1.0], [2.0]], np.float32))},
        [ValueInfo("x", FLOAT, (None, 2))],
        [ValueInfo("y", FLOAT, (2, "n"))],
    )
    result = onnx_session(write_model(model)).run(None, {"x": np.array([[5, 6]], np.float32)})[0]
    assert np.array_equal(result, [[5.0, 1.0], [6.0, 2.0]])


def test_what_is_written_is_what_the_onnx_package_writes() -> None:
    """Each kind of attribute, tensor and value against the package that defines the format."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    branch = write_graph("b", [Node("Identity", ("x",), ("z",))], [], [], [ANY_SHAPE])
    attributes = (
        int_attribute("i", -3),
        float_attribute("f", 0.1),
        text_attribute("s", "é"),
        ints_attribute("n", (1, -2)),
        graph_attribute("g", branch),
    )
    values = [np.arange(6, dtype=kind).reshape(2, 3) for kind in ("f4", "f2", "i8", "i4", "u1")]
    values += [np.array(True), np.zeros((1, 0), np.float32)]
    stored = external_tensor("far", values[0], "w.data", 4096, 24)
    ours = OnnxFile(
        [Node("Op", ("x", ""), ("y",), name="y", domain="com.example", attributes=attributes)],
        {t.name: t for t in [*(tensor(f"w{i}", v) for i, v in enumerate(values)), stored]},
        [ValueInfo("x", FLOAT, (None, 2, "n"))],
        [ANY_SHAPE],
        ir_version=9,
        opsets={"": 17, "com.example": 1},
        metadata={"key": "value"},
    )

    any_shape = helper.make_tensor_value_info("z", TensorProto.FLOAT, None)
    inner = helper.make_graph([helper.make_node("Identity", ["x"], ["z"])], "b", [], [any_shape])
    inner.node[0].name = ""
    node = helper.make_node("Op", ["x", ""], ["y"], name="y", domain="com.example")
    for name, value in {"i": -3, "f": 0.1, "s": "é", "n": [1, -2], "g": inner}.items():
        node.attribute.append(helper.make_attribute(name, value))
    far = TensorProto(name="far", data_type=1, dims=(2, 3), data_location=TensorProto.EXTERNAL)
    for key, value in {"location": "w.data", "offset": "4096", "length": "24"}.items():
        far.external_data.add(key=key, value=value)
    graph = helper.make_graph(
        [node],
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 2, "n"])],
        [any_shape],
        [*(numpy_helper.from_array(v, f"w{i}") for i, v in enumerate(values)), far],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.example", 1)]
    theirs = helper.make_model(graph, opset_imports=opsets, ir_version=9, producer_name="s2s")
    helper.set_model_props(theirs, {"key": "value"})

    written = onnx.load_model_from_string(write_model(ours))
    for model in (written, theirs):  # an empty name written or left out is the same name
        model.graph.node[0].attribute[4].g.node[0].name = ""
    assert written == theirs


def test_a_type_that_has_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="complex"):
        tensor("w", np.zeros(2, np.complex64))
