"""What this machine can do at most: bytes read from memory and products, a second. No model.

Both are measured by numpy's own routines, in as many threads as are asked for: a dot product reads
every byte once, a product of two matrices computes nearly all the time. The best of several runs
counts, since only disturbance makes one slower. The time that a model's part must take is its bytes
or its operations over that.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np

RUNS = 7
LEAST_BYTES = 240e6
"""Read in one run."""
MATRIX = 1024
PRODUCTS = 4
SINGLE_THREADED = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""What keeps numpy's library from using threads of its own; to be set before it is imported."""


@dataclass(frozen=True, slots=True)
class MachineLimits:
    """Of so many threads together.

    read_gb_s: by the size of what is read again and again, in MB. float32_gflop_s: a multiplication
    and an addition are two operations.
    """

    threads: int
    read_gb_s: dict[int, float]
    float32_gflop_s: float

    def read_ms(self, megabytes: float) -> float:
        """What it takes to read so much, of which the whole is read again each time."""
        size = min(self.read_gb_s, key=lambda each: abs(each - megabytes))
        return megabytes / self.read_gb_s[size]

    def computed_ms(self, gflop: float) -> float:
        """What so many operations take."""
        return 1000 * gflop / self.float32_gflop_s


def measure_limits(threads: int, megabytes: tuple[int, ...]) -> MachineLimits:
    """Measure, in a process in which numpy computes with one thread (`SINGLE_THREADED`).

    Raises:
        RuntimeError: numpy may use threads of its own here, which would be counted twice.
    """
    if os.environ.get(SINGLE_THREADED[0]) != "1":
        raise RuntimeError(f"set {SINGLE_THREADED[0]}=1 before numpy is imported")
    return MachineLimits(
        threads,
        {size: _read_gb_s(size, threads) for size in megabytes},
        _float32_gflop_s(threads),
    )


def _read_gb_s(megabytes: int, threads: int) -> float:
    count = megabytes * 1_000_000 // 4 // threads
    parts = [np.ones(count, np.float32) for _ in range(threads)]
    rounds = max(1, round(LEAST_BYTES / (megabytes * 1e6)))

    def read(part: np.ndarray[tuple[int], np.dtype[np.float32]]) -> None:
        for _ in range(rounds):
            np.dot(part, part)

    return (
        rounds
        * 4
        * count
        * threads
        / 1e9
        / _best_s([lambda each=each: read(each) for each in parts])
    )


def _float32_gflop_s(threads: int) -> float:
    matrices = [np.ones((MATRIX, MATRIX), np.float32) for _ in range(threads)]
    outs = [np.empty_like(each) for each in matrices]

    def multiply(at: int) -> None:
        for _ in range(PRODUCTS):
            np.matmul(matrices[at], matrices[at], out=outs[at])

    operations = 2 * MATRIX**3 * PRODUCTS * threads
    return operations / 1e9 / _best_s([lambda at=at: multiply(at) for at in range(threads)])


def _best_s(parts: list[Callable[[], None]]) -> float:
    """The shortest time in which all of them are done, side by side."""
    best_s = float("inf")
    for _ in range(RUNS):
        workers = [threading.Thread(target=part, daemon=True) for part in parts]
        began_s = perf_counter()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        best_s = min(best_s, perf_counter() - began_s)
    return best_s
