"""The part of the ONNX file format that cutting a graph needs, without the onnx package.

Reads a model into nodes, weights, inputs and outputs, and writes one. Weights are views into the
file, never copied until written. Knows nothing about what a graph computes.

The file is not trusted: every length is checked against the bytes that are there, and a weight
must hold exactly as many bytes as its dimensions say. Field numbers are those of onnx.proto3 (ONNX
1.0 and later), https://github.com/onnx/onnx/blob/main/onnx/onnx.proto3.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

FLOAT = 1
INT64 = 7

_ITEM_TYPES: dict[int, np.dtype] = {
    1: np.dtype("<f4"),
    2: np.dtype("u1"),
    3: np.dtype("i1"),
    4: np.dtype("<u2"),
    5: np.dtype("<i2"),
    6: np.dtype("<i4"),
    7: np.dtype("<i8"),
    9: np.dtype("?"),
    10: np.dtype("<f2"),
    11: np.dtype("<f8"),
    12: np.dtype("<u4"),
    13: np.dtype("<u8"),
    16: np.dtype("<u2"),  # bfloat16, as its bits
}

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5

# Protobuf itself cannot hold more than 2 GiB; a VITS voice is 5 to 120 MB.
_MAX_BYTES = 2**31 - 1


class ModelFileError(ValueError):
    """The file is not an ONNX model that can be used. The message names the file and the reason."""


Dim = int | str | None


@dataclass(frozen=True, slots=True)
class ValueInfo:
    """A graph input or output: element type (FLOAT, INT64) and shape; a str or None is free."""

    name: str
    item_type: int
    shape: tuple[Dim, ...]


@dataclass(frozen=True, slots=True)
class Tensor:
    """A named weight or constant, still as the bytes of its message."""

    name: str
    dims: tuple[int, ...]
    item_type: int
    message: bytes | memoryview

    def array(self) -> npt.NDArray[np.generic]:
        """The values, [*dims]. Raises ModelFileError for types that have no numpy form."""
        dtype = _ITEM_TYPES.get(self.item_type)
        if dtype is None:
            raise ModelFileError(f"weight '{self.name}' has item type {self.item_type}")
        raw: memoryview | None = None
        typed: list[int | float] = []
        for number, wire, value in _fields(memoryview(self.message)):
            if number == 9:
                raw = _as_bytes(value)
            elif number in (4, 5, 7):
                typed.extend(_numbers(number, wire, value))
        if raw is not None:
            return np.frombuffer(raw, dtype=dtype).reshape(self.dims)
        return np.array(typed).astype(dtype).reshape(self.dims)


@dataclass(frozen=True, slots=True)
class Attribute:
    """A node's attribute: its name, its parsed value where simple, and its message."""

    name: str
    value: int | float | bytes | tuple[int, ...] | Tensor | None
    message: bytes | memoryview


@dataclass(frozen=True, slots=True)
class Node:
    """One operator: names of what goes in and what comes out."""

    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    name: str = ""
    domain: str = ""
    attributes: tuple[Attribute, ...] = ()

    def int_attribute(self, name: str, default: int) -> int:
        """The integer attribute `name`, or `default`."""
        for attribute in self.attributes:
            if attribute.name == name and isinstance(attribute.value, int):
                return attribute.value
        return default

    def ints_attribute(self, name: str) -> tuple[int, ...] | None:
        """The attribute `name` as a tuple of integers, None when it is not there."""
        for attribute in self.attributes:
            if attribute.name == name and isinstance(attribute.value, tuple):
                return attribute.value
        return None

    def bytes_attribute(self, name: str) -> bytes | None:
        """The string attribute `name`, None when it is not there."""
        for attribute in self.attributes:
            if attribute.name == name and isinstance(attribute.value, bytes):
                return attribute.value
        return None

    def tensor_attribute(self, name: str) -> Tensor | None:
        """The tensor attribute `name`, None when it is not there."""
        for attribute in self.attributes:
            if attribute.name == name and isinstance(attribute.value, Tensor):
                return attribute.value
        return None


