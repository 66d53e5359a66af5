"""Products in 16 and 8 bits: matrices in 8, a scale for each of their rows, and what they are
multiplied with and what comes of it in 16, between values that were seen while the model spoke.

All else of a graph is computed as before: norms, attention and what chooses a code lose far more
by it than they gain (docs/decisions/qwen3-qnn.md). Written with QuantizeLinear and
DequantizeLinear around a MatMul, which accelerators' compilers take as one operator.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from s2s.models.onnx_file import Tensor
from s2s.tts.qwen3.errors import OnnxError
from s2s.tts.qwen3.fixed.operators import FixedMatrices, side_by_side
from s2s.tts.qwen3.fixed.ranges import ProductRange, ValueRange, product_name
from s2s.tts.qwen3.interfaces import Floats
from s2s.tts.qwen3.onnx.transformer import Rows

ROOM = 2.0
"""How much further than what was seen a value may reach. One of 16 bits: what was cut off cost
6 to 30 dB of a codec on other codes than those it was calibrated on, this costs none."""
SEEN = "seen."
"""What names of outputs begin with that tell the ranges of a product; a number is behind."""
_STEPS_16, _MOST_8 = 65535, 127
_LEAST = np.finfo(np.float32).tiny


@dataclass(slots=True)
class WatchedMatrices(FixedMatrices):
    """Products whose ranges are outputs of the graph: `SEEN`, the product's name, "#" and a
    number; float32 [1, 4] as `ranges.SIDES` says."""

    _count: int = 0

    def times(self, value: str, *parts: Rows) -> str:
        """See `FixedMatrices`."""
        graph, found = self.graph, self.graph.op("MatMul", value, self.matrix(*parts))
        sides = [
            graph.op(kind, each, axes=(0, 1), keepdims=1)
            for each in (value, found)
            for kind in ("ReduceMin", "ReduceMax")
        ]
        name = f"{SEEN}{product_name(parts)}#{self._count}"
        graph.output(name, side_by_side(graph, sides, 1), np.float32, (1, len(sides)))
        self._count += 1
        return found


def product_of_output(name: str) -> str:
    """The product's name in an output's of `WatchedMatrices`."""
    return name.removeprefix(SEEN).rpartition("#")[0]


@dataclass(slots=True, kw_only=True)
class QuantisedMatrices(FixedMatrices):
    """Products in 16 and 8 bits."""

    ranges: Mapping[str, ProductRange]
    _included: dict[tuple[Rows, ...], tuple[str, ...]] = field(default_factory=dict)

    def times(self, value: str, *parts: Rows) -> str:
        """See `FixedMatrices`. Raises OnnxError for a product whose ranges are not known."""
        seen = self.ranges.get(product_name(parts))
        if seen is None:
            raise OnnxError(f"nothing was seen of {product_name(parts)}; convert again")
        # One for each product, though several have a matrix: a compiler wants them in pairs.
        matrix = self.graph.op("DequantizeLinear", *self._quantised(parts), contrib=True, axis=1)
        found = self.graph.op("MatMul", self._rounded(value, seen.given), matrix)
        return self._rounded(found, seen.found)

    def _rounded(self, value: str, seen: ValueRange) -> str:
        """A value by way of 16 bits. The operators are onnxruntime's own, since those of this
        operator set have no 16 bits."""
        scale, zero = scale_and_zero(seen)
        how = self.graph.constant(scale), self.graph.constant(zero)
        whole = self.graph.op("QuantizeLinear", value, *how, contrib=True)
        return self.graph.op("DequantizeLinear", whole, *how, contrib=True)

    def _quantised(self, parts: tuple[Rows, ...]) -> tuple[str, ...]:
        """int8 [width, rows], their scales float32 [rows], zero points int8 [rows]."""
        found = self._included.get(parts)
        if found is None:
            stored = self.job.stored.get(parts)
            if stored is None:
                stored = self.job.stored[parts] = self._stored(parts)
            found = self._included[parts] = tuple(self.graph.include(each) for each in stored)
        return found

    def _stored(self, parts: tuple[Rows, ...]) -> list[Tensor]:
        job = self.job
        rows = [job.weights.rows(each.name, each.start, each.stop) for each in parts]
        values, scales = quantised_rows(np.concatenate(rows))
        arrays = values.T, scales, np.zeros(len(scales), np.int8)
        job.advance(sum(each.nbytes for each in arrays))
        return [self.graph.store(each) for each in arrays]


def quantised_rows(rows: Floats) -> tuple[np.ndarray, Floats]:
    """rows: float32 [n, width]. Returns int8 [n, width] and float32 [n], a scale for each row."""
    largest = np.abs(rows).max(axis=1)
    scales = np.where(largest > 0, largest / np.float32(_MOST_8), 1).astype(np.float32)
    scales = np.maximum(scales, _LEAST)
    values = np.clip(np.rint(rows / scales[:, None]), -_MOST_8, _MOST_8)
    return values.astype(np.int8), scales


def scale_and_zero(seen: ValueRange) -> tuple[np.ndarray, np.ndarray]:
    """float32 [] and uint16 []: 16 bits over a range with its `ROOM`, in which zero is exact."""
    lowest, highest = min(seen.lowest * ROOM, 0.0), max(seen.highest * ROOM, 0.0)
    scale = np.float32(max((highest - lowest) / _STEPS_16, _LEAST))
    zero = np.clip(np.rint(-lowest / scale), 0, _STEPS_16)
    return np.array(scale), np.array(zero, np.uint16)
