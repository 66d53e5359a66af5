"""Whether there is a graphics card that CUDA can use. Loads the driver, and no runtime."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache

Driver = Callable[[str], ctypes.CDLL]
"""Loads a library by its name. Raises OSError for one that is not there."""

_NAMES = {"win32": "nvcuda.dll", "linux": "libcuda.so.1"}


def cuda_cards(driver: Driver = ctypes.CDLL, platform: str = sys.platform) -> int:
    """How many cards NVIDIA's driver has; 0 without the driver, and where it does not work."""
    name = _NAMES.get(platform)
    if name is None:
        return 0
    try:
        library = driver(name)
        count = ctypes.c_int(0)
        if library.cuInit(0) or library.cuDeviceGetCount(ctypes.byref(count)):
            return 0
    except (OSError, AttributeError):
        return 0
    return count.value


@cache
def cuda_cards_here() -> int:
    """`cuda_cards` of this machine; looked for once."""
    return cuda_cards()
