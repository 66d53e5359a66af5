"""Moves the big blocks of this process's memory to large pages, where the system can do that.

Models are read from front to back, again and again. With pages of 4 KB the processor looks up an
address for each; with 2 MB it reads up to twice as fast. Allocators do not ask for large pages by
themselves, so this does it for them, after a model is loaded. Linux 6.1 or newer; elsewhere nothing
happens.
"""

from __future__ import annotations

import ctypes
import logging
import mmap
import sys
from collections.abc import Iterator
from pathlib import Path

log = logging.getLogger(__name__)

_LARGE = 2 << 20
_LEAST = 16 << 20  # smaller regions are stacks, and not worth it
_COLLAPSE = 25  # MADV_COLLAPSE of linux/mman.h
_RESIDENT_SHARE = 0.9
_MAPS = Path("/proc/self/maps")


def use_large_pages() -> int:
    """Returns the bytes that lie in large pages by this call. Contents do not change.

    Only what is in memory already is moved, so the process does not grow.
    """
    if not sys.platform.startswith("linux"):
        return 0
    try:
        regions = list(_regions(_MAPS.read_text(encoding="utf-8", errors="replace")))
    except OSError:
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    libc.mincore.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
    moved = 0
    for start, end in regions:
        for first, stop in _resident(libc, start, end):
            if libc.madvise(first, stop - first, _COLLAPSE) == 0:
                moved += stop - first
    log.debug("%d MB in large pages", moved >> 20)
    return moved


def _regions(maps: str) -> Iterator[tuple[int, int]]:
    """Private writable memory of no file, cut to whole large pages."""
    for line in maps.splitlines():
        fields = line.split()
        if not fields[1].startswith("rw-p") or (len(fields) > 5 and fields[5] != "[heap]"):
            continue
        start, end = (int(part, 16) for part in fields[0].split("-"))
        start, end = -(-start // _LARGE) * _LARGE, end // _LARGE * _LARGE
        if end - start >= _LEAST:
            yield start, end


def _resident(libc: ctypes.CDLL, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Runs of large pages of which nearly all is in memory."""
    pages = (end - start) // mmap.PAGESIZE
    present = (ctypes.c_ubyte * pages)()
    if libc.mincore(start, end - start, present) != 0:
        return
    each = _LARGE // mmap.PAGESIZE
    first: int | None = None
    for at in range(0, pages + 1, each):
        share = sum(page & 1 for page in present[at : at + each]) / each
        here = start + at * mmap.PAGESIZE
        if share >= _RESIDENT_SHARE:
            first = here if first is None else first
        elif first is not None:
            yield first, here
            first = None
