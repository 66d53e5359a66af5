"""Nodes and weights: attributes by name, and values in their own type."""

from __future__ import annotations

import numpy as np
import pytest

from s2s.models.onnx_file import (
    INT64,
    Attribute,
    Node,
    OnnxFile,
    OnnxFileError,
    Tensor,
    parse_model,
    read_model,
    tensor,
    write_model,
)
from tests.support.vits import VOICES


def test_attributes_are_read() -> None:
    model = read_model(VOICES / "plain.onnx")
    upsample = next(node for node in model.nodes if node.op == "ConvTranspose")
    assert upsample.ints_attribute("strides") == (4,)
    assert upsample.int_attribute("group", 7) == 7
    split = next(node for node in model.nodes if node.op == "Split")
    assert split.int_attribute("axis", 0) == 1


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
