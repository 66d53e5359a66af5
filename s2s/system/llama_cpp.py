"""Finds and loads a llama.cpp library and calls its C API through ctypes. Knows no model.

Runs on any library that exports ``llama.h`` and ``ggml.h``: the one
in the ``llama-cpp-python`` package, or the one inside ``xllamacpp``, whose wheels need no
compiler (docs/decisions/xllamacpp-c-api.md). Neither package is imported, only its library is
loaded. The two parameter structs that
change between versions are taken from the library's own defaults and recognised by their default
values, so a library with an unknown layout is refused instead of misread.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from ctypes import POINTER, c_bool, c_char_p, c_int, c_int32, c_size_t, c_void_p
from functools import cache
from pathlib import Path
from typing import Any

# More than any version's parameter struct. A struct of this size is passed in memory, where the
# callee reads as much as it knows of.
_PARAMETER_WORDS = 128
_F16 = 1
_ERROR = 4  # enum ggml_log_level
_GRAPHICS_CARD = 1  # enum ggml_backend_dev_type; what is beside it changed its number


Prototype = tuple[type[Any] | None, list[type[Any]]]
"""What a function gives back, and what it takes."""

BARRIER_SPINS = "2000"
"""How often a thread looks before it sleeps where the threads of a product meet: some ten
microseconds. libgomp's own value is 300,000: on a machine whose cores are shared, a thread that
lost its core then keeps the others awake for whole time slices (docs/decisions/busy-machine.md)."""


@contextmanager
def spinning_barriers() -> Generator[None, None, None]:
    """While the library that makes the threads is loaded, which reads these once, `BARRIER_SPINS`
    hold; a user's own values stay. "active" is taken back: without it libgomp looks only 100 times
    when it counts more threads than cores, and each thread that ever asked it counts; but Intel's
    library, loaded later, would never sleep."""
    os.environ.setdefault("GOMP_SPINCOUNT", BARRIER_SPINS)
    policy = os.environ.get("OMP_WAIT_POLICY")
    os.environ.setdefault("OMP_WAIT_POLICY", "active")
    try:
        yield
    finally:
        if policy is None:
            del os.environ["OMP_WAIT_POLICY"]


class LlamaCppError(RuntimeError):
    """The library is missing or refused what it was asked; the message holds its own words."""


class Parameters(ctypes.Structure):
    _fields_ = [("words", c_int32 * _PARAMETER_WORDS)]


class Batch(ctypes.Structure):
    """struct llama_batch."""

    _fields_ = [
        ("n_tokens", c_int32),
        ("token", c_void_p),
        ("embd", c_void_p),
        ("pos", c_void_p),
        ("n_seq_id", c_void_p),
        ("seq_id", c_void_p),
        ("logits", c_void_p),
    ]


_LogCallback = ctypes.CFUNCTYPE(None, c_int, c_char_p, c_void_p)

_PROTOTYPES: dict[str, Prototype] = {
    "llama_backend_init": (None, []),
    "llama_print_system_info": (c_char_p, []),
    "llama_log_get": (None, [POINTER(c_void_p), POINTER(c_void_p)]),
    "llama_log_set": (None, [c_void_p, c_void_p]),
    "llama_model_default_params": (Parameters, []),
    "llama_context_default_params": (Parameters, []),
    "llama_model_load_from_file": (c_void_p, [c_char_p, Parameters]),
    "llama_model_free": (None, [c_void_p]),
    "llama_model_n_embd": (c_int32, [c_void_p]),
    "llama_model_get_vocab": (c_void_p, [c_void_p]),
    "llama_vocab_n_tokens": (c_int32, [c_void_p]),
    "llama_init_from_model": (c_void_p, [c_void_p, Parameters]),
    "llama_free": (None, [c_void_p]),
    "llama_set_n_threads": (None, [c_void_p, c_int32, c_int32]),
    "llama_set_embeddings": (None, [c_void_p, c_bool]),
    "llama_get_memory": (c_void_p, [c_void_p]),
    "llama_memory_seq_rm": (c_bool, [c_void_p, c_int32, c_int32, c_int32]),
    "llama_decode": (c_int32, [c_void_p, Batch]),
    "llama_get_logits_ith": (c_void_p, [c_void_p, c_int32]),
    "llama_get_embeddings_ith": (c_void_p, [c_void_p, c_int32]),
    "llama_memory_clear": (None, [c_void_p, c_bool]),
    "llama_model_chat_template": (c_char_p, [c_void_p, c_char_p]),
    "llama_tokenize": (c_int32, [c_void_p, c_char_p, c_int32, c_void_p, c_int32, c_bool, c_bool]),
    "llama_token_to_piece": (c_int32, [c_void_p, c_int32, c_char_p, c_int32, c_int32, c_bool]),
    "llama_vocab_is_eog": (c_bool, [c_void_p, c_int32]),
    "llama_vocab_is_control": (c_bool, [c_void_p, c_int32]),
    "llama_vocab_bos": (c_int32, [c_void_p]),
    "llama_vocab_eos": (c_int32, [c_void_p]),
    "llama_vocab_get_add_bos": (c_bool, [c_void_p]),
    "ggml_backend_dev_count": (c_size_t, []),
    "ggml_backend_dev_get": (c_void_p, [c_size_t]),
    "ggml_backend_dev_type": (c_int, [c_void_p]),
    "ggml_backend_dev_description": (c_char_p, [c_void_p]),
}


PACKAGES = ("llama_cpp", "xllamacpp")


def installed() -> list[tuple[str, Path]]:
    """The packages that bring a llama.cpp library: (package, library), best first.

    llama-cpp-python first: it is compiled on the machine, for its processor.
    """
    places = (
        ("llama_cpp", ("lib/libllama.so", "lib/libllama.dylib", "lib/llama.dll")),
        ("xllamacpp", ("xllamacpp.abi3.so", "xllamacpp.pyd")),
    )
    found: list[tuple[str, Path]] = []
    for package, names in places:
        spec = importlib.util.find_spec(package)
        roots = spec.submodule_search_locations if spec is not None else None
        paths = [Path(root, name) for root in roots or () for name in names]
        found += [(package, path) for path in paths if path.is_file()]
    return found


def first_usable(
    packages: tuple[str, ...],
    prototypes: dict[str, Prototype],
    error: type[RuntimeError] = LlamaCppError,
) -> Library:
    """The first library of these packages that is installed and can be loaded.

    Raises ``error`` when there is none: what is missing, or why each cannot be used.
    """
    reasons: list[str] = []
    for package, path in installed():
        if package not in packages:
            continue
        try:
            return Library(path, prototypes, error)
        except (OSError, error) as reason:
            reasons.append(f"{package}: {reason}")
    if reasons:
        raise error("no llama.cpp library can be used: " + "; ".join(reasons))
    raise error(
        "no llama.cpp library is installed; pip install xllamacpp, or llama-cpp-python to have "
        "one compiled for this machine"
    )


@cache
def library(*packages: str) -> Library:
    """The library of this process for text, of these packages (all, when none is named); loaded
    at the first call.

    Raises LlamaCppError when none is installed or none can be loaded.
    """
    return first_usable(packages or PACKAGES, {})


class Library:
    """One loaded library. Its functions are safe to call from any thread; a context is not."""

    def __init__(
        self,
        path: Path,
        prototypes: dict[str, Prototype],
        error: type[RuntimeError] = LlamaCppError,
    ) -> None:
        """``prototypes``: functions needed besides those named here. Raises ``error`` when the
        library lacks one, or has a layout that is not known."""
        self.path = path
        self.error = error
        with spinning_barriers():
            self._handles = [ctypes.CDLL(str(path)), *_companions(path)]
        known = _PROTOTYPES | prototypes
        self._functions = {name: self._function(name, known[name]) for name in known}
        self._log_lock = threading.Lock()
        self.run("llama_log_set", ctypes.cast(_silent, c_void_p), None)
        self.run("llama_backend_init")
        context = self.parameters("llama_context_default_params")
        self.context_layout = ContextLayout(context, path, error)
        self.model_layout = ModelLayout(self.parameters("llama_model_default_params"), path, error)

    def run(self, name: str, *arguments: object) -> None:
        """Call a function that gives nothing back."""
        self._functions[name](*arguments)

    def number(self, name: str, *arguments: object) -> int:
        """Call a function that gives a number, a truth value, or an address (0 is null)."""
        return self._functions[name](*arguments) or 0

    def text(self, name: str, *arguments: object) -> str:
        """Call a function that gives a text."""
        return (self._functions[name](*arguments) or b"").decode(errors="replace")

    def parameters(self, name: str) -> Parameters:
        """The library's own defaults for a parameter struct."""
        return self._functions[name]()

    def describe(self) -> str:
        """The processor features the library was built for and found."""
        return self.text("llama_print_system_info")

    def graphics_cards(self) -> tuple[str, ...]:
        """The graphics cards that the library was built for and found, by their names."""
        found = [
            self.number("ggml_backend_dev_get", at)
            for at in range(self.number("ggml_backend_dev_count"))
        ]
        return tuple(
            self.text("ggml_backend_dev_description", device)
            for device in found
            if self.number("ggml_backend_dev_type", device) == _GRAPHICS_CARD
        )

    def listened(self, action: Callable[[], int]) -> tuple[int, str]:
        """What ``action`` returns, and what the library logged as errors meanwhile.

        The log is the library's one global; it is ours only while a model is being loaded, so
        that other users of the same library in this process keep theirs.
        """
        errors: list[str] = []

        def note(level: int, text: bytes | None, _: object) -> None:
            if level >= _ERROR and text is not None:
                errors.append(text.decode(errors="replace").strip())

        callback = _LogCallback(note)
        before, before_data = c_void_p(), c_void_p()
        with self._log_lock:
            self.run("llama_log_get", ctypes.byref(before), ctypes.byref(before_data))
            self.run("llama_log_set", ctypes.cast(callback, c_void_p), None)
            try:
                result = action()
            finally:
                self.run("llama_log_set", before, before_data)
        return result, " ".join(errors)

    def _function(self, name: str, prototype: Prototype) -> Callable[..., Any]:
        for handle in self._handles:
            try:
                function = handle[name]
            except AttributeError:
                continue
            function.restype, function.argtypes = prototype
            return function
        raise self.error(f"{self.path} lacks {name}; its version is too old or too new")


