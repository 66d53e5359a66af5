"""NumPy archives read with a limit on what they may hold.

`numpy.load` believes the shape that an array claims and takes that much memory. Here a member is
as large as the archive says, at most, and its claim is held against that first.
"""

from __future__ import annotations

import ast
import io
import struct
import zipfile
import zlib
from math import prod
from pathlib import Path
from typing import TypeGuard, cast

import numpy as np
import numpy.typing as npt

from s2s.core.untyped import is_object

DAMAGED = (
    OSError,
    ValueError,
    KeyError,
    EOFError,
    RuntimeError,
    TypeError,
    SyntaxError,
    MemoryError,
    OverflowError,
    NotImplementedError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
"""What reading a damaged archive may raise."""

_MAX_BYTES = 64 << 20  # all members; a voice of half a minute has less than one
_MAX_MEMBERS = 1024
_HEADERS = {1: "<H", 2: "<I", 3: "<I"}
_KINDS = "fiuU"


def read_archive(path: Path) -> dict[str, npt.NDArray[np.generic]]:
    """Every array by name. Raises one of `DAMAGED`."""
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        if len(members) > _MAX_MEMBERS or sum(each.file_size for each in members) > _MAX_BYTES:
            raise ValueError(f"it holds more than {_MAX_BYTES >> 20} MB, which no voice needs")
        return {
            each.filename.removesuffix(".npy"): _array(each.filename, archive.read(each))
            for each in members
        }


def _array(name: str, content: bytes) -> npt.NDArray[np.generic]:
    """One array in NumPy's own format (numpy.lib.format, versions 1 to 3)."""
    file = io.BytesIO(content)
    magic = file.read(8)
    layout = _HEADERS.get(magic[6]) if magic[:6] == b"\x93NUMPY" and len(magic) == 8 else None
    if layout is None:
        raise ValueError(f"{name} is no array")
    (length,) = struct.unpack(layout, file.read(struct.calcsize(layout)))
    if length > 10_000:
        raise ValueError(f"{name} has a header of {length} bytes")
    header: object = ast.literal_eval(file.read(length).decode("latin-1"))
    if not is_object(header) or set(header) != {"descr", "fortran_order", "shape"}:
        raise ValueError(f"{name} has no header")
    shape, descr = header["shape"], header["descr"]
    if not _is_shape(shape):
        raise ValueError(f"{name} has shape {shape!r:.80}")
    if not isinstance(descr, str) or (dtype := np.dtype(descr)).kind not in _KINDS:
        raise ValueError(f"{name} is of type {descr!r:.80}")
    rest = content[file.tell() :]
    if len(shape) > 8 or prod(shape) * dtype.itemsize != len(rest) or not dtype.itemsize:
        raise ValueError(f"{name} has {len(rest)} bytes for {shape!r:.80} of {descr}")
    flat = np.frombuffer(rest, dtype)
    return flat.reshape(shape, order="F" if header["fortran_order"] else "C")


def _is_shape(value: object) -> TypeGuard[tuple[int, ...]]:
    if not isinstance(value, tuple):
        return False
    return all(type(size) is int and size >= 0 for size in cast("tuple[object, ...]", value))
