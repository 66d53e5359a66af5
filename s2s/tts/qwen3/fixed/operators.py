"""What the graphs of fixed shapes are made of: plain operators that compilers of accelerators take.

No operator of onnxruntime's own, no loop, no branch, and nothing that reads a shape or makes one
from a value: every dimension is a number when the graph is written. Knows nothing of any model.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from s2s.models.onnx_file.builder import GraphBuilder
from s2s.tts.qwen3.onnx.transformer import Job, Rows

MASKED = -3e4
"""Added to the scores of what is not seen. Half precision holds it, and its exponential is zero."""
INT32, INT64 = np.int32, np.int64


def silu(graph: GraphBuilder, value: str) -> str:
    """x times the logistic function of x."""
    return graph.op("Mul", value, graph.op("Sigmoid", value))


def gelu(graph: GraphBuilder, value: str) -> str:
    """x times the distribution function of the normal distribution at x."""
    wave = graph.op("Erf", graph.op("Mul", value, graph.floats(1 / math.sqrt(2))))
    half = graph.op("Mul", value, graph.floats(0.5))
    return graph.op("Mul", half, graph.op("Add", wave, graph.floats(1.0)))


def rms_norm(graph: GraphBuilder, value: str, epsilon: float, weight: str | None = None) -> str:
    """The root-mean-square norm over the last axis, times a weight of that width."""
    power = graph.op("ReduceMean", graph.op("Mul", value, value), axes=(-1,), keepdims=1)
    size = graph.op("Sqrt", graph.op("Add", power, graph.floats(epsilon)))
    normed = graph.op("Div", value, size)
    return normed if weight is None else graph.op("Mul", normed, weight)


def reshape(graph: GraphBuilder, value: str, *shape: int) -> str:
    """The same values in another shape."""
    return graph.op("Reshape", value, graph.ints(*shape))


def part(graph: GraphBuilder, value: str, axis: int, start: int, stop: int) -> str:
    """Some of an axis."""
    return graph.op("Slice", value, graph.ints(start), graph.ints(stop), graph.ints(axis))


def side_by_side(graph: GraphBuilder, values: list[str], axis: int) -> str:
    """Values side by side along an axis; one alone is as it is."""
    return values[0] if len(values) == 1 else graph.op("Concat", *values, axis=axis)


def rotate(graph: GraphBuilder, value: str, half: int, cos: str, sin: str) -> str:
    """Rotary embedding of [positions, heads, 2 * half]: the halves are the two coordinates.

    cos, sin: [positions, 1, half].
    """
    left, right = graph.split(value, (half, half), axis=2)
    turned = graph.op("Sub", graph.op("Mul", left, cos), graph.op("Mul", right, sin))
    other = graph.op("Add", graph.op("Mul", right, cos), graph.op("Mul", left, sin))
    return graph.op("Concat", turned, other, axis=2)


@dataclass(slots=True)
class FixedMatrices:
    """The matrices of a checkpoint in one graph: each is stored once in a folder, however many of
    its graphs use it, and has one name in each, however often that uses it."""

    graph: GraphBuilder
    job: Job
    _names: dict[tuple[Rows, ...], str] = field(default_factory=dict)
    _vectors: dict[str, str] = field(default_factory=dict)

    def times(self, value: str, *parts: Rows) -> str:
        """value [n, width] times a matrix of rows of that width: [n, rows]."""
        return self.graph.op("MatMul", value, self.matrix(*parts))

    def matrix(self, *parts: Rows) -> str:
        """Rows as they are multiplied with: [width, rows]."""
        name = self._names.get(parts)
        if name is None:
            stored = self.job.stored.get(parts)
            if stored is None:
                weights = self.job.weights
                read = [weights.rows(each.name, each.start, each.stop) for each in parts]
                stored = self.job.stored[parts] = [self.graph.store(np.concatenate(read).T)]
                self.job.advance(sum(each.nbytes for each in read))
            name = self._names[parts] = self.graph.include(stored[0])
        return name

    def vector(self, name: str) -> str:
        """A vector by its name in the checkpoint."""
        known = self._vectors.get(name)
        if known is None:
            known = self._vectors[name] = self.graph.weight(self.job.weights[name])
        return known


MakeMatrices = Callable[[GraphBuilder, Job], FixedMatrices]
"""How a graph is to multiply with them."""
