"""Writes an ONNX file, without the onnx package. Field numbers as in `reader`."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from s2s.models.onnx_file.parts import (
    ITEM_TYPES,
    Attribute,
    Dim,
    Node,
    OnnxFile,
    Tensor,
    ValueInfo,
)
from s2s.models.onnx_file.wire import bytes_field, float_field, int_field, text_field

_FLOAT_KIND, _INT_KIND, _TEXT_KIND, _GRAPH_KIND, _INTS_KIND = 1, 2, 3, 5, 7
"""AttributeProto.AttributeType"""

_EXTERNAL = 1
"""TensorProto.DataLocation"""

_BFLOAT16 = 16


def write_model(model: OnnxFile, name: str = "graph") -> bytes:
    """The bytes of `model` as an ONNX file whose graph has that name."""
    graph = write_graph(name, model.nodes, model.weights.values(), model.inputs, model.outputs)
    parts = [int_field(1, model.ir_version), text_field(2, "s2s")]
    parts.extend(
        bytes_field(8, text_field(1, domain) + int_field(2, version))
        for domain, version in model.opsets.items()
    )
    parts.append(bytes_field(7, graph))
    parts.extend(
        bytes_field(14, text_field(1, key) + text_field(2, value))
        for key, value in model.metadata.items()
    )
    return b"".join(parts)


def write_graph(
    name: str,
    nodes: Iterable[Node],
    weights: Iterable[Tensor],
    inputs: Iterable[ValueInfo],
    outputs: Iterable[ValueInfo],
) -> bytes:
    """The message of a graph: of a model, or of a branch or a loop inside one."""
    parts = [bytes_field(1, _node_bytes(node)) for node in nodes]
    parts.append(text_field(2, name))
    parts += [bytes_field(5, tensor.message) for tensor in weights]
    parts += [bytes_field(11, _value_info_bytes(value)) for value in inputs]
    parts += [bytes_field(12, _value_info_bytes(value)) for value in outputs]
    return b"".join(parts)


def _node_bytes(node: Node) -> bytes:
    parts = [text_field(1, name) for name in node.inputs]
    parts += [text_field(2, name) for name in node.outputs]
    parts += [text_field(3, node.name), text_field(4, node.op)]
    parts += [bytes_field(5, attribute.message) for attribute in node.attributes]
    if node.domain:
        parts.append(text_field(7, node.domain))
    return b"".join(parts)


def _value_info_bytes(value: ValueInfo) -> bytes:
    tensor_type = int_field(1, value.item_type)
    if value.ranked:
        dims = b"".join(bytes_field(1, _dim_bytes(dim)) for dim in value.shape)
        tensor_type += bytes_field(2, dims)
    return text_field(1, value.name) + bytes_field(2, bytes_field(1, tensor_type))


def _dim_bytes(dim: Dim) -> bytes:
    if isinstance(dim, int):
        return int_field(1, dim)
    return text_field(2, dim) if dim else b""


def item_type(dtype: npt.DTypeLike) -> int:
    """The number of an element type in the file format. Raises ValueError for others."""
    wanted = np.dtype(dtype).newbyteorder("<")
    for number, known in ITEM_TYPES.items():
        if known == wanted and number != _BFLOAT16:
            return number
    raise ValueError(f"an ONNX file cannot hold numbers of type {np.dtype(dtype)}")


def tensor(name: str, values: npt.NDArray[np.generic]) -> Tensor:
    """A weight made of `values`, any shape."""
    number = item_type(values.dtype)
    little = np.ascontiguousarray(values)
    if sys.byteorder == "big":
        little = little.astype(little.dtype.newbyteorder("<"))
    message = _tensor_head(name, values.shape, number) + bytes_field(9, little.tobytes())
    return Tensor(name, tuple(values.shape), number, message)


def external_tensor(
    name: str, like: npt.NDArray[np.generic], file: str, offset: int, nbytes: int
) -> Tensor:
    """A weight of the type and shape of `like` whose bytes lie in another file of the folder."""
    number = item_type(like.dtype)
    message = _tensor_head(name, like.shape, number) + int_field(14, _EXTERNAL)
    for key, value in (("location", file), ("offset", str(offset)), ("length", str(nbytes))):
        message += bytes_field(13, text_field(1, key) + text_field(2, value))
    return Tensor(name, tuple(like.shape), number, message)


def _tensor_head(name: str, dims: Iterable[int], number: int) -> bytes:
    head = b"".join(int_field(1, dim) for dim in dims)
    return head + int_field(2, number) + text_field(8, name)


def int_attribute(name: str, value: int) -> Attribute:
    """An integer attribute."""
    return _attribute(name, value, int_field(3, value), _INT_KIND)


def float_attribute(name: str, value: float) -> Attribute:
    """An attribute that is a float32."""
    return _attribute(name, value, float_field(2, value), _FLOAT_KIND)


def text_attribute(name: str, value: str) -> Attribute:
    """An attribute that is text."""
    told = value.encode("utf-8")
    return _attribute(name, told, bytes_field(4, told), _TEXT_KIND)


def ints_attribute(name: str, values: Iterable[int]) -> Attribute:
    """An attribute that is a list of integers."""
    values = tuple(values)
    message = b"".join(int_field(8, value) for value in values)
    return _attribute(name, values, message, _INTS_KIND)


def graph_attribute(name: str, graph: bytes) -> Attribute:
    """An attribute that is a graph, as `write_graph` gives it."""
    return _attribute(name, None, bytes_field(6, graph), _GRAPH_KIND)


def _attribute(
    name: str, value: int | float | bytes | tuple[int, ...] | None, message: bytes, kind: int
) -> Attribute:
    return Attribute(name, value, text_field(1, name) + message + int_field(20, kind))