@_LogCallback
def _silent(level: int, text: bytes, _: object) -> None:
    """Keeps the library from writing to stderr."""


def _companions(path: Path) -> list[ctypes.CDLL]:
    """The ggml libraries beside libllama on Windows, where a handle finds its own symbols only."""
    if sys.platform != "win32" or path.suffix == ".pyd":
        return []
    return [ctypes.CDLL(str(file)) for file in sorted(path.parent.glob("ggml*.dll"))]


class ModelLayout:
    """Where the fields of llama_model_params lie that are set here.

    Recognised by the defaults: two null pointers, -1 GPU layers; after four more enums and four
    pointers six truth values, of which the third, ``use_extra_bufts``, is the only true one.
    """

    gpu_layers = 4
    _flags = 18

    def __init__(
        self, defaults: Parameters, path: Path, error: type[RuntimeError] = LlamaCppError
    ) -> None:
        words = list(defaults.words)
        if words[:5] != [0, 0, 0, 0, -1] or words[self._flags] != 0x00010000:
            raise error(f"{path} has an unknown version of llama_model_params")

    def no_repacking(self, parameters: Parameters) -> None:
        """Leave weights as they are in the file, mapped, instead of rearranging a copy."""
        parameters.words[self._flags] = 0


class ContextLayout:
    """Where the fields of llama_context_params lie that are set here, as indices of 32-bit words.

    Recognised by the defaults: n_ctx 512, n_batch 2048, n_ubatch 512, n_seq_max 1; the four
    "unset" enums (rope scaling, pooling, attention, flash attention); eight rope numbers; two
    null pointers; two cache types f16.
    """

    def __init__(
        self, defaults: Parameters, path: Path, error: type[RuntimeError] = LlamaCppError
    ) -> None:
        words = list(defaults.words)
        unset = next((i for i in range(5, 16) if words[i : i + 4] == [-1] * 4), None)
        known = words[:4] == [512, 2048, 512, 1] and unset is not None
        if known and unset is not None:
            self.flash_attention = unset + 3
            self.callback = unset + 12 + unset % 2  # pointers are aligned to two words
            self.type_k, self.type_v = self.callback + 4, self.callback + 5
            known = words[self.callback : self.callback + 6] == [0, 0, 0, 0, _F16, _F16]
        if not known:
            raise error(f"{path} has an unknown version of llama_context_params")
