"""The C interface (native/include/s2s_qwen3.h) as a test calls it: a library that has it, and its
structures. None of this is how Python speaks."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable, Sequence
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char_p,
    c_double,
    c_float,
    c_int,
    c_int32,
    c_size_t,
    c_uint64,
    c_void_p,
)
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np

from s2s.tts.qwen3.native.library import KernelLibrary
from s2s.tts.qwen3.sampling import Sampling
from tests.tts.qwen3.native.driver_builds import INCLUDES, NATIVE, flags

ENDED, STOPPED, CUT, SILENT, REPEATING = range(5)
NO_ARGUMENT, NO_FILE, NO_MEMORY, BUSY, FORKED, NO_NUMBER, NO_LEVEL = range(-1, -8, -1)
_LIMIT_S = 120.0

Sound, Frame, Stop = (
    CFUNCTYPE(c_int, c_void_p, POINTER(c_float), c_size_t),
    CFUNCTYPE(c_int, c_void_p, POINTER(c_int32), c_size_t),
    CFUNCTYPE(c_int, c_void_p),
)


class Options(Structure):
    """``s2s_qwen3_options``."""

    _fields_: ClassVar = [
        ("size", c_size_t), ("level", c_char_p), ("threads", c_int32), ("draft_tokens", c_int32),
    ]  # fmt: skip


class CSampling(Structure):
    """``s2s_qwen3_sampling``."""

    _fields_: ClassVar = [
        ("greedy", c_int32), ("top_k", c_int32), ("temperature", c_double), ("top_p", c_double),
    ]  # fmt: skip

    @classmethod
    def like(cls, sampling: Sampling) -> CSampling:
        """The same settings."""
        return cls(sampling.greedy, sampling.top_k, sampling.temperature, sampling.top_p)


class CRequest(Structure):
    """``s2s_qwen3_request``."""

    _fields_: ClassVar = [
        ("size", c_size_t), ("text", c_char_p), ("tokens", POINTER(c_int32)),
        ("token_count", c_size_t), ("language", c_char_p), ("speaker", c_char_p),
        ("instruction", c_char_p), ("voice", POINTER(c_float)), ("voice_size", c_size_t),
        ("seed", c_uint64), ("talker", CSampling), ("predictor", CSampling),
        ("repetition_penalty", c_double), ("min_new_tokens", c_int32),
        ("max_new_tokens", c_int32), ("streaming", c_int32), ("first_chunk_frames", c_int32),
        ("untouched", c_int32),
    ]  # fmt: skip


class Listener(Structure):
    """``s2s_qwen3_listener``."""

    _fields_: ClassVar = [
        ("size", c_size_t), ("user", c_void_p), ("sound", Sound), ("frame", Frame), ("stop", Stop),
    ]  # fmt: skip


_FUNCTIONS: dict[str, tuple[object, list[object]]] = {
    "version": (c_int32, []),
    "default_options": (None, [POINTER(Options), c_size_t]),
    "open": (c_void_p, [c_char_p, POINTER(Options), c_char_p, c_size_t]),
    "close": (None, [c_void_p]),
    "sample_rate": (c_int32, [c_void_p]),
    "frame_samples": (c_int32, [c_void_p]),
    "frame_codes": (c_int32, [c_void_p]),
    "voice_size": (c_int32, [c_void_p]),
    "level": (c_char_p, [c_void_p]),
    "speaker": (c_char_p, [c_void_p, c_size_t]),
    "language": (c_char_p, [c_void_p, c_size_t]),
    "default_request": (None, [c_void_p, POINTER(CRequest), c_size_t]),
    "speak": (c_int32, [c_void_p, POINTER(CRequest), POINTER(Listener)]),
    "stop": (None, [c_void_p]),
    "error": (c_char_p, [c_void_p]),
    "tokenize": (c_int32, [c_void_p, c_char_p, POINTER(c_int32), c_size_t]),
    "to_int16": (None, [POINTER(c_float), c_size_t, c_void_p]),
}


class OpenError(Exception):
    """What ``s2s_qwen3_open`` said."""


def build_library(kernel: KernelLibrary, folder: Path) -> Path:
    """The C interface for one level, on top of a kernel that is there already."""
    library = folder / "speech.so"
    sources = [*(NATIVE / "speech").glob("*.c"), NATIVE / "src" / "platform.c"]
    compile_c(
        [f"-DS2S_LEVEL={kernel.level}", *flags("native"), "-O1", "-shared", *map(str, sources),
         str(kernel.path), "-pthread", "-lm"], library,
    )  # fmt: skip
    return library


def compile_c(arguments: Sequence[str], to: Path, compiler: str = "gcc") -> None:
    """With a warning it is not made."""
    command = [compiler, "-Wall", "-Wextra", "-Werror", *INCLUDES, *arguments, "-o", str(to)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT_S, check=False)
    assert done.returncode == 0, done.stderr[-4000:]


def load(path: Path) -> ctypes.CDLL:
    """A library with its functions declared."""
    library = ctypes.CDLL(str(path))
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, f"s2s_qwen3_{name}")
        function.restype, function.argtypes = result, arguments
        setattr(library, name, function)
    return library


@dataclass
class Heard:
    """What a listener was told."""

    status: int = ENDED
    chunks: list[np.ndarray] = field(default_factory=list)
    frames: list[list[int]] = field(default_factory=list)

    @property
    def pcm(self) -> np.ndarray:
        """float32 [samples]."""
        return np.concatenate([*self.chunks, np.zeros(0, np.float32)])


class CModel:
    """A model that is open; close it."""

    def __init__(self, library: ctypes.CDLL, path: Path, **options: object) -> None:
        """Raises OpenError."""
        chosen, error = Options(), ctypes.create_string_buffer(400)
        library.default_options(ctypes.byref(chosen), ctypes.sizeof(chosen))
        for name, value in options.items():
            setattr(chosen, name, value)
        self.library = library
        self.pointer = library.open(bytes(path), ctypes.byref(chosen), error, ctypes.sizeof(error))
        if not self.pointer:
            raise OpenError(error.value.decode())

    def __enter__(self) -> CModel:
        return self

    def __exit__(self, *exception: object) -> None:
        self.library.close(self.pointer)

    def request(self, text: str = "", **fields: object) -> CRequest:
        """The model's own settings, but for those that are given."""
        made = CRequest()
        self.library.default_request(self.pointer, ctypes.byref(made), ctypes.sizeof(made))
        made.text = text.encode()
        for name, value in fields.items():
            setattr(made, name, value)
        return made

    def speak(
        self, request: CRequest, hear: Callable[[Heard], int] = lambda _: 0,
        stop: Callable[[], int] | None = None,
    ) -> Heard:  # fmt: skip
        """hear: called after each chunk; another number than 0 ends it."""
        heard = Heard()

        def sound(_user: int, samples: object, count: int) -> int:
            heard.chunks.append(np.ctypeslib.as_array(samples, (count,)).copy())
            return hear(heard)

        def frame(_user: int, codes: object, count: int) -> int:
            heard.frames.append(np.ctypeslib.as_array(codes, (count,)).tolist())
            return 0

        listener = Listener(
            ctypes.sizeof(Listener), None, Sound(sound), Frame(frame),
            Stop() if stop is None else Stop(lambda _user: stop()),
        )  # fmt: skip
        heard.status = self.library.speak(
            self.pointer, ctypes.byref(request), ctypes.byref(listener)
        )
        return heard

    @property
    def error(self) -> str:
        """The last one, in words."""
        return self.library.error(self.pointer).decode()

    def tokens(self, text: str) -> list[int]:
        """Raises ValueError for what is no text."""
        ids = (c_int32 * (4 * len(text) + 8))()
        count = self.library.tokenize(self.pointer, text.encode(), ids, len(ids))
        if count < 0:
            raise ValueError(self.error)
        return list(ids)[:count]

    def names(self, which: str) -> list[str]:
        """speaker or language."""
        found: list[str] = []
        while (name := getattr(self.library, which)(self.pointer, len(found))) is not None:
            found.append(name.decode())
        return found
