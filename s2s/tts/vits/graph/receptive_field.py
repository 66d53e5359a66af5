"""The receptive field of a convolutional graph in frames, from its own kernels.

Walks the graph backwards from its output. A value at `rate` samples a frame that is needed for
the frames [a, b) is needed at the positions [a * rate - left, b * rate + right):

- convolution, kernel k, dilation d, padding (p, q): left += p, right += (k - 1) * d - p
- transposed convolution, kernel k, stride s, padding (p, q): left = (left - p + k - 1) // s,
  right = (right - 1 + p) // s + 1
- everything that works on each position alone passes the need on.

Dumoulin and Visin, "A guide to convolution arithmetic for deep learning", 2016, sections 2 and 4.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto

from s2s.models.onnx_file import Node
from s2s.tts.vits.errors import CutError
from s2s.tts.vits.graph.graph import Graph
from s2s.tts.vits.windows import Context

_TIME_AXIS = 2
_CHANNEL_AXIS = 1

POINTWISE = frozenset(
    {
        "Add",
        "Sub",
        "Mul",
        "Div",
        "Neg",
        "Exp",
        "Log",
        "Sqrt",
        "Pow",
        "Abs",
        "Sin",
        "Cos",
        "Tanh",
        "Sigmoid",
        "Relu",
        "LeakyRelu",
        "PRelu",
        "Elu",
        "Softplus",
        "Erf",
        "Gelu",
        "Clip",
        "Cast",
        "Identity",
        "Min",
        "Max",
        "Sum",
        "Where",
        "Reciprocal",
    }
)


class OperatorKind(Enum):
    """What an operator does along time."""

    POINTWISE = auto()
    CONV = auto()
    UPSAMPLE = auto()
    CHANNELS = auto()
    """Moves channels about: slice, split or concatenation over axis 1."""
    FINISH = auto()
    """Adds or drops axes of the finished waveform."""
    SHAPE = auto()
    """Looks at the shape alone."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """A convolution's numbers along time."""

    size: int
    dilation: int
    stride: int
    pads: tuple[int, int]
    output_padding: int

    @property
    def extent(self) -> int:
        """Positions between the first and the last tap."""
        return (self.size - 1) * self.dilation


@dataclass(frozen=True, slots=True)
class ReceptiveField:
    """Frames of context, and samples that the output has for each frame."""

    context: Context
    hop: int


def kind_of(node: Node, graph: Graph) -> OperatorKind:
    """What `node` does along time. Raises CutError where its receptive field is not known."""
    match node.op:
        case op if op in POINTWISE:
            return OperatorKind.POINTWISE
        case "Conv":
            return OperatorKind.CONV
        case "ConvTranspose":
            return OperatorKind.UPSAMPLE
        case "Split" | "Concat" if _axis(node.int_attribute("axis", 0)) == _CHANNEL_AXIS:
            return OperatorKind.CHANNELS
        case "Slice" if slice_axes(node, graph) == (_CHANNEL_AXIS,):
            return OperatorKind.CHANNELS
        case "Unsqueeze" | "Squeeze":
            return OperatorKind.FINISH
        case "Shape":
            return OperatorKind.SHAPE
        case _:
            pass
    raise CutError(f"operator {node.op} ('{node.name}'): how far it sees along time is not known")


def kernel_of(node: Node, graph: Graph) -> Kernel:
    """The numbers of a one-dimensional Conv or ConvTranspose. Raises CutError for others."""
    if node.bytes_attribute("auto_pad") not in (None, b"", b"NOTSET"):
        raise CutError(f"'{node.name}' pads automatically: its receptive field is not known")
    shape = node.ints_attribute("kernel_shape")
    if shape is None:
        weight = graph.model.weights.get(node.inputs[1]) if len(node.inputs) > 1 else None
        shape = weight.dims[2:] if weight else ()
    pads = node.ints_attribute("pads") or (0, 0)
    if len(shape) != 1 or len(pads) != 2 or min(pads) < 0:
        raise CutError(f"'{node.name}' ({node.op}) is not a one-dimensional convolution")
    kernel = Kernel(
        size=shape[0],
        dilation=(node.ints_attribute("dilations") or (1,))[0],
        stride=(node.ints_attribute("strides") or (1,))[0],
        pads=(pads[0], pads[1]),
        output_padding=(node.ints_attribute("output_padding") or (0,))[0],
    )
    _check_kernel(kernel, node)
    return kernel


