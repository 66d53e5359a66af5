"""Exported programs as the runtime runs them: a runtime that is written here in its place."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from s2s.tts.qwen3.errors import BackendError, ExecutorchError
from s2s.tts.qwen3.executorch.program import Program, use_threads

PATH = Path("talker.pte")


class GivenTensor:
    """Its array is the one that was given."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def numpy(self) -> np.ndarray:
        return self.array


class DoublingMethod:
    def __init__(self, running: list[int]) -> None:
        self.running = running
        self.given: list[np.ndarray] = []

    def execute(self, inputs: Sequence[GivenTensor]) -> list[GivenTensor]:
        self.running.append(threading.get_ident())
        self.given = [each.array for each in inputs]
        if not self.given:
            raise RuntimeError("invalid argument")
        assert self.running.pop() == threading.get_ident()
        return [GivenTensor(2 * each) for each in self.given]


class WrittenProgram:
    method_names = frozenset({"layers", "head"})

    def __init__(self, method: DoublingMethod) -> None:
        self.method = method
        self.loaded: list[str] = []

    def load_method(self, name: str) -> DoublingMethod:
        self.loaded.append(name)
        if name not in self.method_names:
            raise KeyError(name)
        return self.method


class WrittenRuntime:
    """As `executorch.runtime.Runtime`."""

    def __init__(self) -> None:
        self.backend_registry = self
        self.method = DoublingMethod([])
        self.program = WrittenProgram(self.method)
        self.threads = [2]

    def is_available(self, name: str) -> bool:
        return name == "XnnpackBackend"

    def load_program(self, path: Path) -> WrittenProgram:
        if path.suffix != ".pte":
            raise RuntimeError("not a program")
        return self.program


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> WrittenRuntime:
    made = WrittenRuntime()
    modules = {
        "torch": {"from_numpy": GivenTensor},
        "executorch": {},
        "executorch.runtime": {"Runtime": type("Runtime", (), {"get": staticmethod(lambda: made)})},
        "executorch.extension": {},
        "executorch.extension.pybindings": {
            "portable_lib": type(
                "Lib",
                (),
                {
                    "_threadpool_get_thread_count": staticmethod(lambda: made.threads[-1]),
                    "_unsafe_reset_threadpool": staticmethod(made.threads.append),
                },
            )
        },
    }
    for name, members in modules.items():
        module = ModuleType(name)
        module.__dict__.update(members)
        monkeypatch.setitem(sys.modules, name, module)
    return made


def test_arrays_go_in_and_out(written: WrittenRuntime) -> None:
    program = Program(PATH, "xnnpack")
    whole = np.arange(6, dtype=np.float32).reshape(2, 3)
    (doubled,) = program.run("layers", [whole])
    np.testing.assert_array_equal(doubled, 2 * whole)
    assert written.method.given[0] is whole, "an array in order is not copied"
    closed = whole.copy()
    closed.flags.writeable = False
    program.run("layers", [whole.T, closed])
    assert all(each.flags.c_contiguous and each.flags.writeable for each in written.method.given)
    assert program.methods == {"layers", "head"}


def test_a_method_is_loaded_once(written: WrittenRuntime) -> None:
    program = Program(PATH, "xnnpack")
    program.load("layers", "head")
    program.run("layers", [np.zeros(1, np.float32)])
    assert written.program.loaded == ["layers", "head"]
    with pytest.raises(ExecutorchError, match=r"talker\.pte: has no method tail .*models export"):
        program.load("tail")


def test_one_method_runs_at_a_time(written: WrittenRuntime) -> None:
    """The written method says when another is inside."""
    program, failed = Program(PATH, "xnnpack"), list[BaseException]()

    def run() -> None:
        try:
            for _ in range(50):
                program.run("layers", [np.zeros(100, np.float32)])
        except BaseException as error:  # noqa: BLE001 - told below
            failed.append(error)

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def test_errors_say_what_to_do(written: WrittenRuntime) -> None:
    with pytest.raises(ExecutorchError, match=r"talker\.txt: cannot be opened \(not a program\)"):
        Program(Path("talker.txt"), "xnnpack")
    with pytest.raises(BackendError, match="exported for coreml: this build of executorch has no"):
        Program(PATH, "coreml")
    with pytest.raises(ExecutorchError, match=r"talker\.pte: layers failed \(invalid argument\)"):
        Program(PATH, "xnnpack").run("layers", [])


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "executorch.runtime", None)  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "executorch", None)  # type: ignore[arg-type]
    with pytest.raises(BackendError, match=r"pip install 's2s\[executorch\]'"):
        Program(PATH, "xnnpack")


def test_threads_are_made_anew_only_for_another_number(written: WrittenRuntime) -> None:
    use_threads(2)
    assert written.threads == [2]
    use_threads(3)
    assert written.threads == [2, 3]
