"""The kernel compiled on this machine, at the first start: for its very processor, or for a level.

Where there is no C compiler there is no such kernel, and the error says how to get one. What is
compiled is kept under a name made of everything that decides what came out, the compiler's version
and every instruction it took the processor to have included: a folder that machines share gives
none of them another one's kernel (docs/decisions/qwen3-kernel-levels.md).
"""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from s2s.system.filelock import locked
from s2s.system.own_folder import NotOwnError, make_own
from s2s.tts.qwen3.errors import KernelError

NATIVE = "native"
"""The level (level.h) of a library that is compiled for this very processor."""

_HERE = Path(__file__).parent
_PACKAGED = _HERE / "src"
SOURCES = _PACKAGED if _PACKAGED.is_dir() else _HERE.parents[3] / "native" / "src"
"""Inside the package where it was installed, beside it in a checkout."""
_DISPATCH = "dispatch.c"
_COMPILERS = ("cc", "gcc", "clang")
_FOR_THIS_PROCESSOR = ("-march=native", "-mcpu=native")
"""Compilers know one of the two, by processor."""
_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
_BUILD_S = 120.0


@dataclass(frozen=True, slots=True)
class Compilation:
    """A kernel that is compiled, or is to be."""

    compiler: tuple[str, ...]
    flags: tuple[str, ...]
    """Of the level, beside those of every one."""
    level: str
    path: Path
    """Where it lies once it is compiled; its name tells it from every other one."""

    def library(self) -> Path:
        """The library, compiled at the first call on this machine.

        Raises KernelError when the compiler fails, or when others can write where it would lie.
        """
        folder = self.path.parent
        try:
            make_own(folder)
        except NotOwnError as error:
            raise KernelError(f"no kernel is loaded from {error}") from error
        if not self.path.is_file():
            with locked(folder / ".lock"):
                if not self.path.is_file():
                    build(self.compiler, self.path, self.level, self.flags)
        return self.path


def plan(cache: Path, level: str = NATIVE) -> Compilation:
    """What compiling the kernel for ``level`` into ``cache`` takes; compiles nothing.

    Raises KernelError when there is no compiler, it does not run, or it has no such level.
    """
    compiler = find_compiler()
    flags, macros = _native_flags(compiler) if level == NATIVE else _level_flags(compiler, level)
    digest = hashlib.sha256(repr((compiler, common_flags(), flags, level, macros)).encode())
    for file in sorted(SOURCES.iterdir()):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    name = f"qwen3-{level}-{digest.hexdigest()[:16]}.so"
    return Compilation(compiler, flags, level, cache.absolute() / name)


def find_compiler() -> tuple[str, ...]:
    """The command of a C compiler: ``CC``, or the first of the usual names that is installed.

    Raises KernelError when there is none, or none that could make the kernel.
    """
    if sys.platform == "win32":
        raise KernelError(
            "on Windows the kernel is not compiled but installed: the wheel s2s-kernels"
        )
    wanted = os.environ.get("CC")
    if wanted:
        return tuple(shlex.split(wanted))
    for name in _COMPILERS:
        found = shutil.which(name)
        if found:
            return (found,)
    raise KernelError(
        f"no C compiler was found ({', '.join(_COMPILERS)}): install one (Debian, Ubuntu: "
        "apt-get install gcc; macOS: xcode-select --install), or name it in CC"
    )


def common_flags() -> tuple[str, ...]:
    """Those of every level."""
    return _flags("any", "common")


def build(
    compiler: Sequence[str], path: Path, level: str = NATIVE, flags: Sequence[str] = ()
) -> None:
    """Compile the kernel for one level to ``path``, which appears whole or not at all.

    flags: of the level. What asks the processor which levels it has is compiled without them.
    Raises KernelError with the compiler's words when it fails.
    """
    sources = sorted(SOURCES.glob("*.c"))
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        made, dispatch = Path(scratch) / path.name, Path(scratch) / "dispatch.o"
        common = [*compiler, *common_flags(), f"-DS2S_LEVEL={level}"]
        _compile([*common, "-c", str(SOURCES / _DISPATCH), "-o", str(dispatch)])
        others = [str(file) for file in sources if file.name != _DISPATCH]
        shared = ["-shared", "-pthread", str(dispatch), *others, "-o", str(made), "-lm"]
        _compile([*common, *flags, *shared])
        os.replace(made, path)


def _compile(command: Sequence[str]) -> str:
    """Run the compiler; returns what it printed. Raises KernelError."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_BUILD_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise KernelError(f"{command[0]} does not run: {error}") from error
    if done.returncode:
        words = done.stderr.strip().splitlines()
        raise KernelError(f"{command[0]} failed: " + (words[0] if words else "no message"))
    return done.stdout


def _native_flags(compiler: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """What makes a compiler use all that this processor has, and what it then takes it to have."""
    for flag in _FOR_THIS_PROCESSOR:
        try:
            return (flag,), _macros(compiler, (flag,))
        except KernelError:
            continue
    return (), _macros(compiler, ())


def _level_flags(compiler: tuple[str, ...], level: str) -> tuple[tuple[str, ...], str]:
    flags = _flags(_machine(), level)
    return flags, _macros(compiler, flags)


def _macros(compiler: tuple[str, ...], flags: tuple[str, ...]) -> str:
    """What a compiler defines by itself: its version, and a word for each set of instructions."""
    return _compile([*compiler, *flags, "-dM", "-E", "-x", "c", os.devnull])


def _machine() -> str:
    machine = platform.machine().lower()
    return _MACHINES.get(machine, machine)


def levels() -> list[str]:
    """The levels of this kind of processor, the best one last."""
    return [level for machine, level, *_ in _lines() if machine == _machine()]


def _flags(machine: str, level: str) -> tuple[str, ...]:
    for line in _lines():
        if line[:2] == [machine, level]:
            return tuple(line[2:])
    known = ", ".join(levels()) or "none"
    raise KernelError(f"there is no level {level!r} of the kernel for {machine}; there is: {known}")


@lru_cache(maxsize=1)
def _lines() -> list[list[str]]:
    """Of flags.txt: a machine, a level, and its flags."""
    text = (SOURCES / "flags.txt").read_text(encoding="utf-8")
    return [line.split() for line in text.splitlines() if line and not line.startswith("#")]
