"""Stands in for MNN: its converter copies a graph, its sessions run it in ONNX Runtime.

As MNN does, a session overwrites what it was given, forgets it when shapes change, and takes the
processor where it does not have a back end.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np
import onnxruntime

PROCESSOR = 13
KINDS = {"tensor(float)": np.float32, "tensor(int32)": np.int32}


class Tensor:
    """In this program's memory, as MNN's on a processor."""

    def __init__(
        self, shape: Sequence[int], kind: object, values: np.ndarray, layout: int = 1
    ) -> None:
        self.values = np.array(values).reshape(tuple(shape))

    def getShape(self) -> tuple[int, ...]:
        return self.values.shape

    def getNumpyData(self) -> np.ndarray:
        return self.values

    def copyFrom(self, other: Tensor) -> bool:
        assert self.values.shape == other.values.shape
        self.values[...] = other.values
        return True

    def copyToHostTensor(self, other: Tensor) -> bool:
        return other.copyFrom(self)


@dataclass
class Session:
    """What a graph is run with."""

    config: Mapping[str, int]
    inputs: dict[str, Tensor]
    outputs: dict[str, Tensor] = field(default_factory=dict)


class Interpreter:
    """A graph. All that were made are in `made`, with the shapes they were planned for."""

    made: ClassVar[list[Interpreter]] = []
    back_ends: tuple[int, ...] = (0,)
    code = 0
    """What the next run ends with."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        self.graph = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        self.plans: list[dict[str, tuple[int, ...]]] = []
        self.sessions: list[Session] = []
        self.made.append(self)

    def createSession(self, config: Mapping[str, int]) -> Session:
        inputs = {
            item.name: Tensor((1,), None, np.zeros(1, KINDS[item.type]))
            for item in self.graph.get_inputs()
        }
        self.sessions.append(Session(config, inputs))
        return self.sessions[-1]

    def getSessionInfo(self, session: Session, code: int) -> object:
        assert code == 2
        wished = session.config["backend"]
        return wished if wished and wished in self.back_ends else PROCESSOR

    def getSessionInputAll(self, session: Session) -> dict[str, Tensor]:
        return session.inputs

    def getSessionOutputAll(self, session: Session) -> dict[str, Tensor]:
        return session.outputs

    def resizeTensor(self, tensor: Tensor, shape: tuple[int, ...]) -> None:
        tensor.values = np.zeros(shape, tensor.values.dtype)

    def resizeSession(self, session: Session) -> bool:
        self.plans.append({name: each.getShape() for name, each in session.inputs.items()})
        return True

    def runSession(self, session: Session) -> int:
        names = [item.name for item in self.graph.get_outputs()]
        feeds = {name: tensor.values for name, tensor in session.inputs.items()}
        found = self.graph.run(names, feeds)
        session.outputs = {
            name: Tensor(array.shape, None, array) for name, array in zip(names, found, strict=True)
        }
        for tensor in session.inputs.values():
            tensor.values[...] = -7 if tensor.values.dtype == np.int32 else np.nan
        return self.code


def convert(command: Sequence[object], **_: object) -> subprocess.CompletedProcess[str]:
    """The converter: a graph and its weights to where they are wanted."""
    words = [str(word) for word in command]
    graph = Path(words[words.index("--modelFile") + 1])
    target = Path(words[words.index("--MNNModel") + 1])
    shutil.copyfile(graph, target)
    shutil.copyfile(f"{graph}.data", target.with_name(f"{graph.name}.data"))
    target.with_name(f"{target.name}.weight").touch()
    return subprocess.CompletedProcess(words, 0, "Converted Success!", "")
