"""The kernel's driver without Python (native/driver), compiled for one level of a processor, and
run there, under an emulator, or with the checks that a compiler puts in."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

NATIVE = Path(__file__).parents[4] / "native"
INCLUDES = [f"-I{NATIVE / name}" for name in ("src", "speech", "include")]
_SCARCE = ("-include", str(NATIVE / "driver" / "scarce.h"))
_LIMIT_S = 280.0
_ARM = "aarch64-linux-gnu-gcc"
_WINDOWS = "x86_64-w64-mingw32-gcc"


@dataclass(frozen=True)
class Build:
    """level: of native/src/flags.txt, or `native`. under: what runs the program."""

    level: str
    compiler: str = "gcc"
    extra: tuple[str, ...] = ()
    under: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def needs(self) -> tuple[str, ...]:
        """Programs without which it cannot be made or run."""
        return (self.compiler, *self.under[:1])


def arm(level: str, processor: str) -> Build:
    """Under user-mode emulation of that processor."""
    return Build(level, _ARM, ("-static",), ("qemu-aarch64", "-cpu", processor))


def emulated(instructions: str) -> Build:
    """Code for AVX512 or AVX_VNNI, on AVX2."""
    extra = (f"-DEMULATED_{instructions}", "-include", str(NATIVE / "driver" / "emulated.h"))
    return Build("avx2", extra=(*extra, "-Wno-psabi"))


def windows(level: str) -> Build:
    """By MinGW, under Wine. The assembler moves AVX's registers as unaligned ones: Windows aligns
    stacks to 16 bytes only."""
    return Build(
        level, _WINDOWS, ("-static", "-Wa,-muse-unaligned-vector-move"), ("wine",),
        {"WINEDEBUG": "-all"},
    )  # fmt: skip


def sanitized(level: str, *checks: str) -> Build:
    """With a compiler's checks, any of which ends the program."""
    extra = (f"-fsanitize={','.join(checks)}", "-fno-sanitize-recover=all", "-g")
    return Build(level, extra=extra)


Made = Callable[[Build], Path]
"""Makes the driver's program, once for each way of building it; skips where that cannot be."""

LEVELS = {
    "x86-64": Build("baseline"),
    "AVX-VNNI": emulated("AVX_VNNI"),
    "AVX-512 VNNI": emulated("AVX512"),
    "NEON on a Cortex-A53": arm("neon", "cortex-a53"),
    "NEON on a Cortex-A72": arm("neon", "cortex-a72"),
    "dotprod": arm("dotprod", "max"),
    "i8mm": arm("i8mm", "max"),
    "Windows, x86-64": windows("baseline"),
    "Windows, AVX2": windows("avx2"),
}
"""All but this processor's own, by what they are."""
SANITIZED = {
    "address, undefined": sanitized("avx2", "address", "undefined", "float-cast-overflow"),
    "address, undefined, x86-64": sanitized("baseline", "address", "undefined"),
    "thread": sanitized("avx2", "thread"),
}
"""With a compiler's checks, by what they are."""


def flags(level: str) -> list[str]:
    """Of the compiler, for a level; those of all levels first."""
    found: dict[str, list[str]] = {"native": ["-march=native"]}
    for line in (NATIVE / "src" / "flags.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            _, name, *words = line.split()
            found[name] = words
    return [*found["common"], *found[level]]


def build(of: Build, folder: Path, optimise: str = "-O1", program: str = "driver") -> Path:
    """The program of sources ``native/program/*.c`` or ``native/program.c``, in ``folder``; with a
    warning it is not made. What is not the driver speaks by the C interface, which it gets too."""
    own = NATIVE / f"{program}.c"
    beside = [own, *(NATIVE / "speech").glob("*.c")] if own.is_file() else []
    sources = [*(NATIVE / "src").glob("*.c"), *(NATIVE / program).glob("*.c"), *beside]
    made = folder / f"{Path(program).name}-{of.level}.exe"
    command = [
        of.compiler, *flags(of.level), "-Wall", "-Wextra", "-Walloca", "-Werror", optimise,
        *([] if beside else _SCARCE), *of.extra, *INCLUDES, f"-DS2S_LEVEL={of.level}",
        *map(str, sorted(sources)), "-o", str(made), "-pthread", "-lm",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT_S, check=False)
    assert done.returncode == 0, done.stderr
    return made


def require(of: Build) -> None:
    """Skips where a program is missing."""
    for name in of.needs:
        if shutil.which(name) is None:
            pytest.skip(f"{name} is not installed: .ci/run names the packages")


def run(of: Build, program: Path, cases: Path, threads: int = 3) -> dict[str, str]:
    """What it printed: a digest of the bits of each result, by its name. Fails when it fails."""
    lines: dict[str, str] = {}
    for line in run_raw([*of.under, str(program)], cases, threads, of.environment):
        words = line.split()
        if len(words) >= 3 and "/" in words[0]:
            lines[f"{len(lines)} {words[0]}"] = words[1]
    return lines


def run_raw(
    command: Sequence[str], cases: Path, threads: int, environment: Mapping[str, str]
) -> list[str]:
    """The lines that a driver printed."""
    done = subprocess.run(
        [*command, str(cases), str(threads)], capture_output=True, text=True, timeout=_LIMIT_S,
        check=False, env={**os.environ, **dict(environment)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout.splitlines()
