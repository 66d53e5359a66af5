"""Large pages: contents stay, memory does not grow."""

from __future__ import annotations

import mmap
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from s2s.system.largepages import use_large_pages

THP = Path("/sys/kernel/mm/transparent_hugepage/enabled")


def in_large_pages() -> int:
    """Bytes."""
    text = Path("/proc/self/smaps_rollup").read_text()
    found = re.search(r"AnonHugePages:\s+(\d+) kB", text)
    assert found is not None
    return int(found[1]) * 1024


def resident() -> int:
    """Bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def memory(size: int) -> np.ndarray:
    """int32, in small pages: numpy's own allocator asks for large ones."""
    return np.frombuffer(mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS), np.int32)


@pytest.mark.skipif(not THP.is_file(), reason="no large pages here")
def test_what_is_in_memory_moves_and_stays_what_it_is() -> None:
    values, empty = memory(48 << 20), memory(256 << 20)  # nothing of the latter is in memory
    values[:] = np.arange(values.size)
    before_large, before = in_large_pages(), resident()
    moved = use_large_pages()
    if not moved:
        pytest.skip("the system does not move pages when asked (Linux before 6.1)")
    assert in_large_pages() - before_large >= 32 << 20
    assert resident() - before < 16 << 20
    np.testing.assert_array_equal(values, np.arange(values.size))
    assert not empty.any()


def test_elsewhere_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert use_large_pages() == 0
