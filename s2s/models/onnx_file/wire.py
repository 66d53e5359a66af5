"""Protocol buffers, as far as the ONNX file format needs them: fields of a message, in and out.

Knows nothing about models. https://protobuf.dev/programming-guides/encoding/
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


class OnnxFileError(ValueError):
    """The file is not an ONNX model that can be used. The message names the file and the reason."""


# --- reading -----------------------------------------------------------------------------------


def fields(data: memoryview) -> Iterator[tuple[int, int, int | memoryview]]:
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
            raise OnnxFileError(f"not an ONNX model (wire type {wire} at byte {position})")
        if length > end - position:
            raise OnnxFileError(
                f"truncated or damaged: {length} bytes wanted, {end - position} left"
            )
        yield number, wire, data[position : position + length]
        position += length


def _varint(data: memoryview, position: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if position >= len(data):
            raise OnnxFileError("truncated or damaged: the file ends inside a number")
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
    raise OnnxFileError("not an ONNX model (a number of more than ten bytes)")


def numbers(kind: int, wire: int, value: int | memoryview) -> Iterator[int | float]:
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
        raise OnnxFileError("not an ONNX model (a list of integers of fixed width)")


def _signed(value: int) -> int:
    return value - 2**64 if value >= 2**63 else value


def as_int(value: int | memoryview) -> int:
    """The value of a field that is a signed number. Raises OnnxFileError."""
    if not isinstance(value, int):
        raise OnnxFileError("not an ONNX model (bytes where a number belongs)")
    return _signed(value)


def as_bytes(value: int | memoryview) -> memoryview:
    """The value of a field that is bytes or a message. Raises OnnxFileError."""
    if isinstance(value, int):
        raise OnnxFileError("not an ONNX model (a number where bytes belong)")
    return value


def as_text(value: int | memoryview) -> str:
    """The value of a field that is text. Raises OnnxFileError."""
    try:
        return bytes(as_bytes(value)).decode("utf-8")
    except UnicodeDecodeError as error:
        raise OnnxFileError("not an ONNX model (a name that is not text)") from error


# --- writing -----------------------------------------------------------------------------------


def int_field(number: int, value: int) -> bytes:
    """A whole number of up to 64 bits, negative ones included."""
    return _varint_bytes(number << 3 | _VARINT) + _varint_bytes(value)


def text_field(number: int, value: str) -> bytes:
    """Text."""
    return bytes_field(number, value.encode("utf-8"))


def bytes_field(number: int, value: bytes | memoryview) -> bytes:
    """Bytes, or a message inside this one."""
    return b"".join([_varint_bytes(number << 3 | _BYTES), _varint_bytes(len(value)), value])


def _varint_bytes(value: int) -> bytes:
    value &= 2**64 - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def float_field(number: int, value: float) -> bytes:
    """A float32."""
    return _varint_bytes(number << 3 | _FIXED32) + struct.pack("<f", value)
