"""After an installation: the library is there, loads, and has a level that this processor executes.

Standard library only: it is run wherever a wheel is built. What it computes is tested in the
repository, by tests/tts/qwen3/native.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

import s2s_kernels

SUFFIXES = (".so", ".dylib", ".dll")


def main() -> None:
    """Print the levels; raises where there is none."""
    [path] = [
        file for file in Path(s2s_kernels.__file__).parent.iterdir() if file.suffix in SUFFIXES
    ]
    library = ctypes.CDLL(str(path))
    library.s2s_kernel_levels.restype = ctypes.c_char_p
    library.s2s_kernel_best_level.restype = ctypes.c_char_p
    levels, best = library.s2s_kernel_levels().decode(), library.s2s_kernel_best_level().decode()
    instructions = getattr(library, f"s2s_{best}_instructions")
    instructions.restype = ctypes.c_char_p
    here = " ".join(
        level for level in levels.split() if library.s2s_kernel_executes(level.encode()) == 1
    )
    print(f"{path.name}: levels {levels}; here {here}; best {best} ({instructions().decode()})")


if __name__ == "__main__":
    main()
