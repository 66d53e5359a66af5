"""Relative attention in the text encoder, without the work that is multiplied by zero.

VITS looks at the distance between two phonemes only up to a few places. Its graph still widens the
small table of distances to twice the sentence with zeros, multiplies by all of it, and skews the
result into place; that grows with the square of the sentence and delays the first sound. Here the
small table is multiplied as it is, and the narrow band that comes out is put into place: the same
numbers, as what is left out are products with zero.

With n phonemes and distances up to w, position (i, j) takes distance c = j - i + w. A row of
n + 2w + 1 numbers that begins with the band, read again as rows of n + 2w, stands one place further
right in every row, which is where it belongs; and the same backwards. Shaw, Uszkoreit and Vaswani,
"Self-Attention with Relative Position Representations", 2018.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from s2s.models.onnx_file import Node, OnnxFile, Tensor, int_attribute, tensor
from s2s.tts.vits.graph.graph import Graph

_SKEWING = frozenset({"Pad", "Reshape", "Slice"})
_AROUND_TABLE = frozenset({"Pad", "Slice", "Unsqueeze", "Transpose"})


@dataclass(frozen=True, slots=True)
class _Relative:
    """A product with a table of distances that was widened with zeros."""

    product: Node
    other: str
    """What is multiplied with the table."""
    table: Tensor
    """float32 [1, 2w + 1, size]"""


def narrow_attention(model: OnnxFile) -> OnnxFile:
    """`model` with every relative attention in its narrow form; unchanged where there is none."""
    graph = Graph(model)
    replaced: dict[str, list[Node]] = {}
    weights: dict[str, Tensor] = dict(model.weights)
    for node in model.nodes:
        found = _relative(graph, node)
        if found is None:
            continue
        builder = _Builder(f"narrow_{len(replaced)}")
        if (placed := _placed_scores(graph, found)) is not None:
            replaced[placed] = builder.scores(found, placed)
        elif (attention := _attention_of(graph, found)) is not None:
            replaced[node.outputs[0]] = builder.values(found, attention)
        weights.update(builder.weights)
    if not replaced:
        return model
    nodes = [n for node in model.nodes for n in replaced.get(node.outputs[0], [node])]
    whole = replace(model, nodes=nodes, weights=weights)
    values = {value.name: value for value in (*model.inputs, *model.outputs)}
    return Graph(whole).cut(
        {name: values[name] for name in (value.name for value in model.inputs)},
        {name: values[name] for name in (value.name for value in model.outputs)},
    )


def _relative(graph: Graph, node: Node) -> _Relative | None:
    """The parts of a product with a widened table, None for any other node."""
    if node.op != "MatMul":
        return None
    value = node.inputs[1]
    widened = False
    while (maker := graph.maker.get(value)) is not None and maker.op in _AROUND_TABLE:
        widened = widened or maker.op == "Pad"
        value = maker.inputs[0]
    table = graph.model.weights.get(value)
    if not widened or table is None or len(table.dims) != 3 or table.dims[0] != 1:
        return None
    return _Relative(node, node.inputs[0], table) if table.dims[1] % 2 else None


def _placed_scores(graph: Graph, found: _Relative) -> str | None:
    """For queries times distances: the value that is added to the scores, skewed into place."""
    value = found.product.outputs[0]
    steps = 0
    while True:
        users = [node for node in graph.users_of(value) if node.op != "Shape"]
        if len(users) != 1:
            return None
        if users[0].op == "Add" and steps:
            return value
        if users[0].op not in _SKEWING or users[0].inputs[0] != value:
            return None
        value = users[0].outputs[0]
        steps += 1


def _attention_of(graph: Graph, found: _Relative) -> str | None:
    """For attention times distances: the attention before it was skewed."""
    value = found.other
    while (maker := graph.maker.get(value)) is not None and maker.op in _SKEWING:
        value = maker.inputs[0]
    return value if maker is not None and maker.op == "Softmax" else None


class _Builder:
    """New nodes and weights with names of their own."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._nodes: list[Node] = []
        self.weights: dict[str, Tensor] = {}

    def scores(self, found: _Relative, out: str) -> list[Node]:
        """Queries [1, heads, n, size] -> scores by distance [1, heads, n, n]."""
        width = found.table.dims[1]
        table = found.table.array().astype(np.float32).transpose(0, 2, 1)[None]
        band = self._add("MatMul", found.other, self._floats(table))
        count = self._count(found.other)
        pads = self._add("Concat", self._ints(0, 0, 0, 0, 0, 0, 0), count, axis=0)
        flat = self._add("Reshape", self._add("Pad", band, pads), self._ints(0, 0, -1))
        less = self._add("Slice", flat, self._ints(0), self._add("Neg", count), self._ints(2))
        rows = self._add("Concat", self._ints(0, 0), count, self._ints(-1), axis=0)
        skewed = self._add("Reshape", less, rows)
        radius = self._ints(width // 2)
        end = self._add("Add", count, radius)
        self._add("Slice", skewed, radius, end, self._ints(3), out=out)
        return self._nodes

    def values(self, found: _Relative, attention: str) -> list[Node]:
        """Attention [1, heads, n, n] -> what the distances add to the values, [.., n, size]."""
        width = found.table.dims[1]
        radius = width // 2
        table = found.table.array().astype(np.float32)[None]
        wide = self._add("Pad", attention, self._ints(0, 0, 0, radius, 0, 0, 1, radius))
        flat = self._add("Reshape", wide, self._ints(0, 0, -1))
        # One more row was padded than is needed: n + 2w numbers, of which n are used.
        less = self._add("Slice", flat, self._ints(0), self._ints(-2 * radius), self._ints(2))
        count = self._count(attention)
        rows = self._add("Concat", self._ints(0, 0), count, self._ints(-1), axis=0)
        skewed = self._add("Reshape", less, rows)
        band = self._add("Slice", skewed, self._ints(0), self._ints(width), self._ints(3))
        self._add("MatMul", band, self._floats(table), out=found.product.outputs[0])
        return self._nodes

    def _count(self, value: str) -> str:
        """Number of phonemes, int64 [1]."""
        shape = self._add("Shape", value)
        return self._add("Slice", shape, self._ints(2), self._ints(3), self._ints(0))

    def _add(self, op: str, *inputs: str, out: str = "", axis: int | None = None) -> str:
        name = out or f"{self._prefix}/{len(self._nodes)}"
        attributes = () if axis is None else (int_attribute("axis", axis),)
        self._nodes.append(Node(op, inputs, (name,), "", "", attributes))
        return name

    def _ints(self, *values: int) -> str:
        return self._weight(tensor(self._weight_name(), np.array(values, np.int64)))

    def _floats(self, values: np.ndarray) -> str:
        return self._weight(tensor(self._weight_name(), np.ascontiguousarray(values)))

    def _weight_name(self) -> str:
        return f"{self._prefix}/weight_{len(self.weights)}"

    def _weight(self, weight: Tensor) -> str:
        self.weights[weight.name] = weight
        return weight.name