@dataclass(slots=True)
class Model:
    """An ONNX model: one graph and the operator sets it is written in."""

    nodes: list[Node]
    weights: dict[str, Tensor]
    inputs: list[ValueInfo]
    outputs: list[ValueInfo]
    ir_version: int = 8
    opsets: dict[str, int] = field(default_factory=lambda: {"": 15})

    @property
    def opset(self) -> int:
        """Version of the standard operator set."""
        return self.opsets.get("", 0)


# --- reading -----------------------------------------------------------------------------------


def read_model(path: str | Path) -> Model:
    """Read an ONNX file.

    Raises:
        ModelFileError: not there, truncated, not ONNX, or its weights lie in another file.
    """
    path = Path(path)
    try:
        size = path.stat().st_size
        if size > _MAX_BYTES:
            raise ModelFileError(f"{path}: {size} bytes are more than an ONNX file can hold")
        data = path.read_bytes()
    except OSError as error:
        raise ModelFileError(f"{path}: cannot be read ({error.strerror})") from error
    try:
        return parse_model(data)
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from error


def parse_model(data: bytes) -> Model:
    """Parse the bytes of an ONNX file. Raises ModelFileError."""
    graph: memoryview | None = None
    ir_version = 0
    opsets: dict[str, int] = {}
    for number, _, value in _fields(memoryview(data)):
        if number == 1:
            ir_version = _as_int(value)
        elif number == 7:
            graph = _as_bytes(value)
        elif number == 8:
            domain, version = _parse_opset(_as_bytes(value))
            opsets[domain] = version
    if graph is None or not opsets:
        raise ModelFileError("not an ONNX model (no graph or no operator set in it)")
    nodes, weights, inputs, outputs = _parse_graph(graph)
    # Old files list every weight among the inputs too.
    inputs = [value for value in inputs if value.name not in weights]
    return Model(nodes, weights, inputs, outputs, ir_version, opsets)


def _parse_graph(
    data: memoryview,
) -> tuple[list[Node], dict[str, Tensor], list[ValueInfo], list[ValueInfo]]:
    nodes: list[Node] = []
    weights: dict[str, Tensor] = {}
    inputs: list[ValueInfo] = []
    outputs: list[ValueInfo] = []
    for number, _, value in _fields(data):
        match number:
            case 1:
                nodes.append(_parse_node(_as_bytes(value)))
            case 5:
                tensor = _parse_tensor(_as_bytes(value))
                weights[tensor.name] = tensor
            case 11:
                inputs.append(_parse_value_info(_as_bytes(value)))
            case 12:
                outputs.append(_parse_value_info(_as_bytes(value)))
            case 15:
                raise ModelFileError("sparse weights are not supported")
    return nodes, weights, inputs, outputs


def _parse_opset(data: memoryview) -> tuple[str, int]:
    domain, version = "", 0
    for number, _, value in _fields(data):
        if number == 1:
            domain = _as_text(value)
        elif number == 2:
            version = _as_int(value)
    return ("" if domain == "ai.onnx" else domain), version


def _parse_node(data: memoryview) -> Node:
    inputs: list[str] = []
    outputs: list[str] = []
    attributes: list[Attribute] = []
    name = op = domain = ""
    for number, _, value in _fields(data):
        match number:
            case 1:
                inputs.append(_as_text(value))
            case 2:
                outputs.append(_as_text(value))
            case 3:
                name = _as_text(value)
            case 4:
                op = _as_text(value)
            case 5:
                attributes.append(_parse_attribute(_as_bytes(value)))
            case 7:
                domain = _as_text(value)
    return Node(op, tuple(inputs), tuple(outputs), name, domain, tuple(attributes))


def _parse_attribute(data: memoryview) -> Attribute:
    name = ""
    value: int | float | bytes | tuple[int, ...] | Tensor | None = None
    ints: list[int] = []
    for number, wire, item in _fields(data):
        match number:
            case 1:
                name = _as_text(item)
            case 2:
                value = struct.unpack("<f", _as_bytes(item))[0]
            case 3:
                value = _as_int(item)
            case 4:
                value = bytes(_as_bytes(item))
            case 5:
                value = _parse_tensor(_as_bytes(item))
            case 8:
                ints.extend(int(number) for number in _numbers(7, wire, item))
            case 6 | 11:
                # Graphs inside nodes (If, Loop) reach into the outer graph by name; a cut
                # that follows only inputs would miss that.
                raise ModelFileError(f"a graph inside a node ('{name}') is not supported")
    return Attribute(name, tuple(ints) if ints else value, data)


