"""CAM++, a network that tells voices apart, as an ONNX graph written from its checkpoint.

Wang et al., CAM++: a fast and efficient network for speaker verification using context-aware
masking (2023): a small image network over mel bands and time, then time-delay layers that each
read all before them and are masked by a vector made from their mean over time, and the mean and
deviation over time at the end. Batch norms are folded into the convolutions before them.

The masks are made from the mean over everything and the mean over stretches of two seconds; no
more than two seconds are given to the graph at a time, in which the two are the same.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from s2s.core.arrays import Floats
from s2s.models.onnx_file import (
    FLOAT,
    Attribute,
    Node,
    OnnxFile,
    Tensor,
    ValueInfo,
    int_attribute,
    ints_attribute,
    tensor,
    write_model,
)

INPUT, OUTPUT = "features", "embedding"
MAX_FRAMES = 200
"""Of 10 ms that may be given at a time."""
DIMENSIONS = 192
_BANDS = 80
_HEAD = 32
_BLOCKS = ((1, 12, 1), (2, 24, 2), (3, 16, 2))
"""Number, layers and dilation."""
_EPSILON = 1e-5

Shape = tuple[int, ...]


def campplus_graph(tensors: Mapping[str, Floats]) -> bytes:
    """The serialized graph: float32 `features` [looks, frames, 80] -> `embedding` [looks, 192].

    Raises:
        KeyError: `tensors` is not a checkpoint of this network.
    """
    graph = _Graph(tensors)
    image = graph.add("Transpose", INPUT, perm=(0, 2, 1))
    image = graph.add("Unsqueeze", image, graph.ints(1))
    steps = _head(graph, image)
    steps = graph.conv(
        steps, "xvector.tdnn.linear", "xvector.tdnn.nonlinear.batchnorm", strides=(1, 2), relu=True
    )
    for number, layers, dilation in _BLOCKS:
        for layer in range(1, layers + 1):
            new = _masked(graph, steps, f"xvector.block{number}.tdnnd{layer}", dilation)
            steps = graph.add("Concat", steps, new, axis=1)
        steps = graph.norm_relu(steps, f"xvector.transit{number}.nonlinear.batchnorm")
        steps = graph.conv(steps, f"xvector.transit{number}.linear")
    steps = graph.norm_relu(steps, "xvector.out_nonlinear.batchnorm")
    pooled = _mean_and_deviation(graph, steps)
    voice = graph.conv(pooled, "xvector.dense.linear", "xvector.dense.nonlinear.batchnorm")
    graph.add("Reshape", voice, graph.ints(0, DIMENSIONS), name=OUTPUT)
    return graph.serialized()


def _head(graph: _Graph, image: str) -> str:
    """[looks, 1, 80, frames] -> [looks, 320, 1, frames]."""
    image = graph.conv(image, "head.conv1", "head.bn1", relu=True)
    for layer in ("head.layer1", "head.layer2"):
        for block, stride in ((f"{layer}.0", 2), (f"{layer}.1", 1)):
            strides = (stride, 1)
            inner = graph.conv(image, f"{block}.conv1", f"{block}.bn1", strides=strides, relu=True)
            inner = graph.conv(inner, f"{block}.conv2", f"{block}.bn2")
            if stride > 1:
                image = graph.conv(
                    image, f"{block}.shortcut.0", f"{block}.shortcut.1", strides=strides
                )
            image = graph.add("Relu", graph.add("Add", inner, image))
    image = graph.conv(image, "head.conv2", "head.bn2", strides=(2, 1), relu=True)
    return graph.add("Reshape", image, graph.ints(0, _HEAD * _BANDS // 8, 1, -1))


def _masked(graph: _Graph, steps: str, name: str, dilation: int) -> str:
    """A time-delay layer, masked by what the mean over time says."""
    narrow = graph.norm_relu(steps, f"{name}.nonlinear1.batchnorm")
    narrow = graph.conv(narrow, f"{name}.linear1", f"{name}.nonlinear2.batchnorm", relu=True)
    local = graph.conv(narrow, f"{name}.cam_layer.linear_local", dilation=dilation)
    mean = graph.add("GlobalAveragePool", narrow)
    context = graph.add("Add", mean, mean)  # over everything, and over the stretch of two seconds
    mask = graph.conv(context, f"{name}.cam_layer.linear1", relu=True)
    mask = graph.add("Sigmoid", graph.conv(mask, f"{name}.cam_layer.linear2"))
    return graph.add("Mul", local, mask)


def _mean_and_deviation(graph: _Graph, steps: str) -> str:
    """[looks, 512, 1, steps] -> [looks, 1024, 1, 1]."""
    mean = graph.add("GlobalAveragePool", steps)
    apart = graph.add("Sub", steps, mean)
    squares = graph.add("ReduceSumSquare", apart, axes=(2, 3), keepdims=1)
    last = graph.add("Gather", graph.add("Shape", steps), graph.ints(3), axis=0)
    freedom = graph.add("Cast", graph.add("Sub", last, graph.ints(1)), to=FLOAT)
    deviation = graph.add("Sqrt", graph.add("Div", squares, freedom))
    return graph.add("Concat", mean, deviation, axis=1)


class _Graph:
    """The graph under construction. Everything is an image [looks, channels, height, frames]:
    a sequence is one of height 1, for which onnxruntime has its fast kernels."""

    def __init__(self, tensors: Mapping[str, Floats]) -> None:
        self._tensors = tensors
        self._nodes: list[Node] = []
        self._weights: dict[str, Tensor] = {}

    def add(self, op: str, *inputs: str, name: str | None = None, **attributes: int | Shape) -> str:
        """A node with one output, whose name is returned."""
        output = name or f"{op}_{len(self._nodes)}"
        told = tuple(_attribute(*each) for each in attributes.items())
        self._nodes.append(Node(op, inputs, (output,), name=output, attributes=told))
        return output

    def ints(self, *values: int) -> str:
        """A constant int64 [len(values)]."""
        return self._weight(np.array(values, dtype=np.int64))

    def conv(
        self,
        image: str,
        name: str,
        norm: str | None = None,
        *,
        strides: Shape = (1, 1),
        dilation: int = 1,
        relu: bool = False,
    ) -> str:
        """The convolution `name`, padded so that only strides shorten, and what may follow it."""
        weight = self._tensors[f"{name}.weight"]
        if weight.ndim == 3:
            weight = weight[:, :, None, :]
        bias = self._tensors.get(f"{name}.bias")
        if norm is not None:
            scale, shift = self._norm(norm)
            weight = weight * scale[:, None, None, None]
            bias = shift if bias is None else shift + scale * bias
        inputs = [image, self._weight(weight)]
        if bias is not None:
            inputs.append(self._weight(bias))
        high, wide = weight.shape[2] // 2, dilation * (weight.shape[3] // 2)
        out = self.add(
            "Conv",
            *inputs,
            kernel_shape=weight.shape[2:],
            strides=strides,
            dilations=(1, dilation),
            pads=(high, wide, high, wide),
        )
        return self.add("Relu", out) if relu else out

    def norm_relu(self, image: str, name: str) -> str:
        """A batch norm with no convolution before it that could take it in, and a ReLU."""
        scale, shift = (each[None, :, None, None] for each in self._norm(name))
        scaled = self.add("Mul", image, self._weight(scale))
        return self.add("Relu", self.add("Add", scaled, self._weight(shift)))

    def serialized(self) -> bytes:
        """The graph as a file's bytes."""
        features = ValueInfo(INPUT, FLOAT, ("looks", "frames", _BANDS))
        embedding = ValueInfo(OUTPUT, FLOAT, ("looks", DIMENSIONS))
        return write_model(
            OnnxFile(self._nodes, self._weights, [features], [embedding]), "campplus"
        )

    def _norm(self, name: str) -> tuple[Floats, Floats]:
        """A batch norm as scale and shift, float32 [channels] each."""
        mean, variance = (self._tensors[f"{name}.running_{each}"] for each in ("mean", "var"))
        scale = 1.0 / np.sqrt(variance.astype(np.float64) + _EPSILON)
        if f"{name}.weight" in self._tensors:
            scale = scale * self._tensors[f"{name}.weight"]
        shift = self._tensors.get(f"{name}.bias", np.float32(0.0)) - mean * scale
        return scale.astype(np.float32), shift.astype(np.float32)

    def _weight(self, values: np.ndarray[Shape, np.dtype[np.generic]]) -> str:
        name = f"weight_{len(self._weights)}"
        self._weights[name] = tensor(name, np.ascontiguousarray(values))
        return name


def _attribute(name: str, value: int | Shape) -> Attribute:
    return int_attribute(name, value) if isinstance(value, int) else ints_attribute(name, value)
