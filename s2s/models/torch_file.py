"""Reads the tensors of a PyTorch checkpoint without PyTorch, and without running anything in it.

A checkpoint is a zip archive: `data.pkl` is a pickled mapping of names to tensors that only name
their storage, `data/KEY` holds each storage's numbers. The pickle is read by an interpreter that
knows the four names such a mapping needs and refuses every other.
"""

from __future__ import annotations

import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from s2s.core.arrays import Floats
from s2s.core.untyped import is_object

_DAMAGED = (
    pickle.UnpicklingError, EOFError, KeyError, IndexError, ValueError, TypeError, AttributeError,
)  # fmt: skip
"""What an unpickler may raise on bytes that are no pickle."""


class TorchFileError(RuntimeError):
    """A file that is no checkpoint of plain tensors. The message says which file and why."""


@dataclass(frozen=True, slots=True)
class _Storage:
    """A run of numbers in the archive."""

    kind: str
    key: str


@dataclass(frozen=True, slots=True)
class _Stored:
    """A tensor as the pickle tells it: a view of a storage."""

    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def read_floats(path: Path) -> dict[str, Floats]:
    """The float32 tensors of the checkpoint `path` by name; others (counters) are left out.

    Raises:
        TorchFileError: not such a file, or one that needs more than tensors.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            root = _root(archive)
            with archive.open(f"{root}data.pkl") as pickled:
                told = _Tensors(pickled).load()
            if not is_object(told):
                raise TorchFileError(f"{path}: holds {type(told).__name__}, not tensors by name")
            return {name: _values(archive, root, stored) for name, stored in _floats(told).items()}
    except (zipfile.BadZipFile, *_DAMAGED) as error:
        raise TorchFileError(f"{path}: is not a checkpoint of tensors ({error})") from error


def _root(archive: zipfile.ZipFile) -> str:
    """The folder in the archive that everything lies in, with its slash."""
    found = [name for name in archive.namelist() if name.endswith("data.pkl")]
    if len(found) != 1:
        raise ValueError(f"{len(found)} files named data.pkl")
    return found[0].removesuffix("data.pkl")


def _floats(told: Mapping[str, object]) -> dict[str, _Stored]:
    return {
        name: value
        for name, value in told.items()
        if isinstance(value, _Stored) and value.storage.kind == "FloatStorage"
    }


def _values(archive: zipfile.ZipFile, root: str, stored: _Stored) -> Floats:
    """Its numbers, float32 [*shape]."""
    flat = np.frombuffer(archive.read(f"{root}data/{stored.storage.key}"), "<f4")
    dense = 1
    for size, stride in zip(stored.shape[::-1], stored.strides[::-1], strict=True):
        if size > 1 and stride != dense:
            raise ValueError(f"a tensor of strides {stored.strides} for {stored.shape}")
        dense *= size
    return flat[stored.offset : stored.offset + dense].reshape(stored.shape)


class _Tensors(pickle.Unpickler):
    """Reads a mapping of tensors; anything else that the pickle names is an error."""

    def find_class(self, module_name: str, global_name: str) -> Callable[..., object] | str:
        """What a name in the pickle stands for."""
        match module_name, global_name:
            case "collections", "OrderedDict":
                return OrderedDict
            case "torch._utils", "_rebuild_tensor_v2":
                return _rebuilt
            case "torch", ("FloatStorage" | "LongStorage"):
                return global_name
            case _:
                raise pickle.UnpicklingError(f"it asks for {module_name}.{global_name}")

    def persistent_load(self, pid: tuple[str, str, str, str, int]) -> _Storage:
        """A storage: ("storage", its type, its key, where it was, how many numbers)."""
        return _Storage(pid[1], pid[2])


def _rebuilt(
    storage: _Storage, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], *_: object
) -> _Stored:
    return _Stored(storage, offset, tuple(shape), tuple(strides))
