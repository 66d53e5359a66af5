"""Packed weights on disk, beside the kernel that they are packed for, so that the next start reads
them instead of packing again.

A file is a header of one size, then the weights as they lie in memory. The header has a checksum of
every piece: all of a file is looked through while it is read, and a damaged one is packed and
written again. Read, not mapped, because only memory of the process's own can lie in large pages:
docs/decisions/qwen3-packed-weights.md.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from s2s.core.untyped import is_list, is_object
from s2s.system.filelock import locked
from s2s.system.intact import digest

log = logging.getLogger(__name__)

PACKED_FOLDER = "packed"
"""Inside the folder of kernels."""
SUFFIX = ".packed"

_HEADER_BYTES = 64 << 10
_PIECE_BYTES = 4 << 20  # what was read is still in the cache when its checksum is taken
_SPARE_BYTES = 256 << 20
_DIGITS = 16
_HERE = Path(__file__).parent
_PACKERS = (_HERE, _HERE.parent / "codec")

Packed = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Origin:
    """What packed weights are made from.

    path: the file or folder of the weights they were; content_hash: of its content.
    """

    path: Path
    content_hash: str

    @classmethod
    def of(cls, *paths: Path) -> Origin:
        """Of one file, or several that are packed together. Raises OSError."""
        return cls(paths[0], " ".join(digest(path) for path in paths))


class KeptWeights:
    """One piece of packed weights, there or not yet."""

    def __init__(self, kernel: Path, part: str, origin: Origin, layout: object) -> None:
        """kernel: the library that computes with them. part: what they are, one word or more with
        dashes. layout: everything else that decides where which weight lies, as JSON."""
        whole = json.dumps([kernel.stem, packers_hash(), part, origin.content_hash, layout])
        key = hashlib.sha256(whole.encode()).hexdigest()[:_DIGITS]
        self.path = kernel.parent / PACKED_FOLDER / f"{part}-{key}{SUFFIX}"
        self._origin = origin

    @property
    def exists(self) -> bool:
        """There is a file, whole or not."""
        return self.path.is_file()

    def read(self, into: Packed, threads: int) -> bool:
        """Fill ``into`` uint8 [n] from the file; False when that is damaged, or there is none, and
        anything may be in ``into``."""
        if not self.exists:
            return False
        try:
            whole = _read(self.path, into, threads)
        except (OSError, ValueError, RecursionError) as error:
            log.debug("%s: %s", self.path, error)
            whole = False
        if not whole:
            log.warning("%s is damaged: these weights are packed again", self.path)
        return whole

    def write(self, weights: Packed) -> None:
        """Keep weights uint8 [n]; the file appears whole or not at all. What cannot be kept is
        packed again at the next start, so it is no error."""
        folder, need = self.path.parent, weights.size + _HEADER_BYTES
        try:
            folder.mkdir(parents=True, exist_ok=True)
            free = shutil.disk_usage(folder).free
            if free < need + _SPARE_BYTES:
                log.warning(
                    "%s: %d MB for packed weights are not to be had (%d MB are free), so every "
                    "start takes some seconds longer", folder, need >> 20, free >> 20,
                )  # fmt: skip
                return
            with locked(folder / ".lock"):
                partial = folder / f".{self.path.name}.partial"
                _write(partial, weights, str(self._origin.path.absolute()))
                os.replace(partial, self.path)
                self._remove_outdated()
        except OSError as error:
            log.warning("%s: packed weights cannot be kept: %s", folder, error)
            return
        log.info("%s: %d MB of packed weights are kept", self.path, need >> 20)

    def _remove_outdated(self) -> None:
        """The same part of the same weights as another kernel had it, parts of weights that are
        gone, and what was left unfinished."""
        origin = str(self._origin.path.absolute())
        for other in self.path.parent.glob(f"*{SUFFIX}"):
            if other == self.path:
                continue
            made_from = _origin_of(other)
            replaced = made_from == origin and _part_of(other) == _part_of(self.path)
            if made_from is None or replaced or not Path(made_from).exists():
                other.unlink(missing_ok=True)
        for unfinished in self.path.parent.glob(".*.partial"):
            unfinished.unlink(missing_ok=True)


@lru_cache(maxsize=1)
def packers_hash() -> str:
    """Of the sources that decide how weights are packed, beside the kernel's."""
    found = hashlib.sha256()
    for folder in _PACKERS:
        for file in sorted(folder.glob("*.py")):
            found.update(file.read_bytes())
    return found.hexdigest()[:_DIGITS]


def _pieces(nbytes: int) -> Sequence[int]:
    return range(0, nbytes, _PIECE_BYTES)


def _read(path: Path, into: Packed, threads: int) -> bool:
    with path.open("rb", buffering=0) as file:
        header = _header(file.read(_HEADER_BYTES))
        starts = _pieces(into.size)
        if header.nbytes != into.size or len(header.checksums) != len(starts):
            return False
        if path.stat().st_size != _HEADER_BYTES + into.size:
            return False

        def piece(start: int, expected: object) -> bool:
            part = into[start : start + _PIECE_BYTES].data
            with path.open("rb", buffering=0) as own:  # a place in the file is no thread's alone
                own.seek(_HEADER_BYTES + start)
                return own.readinto(part) == part.nbytes and zlib.crc32(part) == expected

        with ThreadPoolExecutor(threads) as readers:
            return all(readers.map(piece, starts, header.checksums))


def _write(path: Path, weights: Packed, origin: str) -> None:
    checksums: list[int] = []
    with path.open("wb", buffering=0) as file:
        file.seek(_HEADER_BYTES)
        for start in _pieces(weights.size):
            part = weights[start : start + _PIECE_BYTES].data
            checksums.append(zlib.crc32(part))
            if file.write(part) != part.nbytes:
                raise OSError("the disk is full")
        header = {"origin": origin, "bytes": weights.size, "checksums": checksums}
        file.seek(0)
        file.write(json.dumps(header).encode().ljust(_HEADER_BYTES))


@dataclass(frozen=True, slots=True)
class _Header:
    origin: str
    nbytes: int
    checksums: list[object]


def _header(content: bytes) -> _Header:
    """Raises ValueError, RecursionError for what is none."""
    read = json.loads(content)
    if is_object(read):
        origin, nbytes, checksums = (read.get(key) for key in ("origin", "bytes", "checksums"))
        if isinstance(origin, str) and isinstance(nbytes, int) and is_list(checksums):
            return _Header(origin, nbytes, checksums)
    raise ValueError("the header is damaged")


def _part_of(path: Path) -> str:
    return path.name[: -len(SUFFIX) - _DIGITS - 1]


def _origin_of(path: Path) -> str | None:
    """What a file was made from; None when it is damaged."""
    try:
        with path.open("rb") as file:
            return _header(file.read(_HEADER_BYTES)).origin
    except (OSError, ValueError, RecursionError):
        return None
