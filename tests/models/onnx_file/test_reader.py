"""Files are read as they were written, and files that mean harm are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from s2s.models.onnx_file import (
    OnnxFile,
    OnnxFileError,
    parse_model,
    read_model,
    write_model,
)
from tests.support.vits import VOICES

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


def field(number: int, payload: bytes) -> bytes:
    assert len(payload) < 128
    return bytes([number << 3 | 2, len(payload)]) + payload


def with_weight(weight: bytes) -> bytes:
    return field(7, field(5, weight)) + field(8, b"\x10\x0f")


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