def _parse_tensor(data: memoryview) -> Tensor:
    dims: list[int] = []
    item_type = 0
    name = ""
    payload = 0
    for number, wire, value in _fields(data):
        match number:
            case 1:
                dims.extend(int(dim) for dim in _numbers(7, wire, value))
            case 2:
                item_type = _as_int(value)
            case 8:
                name = _as_text(value)
            case 9:
                payload = len(_as_bytes(value))
            case 13 | 14 if number == 13 or value == 1:
                raise ModelFileError(
                    f"weight '{name or '?'}' lies in another file (external data). "
                    "Save the model as one file first"
                )
    _check_size(name, dims, item_type, payload)
    return Tensor(name, tuple(dims), item_type, data)


def _check_size(name: str, dims: list[int], item_type: int, payload: int) -> None:
    count = 1
    for dim in dims:
        if dim < 0:
            raise ModelFileError(f"weight '{name}' has a negative dimension {dim}")
        count *= dim
    dtype = _ITEM_TYPES.get(item_type)
    if payload and dtype is not None and count * dtype.itemsize != payload:
        raise ModelFileError(
            f"weight '{name}' says {dims}, that is {count * dtype.itemsize} bytes, "
            f"but holds {payload}"
        )
    if count > _MAX_BYTES:
        raise ModelFileError(f"weight '{name}' says {dims}: too large to be true")


def _parse_value_info(data: memoryview) -> ValueInfo:
    name = ""
    item_type = 0
    shape: list[Dim] = []
    for number, _, value in _fields(data):
        if number == 1:
            name = _as_text(value)
        elif number == 2:
            for kind, _, tensor_type in _fields(_as_bytes(value)):
                if kind == 1:
                    item_type, shape = _parse_tensor_type(_as_bytes(tensor_type))
    return ValueInfo(name, item_type, tuple(shape))


def _parse_tensor_type(data: memoryview) -> tuple[int, list[Dim]]:
    item_type = 0
    shape: list[Dim] = []
    for number, _, value in _fields(data):
        if number == 1:
            item_type = _as_int(value)
        elif number == 2:
            for kind, _, dim in _fields(_as_bytes(value)):
                if kind == 1:
                    shape.append(_parse_dim(_as_bytes(dim)))
    return item_type, shape


def _parse_dim(data: memoryview) -> Dim:
    for number, _, value in _fields(data):
        if number == 1:
            return _as_int(value)
        if number == 2:
            return _as_text(value)
    return None


def _fields(data: memoryview) -> Iterator[tuple[int, int, int | memoryview]]:
    """Yield (field number, wire type, value) of a message; fixed-width values come as bytes."""
    position = 0
    end = len(data)
    while position < end:
        key, position = _varint(data, position)
        number, wire = key >> 3, key & 7
        if wire == _VARINT:
            value, position = _varint(data, position)
            yield number, wire, value
            continue
        if wire == _BYTES:
            length, position = _varint(data, position)
        elif wire == _FIXED32:
            length = 4
        elif wire == _FIXED64:
            length = 8
        else:
            raise ModelFileError(f"not an ONNX model (wire type {wire} at byte {position})")
        if length > end - position:
            raise ModelFileError(
                f"truncated or damaged: {length} bytes wanted, {end - position} left"
            )
        yield number, wire, data[position : position + length]
        position += length


