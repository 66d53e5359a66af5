"""The ONNX file format, read and written without the onnx package.

As much of it as cutting a voice and building a graph need. Knows nothing of what a graph computes.
Why not the package: docs/decisions/onnx-files-without-the-onnx-package.md.
"""

from s2s.models.onnx_file.parts import (
    FLOAT,
    INT64,
    Attribute,
    Dim,
    Node,
    OnnxFile,
    Tensor,
    ValueInfo,
)
from s2s.models.onnx_file.reader import parse_model, read_model
from s2s.models.onnx_file.wire import OnnxFileError
from s2s.models.onnx_file.writer import (
    external_tensor,
    float_attribute,
    graph_attribute,
    int_attribute,
    ints_attribute,
    item_type,
    tensor,
    text_attribute,
    write_graph,
    write_model,
)

__all__ = [
    "FLOAT",
    "INT64",
    "Attribute",
    "Dim",
    "Node",
    "OnnxFile",
    "OnnxFileError",
    "Tensor",
    "ValueInfo",
    "external_tensor",
    "float_attribute",
    "graph_attribute",
    "int_attribute",
    "ints_attribute",
    "item_type",
    "parse_model",
    "read_model",
    "tensor",
    "text_attribute",
    "write_graph",
    "write_model",
]
