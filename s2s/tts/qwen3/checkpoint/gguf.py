"""Reading and writing GGUF files, version 3, and recognising whose layout one has.

Knows the container (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md) and nothing of
models. Everything read from a file is checked before it is used: a truncated, foreign or hostile
file gives a ``GGUFError`` that says what is wrong, never a crash or a huge allocation. Shapes are
numpy's order, the fastest dimension last; the file stores them the other way round.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import BinaryIO, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from s2s.tts.qwen3.checkpoint.quant import TYPES, TensorType
from s2s.tts.qwen3.errors import GGUFError

Bytes = npt.NDArray[np.uint8]
Value: TypeAlias = "bool | int | float | str | list[Value]"

_MAGIC = b"GGUF"
_VERSION = 3
_ALIGNMENT = 32
_MAX_DIMS = 4
_MAX_ALIGNMENT = 1 << 16
_MAX_VALUES = 1 << 21  # of an array; the largest vocabularies have an eighth of that

# The value types of the format, by number: struct code of the scalar ones.
_SCALARS = dict(zip((0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12), "BbHhIif?Qqd", strict=True))
_UINT32, _FLOAT32, _BOOL, _STRING, _ARRAY, _INT64 = 4, 6, 7, 8, 9, 11
_TYPE_OF_ID = {kind.ggml_id: kind for kind in TYPES.values()}


@dataclass(frozen=True, slots=True)
class NewTensor:
    """A tensor to write. ``chunks`` makes its bytes, in order, in pieces of any size, and is
    called once, when its turn has come: no more than a piece need be in memory."""

    name: str
    shape: tuple[int, ...]
    kind: TensorType
    chunks: Callable[[], Iterator[Bytes]]

    @property
    def nbytes(self) -> int:
        """Size of the data."""
        return _nbytes(self.shape, self.kind)


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """A tensor of a file: where it lies and what it is. ``kind`` is None when this project does
    not know the type ``type_id``; such a tensor can be listed but not read."""

    name: str
    shape: tuple[int, ...]
    type_id: int
    kind: TensorType | None
    offset: int


def write(
    path: Path,
    metadata: Mapping[str, Value],
    tensors: Sequence[NewTensor],
    progress: Callable[[int], None] = lambda _: None,
    *,
    resume: bool = False,
) -> None:
    """Write one file. ``progress`` is told the number of data bytes after every piece.

    resume: tensors that an interrupted call for the same content has written whole are kept.

    Raises GGUFError when a tensor's pieces do not add up to its size. What was written until then
    stays: the caller writes to a temporary name and renames.
    """
    header = _header(metadata, tensors)
    done, size = (0, len(header)) if not resume else _written(path, header, tensors)
    with path.open("r+b" if done else "wb") as file:
        if done:
            file.truncate(size)
            file.seek(size)
        else:
            file.write(header)
        for tensor in tensors[:done]:
            progress(tensor.nbytes)
        for tensor in tensors[done:]:
            _write_data(file, tensor, progress)
        file.flush()
        os.fsync(file.fileno())


def _header(metadata: Mapping[str, Value], tensors: Sequence[NewTensor]) -> bytes:
    """Everything before the data."""
    file = BytesIO()
    file.write(_MAGIC + struct.pack("<IQQ", _VERSION, len(tensors), len(metadata)))
    for key, value in metadata.items():
        file.write(_string(key) + _typed(value))
    offset = 0
    for tensor in tensors:
        dims = tensor.shape[::-1]
        file.write(_string(tensor.name) + struct.pack(f"<I{len(dims)}Q", len(dims), *dims))
        file.write(struct.pack("<IQ", tensor.kind.ggml_id, offset))
        offset += _aligned(tensor.nbytes)
    _pad(file)
    return file.getvalue()


def _written(path: Path, header: bytes, tensors: Sequence[NewTensor]) -> tuple[int, int]:
    """How many tensors of a file that was begun are whole, and where the next one starts."""
    try:
        with path.open("rb") as file:
            begun = file.read(len(header)) == header
        left = path.stat().st_size - len(header)
    except OSError:
        return 0, len(header)
    done, size = 0, len(header)
    for tensor in tensors if begun else ():
        left -= _aligned(tensor.nbytes)
        if left < 0:
            break
        done, size = done + 1, size + _aligned(tensor.nbytes)
    return done, size


def _write_data(file: BinaryIO, tensor: NewTensor, progress: Callable[[int], None]) -> None:
    written = 0
    for chunk in tensor.chunks():
        file.write(chunk.tobytes())
        written += chunk.nbytes
        progress(chunk.nbytes)
    if written != tensor.nbytes:
        raise GGUFError(f"{tensor.name}: made {written} bytes, its shape says {tensor.nbytes}")
    _pad(file)


class GGUFFile:
    """A GGUF file mapped into memory; only what is touched is read from disk.

    ``metadata`` holds the key/value pairs, ``tensors`` the directory in file order.
    Raises GGUFError for anything that is not a whole file of version 2 or 3. The arrays given out
    are views into the map and stay valid as long as they live.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb") as file:
                if os.fstat(file.fileno()).st_size < 24:
                    raise GGUFError(f"{path}: too short to be a GGUF file")
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError as error:
            raise GGUFError(f"{path}: cannot be read: {error}") from error
        cursor = _Cursor(self._map, path)
        if cursor.take(4) != _MAGIC:
            raise GGUFError(f"{path}: not a GGUF file (the first four bytes are not 'GGUF')")
        (version,) = cursor.unpack("I")
        if version not in (2, 3):
            raise GGUFError(f"{path}: GGUF version {version}; versions 2 and 3 can be read")
        n_tensors, n_values = cursor.unpack("QQ")
        self.metadata: dict[str, Value] = {}
        for _ in range(n_values):
            key = cursor.string()
            if key in self.metadata:
                self._damaged(key, "is there twice")
            self.metadata[key] = cursor.value()
        infos = [_read_info(cursor) for _ in range(n_tensors)]
        alignment = self.metadata.get("general.alignment", _ALIGNMENT)
        if type(alignment) is not int or not 8 <= alignment <= _MAX_ALIGNMENT or alignment % 8:
            self._damaged("general.alignment", f"is {alignment!r:.80}")
        self._data = -(-cursor.position // alignment) * alignment
        self.tensors: dict[str, TensorInfo] = {}
        for info in infos:
            if info.name in self.tensors:
                self._damaged(info.name, "is there twice")
            self.tensors[info.name] = info
            self._check(info, alignment)
        self._check_apart()

    def let_go(self) -> None:
        """What was read is no longer needed in memory; reading it again reads the disk."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED)

    def raw(self, name: str) -> Bytes:
        """The bytes of a tensor: uint8 [rows, bytes of a row], without copying.

        Raises GGUFError when it is missing or of a type this project does not know.
        """
        info = self.tensors.get(name)
        if info is None:
            raise GGUFError(f"{self.path}: tensor {name!r} is missing")
        if info.kind is None:
            raise GGUFError(f"{self.path}: {name} has tensor type {info.type_id}, which is unknown")
        nbytes = _nbytes(info.shape, info.kind)
        flat = np.frombuffer(self._map, np.uint8, nbytes, self._data + info.offset)
        return flat.reshape(-1, info.kind.row_bytes(info.shape[-1]))

    def require(self, name: str, shape: tuple[int, ...]) -> TensorInfo:
        """The tensor of that name and shape. Raises GGUFError naming what was found instead."""
        info = self.tensors.get(name)
        if info is None:
            raise GGUFError(f"{self.path}: tensor {name!r} is missing")
        if info.shape != shape:
            raise GGUFError(f"{self.path}: {name} has shape {info.shape}, expected {shape}")
        return info

    def _check(self, info: TensorInfo, alignment: int) -> None:
        if info.offset % alignment:
            self._damaged(info.name, f"begins at byte {info.offset}, no multiple of {alignment}")
        if info.kind is None:
            return
        if info.shape[-1] % info.kind.block:
            raise GGUFError(f"{self.path}: {info.name} of {info.kind.name} has shape {info.shape}")
        end = self._data + info.offset + _nbytes(info.shape, info.kind)
        if end > len(self._map):
            raise GGUFError(
                f"{self.path}: truncated: {info.name} ends at byte {end}, the file has "
                f"{len(self._map)}; download or convert it again"
            )

    def _check_apart(self) -> None:
        """Raise GGUFError when two tensors share bytes."""
        known = [info for info in self.tensors.values() if info.kind is not None]
        for info, following in pairwise(sorted(known, key=lambda info: info.offset)):
            assert info.kind is not None
            if info.offset + _nbytes(info.shape, info.kind) > following.offset:
                self._damaged(following.name, f"shares bytes with {info.name}")

    def _damaged(self, field: str, problem: str) -> NoReturn:
        raise GGUFError(problem, file=self.path, field=field, advice="download or convert it again")


class _Cursor:
    """Reads the header front to back, never beyond the end."""

    def __init__(self, data: mmap.mmap, path: Path) -> None:
        self.position = 0
        self.path = path
        self._data = data

    def take(self, n: int) -> bytes:
        if n > len(self._data) - self.position:
            raise GGUFError(f"{self.path}: truncated in the header, at byte {self.position}")
        self.position += n
        return self._data[self.position - n : self.position]

    def unpack(self, codes: str) -> tuple[int, ...]:
        layout = "<" + codes
        return struct.unpack(layout, self.take(struct.calcsize(layout)))

    def string(self) -> str:
        (length,) = self.unpack("Q")
        return self.take(length).decode("utf-8", errors="replace")

    def value(self) -> Value:
        (kind,) = self.unpack("I")
        return self._value(kind, depth=0)

    def _value(self, kind: int, depth: int) -> Value:
        if kind == _STRING:
            return self.string()
        if kind in _SCALARS:
            return self.unpack(_SCALARS[kind])[0]
        if kind != _ARRAY or depth > 2:
            raise GGUFError(f"{self.path}: unknown value type {kind} at byte {self.position}")
        (inner,) = self.unpack("I")
        (length,) = self.unpack("Q")
        if inner in _SCALARS:
            return list(self.unpack(f"{self._fits(length)}{_SCALARS[inner]}"))
        return [self._value(inner, depth + 1) for _ in range(self._fits(length))]

    def _fits(self, length: int) -> int:
        """``length`` values of at least a byte each must still be in the file, and not so many
        that they do not belong in a header."""
        if length > min(len(self._data) - self.position, _MAX_VALUES):
            raise GGUFError(f"{self.path}: truncated in the header, at byte {self.position}")
        return length


def _read_info(cursor: _Cursor) -> TensorInfo:
    name = cursor.string()
    (n_dims,) = cursor.unpack("I")
    if not 1 <= n_dims <= _MAX_DIMS:
        raise GGUFError(f"{cursor.path}: {name!r} has {n_dims} dimensions")
    shape = cursor.unpack(f"{n_dims}Q")[::-1]
    type_id, offset = cursor.unpack("IQ")
    if 0 in shape:
        raise GGUFError(f"{cursor.path}: {name!r} has shape {shape}")
    return TensorInfo(name, shape, type_id, _TYPE_OF_ID.get(type_id), offset)


def _nbytes(shape: tuple[int, ...], kind: TensorType) -> int:
    return prod(shape[:-1]) * kind.row_bytes(shape[-1])


def _aligned(n: int) -> int:
    return -(-n // _ALIGNMENT) * _ALIGNMENT


def _pad(file: BinaryIO) -> None:
    file.write(b"\0" * (-file.tell() % _ALIGNMENT))


def _string(text: str) -> bytes:
    encoded = text.encode()
    return struct.pack("<Q", len(encoded)) + encoded


def _typed(value: Value) -> bytes:
    kind, encoded = _encode(value)
    return struct.pack("<I", kind) + encoded


def _encode(value: Value) -> tuple[int, bytes]:
    match value:
        case bool():
            return _BOOL, struct.pack("<?", value)
        case int():
            if 0 <= value < 2**32:
                return _UINT32, struct.pack("<I", value)
            return _INT64, struct.pack("<q", value)
        case float():
            return _FLOAT32, struct.pack("<f", value)
        case str():
            return _STRING, _string(value)
        case list():
            encoded = [_encode(item) for item in value]
            kinds = {kind for kind, _ in encoded}
            if len(kinds) != 1:
                raise GGUFError("an array needs at least one value, and all of one type")
            body = b"".join(body for _, body in encoded)
            return _ARRAY, struct.pack("<IQ", kinds.pop(), len(value)) + body


# How public GGUF files of this model are told apart: whose layout, the architecture it names, and a
# metadata key that the others do not have (from each project's converter).
_LAYOUTS = (
    ("qwentts.cpp layout", "qwen3-tts", "qwen3-tts.code_pred.embedding_length"),
    ("qwen3-tts.cpp (predict-woo) layout", "qwen3-tts", "qwen3-tts.code_predictor.layer_count"),
    ("qwentts.cpp speech tokenizer layout", "qwen3-tts-tokenizer", "general.architecture"),
    ("CrispASR layout", "qwen3tts", "qwen3tts.talker.n_layers"),
    ("llama.cpp layout", "qwen3tts", "qwen3tts.block_count"),
    ("llama.cpp projector (mmproj) layout", "clip", "general.architecture"),
    ("layout of a bare talker for llama.cpp (codec.cpp)", "qwen3", "qwen3.block_count"),
)


def layout_name(file: GGUFFile) -> str:
    """Whose layout a file has, for error messages; "unknown layout" when none fits."""
    architecture = file.metadata.get("general.architecture")
    for name, wanted, key in _LAYOUTS:
        if architecture == wanted and key in file.metadata:
            return name
    return f"unknown layout (architecture {architecture!r})"


def refuse_foreign(path: Path) -> NoReturn:
    """Raise GGUFError that says whose layout a GGUF file has and what to use instead."""
    raise GGUFError(
        f"{path} has the {layout_name(GGUFFile(path))}, which cannot be used here; give the "
        "official checkpoint (safetensors) instead, it is converted once"
    )
