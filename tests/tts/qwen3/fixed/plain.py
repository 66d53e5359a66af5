"""What a graph of fixed shapes may hold."""

from __future__ import annotations

from pathlib import Path

import onnx

OPERATORS = {
    "Add", "ArgMax", "Cast", "Clip", "Concat", "Conv", "Div", "Erf", "Gather", "Gemm",
    "GreaterOrEqual", "Identity", "LayerNormalization", "MatMul", "Mul", "ReduceMean", "ReduceSum",
    "Reshape", "Sigmoid", "Sin", "Slice", "Softmax", "Split", "Sqrt", "Squeeze", "Sub", "TopK",
    "Transpose", "Unsqueeze", "Where",
}  # fmt: skip
"""What compilers of accelerators take: no loop, no branch, nothing that reads a shape or makes one
from a value, nothing of onnxruntime's own."""


def check_plain(path: Path) -> set[str]:
    """Assert that a graph has only such operators and that the shape of every value is known; gives
    the operators. The shapes are onnx's own inference, without the weights."""
    model = onnx.load(str(path), load_external_data=False)
    nodes = model.graph.node
    assert {node.domain for node in nodes} == {""}, path
    kinds = {node.op_type for node in nodes}
    assert kinds <= OPERATORS, kinds - OPERATORS
    graph = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True).graph
    values = [*graph.input, *graph.output, *graph.value_info]
    sizes = {
        value.name: [
            dim.dim_value if dim.HasField("dim_value") else None
            for dim in value.type.tensor_type.shape.dim
        ]
        for value in values
    }
    assert {out for node in nodes for out in node.output} <= set(sizes)
    free = {name: size for name, size in sizes.items() if None in size}
    assert not free, (path, free)
    return kinds
