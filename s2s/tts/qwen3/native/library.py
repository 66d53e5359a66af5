"""The kernel as it is loaded: that of the wheel ``s2s-kernels``, or one that is compiled here.

A machine with neither the wheel nor a C compiler has no kernel: asking for it raises an error that
says why, and another backend has to be taken. Why there is one: docs/decisions/qwen3-own-kernel.md;
its levels: docs/kernels.md.
"""

from __future__ import annotations

import ctypes
import hashlib
import logging
import os
from collections.abc import Mapping
from ctypes import POINTER, Structure, c_char_p, c_float, c_int, c_size_t, c_void_p
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from s2s.tts.qwen3.errors import KernelError
from s2s.tts.qwen3.native import wheel
from s2s.tts.qwen3.native.compiling import NATIVE, Compilation, find_compiler, plan

log = logging.getLogger(__name__)

BUILD_VARIABLE, LEVEL_VARIABLE = "S2S_BUILD_KERNEL", "S2S_KERNEL_LEVEL"
INTERFACE = 3
"""S2S_INTERFACE of dispatch.h: which functions and structures there are."""
FORKED = -3
"""FORKED of thread_pool.h."""


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
_STRUCTURES = {"Shape": Shape, "Layer": Layer, "Sampling": Sampling, "Predictor": Predictor}


def address(array: npt.NDArray[np.generic]) -> int:
    """Where the values of a contiguous array lie, for as long as the array exists."""
    return array.__array_interface__["data"][0]


class KernelLibrary(ctypes.CDLL):
    """A library of the kernel, whose functions are those of one level, by their names without it.

    Its levels may be used side by side; what one has made is of no use to another.
    """

    def __init__(self, path: Path, level: str = "") -> None:
        """level: the best that this processor executes if it is "". Raises KernelError."""
        try:
            super().__init__(str(path))
        except OSError as error:
            raise KernelError(f"{path} cannot be loaded ({error}): delete it") from error
        try:
            self.s2s_kernel_levels.restype = self.s2s_kernel_best_level.restype = c_char_p
            self.s2s_kernel_size_of.restype = c_size_t
            interface: int = self.s2s_kernel_interface()
        except AttributeError as error:
            raise KernelError(f"{path} is no kernel of s2s: {error}") from error
        if interface != INTERFACE:
            raise KernelError(
                f"{path} has the functions of another version of s2s ({interface}; wanted "
                f"{INTERFACE})"
            )
        self.path = path
        best: bytes | None = self.s2s_kernel_best_level()
        if not level and best is None:
            raise KernelError(f"this processor executes no level of {path}")
        self.level = level or (best or b"").decode()
        self.levels: list[str] = self.s2s_kernel_levels().decode().split()
        executes: int = self.s2s_kernel_executes(self.level.encode())
        if executes < 0:
            raise KernelError(
                f"{path} has no level {self.level!r} ({LEVEL_VARIABLE}); it has: "
                f"{', '.join(self.levels)}"
            )
        if not executes:
            raise KernelError(
                f"this processor does not execute the level {self.level} ({LEVEL_VARIABLE}); the "
                f"best it does is {(best or b'none').decode()}"
            )


@dataclass(frozen=True, slots=True)
class InstalledKernel:
    """The library of the wheel."""

    path: Path
    level: str
    version: str

    def library(self) -> Path:
        """Where it lies."""
        return self.path

    def name(self) -> str:
        """Tells it from every other kernel."""
        digest = hashlib.sha256(self.path.read_bytes()).hexdigest()[:16]
        return f"{wheel.DISTRIBUTION}-{self.level}-{digest}"


def choose(cache: Path) -> InstalledKernel | Compilation:
    """The kernel that is loaded here; compiles nothing.

    That of the wheel, or one that is compiled into ``cache``: where there is no wheel, where the
    one there is is of another version, and when S2S_BUILD_KERNEL is 1. S2S_KERNEL_LEVEL names its
    level. Raises KernelError when there is none to be had, or none of that level.
    """
    level = os.environ.get(LEVEL_VARIABLE, "").strip().lower()
    path = None if _build_wished() else wheel.installed_library()
    if path is None:
        return plan(cache, level or NATIVE)
    try:
        return InstalledKernel(path, KernelLibrary(path, level).level, wheel.installed_version())
    except KernelError as unfit:
        if level:
            raise
        try:
            planned = plan(cache)
        except KernelError as error:
            raise KernelError(f"{unfit}: pip install --upgrade {wheel.DISTRIBUTION}") from error
        log.warning("%s: the kernel is compiled instead", unfit)
        return planned


def require_kernel() -> None:
    """Raises KernelError where there is neither a wheel nor a compiler."""
    if _build_wished() or wheel.installed_library() is None:
        find_compiler()


def described(cache: Path) -> str:
    """What `choose` finds, in words. Raises as it does."""
    found = choose(cache)
    if isinstance(found, InstalledKernel):
        version = f" {found.version}" if found.version else ""
        return f"kernel installed ({wheel.DISTRIBUTION}{version}), level {found.level}"
    done = "compiled" if found.path.is_file() else "to be compiled at the first start"
    level = "this very processor" if found.level == NATIVE else f"level {found.level}"
    return f"kernel {done} by {found.compiler[0]} for {level}"


@lru_cache(maxsize=2)
def load_kernel(cache: Path) -> KernelLibrary:
    """The kernel, compiled into ``cache`` at the first call on this machine if it must be.

    Raises KernelError when there is none to be had.
    """
    found = choose(cache)
    return open_kernel(found.library(), found.level)


@lru_cache(maxsize=2)
def kernel_path(cache: Path) -> Path:
    """In ``cache``, under a name that tells it from every other one: where what belongs to it is
    kept beside it. Raises KernelError when there is none to be had."""
    found = choose(cache)
    return found.path if isinstance(found, Compilation) else cache.absolute() / found.name()


def open_kernel(path: Path, level: str = "") -> KernelLibrary:
    """A library with its functions declared. Raises KernelError when it cannot be used here."""
    kernel = KernelLibrary(path, level)
    bind(kernel, _FUNCTIONS, _STRUCTURES)
    return kernel


def _build_wished() -> bool:
    return os.environ.get(BUILD_VARIABLE, "").strip() not in ("", "0")


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


def bind(
    kernel: KernelLibrary, functions: Functions, structures: Mapping[str, type[Structure]]
) -> None:
    """Declare functions of the library, by their names without level.

    structures: those they take, by their names in C. Raises KernelError when the library lacks one
    or knows it in another size.
    """
    for name, structure in structures.items():
        size: int = kernel.s2s_kernel_size_of(name.encode())
        wanted = ctypes.sizeof(structure)
        if size != wanted:
            raise KernelError(
                f"the kernel's {name} has {size} bytes where {wanted} are wanted: it is of another "
                "version of s2s"
            )
    for name, (result, arguments) in functions.items():
        function = getattr(kernel, f"s2s_{kernel.level}_{name}")
        function.restype, function.argtypes = result, arguments
        setattr(kernel, name, function)
