"""The compiled kernel in ``native/src``: built once for this machine's processor, then loaded.

A machine without a C compiler has no kernel: asking for it raises an error that says why, and
another backend has to be taken. Why there is one: docs/decisions/qwen3-own-kernel.md.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from ctypes import POINTER, Structure, c_char_p, c_float, c_int, c_size_t, c_void_p
from functools import lru_cache
from pathlib import Path
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from s2s.system.cpu import cpu_name
from s2s.system.filelock import locked
from s2s.tts.qwen3.errors import KernelError

_HERE = Path(__file__).parent
_INSTALLED = _HERE / "src"
SOURCES = _INSTALLED if _INSTALLED.is_dir() else _HERE.parents[3] / "native" / "src"
"""Inside the package where it was installed, beside it in a checkout."""


def _flags(machine: str, level: str) -> tuple[str, ...]:
    """Of flags.txt, whose lines are a machine, a level, and its flags."""
    for line in (SOURCES / "flags.txt").read_text(encoding="utf-8").splitlines():
        words = line.split()
        if words[:2] == [machine, level]:
            return tuple(words[2:])
    raise KernelError(f"{SOURCES / 'flags.txt'} has no level {level} of {machine}")


FLAGS = (*_flags("any", "common"), "-march=native", "-shared", "-pthread")
LEVEL = "native"
"""The level (level.h) of a library that is compiled here: for this very processor."""
FORKED = -3
"""FORKED of thread_pool.h."""
_COMPILERS = ("cc", "gcc", "clang")
_BUILD_S = 120.0


class Shape(Structure):
    """``Shape`` of transformer.h."""

    _fields_: ClassVar = [
        ("hidden", c_int),
        ("intermediate", c_int),
        ("layers", c_int),
        ("heads", c_int),
        ("kv_heads", c_int),
        ("head_dim", c_int),
        ("epsilon", c_float),
        ("theta", c_float),
    ]


class Sampling(Structure):
    """``Sampling`` of code_predictor.h."""

    _fields_: ClassVar = [
        ("greedy", c_int),
        ("top_k", c_int),
        ("temperature", c_float),
        ("top_p", c_float),
    ]


class Predictor(Structure):
    """``Predictor`` of code_predictor.h."""

    _fields_: ClassVar = [
        ("transformer", c_void_p),
        ("groups", c_int),
        ("codes", c_int),
        ("hidden", c_int),
        ("vector_type", c_int),
        ("heads", POINTER(c_void_p)),
        ("vectors", POINTER(c_void_p)),
    ]


MATRICES = ("query", "key", "value", "out", "gate", "up", "down")
NORMS = ("attention_norm", "query_norm", "key_norm", "mlp_norm")


class Layer(Structure):
    """``Layer`` of transformer.h."""

    _fields_: ClassVar = [(name, c_void_p) for name in (*MATRICES, *NORMS)]


class ChooseFrame(Protocol):
    """The kernel's function that chooses the codes of a frame: ``choose_frame`` of
    code_predictor.h, with addresses for pointers. Returns the number of forward passes, or less
    than zero."""

    def __call__(
        self,
        predictor: int,
        cache: int,
        first: int,
        draft_tokens: int,
        sampling: int,
        uniforms: int,
        chosen: int,
        /,
    ) -> int: ...


Functions = dict[str, tuple[object, list[object]]]
"""Result and arguments of functions, by name."""

_FUNCTIONS: Functions = {
    "pool_new": (c_void_p, [c_int]),
    "pool_free": (None, [c_void_p]),
    "weights_new": (c_void_p, [c_size_t, c_int]),
    "weights_free": (None, [c_void_p]),
    "matrix_bytes": (c_size_t, [c_int, c_int, c_int]),
    "matrix_new": (c_void_p, [c_int, c_int, c_int, c_void_p]),
    "matrix_free": (None, [c_void_p]),
    "matrix_fill": (c_int, [c_void_p, c_int, c_void_p, c_int, c_int]),
    "matrix_product": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "transformer_new": (c_void_p, [POINTER(Shape), POINTER(Layer), c_void_p, c_void_p]),
    "transformer_free": (None, [c_void_p]),
    "transformer_use": (None, [c_void_p, c_void_p]),
    "transformer_forward": (c_int, [c_void_p, c_void_p, c_void_p, c_int, c_void_p]),
    "cache_new": (c_void_p, [c_void_p, c_int]),
    "cache_free": (None, [c_void_p]),
    "cache_length": (c_int, [c_void_p]),
    "cache_rewind": (None, [c_void_p, c_int]),
    "choose_frame": (
        c_int,
        [c_void_p, c_void_p, c_void_p, c_int, c_void_p, c_void_p, c_void_p],
    ),
    "frame_uniforms": (c_int, [c_int, c_int]),
    "distribution": (None, [c_void_p, c_int, POINTER(Sampling), c_void_p, c_void_p]),
    "instructions": (c_char_p, []),
}


def address(array: npt.NDArray[np.generic]) -> int:
    """Where the values of a contiguous array lie, for as long as the array exists."""
    return array.__array_interface__["data"][0]


@lru_cache(maxsize=2)
def load_kernel(cache: Path) -> ctypes.CDLL:
    """The kernel, built into ``cache`` at the first call on this machine.

    Raises KernelError when there is no compiler or it fails.
    """
    compiler, path = find_compiler(), kernel_path(cache)
    if not path.is_file():
        cache.mkdir(parents=True, exist_ok=True)
        with locked(cache / ".lock"):
            if not path.is_file():
                build(compiler, path)
    return open_kernel(path)


@lru_cache(maxsize=2)
def kernel_path(cache: Path) -> Path:
    """Where it lies once it is built; its name tells it from every other one. Raises KernelError
    when there is no compiler."""
    return cache.absolute() / f"qwen3-{_content_hash(find_compiler())}.so"


def open_kernel(path: Path) -> ctypes.CDLL:
    """A library that `build` made. Raises KernelError when it cannot be loaded."""
    try:
        kernel = ctypes.CDLL(str(path))
    except OSError as error:
        raise KernelError(f"{path} cannot be loaded ({error}): delete it") from error
    bind(kernel, _FUNCTIONS)
    return kernel


def require(status: int, otherwise: str) -> None:
    """Raises KernelError for what a function returned that computes: ``otherwise`` says what it may
    mean beside a fork."""
    if status == FORKED:
        raise KernelError(
            "this process was forked from the one that opened the model, and threads are in that "
            "one alone: open the model behind the fork"
        )
    if status < 0:
        raise KernelError(otherwise)


def bind(kernel: ctypes.CDLL, functions: Functions) -> None:
    """Declare functions of the library, by their names without level."""
    for name, (result, arguments) in functions.items():
        function = getattr(kernel, f"s2s_{LEVEL}_{name}")
        function.restype, function.argtypes = result, arguments
        setattr(kernel, name, function)


def find_compiler() -> tuple[str, ...]:
    """The command of a C compiler: ``CC``, or the first of the usual names that is installed.

    Raises KernelError when there is none, or none that could make the kernel.
    """
    if sys.platform == "win32":
        raise KernelError("the compiled kernel needs POSIX threads: not on Windows")
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


def build(compiler: Sequence[str], path: Path, flags: Sequence[str] = FLAGS) -> None:
    """Compile the kernel to ``path``, which appears whole or not at all.

    Raises KernelError with the compiler's words when it fails.
    """
    sources = [str(file) for file in sorted(SOURCES.glob("*.c"))]
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        made = Path(scratch) / path.name
        command = [*compiler, *flags, *sources, "-o", str(made), "-lm"]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=_BUILD_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise KernelError(f"{compiler[0]} does not run: {error}") from error
        if done.returncode:
            words = done.stderr.strip().splitlines()
            raise KernelError(f"{compiler[0]} failed: " + (words[0] if words else "no message"))
        os.replace(made, path)


def _content_hash(compiler: Sequence[str]) -> str:
    """Of sources, flags, compiler and processor: a change of any needs a new build."""
    digest = hashlib.sha256(repr((compiler, FLAGS, platform.machine(), cpu_name())).encode())
    for file in sorted(SOURCES.iterdir()):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
