"""Drops the encoder's masks: with one sentence at a time no phoneme is padding.

An exported encoder multiplies after nearly every layer by a mask of the sentence's length and
replaces masked scores. For a batch of one, as long as the sentence, the masks are ones everywhere.
"""

from __future__ import annotations

from dataclasses import replace

from s2s.models.onnx_file import Node, OnnxFile
from s2s.tts.vits.graph.graph import Graph

_KEEPING = frozenset({"Cast", "Unsqueeze", "Squeeze", "Transpose", "Identity"})


def drop_masks(model: OnnxFile, lengths: str = "lengths") -> OnnxFile:
    """`model` without products with, and choices by, the mask that `lengths` makes."""
    graph = Graph(model)
    outputs = set(graph.output_names)
    from_lengths = _from(graph, lengths)
    ones: set[str] = set()
    zeros: set[str] = set()
    same: dict[str, str] = {}
    nodes: list[Node] = []
    for original in model.nodes:
        inputs = tuple(same.get(name, name) for name in original.inputs)
        node = replace(original, inputs=inputs)
        out = node.outputs[0]
        if node.op in ("Less", "LessOrEqual") and from_lengths.intersection(inputs):
            ones.add(out)
        elif node.op in _KEEPING and inputs[0] in ones:
            ones.update(node.outputs)
        elif node.op == "Mul" and ones.issuperset(inputs):
            ones.add(out)
        elif (node.op == "Equal" and ones.intersection(inputs)) or (
            node.op == "Not" and inputs[0] in ones
        ):
            zeros.add(out)
        elif (kept := _passed(node, ones, zeros)) is not None:
            if out not in outputs:
                same[out] = kept
                continue
            node = Node("Identity", (kept,), (out,))
        nodes.append(node)
    whole = replace(model, nodes=nodes)
    needed = Graph(whole).before(outputs)
    return Graph(whole).cut(
        {value.name: value for value in model.inputs if value.name in needed},
        {value.name: value for value in model.outputs},
    )


def _from(graph: Graph, lengths: str) -> set[str]:
    """The sentence's length in its shapes before it is compared."""
    found = {lengths}
    for node in graph.model.nodes:
        if node.op in ("Unsqueeze", "Cast", "Reshape") and node.inputs[0] in found:
            found.update(node.outputs)
    return found


def _passed(node: Node, ones: set[str], zeros: set[str]) -> str | None:
    """The input that a product with ones, or a choice by them, passes on."""
    if node.op == "Mul" and ones.intersection(node.inputs):
        left, right = node.inputs
        return right if left in ones else left
    if node.op == "Where" and node.inputs[0] in ones | zeros:
        return node.inputs[1] if node.inputs[0] in ones else node.inputs[2]
    return None
