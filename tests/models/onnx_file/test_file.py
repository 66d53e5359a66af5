"""The file format, against files written by the onnx package; and files that mean harm."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from s2s.models.onnx_file import (
    FLOAT,
    INT64,
    Attribute,
    Node,
    OnnxFile,
    OnnxFileError,
    Tensor,
    ValueInfo,
    external_tensor,
    float_attribute,
    graph_attribute,
    int_attribute,
    ints_attribute,
    parse_model,
    read_model,
    tensor,
    text_attribute,
    write_graph,
    write_model,
)
from s2s.system.onnx import onnx_session
from tests.support.vits import VOICES

ANY_SHAPE = ValueInfo("z", FLOAT, (), ranked=False)
STEADY = (VOICES / "steady.onnx").read_bytes()


def test_what_is_written_reads_back_the_same() -> None:
    model = read_model(VOICES / "speakers.onnx")
    again = parse_model(write_model(model))
    assert again.inputs == model.inputs
    assert again.outputs == model.outputs
    assert again.opsets == model.opsets == {"": 15}
    assert [(n.op, n.name, n.inputs, n.outputs) for n in again.nodes] == [
        (n.op, n.name, n.inputs, n.outputs) for n in model.nodes
    ]
    assert list(again.weights) == list(model.weights)
    for name, weight in model.weights.items():
        assert np.array_equal(again.weights[name].array(), weight.array())


def test_a_rewritten_voice_says_the_same() -> None:
    feed = {
        "input": np.array([[1, 5, 9, 2]]),
        "input_lengths": np.array([4]),
        "scales": np.array([0.0, 1.0, 0.0], np.float32),
    }
    before = onnx_session(STEADY).run(None, feed)[0]
    after = onnx_session(write_model(parse_model(STEADY))).run(None, feed)[0]
    assert np.array_equal(before, after)


def test_attributes_are_read() -> None:
    model = read_model(VOICES / "plain.onnx")
    upsample = next(node for node in model.nodes if node.op == "ConvTranspose")
    assert upsample.ints_attribute("strides") == (4,)
    assert upsample.int_attribute("group", 7) == 7
    split = next(node for node in model.nodes if node.op == "Split")
    assert split.int_attribute("axis", 0) == 1


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


def test_metadata_reads_back_and_of_two_names_the_last_counts() -> None:
    weight = tensor("w", np.ones(2, np.float32)).renamed("v")
    model = parse_model(write_model(OnnxFile([], {"v": weight}, [], [], metadata={"a": "b"})))
    assert model.metadata == {"a": "b"}
    assert list(model.weights) == ["v"]
    assert model.weights["v"].array().tolist() == [1.0, 1.0]


def field(number: int, payload: bytes) -> bytes:
    assert len(payload) < 128
    return bytes([number << 3 | 2, len(payload)]) + payload


def with_weight(weight: bytes) -> bytes:
    return field(7, field(5, weight)) + field(8, b"\x10\x0f")


def test_a_weight_of_typed_data_is_read() -> None:
    packed = field(4, np.array([1.5, -2.0], "<f4").tobytes())
    model = parse_model(with_weight(b"\x08\x02\x10\x01" + packed + field(8, b"w")))
    assert model.weights["w"].array().tolist() == [1.5, -2.0]
    integers = b"\x38\x05\x38" + b"\xff" * 9 + b"\x01"
    model = parse_model(with_weight(b"\x08\x02\x10\x07" + integers + field(8, b"w")))
    assert model.weights["w"].array().tolist() == [5, -1]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "no graph"),
        (b"this is no model at all", "not an ONNX model|truncated"),
        (b"\xff" * 64, "more than ten bytes"),
        (STEADY[:100], "truncated"),
        (with_weight(b"\x08\x7f\x10\x01" + field(9, b"1234") + field(8, b"big")), "508 bytes"),
        (with_weight(b"\x08" + b"\xff" * 8 + b"\x7f\x10\x01" + field(8, b"big")), "too large"),
        (with_weight(b"\x08" + b"\xff" * 9 + b"\x01\x10\x01" + field(8, b"w")), "negative"),
        (with_weight(b"\x08\x01\x10\x01\x70\x01" + field(8, b"out")), "another file"),
        (with_weight(b"\x08\x01\x10\x01" + field(13, field(1, b"location"))), "another file"),
        (field(7, field(1, field(5, field(6, b"")))) + field(8, b"\x10\x0f"), "graph inside"),
        (field(7, field(15, b"")) + field(8, b"\x10\x0f"), "sparse"),
        (field(7, field(1, field(3, b"\xff\xfe"))) + field(8, b"\x10\x0f"), "not text"),
    ],
)
def test_harmful_files_get_a_clear_error(data: bytes, reason: str) -> None:
    with pytest.raises(OnnxFileError, match=reason):
        parse_model(data)


def test_the_error_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(OnnxFileError, match=r"missing\.onnx: cannot be read"):
        read_model(tmp_path / "missing.onnx")
    (tmp_path / "cut.onnx").write_bytes(STEADY[:5000])
    with pytest.raises(OnnxFileError, match=r"cut\.onnx: truncated"):
        read_model(tmp_path / "cut.onnx")


@settings(max_examples=150)
@given(position=st.integers(0, len(STEADY) - 1), value=st.integers(0, 255))
@example(position=0, value=0)
def test_a_damaged_file_is_read_or_refused(position: int, value: int) -> None:
    data = bytearray(STEADY)
    data[position] = value
    try:
        model = parse_model(bytes(data))
    except OnnxFileError:
        return
    assert isinstance(model, OnnxFile)


def test_a_weight_without_numpy_form_says_so() -> None:
    with pytest.raises(OnnxFileError, match="item type 8"):
        Tensor("names", (1,), 8, b"").array()


def test_a_missing_attribute_is_none() -> None:
    node = Node("Conv", (), (), attributes=(Attribute("auto_pad", b"VALID", b""),))
    assert node.bytes_attribute("auto_pad") == b"VALID"
    assert node.bytes_attribute("other") is None
    assert node.ints_attribute("auto_pad") is None
    assert node.tensor_attribute("auto_pad") is None
    assert INT64 == 7
