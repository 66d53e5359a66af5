"""Programs that were exported, as the runtime runs them: float32 arrays in and out.

The runtime's threads, and the memory that XNNPACK computes in, are the process' own: one method
runs at a time, whoever asked. Whoever waits, waits for that call, never for an answer. Files are
read where they lie; weights are copied into XNNPACK's order when a method is loaded.
"""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from s2s.tts.qwen3.errors import BackendError, ExecutorchError
from s2s.tts.qwen3.executorch.delegates import delegate_named
from s2s.tts.qwen3.interfaces import Floats

if TYPE_CHECKING:
    from executorch.runtime import Method, Runtime

INSTALL = "executorch is not installed: pip install 's2s[executorch]' (it brings torch)"
EXPORT = "export it again: python -m s2s models export MODEL --to executorch"

_COMPUTING = threading.Lock()


def missing() -> str | None:
    """The package, if anything."""
    return None if importlib.util.find_spec("executorch") is not None else INSTALL


def runtime() -> Runtime:
    """The one of this process. Raises BackendError without the package."""
    try:
        from executorch.runtime import Runtime
    except ImportError as error:
        raise BackendError(f"{INSTALL}; {error}") from error
    return Runtime.get()


def use_threads(threads: int) -> None:
    """So many compute from now on, in this process."""
    from executorch.extension.pybindings import portable_lib

    with _COMPUTING:
        # The package has no other names for this; unsafe while something computes: hence the lock.
        if portable_lib._threadpool_get_thread_count() != threads:  # pyright: ignore[reportPrivateUsage]
            portable_lib._unsafe_reset_threadpool(threads)  # pyright: ignore[reportPrivateUsage]


class Program:
    """A file of methods, each loaded when it is first used."""

    def __init__(self, path: Path, delegate: str) -> None:
        """Raises ExecutorchError where it cannot be read, BackendError where this machine has no
        such delegate."""
        found, name = runtime(), delegate_named(delegate).runtime_name
        if not found.backend_registry.is_available(name):
            raise BackendError(
                f"{path} was exported for {delegate}: this build of executorch has no {name}"
            )
        try:
            self._program = found.load_program(path)
        except RuntimeError as error:
            raise ExecutorchError(
                f"cannot be opened ({error})", file=path, advice=EXPORT
            ) from error
        self._path = path
        self._methods: dict[str, Method] = {}

    @property
    def methods(self) -> set[str]:
        """Names of what it can run."""
        return set(self._program.method_names)

    def load(self, *names: str) -> None:
        """Now, and not when they are first used. Raises ExecutorchError."""
        for name in names:
            self._method(name)

    def run(self, name: str, inputs: Sequence[Floats]) -> list[Floats]:
        """The outputs of a method, in memory of their own. Raises ExecutorchError."""
        import torch

        with _COMPUTING:
            method = self._method(name)
            given = [torch.from_numpy(_readable(each)) for each in inputs]
            try:
                return [each.numpy() for each in method.execute(given)]
            except RuntimeError as error:
                raise ExecutorchError(f"{name} failed ({error})", file=self._path) from error

    def _method(self, name: str) -> Method:
        found = self._methods.get(name)
        if found is None:
            try:
                found = self._program.load_method(name)
            except (RuntimeError, KeyError) as error:
                raise ExecutorchError(
                    f"has no method {name} ({error})", file=self._path, advice=EXPORT
                ) from error
            assert found is not None
            self._methods[name] = found
        return found


def _readable(array: Floats) -> Floats:
    """In memory that torch takes: in order, and not closed to writing."""
    if array.flags.c_contiguous and array.flags.writeable:
        return array
    return np.array(array, np.float32, order="C")