def _varint(data: memoryview, position: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if position >= len(data):
            raise ModelFileError("truncated or damaged: the file ends inside a number")
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
    raise ModelFileError("not an ONNX model (a number of more than ten bytes)")


def _numbers(kind: int, wire: int, value: int | memoryview) -> Iterator[int | float]:
    """Repeated numbers, packed or not: kind 4 is float32, everything else a signed varint."""
    if isinstance(value, int):
        yield _signed(value)
    elif kind == 4:
        yield from np.frombuffer(value, dtype="<f4").tolist()
    elif wire == _BYTES:
        position = 0
        while position < len(value):
            number, position = _varint(value, position)
            yield _signed(number)
    else:
        raise ModelFileError("not an ONNX model (a list of integers of fixed width)")


def _signed(value: int) -> int:
    return value - 2**64 if value >= 2**63 else value


def _as_int(value: int | memoryview) -> int:
    if not isinstance(value, int):
        raise ModelFileError("not an ONNX model (bytes where a number belongs)")
    return _signed(value)


def _as_bytes(value: int | memoryview) -> memoryview:
    if isinstance(value, int):
        raise ModelFileError("not an ONNX model (a number where bytes belong)")
    return value


def _as_text(value: int | memoryview) -> str:
    try:
        return bytes(_as_bytes(value)).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ModelFileError("not an ONNX model (a name that is not text)") from error


# --- writing -----------------------------------------------------------------------------------


def write_model(model: Model) -> bytes:
    """The bytes of `model` as an ONNX file."""
    graph = b"".join(_graph_parts(model))
    parts = [_int_field(1, model.ir_version), _text_field(2, "s2s")]
    parts.extend(
        _bytes_field(8, _text_field(1, domain) + _int_field(2, version))
        for domain, version in model.opsets.items()
    )
    parts.append(_bytes_field(7, graph))
    return b"".join(parts)


def _graph_parts(model: Model) -> Iterator[bytes]:
    for node in model.nodes:
        yield _bytes_field(1, _node_bytes(node))
    yield _text_field(2, "graph")
    for tensor in model.weights.values():
        yield _bytes_field(5, tensor.message)
    for value in model.inputs:
        yield _bytes_field(11, _value_info_bytes(value))
    for value in model.outputs:
        yield _bytes_field(12, _value_info_bytes(value))


def _node_bytes(node: Node) -> bytes:
    parts = [_text_field(1, name) for name in node.inputs]
    parts += [_text_field(2, name) for name in node.outputs]
    parts += [_text_field(3, node.name), _text_field(4, node.op)]
    parts += [_bytes_field(5, attribute.message) for attribute in node.attributes]
    if node.domain:
        parts.append(_text_field(7, node.domain))
    return b"".join(parts)


def _value_info_bytes(value: ValueInfo) -> bytes:
    dims = b"".join(_bytes_field(1, _dim_bytes(dim)) for dim in value.shape)
    tensor_type = _int_field(1, value.item_type) + _bytes_field(2, dims)
    return _text_field(1, value.name) + _bytes_field(2, _bytes_field(1, tensor_type))


def _dim_bytes(dim: Dim) -> bytes:
    if isinstance(dim, int):
        return _int_field(1, dim)
    return _text_field(2, dim) if dim else b""


def tensor(name: str, values: npt.NDArray[np.float32] | npt.NDArray[np.int64]) -> Tensor:
    """A weight made of `values`, float32 or int64, any shape."""
    item_type = FLOAT if values.dtype == np.float32 else INT64
    message = b"".join(_int_field(1, dim) for dim in values.shape)
    message += _int_field(2, item_type) + _text_field(8, name)
    message += _bytes_field(9, np.ascontiguousarray(values).tobytes())
    return Tensor(name, tuple(values.shape), item_type, message)


def int_attribute(name: str, value: int) -> Attribute:
    """An integer attribute."""
    return Attribute(name, value, _text_field(1, name) + _int_field(3, value) + _int_field(20, 2))


def ints_attribute(name: str, values: Iterable[int]) -> Attribute:
    """An attribute that is a list of integers."""
    values = tuple(values)
    message = _text_field(1, name) + b"".join(_int_field(8, value) for value in values)
    return Attribute(name, values, message + _int_field(20, 7))


def _int_field(number: int, value: int) -> bytes:
    return _varint_bytes(number << 3 | _VARINT) + _varint_bytes(value)


def _text_field(number: int, value: str) -> bytes:
    return _bytes_field(number, value.encode("utf-8"))


def _bytes_field(number: int, value: bytes | memoryview) -> bytes:
    return b"".join([_varint_bytes(number << 3 | _BYTES), _varint_bytes(len(value)), value])


def _varint_bytes(value: int) -> bytes:
    value &= 2**64 - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
