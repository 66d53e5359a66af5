"""Reads an ONNX file, without the onnx package.

The file is not trusted: every length is checked against the bytes that are there, and a weight
must hold exactly as many bytes as its dimensions say. Field numbers are those of onnx.proto3 (ONNX
1.0 and later), https://github.com/onnx/onnx/blob/main/onnx/onnx.proto3.
"""

from __future__ import annotations

import struct
from pathlib import Path

from s2s.models.onnx_file.parts import (
    ITEM_TYPES,
    Attribute,
    Dim,
    Node,
    OnnxFile,
    Tensor,
    ValueInfo,
)
from s2s.models.onnx_file.wire import OnnxFileError, as_bytes, as_int, as_text, fields, numbers

# Protobuf itself cannot hold more than 2 GiB; a VITS voice is 5 to 120 MB.
_MAX_BYTES = 2**31 - 1


def read_model(path: str | Path) -> OnnxFile:
    """Read an ONNX file.

    Raises:
        OnnxFileError: not there, truncated, not ONNX, or its weights lie in another file.
    """
    path = Path(path)
    try:
        size = path.stat().st_size
        if size > _MAX_BYTES:
            raise OnnxFileError(f"{path}: {size} bytes are more than an ONNX file can hold")
        data = path.read_bytes()
    except OSError as error:
        raise OnnxFileError(f"{path}: cannot be read ({error.strerror})") from error
    try:
        return parse_model(data)
    except OnnxFileError as error:
        raise OnnxFileError(f"{path}: {error}") from error


def parse_model(data: bytes) -> OnnxFile:
    """Parse the bytes of an ONNX file. Raises OnnxFileError."""
    graph: memoryview | None = None
    ir_version = 0
    opsets: dict[str, int] = {}
    metadata: dict[str, str] = {}
    for number, _, value in fields(memoryview(data)):
        if number == 1:
            ir_version = as_int(value)
        elif number == 7:
            graph = as_bytes(value)
        elif number == 8:
            domain, version = _parse_opset(as_bytes(value))
            opsets[domain] = version
        elif number == 14:
            pair = {key: as_text(text) for key, _, text in fields(as_bytes(value))}
            metadata[pair.get(1, "")] = pair.get(2, "")
    if graph is None or not opsets:
        raise OnnxFileError("not an ONNX model (no graph or no operator set in it)")
    nodes, weights, inputs, outputs = _parse_graph(graph)
    # Old files list every weight among the inputs too.
    inputs = [value for value in inputs if value.name not in weights]
    return OnnxFile(nodes, weights, inputs, outputs, ir_version, opsets, metadata)


def _parse_graph(
    data: memoryview,
) -> tuple[list[Node], dict[str, Tensor], list[ValueInfo], list[ValueInfo]]:
    nodes: list[Node] = []
    weights: dict[str, Tensor] = {}
    inputs: list[ValueInfo] = []
    outputs: list[ValueInfo] = []
    for number, _, value in fields(data):
        match number:
            case 1:
                nodes.append(_parse_node(as_bytes(value)))
            case 5:
                tensor = _parse_tensor(as_bytes(value))
                weights[tensor.name] = tensor
            case 11:
                inputs.append(_parse_value_info(as_bytes(value)))
            case 12:
                outputs.append(_parse_value_info(as_bytes(value)))
            case 15:
                raise OnnxFileError("sparse weights are not supported")
            case _:
                pass
    return nodes, weights, inputs, outputs


def _parse_opset(data: memoryview) -> tuple[str, int]:
    domain, version = "", 0
    for number, _, value in fields(data):
        if number == 1:
            domain = as_text(value)
        elif number == 2:
            version = as_int(value)
    return ("" if domain == "ai.onnx" else domain), version


def _parse_node(data: memoryview) -> Node:
    inputs: list[str] = []
    outputs: list[str] = []
    attributes: list[Attribute] = []
    name = op = domain = ""
    for number, _, value in fields(data):
        match number:
            case 1:
                inputs.append(as_text(value))
            case 2:
                outputs.append(as_text(value))
            case 3:
                name = as_text(value)
            case 4:
                op = as_text(value)
            case 5:
                attributes.append(_parse_attribute(as_bytes(value)))
            case 7:
                domain = as_text(value)
            case _:
                pass
    return Node(op, tuple(inputs), tuple(outputs), name, domain, tuple(attributes))


def _parse_attribute(data: memoryview) -> Attribute:
    name = ""
    value: int | float | bytes | tuple[int, ...] | Tensor | None = None
    ints: list[int] = []
    for number, wire, item in fields(data):
        match number:
            case 1:
                name = as_text(item)
            case 2:
                value = struct.unpack("<f", as_bytes(item))[0]
            case 3:
                value = as_int(item)
            case 4:
                value = bytes(as_bytes(item))
            case 5:
                value = _parse_tensor(as_bytes(item))
            case 8:
                ints.extend(int(number) for number in numbers(7, wire, item))
            case 6 | 11:
                # Graphs inside nodes (If, Loop) reach into the outer graph by name; a cut
                # that follows only inputs would miss that.
                raise OnnxFileError(f"a graph inside a node ('{name}') is not supported")
            case _:
                pass
    return Attribute(name, tuple(ints) if ints else value, data)


def _parse_tensor(data: memoryview) -> Tensor:
    dims: list[int] = []
    item_type = 0
    name = ""
    payload = 0
    for number, wire, value in fields(data):
        match number:
            case 1:
                dims.extend(int(dim) for dim in numbers(7, wire, value))
            case 2:
                item_type = as_int(value)
            case 8:
                name = as_text(value)
            case 9:
                payload = len(as_bytes(value))
            case 13 | 14 if number == 13 or value == 1:
                raise OnnxFileError(
                    f"weight '{name or '?'}' lies in another file (external data). "
                    "Save the model as one file first"
                )
            case _:
                pass
    _check_size(name, dims, item_type, payload)
    return Tensor(name, tuple(dims), item_type, data)


def _check_size(name: str, dims: list[int], item_type: int, payload: int) -> None:
    count = 1
    for dim in dims:
        if dim < 0:
            raise OnnxFileError(f"weight '{name}' has a negative dimension {dim}")
        count *= dim
    dtype = ITEM_TYPES.get(item_type)
    if payload and dtype is not None and count * dtype.itemsize != payload:
        raise OnnxFileError(
            f"weight '{name}' says {dims}, that is {count * dtype.itemsize} bytes, "
            f"but holds {payload}"
        )
    if count > _MAX_BYTES:
        raise OnnxFileError(f"weight '{name}' says {dims}: too large to be true")


def _parse_value_info(data: memoryview) -> ValueInfo:
    name = ""
    item_type = 0
    shape: list[Dim] = []
    for number, _, value in fields(data):
        if number == 1:
            name = as_text(value)
        elif number == 2:
            for kind, _, tensor_type in fields(as_bytes(value)):
                if kind == 1:
                    item_type, shape = _parse_tensor_type(as_bytes(tensor_type))
    return ValueInfo(name, item_type, tuple(shape))


def _parse_tensor_type(data: memoryview) -> tuple[int, list[Dim]]:
    item_type = 0
    shape: list[Dim] = []
    for number, _, value in fields(data):
        if number == 1:
            item_type = as_int(value)
        elif number == 2:
            for kind, _, dim in fields(as_bytes(value)):
                if kind == 1:
                    shape.append(_parse_dim(as_bytes(dim)))
    return item_type, shape


def _parse_dim(data: memoryview) -> Dim:
    for number, _, value in fields(data):
        if number == 1:
            return as_int(value)
        if number == 2:
            return as_text(value)
    return None
