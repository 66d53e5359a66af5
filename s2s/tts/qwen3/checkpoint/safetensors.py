"""Weights from safetensors files, checked before they are used.

Only the safetensors format is read: nothing in a checkpoint is ever executed. A file is mapped,
not loaded, and a tensor is widened to float32 when it is asked for, bfloat16 included, so the
largest model can be converted a few rows at a time. What MLX has written (mlx-community) reads as
the official tensors do: a quantised matrix (``.scales`` and ``.biases`` beside its ``.weight``) as
what it stands for, a convolution [out, in, kernel]. Format: the safetensors README (8 bytes of
header length, a JSON header, raw little-endian data).
"""

from __future__ import annotations

import json
import mmap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt

from s2s.core.arrays import Floats
from s2s.core.untyped import is_list, is_object
from s2s.tts.qwen3.checkpoint.affine import GROUP, AffineRows, affine_dequantize, bits_of
from s2s.tts.qwen3.checkpoint.fields import RESTORE, read_object
from s2s.tts.qwen3.checkpoint.language_shapes import language_model_shapes
from s2s.tts.qwen3.checkpoint.spec import Spec
from s2s.tts.qwen3.errors import CheckpointError, WeightError

_STORED = {
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "BF16": np.dtype("<u2"),
    "U32": np.dtype("<u4"),
}
_PACKED = "U32"
"""Of a matrix in MLX's affine quantisation: `affine`."""
_HEADER_LIMIT_BYTES = 8 << 20  # the format allows 100 MB; published headers have 0.1 MB
_MAX_DIMENSIONS, _MAX_NUMBER = 8, 1 << 48
_FETCH = "fetch it again"
_NAMED_IN_ERRORS = 4


@dataclass(frozen=True, slots=True)
class _Entry:
    """One tensor's place in a mapped file."""

    file: Path
    pages: mmap.mmap
    data: npt.NDArray[np.uint8]
    name: str
    dtype: str
    shape: tuple[int, ...]
    start: int
    end: int
    turned: bool = False
    """A convolution in MLX's order: [out, kernel, in]."""


