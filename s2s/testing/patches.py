"""Tensors of random values, some of which are given: what a random checkpoint is written from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from s2s.core.arrays import Floats


@dataclass(frozen=True, eq=False)
class Patch:
    """Values that are given instead of random. ``at``: int64 [n], ascending, in the tensor laid out
    flat; ``values``: float32 [n]."""

    at: np.ndarray
    values: Floats

    @classmethod
    def cell(cls, shape: tuple[int, ...], index: tuple[int, ...], value: float) -> Patch:
        """One value."""
        at = np.ravel_multi_index(index, shape)
        return cls(np.array([at], np.int64), np.array([value], np.float32))

    @classmethod
    def rows(cls, shape: tuple[int, int], rows: Iterable[int], values: ArrayLike) -> Patch:
        """Rows of a matrix, in ascending order; one value for all, or one for each column."""
        columns = np.arange(shape[1])
        at = (np.array(list(rows), np.int64)[:, None] * shape[1] + columns).ravel()
        wanted = np.broadcast_to(np.asarray(values, np.float32), (at.size // shape[1], shape[1]))
        return cls(at, wanted.ravel())

    @classmethod
    def row(cls, shape: tuple[int, int], row: int, values: ArrayLike) -> Patch:
        """One row of a matrix."""
        return cls.rows(shape, [row], values)

    @classmethod
    def column(cls, shape: tuple[int, int], column: int, values: ArrayLike) -> Patch:
        """One column of a matrix; one value for all, or one for each row."""
        at = np.arange(shape[0], dtype=np.int64) * shape[1] + column
        return cls(at, np.broadcast_to(np.asarray(values, np.float32), at.shape))

    def apply(self, block: Floats, start: int) -> None:
        """Set what lies in a part of the flat tensor. block: float32 [n], from ``start`` on."""
        first, last = np.searchsorted(self.at, (start, start + block.size))
        block[self.at[first:last] - start] = self.values[first:last]


@dataclass(frozen=True)
class RandomTensor:
    """One entry of a safetensors file. ``scale`` is the standard deviation of its values around
    ``mean``. Patches hold in their order."""

    name: str
    shape: tuple[int, ...]
    scale: float
    mean: float = 0.0
    patches: tuple[Patch, ...] = ()
