"""What an ONNX file holds: nodes, weights, inputs and outputs. Knows nothing of what they compute.

Weights are views into the file, never copied until written.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from s2s.models.onnx_file.wire import OnnxFileError, as_bytes, fields, numbers, text_field

FLOAT = 1
INT64 = 7

ITEM_TYPES: dict[int, np.dtype] = {
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

Dim = int | str | None


@dataclass(frozen=True, slots=True)
class ValueInfo:
    """A graph input or output: element type (FLOAT, INT64) and shape; a str or None is free."""

    name: str
    item_type: int
    shape: tuple[Dim, ...]
    ranked: bool = True
    """The number of dimensions is known; else `shape` says nothing."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A named weight or constant, still as the bytes of its message."""

    name: str
    dims: tuple[int, ...]
    item_type: int
    message: bytes | memoryview

    def renamed(self, name: str) -> Tensor:
        """The same under another name. Of a field that is there twice the last one counts."""
        message = bytes(self.message) + text_field(8, name)
        return Tensor(name, self.dims, self.item_type, message)

    def array(self) -> npt.NDArray[np.generic]:
        """The values, [*dims]. Raises OnnxFileError for types that have no numpy form."""
        dtype = ITEM_TYPES.get(self.item_type)
        if dtype is None:
            raise OnnxFileError(f"weight '{self.name}' has item type {self.item_type}")
        raw: memoryview | None = None
        typed: list[int | float] = []
        for number, wire, value in fields(memoryview(self.message)):
            if number == 9:
                raw = as_bytes(value)
            elif number in (4, 5, 7):
                typed.extend(numbers(number, wire, value))
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
class OnnxFile:
    """An ONNX model: one graph and the operator sets it is written in."""

    nodes: list[Node]
    weights: dict[str, Tensor]
    inputs: list[ValueInfo]
    outputs: list[ValueInfo]
    ir_version: int = 8
    opsets: dict[str, int] = field(default_factory=lambda: {"": 15})
    metadata: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def opset(self) -> int:
        """Version of the standard operator set."""
        return self.opsets.get("", 0)