def _check_kernel(kernel: Kernel, node: Node) -> None:
    if kernel.size < 1 or kernel.dilation < 1 or kernel.stride < 1:
        raise CutError(f"'{node.name}' has an impossible kernel: {kernel}")
    if node.op == "Conv":
        same = kernel.stride == 1 and kernel.extent == sum(kernel.pads)
    else:
        longer = kernel.extent + 1 - sum(kernel.pads) + kernel.output_padding
        same = longer == kernel.stride and kernel.dilation == 1
    if not same:
        raise CutError(f"'{node.name}' ({node.op}) does not keep a whole number of samples a frame")


def receptive_field(graph: Graph, sources: Iterable[str], output: str) -> ReceptiveField:
    """How many frames of `sources` around a frame decide `output` at that frame.

    Args:
        graph: a part cut from a voice.
        sources: its inputs that run along time, [1, channels, frames].
        output: its result, [1, channels, frames * hop] or with more axes.

    Raises:
        CutError: an operator mixes time in a way that is not known here.
    """
    sources = list(sources)
    moving = moving_values(graph, sources)
    rates = _rates(graph, sources, moving)
    if output not in rates:
        raise CutError(f"'{output}' does not depend on {sources}")
    need: dict[str, tuple[int, int]] = {output: (0, 0)}
    for node in reversed(graph.model.nodes):
        wanted = [need[name] for name in node.outputs if name in need]
        if not wanted or not any(name in moving for name in node.outputs):
            continue
        left, right = max(x for x, _ in wanted), max(x for _, x in wanted)
        data = node.inputs
        match kind_of(node, graph):
            case OperatorKind.CONV:
                kernel = kernel_of(node, graph)
                left += kernel.pads[0]
                right += kernel.extent - kernel.pads[0]
                data = node.inputs[:1]
            case OperatorKind.UPSAMPLE:
                kernel = kernel_of(node, graph)
                left = max(0, (left - kernel.pads[0] + kernel.size - 1) // kernel.stride)
                right = max(0, (right - 1 + kernel.pads[0]) // kernel.stride + 1)
                data = node.inputs[:1]
            case _:
                pass
        for name in data:
            if name in moving:
                before = need.get(name, (0, 0))
                need[name] = (max(left, before[0]), max(right, before[1]))
    found = [need[name] for name in sources if name in need]
    context = Context(max(x for x, _ in found), max(x for _, x in found))
    return ReceptiveField(context, rates[output])


def moving_values(graph: Graph, sources: Iterable[str]) -> set[str]:
    """Values that run along time with `sources`: computed from them, not from their shape alone."""
    moving = set(sources)
    for node in graph.model.nodes:
        if node.op != "Shape" and any(name in moving for name in node.inputs):
            moving.update(node.outputs)
    return moving


def _rates(graph: Graph, sources: list[str], moving: set[str]) -> dict[str, int]:
    """Positions a frame of every moving value."""
    rates = dict.fromkeys(sources, 1)
    for node in graph.model.nodes:
        incoming = {rates[name] for name in node.inputs if name in rates}
        if not incoming or not any(name in moving for name in node.outputs):
            continue
        if len(incoming) > 1:
            raise CutError(f"'{node.name}' mixes values of different rates {sorted(incoming)}")
        rate = incoming.pop()
        if kind_of(node, graph) is OperatorKind.UPSAMPLE:
            rate *= kernel_of(node, graph).stride
        rates.update((name, rate) for name in node.outputs)
    return rates


def slice_axes(node: Node, graph: Graph) -> tuple[int, ...] | None:
    """Axes that a Slice works on, None when they are computed."""
    if len(node.inputs) < 4:
        return None
    axes = constant_ints(node.inputs[3], graph)
    return None if axes is None else tuple(_axis(axis) for axis in axes)


def constant_ints(name: str, graph: Graph) -> tuple[int, ...] | None:
    """The integers of a constant or weight called `name`, None when it is computed."""
    tensor = graph.model.weights.get(name)
    maker = graph.maker.get(name)
    if tensor is None and maker is not None and maker.op == "Constant":
        tensor = maker.tensor_attribute("value")
    if tensor is None or len(tensor.dims) > 1 or sum(tensor.dims) > 16:
        return None
    return tuple(int(value) for value in tensor.array().reshape(-1))


def _axis(axis: int) -> int:
    """Axis of a [batch, channels, time] value, counted from the front."""
    return axis + 3 if axis < 0 else axis
