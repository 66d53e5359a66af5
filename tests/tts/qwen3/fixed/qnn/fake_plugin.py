"""A plug-in that compiles by copying and computes on the processor, and counts what it did."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from onnxruntime import InferenceSession

from s2s.models.onnx_file.builder import GraphBuilder
from s2s.tts.qwen3.errors import ProviderError
from s2s.tts.qwen3.fixed.providers import RuntimeProvider
from s2s.tts.qwen3.fixed.qnn.options import QnnOptions


@dataclass
class FakePlugin:
    refuses: tuple[str, ...] = ()
    """Graphs with operators that it has not."""
    lacks: str | None = None
    version: str = "fake 1"
    unreadable: int = 0
    """So many of the next contexts cannot be opened."""
    compiled: list[str] = field(default_factory=list)
    opened: list[Path] = field(default_factory=list)

    def missing(self, options: QnnOptions) -> str | None:
        return self.lacks

    def versions(self) -> str:
        return self.version

    def compile(self, graph: Path, context: Path, options: QnnOptions) -> None:
        if graph.stem in self.refuses:
            raise ProviderError(f"qnn has no TopK (TopK_3) of {graph.name}")
        self.compiled.append(graph.stem)
        shutil.copy(graph, context)
        for data in graph.parent.glob("*.onnx.data"):
            shutil.copy(data, context.parent)

    def open(self, context: Path, options: QnnOptions, threads: int) -> InferenceSession:
        if self.unreadable:
            self.unreadable -= 1
            raise ProviderError(f"qnn cannot open {context.name} (another library)")
        self.opened.append(context)
        return RuntimeProvider("cpu").open(context, threads)


def write_graph(folder: Path, name: str, weight: float = 1.0) -> Path:
    """A graph "given" [512] -> "found", which adds a weight that lies in its data file."""
    with GraphBuilder(folder, name) as graph:
        given = graph.input("given", np.float32, (512,))
        added = graph.op("Add", given, graph.bulk(np.full(512, weight, np.float32)))
        graph.output("found", added, np.float32, (512,))
        return graph.save({"version": "3"})


def found(session: InferenceSession) -> float:
    """What a graph makes of zeros."""
    (values,) = session.run(None, {"given": np.zeros(512, np.float32)})
    return float(values[0])
