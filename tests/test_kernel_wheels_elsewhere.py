"""The library of the kernel's wheel as it is built for other processors and systems, and what a
program in C finds in it there: by cross compilers, under emulators."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

NATIVE = Path(__file__).parents[1] / "native"
_DISPATCH = (NATIVE / "src" / "dispatch.h").read_text(encoding="utf-8")
INTERFACE = re.findall(r"S2S_INTERFACE = (\d+)", _DISPATCH)[0]


@dataclass(frozen=True)
class Target:
    """What it is built for, and what runs it."""

    compiler: str
    system: str
    processor: str
    library: str
    under: tuple[str, ...] = ()


ARM = Target(
    "aarch64-linux-gnu-gcc", "Linux", "aarch64", "libs2s_kernels.so",
    ("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"),
)  # fmt: skip
HERE = Target("gcc", "Linux", "x86_64", "libs2s_kernels.so")
WINDOWS = Target("x86_64-w64-mingw32-gcc", "Windows", "AMD64", "libs2s_kernels.dll", ("wine",))
ARM_LEVELS = {
    "cortex-a53": "neon best neon",
    "cortex-a76": "neon dotprod best dotprod",
    "max": "neon dotprod i8mm best i8mm",
}


def run(command: Sequence[str | Path], **environment: str) -> str:
    """What a program printed that has to succeed."""
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=250, env={**os.environ, **environment}
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return done.stdout


def built(target: Target, folder: Path, example: str = "levels") -> Path:
    """An example in C, beside the library that it is linked with; skips where a program that makes
    or runs it is missing."""
    for name in ("cmake", "make", target.compiler, *target.under[:1]):
        if shutil.which(name) is None:
            pytest.skip(f"{name} is not installed: .ci/run names the packages")
    settings = {
        "CMAKE_SYSTEM_NAME": target.system,
        "CMAKE_SYSTEM_PROCESSOR": target.processor,
        "CMAKE_C_COMPILER": target.compiler,
    }
    defined = [f"-D{name}={value}" for name, value in settings.items()]
    run(["cmake", "-G", "Unix Makefiles", "-S", NATIVE, "-B", folder, *defined])
    run(["cmake", "--build", folder, "--parallel", "2", "--target", example])
    [program] = (path for path in folder.iterdir() if path.name in (example, f"{example}.exe"))
    return program


@pytest.mark.emulation
def test_on_arm_the_levels_are_those_of_the_processor(tmp_path: Path) -> None:
    program = built(ARM, tmp_path)
    for processor, levels in ARM_LEVELS.items():
        told = run([*ARM.under, "-cpu", processor, program])
        assert told == f"{levels}, interface {INTERFACE}\n"


@pytest.mark.emulation
def test_on_windows_the_library_needs_nothing_beside_it(tmp_path: Path) -> None:
    program = built(WINDOWS, tmp_path)
    told = run([*WINDOWS.under, program], WINEDEBUG="-all").strip()
    assert told.startswith("baseline ")
    assert told.endswith(f", interface {INTERFACE}")
    symbols = run(["x86_64-w64-mingw32-objdump", "-p", tmp_path / WINDOWS.library])
    names = symbols[symbols.index("[Ordinal/Name Pointer] Table") :].split("\n\n")[0]
    exported = [line.split()[-1] for line in names.splitlines()[1:] if "[" in line]
    assert len(exported) > 50
    assert all(name.startswith("s2s_") for name in exported), exported
    needed = [line.split()[-1].lower() for line in symbols.splitlines() if "DLL Name:" in line]
    assert not [name for name in needed if "pthread" in name or "gcc" in name]
