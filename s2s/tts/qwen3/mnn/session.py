"""Graphs of MNN opened: arrays in, arrays out.

MNN's sessions, not its modules: a module's run keeps Python's lock, so that nothing else of the
program gets on meanwhile, a session's gives it up (docs/decisions/qwen3-mnn-core.md). A session
plans its graph anew for each set of shapes, and overwrites what it was given: every run is given
everything.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from s2s.tts.qwen3.errors import MnnError
from s2s.tts.qwen3.interfaces import Floats
from s2s.tts.qwen3.mnn.converter import WEIGHTS
from s2s.tts.qwen3.mnn.devices import PROCESSOR, MnnDevice, missing

if TYPE_CHECKING:
    from MNN import Tensor

Fed = npt.NDArray[np.float32 | np.int32]

_BACK_ENDS = 2
"""What a session can be asked for: where it computes."""
_LOW_MEMORY = 2
"""Weights of few bits stay as they are; else they are made floats when a graph is opened."""


class MnnGraph:
    """One graph. May be run from any thread, by one at a time."""

    def __init__(self, path: Path, device: MnnDevice, threads: int) -> None:
        """Raises MnnError for a file that is missing or that MNN cannot open, where MNN is not
        installed, and for a back end that this MNN does not have."""
        reason = missing()
        if reason is not None:
            raise MnnError(reason)
        for file in (path, path.with_name(path.name + WEIGHTS)):
            if not file.is_file():
                raise MnnError(f"{file} is missing; convert the checkpoint")
        from MNN import Interpreter

        self._path = path
        self._shared = device.processor
        self._lock = Lock()
        self._shapes: dict[str, tuple[int, ...]] = {}
        try:
            self._interpreter = Interpreter(str(path))
            self._session = self._interpreter.createSession(
                {**device.config, "numThread": threads, "memory": _LOW_MEMORY}
            )
        except Exception as error:  # its errors have no base of their own
            raise MnnError(f"{path} cannot be opened; convert it again ({error})") from error
        self._check(device)
        self._inputs: dict[str, Tensor] = self._interpreter.getSessionInputAll(self._session)

    def _check(self, device: MnnDevice) -> None:
        found = self._interpreter.getSessionInfo(self._session, _BACK_ENDS)
        if not device.processor and found in PROCESSOR:
            raise MnnError(
                f"mnn@{device.name}: this MNN has no {device.name}; it takes one that was built "
                f"with it ({device.known.built})"
            )

    def run(self, feeds: Mapping[str, Fed]) -> dict[str, Floats]:
        """What the graph gives, by name. feeds: every input, float32 or int32.

        Raises ValueError for other names, MnnError when MNN cannot compute.
        """
        with self._lock:
            self._plan({name: array.shape for name, array in feeds.items()})
            for name, array in feeds.items():
                self._put(self._inputs[name], array)
            code = self._interpreter.runSession(self._session)
            if code:
                raise MnnError(f"{self._path.name}: MNN cannot compute it: error {code}")
            outputs = self._interpreter.getSessionOutputAll(self._session)
            return {name: self._got(tensor) for name, tensor in outputs.items()}

    def _plan(self, shapes: dict[str, tuple[int, ...]]) -> None:
        if shapes == self._shapes:
            return
        if set(shapes) != set(self._inputs):
            raise ValueError(f"{self._path.name} takes {', '.join(sorted(self._inputs))}")
        self._shapes = {}
        for name, shape in shapes.items():
            self._interpreter.resizeTensor(self._inputs[name], shape)
        self._interpreter.resizeSession(self._session)
        self._inputs = self._interpreter.getSessionInputAll(self._session)
        self._shapes = shapes

    def _put(self, tensor: Tensor, array: Fed) -> None:
        if self._shared:
            tensor.getNumpyData()[...] = array
        else:
            tensor.copyFrom(_host(np.ascontiguousarray(array)))

    def _got(self, tensor: Tensor) -> Floats:
        if self._shared:
            return np.array(tensor.getNumpyData(), np.float32)
        host = _host(np.zeros(tensor.getShape(), np.float32))
        tensor.copyToHostTensor(host)
        return np.array(host.getNumpyData(), np.float32)


def _host(array: Fed) -> Tensor:
    """A tensor in this program's memory, with what is in an array."""
    import MNN

    kind = MNN.Halide_Type_Int if array.dtype == np.int32 else MNN.Halide_Type_Float
    return MNN.Tensor(array.shape, kind, array, MNN.Tensor_DimensionType_Caffe)