class Checkpoint:
    """The tensors of one model by name: one safetensors file, or several with an index."""

    def __init__(self, path: Path) -> None:
        """path: a .safetensors file, or the folder that holds model.safetensors.

        Raises CheckpointError when it is missing, truncated or not in the format.
        """
        self.path = path
        self._entries: dict[str, _Entry] = {}
        for file in _files(path):
            self._entries |= _read_header(file)

    @property
    def names(self) -> Iterable[str]:
        """All tensor names."""
        return self._entries.keys()

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def __getitem__(self, name: str) -> Floats:
        """The whole tensor, float32; same as ``load``."""
        return self.load(name)

    def shape(self, name: str) -> tuple[int, ...]:
        """Its shape. Raises CheckpointError for a name that is not there."""
        entry = self._entry(name)
        if entry.dtype != _PACKED:
            return tuple(entry.shape[at] for at in (0, 2, 1)) if entry.turned else entry.shape
        return entry.shape[0], self._groups(entry)[0].shape[1] * GROUP

    def dtype(self, name: str) -> str:
        """How it is stored: "F32", "F16", "BF16", or "U32" for what `affine` gives."""
        return self._entry(name).dtype

    def stored(self, name: str) -> npt.NDArray[np.generic]:
        """A tensor as it is stored, in the file's own memory; bfloat16 by its bits."""
        entry = self._entry(name)
        return entry.data[entry.start : entry.end].view(_STORED[entry.dtype]).reshape(entry.shape)

    def affine(self, name: str) -> AffineRows | None:
        """A matrix that is quantised with bfloat16 scales, as it is stored; None for another."""
        entry = self._entry(name)
        if entry.dtype != _PACKED:
            return None
        scales, biases = self._groups(entry)
        if scales.dtype != "BF16" or biases.dtype != "BF16":
            return None
        for each in (scales, biases):
            _widen(each, each.start, each.end)  # raises for what is no number
        arrays = (self.stored(each.name) for each in (entry, scales, biases))
        values, scale, bias = arrays
        return AffineRows(values.astype(np.uint32), scale.astype(np.uint16), bias.astype(np.uint16))

    def load(self, name: str) -> Floats:
        """The whole tensor: float32 in its own shape, not shared with the file."""
        entry = self._entry(name)
        if entry.dtype == _PACKED:
            return self._widened(entry, slice(None))
        whole = _widen(entry, entry.start, entry.end).reshape(entry.shape)
        if hasattr(mmap, "MADV_DONTNEED"):  # the file's own pages are not needed beside the copy
            first = entry.start // mmap.PAGESIZE * mmap.PAGESIZE
            entry.pages.madvise(mmap.MADV_DONTNEED, first, entry.end - first)
        return np.ascontiguousarray(whole.swapaxes(1, 2)) if entry.turned else whole

    def rows(self, name: str, start: int, stop: int) -> Floats:
        """A part of a tensor along its first axis: float32 [stop - start, ...]."""
        entry = self._entry(name)
        if entry.turned:
            return self.load(name)[start:stop]
        if entry.dtype == _PACKED:
            return self._widened(entry, slice(start, stop))
        row = prod(entry.shape[1:])
        width = row * _STORED[entry.dtype].itemsize
        part = _widen(entry, entry.start + start * width, entry.start + stop * width)
        return part.reshape(stop - start, *entry.shape[1:])

    def take(self, name: str, ids: npt.NDArray[np.int64]) -> Floats:
        """Rows of a matrix by number: float32 [n, width]. Raises IndexError for one outside."""
        entry = self._entry(name)
        if entry.dtype == _PACKED:
            return self._widened(entry, ids)
        return _finite(_as_float32(self.stored(name)[ids], entry.dtype), entry)

    def require(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        """Raise CheckpointError unless every tensor is there with its shape."""
        missing = [name for name in shapes if name not in self._entries]
        if missing:
            raise CheckpointError(f"{self.path}: {_some(missing)} missing; is the download whole?")
        wrong = [
            f"{name} is {list(self.shape(name))} and should be {list(shape)}"
            for name, shape in shapes.items()
            if self.shape(name) != shape
        ]
        if wrong:
            raise CheckpointError(f"{self.path} does not fit its config.json: {_some(wrong)}")

    def _groups(self, entry: _Entry) -> tuple[_Entry, _Entry]:
        """Scales and biases of a quantised matrix. Raises CheckpointError."""
        base = entry.name.removesuffix(".weight")
        scales, biases = self._entry(f"{base}.scales"), self._entry(f"{base}.biases")
        shapes = entry.shape, scales.shape, biases.shape
        fits = all(len(shape) == 2 and shape[0] == entry.shape[0] for shape in shapes)
        if (
            not fits
            or scales.shape != biases.shape
            or _PACKED in (scales.dtype, biases.dtype)
            or not bits_of(entry.shape[1], scales.shape[1])
        ):
            raise CheckpointError(
                f"is stored as {entry.dtype} {list(entry.shape)}; of matrices of whole numbers "
                f"only those in MLX's affine groups of {GROUP} are read",
                file=entry.file,
                field=entry.name,
            )
        return scales, biases

    def _widened(self, entry: _Entry, which: slice | npt.NDArray[np.int64]) -> Floats:
        """Rows of a quantised matrix: float32 [n, width]."""
        scales, biases = (
            _finite(_as_float32(self.stored(each.name)[which], each.dtype), each)
            for each in self._groups(entry)
        )
        values = self.stored(entry.name)[which].astype(np.uint32)
        return affine_dequantize(values, scales, biases)

    def _entry(self, name: str) -> _Entry:
        try:
            return self._entries[name]
        except KeyError:
            raise CheckpointError(f"{self.path}: tensor {name} is missing") from None


def open_checkpoint(folder: Path, spec: Spec) -> Checkpoint:
    """The language-model weights of a checkpoint folder, every name and shape checked against
    its config. Raises CheckpointError."""
    checkpoint = Checkpoint(folder)
    checkpoint.require(language_model_shapes(spec))
    return checkpoint


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    single, index = path / "model.safetensors", path / "model.safetensors.index.json"
    if single.is_file():
        return [single]
    if index.is_file():
        return [path / name for name in _indexed(index)]
    others = sorted(file.name for file in path.glob("*") if file.suffix in {".bin", ".pt", ".pth"})
    hint = f" (only safetensors files are read, not {_some(others)})" if others else ""
    raise CheckpointError(f"{path} holds no model.safetensors{hint}")


def _indexed(index: Path) -> list[str]:
    """Names of the files of an index, which lie beside it."""
    parts = read_object(index, CheckpointError).get("weight_map")
    if not is_object(parts) or not parts:
        raise CheckpointError(
            f"{index} is not an index of safetensors files: weight_map is missing; {RESTORE}"
        )
    names = sorted({str(name) for name in parts.values()})
    for name in names:
        if not name.endswith(".safetensors") or Path(name).name != name:
            raise CheckpointError(
                f"names {name!r:.80}, no safetensors file beside it",
                file=index,
                field="weight_map",
                advice=RESTORE,
            )
    return names


def _read_header(file: Path) -> dict[str, _Entry]:
    """Entries of one file, after checking that every one lies inside it and in no other."""
    try:
        with file.open("rb") as opened:
            pages = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{file} cannot be read: {error}") from error
    data = np.frombuffer(pages, np.uint8)
    length = int.from_bytes(data[:8].tobytes(), "little")
    if data.size < 8 or length > _HEADER_LIMIT_BYTES:
        raise CheckpointError(f"{file} is not a safetensors file; {_FETCH}")
    if 8 + length > data.size:
        raise CheckpointError(f"{file} is cut off inside its header; fetch it again")
    try:
        header = json.loads(data[8 : 8 + length].tobytes())
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{file} is not a safetensors file: {error}; {_FETCH}") from error
    if not is_object(header):
        raise CheckpointError(f"{file} is not a safetensors file; {_FETCH}")
    marks = header.pop("__metadata__", None)
    entries = {
        name: _read_entry(file, pages, data, 8 + length, name, value)
        for name, value in header.items()
    }
    if is_object(marks) and marks.get("format") == "mlx":
        entries = {
            name: replace(entry, turned=len(entry.shape) == 3) for name, entry in entries.items()
        }
    _check_apart(file, entries)
    return entries


def _check_apart(file: Path, entries: Mapping[str, _Entry]) -> None:
    """Raise CheckpointError when two tensors share bytes, which the format does not allow."""
    placed = sorted((entry.start, entry.end, name) for name, entry in entries.items())
    for (_, end, name), (start, _, other) in pairwise(placed):
        if start < end:
            raise CheckpointError(
                f"shares bytes with {other}", file=file, field=name, advice=_FETCH
            )


def _read_entry(
    file: Path,
    pages: mmap.mmap,
    data: npt.NDArray[np.uint8],
    base: int,
    name: str,
    value: object,
) -> _Entry:
    fields = value if is_object(value) else {}
    dtype, shape, offsets = (fields.get(key) for key in ("dtype", "shape", "data_offsets"))
    shape, offsets = _numbers(shape), _numbers(offsets)
    if not isinstance(dtype, str) or shape is None or offsets is None or len(offsets) != 2:
        raise CheckpointError(f"the entry of {name} is malformed", file=file, advice=_FETCH)
    if dtype not in _STORED:
        raise CheckpointError(
            f"is stored as {dtype:.80}; known are {', '.join(_STORED)}", file=file, field=name
        )
    start, end = offsets
    if end - start != prod(shape) * _STORED[dtype].itemsize:
        raise CheckpointError(
            f"has {end - start} bytes for {list(shape)} {dtype}",
            file=file,
            field=name,
            advice=_FETCH,
        )
    if base + end > data.size:
        short = base + end - data.size
        raise CheckpointError(f"{file} is cut off: {name} ends {short} bytes after it; {_FETCH}")
    return _Entry(file, pages, data, name, dtype, shape, base + start, base + end)


def _numbers(value: object) -> tuple[int, ...] | None:
    """A short list of whole numbers that a file can have room for; None for anything else."""
    if not is_list(value) or len(value) > _MAX_DIMENSIONS:
        return None
    if not all(type(item) is int and 0 <= item <= _MAX_NUMBER for item in value):
        return None
    return tuple(cast("list[int]", value))


def _widen(entry: _Entry, start: int, end: int) -> Floats:
    if not entry.start <= start <= end <= entry.end:
        raise IndexError(f"bytes {start} to {end} are outside the tensor")
    stored = np.frombuffer(entry.data[start:end], _STORED[entry.dtype])
    return _finite(_as_float32(stored, entry.dtype), entry)


def _finite(values: Floats, entry: _Entry) -> Floats:
    """The values themselves. Raises WeightError when one of them is no number."""
    if not np.isfinite(values).all():
        bad = values[~np.isfinite(values)][0]
        raise WeightError(
            f"holds {bad}: a weight must be a finite number",
            file=entry.file,
            field=entry.name,
            advice=f"{_FETCH}, or ask who trained it",
        )
    return values


def _as_float32(stored: npt.NDArray[np.generic], dtype: str) -> Floats:
    if dtype == "BF16":
        return (stored.astype(np.uint32) << 16).view(np.float32)
    return stored.astype(np.float32)


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:_NAMED_IN_ERRORS])
    rest = len(names) - _NAMED_IN_ERRORS
    return f"{shown} and {rest} more" if rest > 0 else shown
