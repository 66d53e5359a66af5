"""Memory for packed weights: in large pages where the system has them, and read from the disk where
they have been packed before."""

from __future__ import annotations

import ctypes
import weakref
from ctypes import POINTER, c_uint8

import numpy as np

from s2s.tts.qwen3.native.kept import KeptWeights, Packed
from s2s.tts.qwen3.native.library import KernelError


class WeightMemory:
    """One piece of memory, of zeros or ``filled`` with the weights that are to lie in it."""

    def __init__(
        self, lib: ctypes.CDLL, nbytes: int, threads: int = 1, kept: KeptWeights | None = None
    ) -> None:
        """``threads`` read. Raises KernelError when memory runs out."""
        there = kept is not None and kept.exists
        pointer: int = lib.weights_new(nbytes, not there)
        if not pointer:
            raise KernelError(f"no memory for {nbytes >> 20} MB of weights")
        self._free = weakref.finalize(self, lib.weights_free, pointer)
        self._kept = kept
        self.pointer = pointer
        self.values: Packed = np.ctypeslib.as_array(
            ctypes.cast(pointer, POINTER(c_uint8)), (nbytes,)
        )
        self.filled = kept is not None and kept.read(self.values, threads)
        if there and not self.filled:
            self.values.fill(0)

    def keep(self) -> None:
        """For the next start. Call it when all weights are in it; does nothing where they were
        read."""
        if self._kept is not None and not self.filled:
            self._kept.write(self.values)
