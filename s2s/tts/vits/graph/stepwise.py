"""Turns a convolutional graph into one that runs in steps and decodes no frame twice.

The graph that comes out takes the next frames and the state of the step before, and gives the next
sound and the new state. Fed with all frames in any steps it gives exactly what the original gives
at once:

- a convolution keeps the end of its input and has no padding of its own. Before the first step the
  kept end is the left padding; the right padding is added in the last step, so that inside the
  utterance a value simply comes as much later as its right padding is wide;
- a transposed convolution keeps the inputs whose output still overlaps what comes, and gives only
  positions that nothing will be added to any more;
- where two values meet that come at different times, the earlier one waits in a queue.

Masks of ones, and zeros in the shape of a value, which exporters leave behind, are dropped: they
would have the wrong length and change nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from s2s.models.onnx_file import (
    FLOAT,
    INT64,
    Attribute,
    Node,
    OnnxFile,
    Tensor,
    ValueInfo,
    int_attribute,
    ints_attribute,
    tensor,
)
from s2s.tts.vits.errors import CutError
from s2s.tts.vits.graph.graph import Graph
from s2s.tts.vits.graph.receptive_field import (
    Kernel,
    OperatorKind,
    constant_ints,
    kernel_of,
    kind_of,
    moving_values,
)

Array = npt.NDArray[np.float32] | npt.NDArray[np.int64]

_END = 2**62


@dataclass(frozen=True, slots=True)
class StepState:
    """A value kept from step to step, float32 [1, channels, length]."""

    source: str
    """Input of the graph."""
    result: str
    """Output of the graph that is the next step's `source`."""
    channels: int
    initial: int
    """Length before the first step, in zeros."""


@dataclass(frozen=True, slots=True)
class Tail:
    """Zeros behind the end of the utterance: float32 [1, channels, length], empty until then."""

    source: str
    channels: int
    length: int


@dataclass(frozen=True, slots=True)
class Edge:
    """Where a slice begins or ends: int64 [1], different in the first or the last step."""

    source: str
    middle: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Steps:
    """What to feed a graph that runs in steps, besides the frames."""

    states: tuple[StepState, ...]
    tails: tuple[Tail, ...]
    edges: tuple[Edge, ...]
    lag: int
    """Samples by which the output comes later than its frames, until the last step."""
    hop: int

    @property
    def lead(self) -> int:
        """Frames that the first step must at least have, unless it is also the last."""
        return -(-self.lag // self.hop) + 1


def initial_state(steps: Steps) -> dict[str, Array]:
    """What to feed as the state of the first step: source -> float32 [1, channels, initial]."""
    return {
        state.source: np.zeros((1, state.channels, state.initial), np.float32)
        for state in steps.states
    }


def step_inputs(steps: Steps, *, first: bool, last: bool) -> dict[str, Array]:
    """What to feed besides frames and state: source -> array."""
    feed: dict[str, Array] = {
        tail.source: np.zeros((1, tail.channels, tail.length if last else 0), np.float32)
        for tail in steps.tails
    }
    for edge in steps.edges:
        value = edge.first if first and edge.first != edge.middle else edge.middle
        value = edge.last if last and edge.last != edge.middle else value
        feed[edge.source] = np.array([value], np.int64)
    return feed


def make_stepwise(
    model: OnnxFile, moving: Mapping[str, int], output: str, mask: str | None = None
) -> tuple[OnnxFile, Steps]:
    """Rewrite `model` to run in steps; gives the new graph and what to feed it.

    Args:
        model: a part cut from a voice.
        moving: its inputs that run along time -> their channels.
        output: the result, with one channel along time.
        mask: an input of ones along time, dropped.

    Raises:
        CutError: an operator for which no exact stepwise form is known.
    """
    rewriter = _Rewriter(model, moving, output, mask)
    for node in model.nodes:
        rewriter.add(node)
    return rewriter.finish()


@dataclass(slots=True)
class _Value:
    """A value that runs along time, in the new graph."""

    name: str
    channels: int
    rate: int
    lag: int


@dataclass(slots=True)
class _Rewriter:
    model: OnnxFile
    sources: Mapping[str, int]
    output: str
    mask: str | None
    graph: Graph = field(init=False)
    moving: set[str] = field(init=False)
    values: dict[str, _Value] = field(init=False)
    numbers: dict[str, float] = field(init=False)
    nodes: list[Node] = field(default_factory=list)
    weights: dict[str, Tensor] = field(default_factory=dict)
    states: list[StepState] = field(default_factory=list)
    tails: dict[tuple[int, int], Tail] = field(default_factory=dict)
    edges: dict[tuple[int, int, int], Edge] = field(default_factory=dict)
    padded: dict[tuple[str, Kernel], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.graph = Graph(self.model)
        self.moving = moving_values(self.graph, self.sources)
        self.values = {name: _Value(name, n, 1, 0) for name, n in self.sources.items()}
        self.numbers = {self.mask: 1.0} if self.mask else {}

    # --- one node ------------------------------------------------------------------------------

    def add(self, node: Node) -> None:
        """Take over one node of the original graph, rewritten where it looks along time."""
        if self._is_number(node):
            return
        if not any(name in self.values for name in node.inputs):
            self.nodes.append(node)
            return
        match kind_of(node, self.graph):
            case OperatorKind.SHAPE:
                return
            case OperatorKind.POINTWISE:
                self._pointwise(node)
            case OperatorKind.CONV:
                self._convolution(node)
            case OperatorKind.UPSAMPLE:
                self._upsample(node)
            case OperatorKind.CHANNELS:
                self._channels(node)
            case OperatorKind.FINISH:
                if node.outputs[0] != self.output:
                    raise CutError(f"'{node.name}' ({node.op}) is in the middle of the graph")
                self.values[self.output] = self.values[node.inputs[0]]

    def _is_number(self, node: Node) -> bool:
        """Follow values that are one number everywhere; true when the node makes only such."""
        if node.op == "ConstantOfShape":
            value = node.tensor_attribute("value")
            number = float(value.array().reshape(-1)[0]) if value else 0.0
            self.numbers[node.outputs[0]] = number
            return True
        if not any(name in self.numbers for name in node.inputs):
            return False
        if any(name in self.values for name in node.inputs):
            return False
        known = [self.numbers.get(name) for name in node.inputs]
        number = _evaluate(node.op, known)
        if number is None:
            raise CutError(f"'{node.name}' ({node.op}) works on a filled shape")
        self.numbers.update(dict.fromkeys(node.outputs, number))
        return True

    def _pointwise(self, node: Node) -> None:
        data = [self.values[name] for name in node.inputs if name in self.values]
        if len(data) == 1 and self._changes_nothing(node):
            self.values[node.outputs[0]] = data[0]
            return
        latest = max(data, key=lambda value: value.lag)
        if len({value.rate for value in data}) > 1:
            raise CutError(f"'{node.name}' mixes values of different rates")
        names = tuple(self._operand(name, latest.lag) for name in node.inputs)
        self._emit(node, names, max(value.channels for value in data), latest.rate, latest.lag)

    def _operand(self, name: str, lag: int) -> str:
        if name in self.values:
            return self._delayed(self.values[name], lag).name
        if name in self.numbers:
            return self._weight(np.full((1, 1, 1), self.numbers[name], np.float32))
        return name

    def _changes_nothing(self, node: Node) -> bool:
        if len(node.inputs) != 2:
            return node.op == "Identity"
        left, right = (self.numbers.get(name) for name in node.inputs)
        match node.op:
            case "Add":
                return left == 0.0 or right == 0.0
            case "Mul":
                return left == 1.0 or right == 1.0
            case "Sub":
                return right == 0.0
            case "Div":
                return right == 1.0
            case _:
                pass
        return False

    def _channels(self, node: Node) -> None:
        data = [self.values[name] for name in node.inputs if name in self.values]
        if node.op == "Concat":
            if len(data) != len(node.inputs):
                raise CutError(f"'{node.name}' joins values with and without time")
            lag = max(value.lag for value in data)
            names = tuple(self._delayed(value, lag).name for value in data)
            self._emit(node, names, sum(value.channels for value in data), data[0].rate, lag)
            return
        names = (data[0].name, *node.inputs[1:])
        counts = self._channel_counts(node, data[0].channels)
        for name, channels in zip(node.outputs, counts, strict=True):
            self.values[name] = _Value(name, channels, data[0].rate, data[0].lag)
        self.nodes.append(_like(node, names))

    def _channel_counts(self, node: Node, channels: int) -> list[int]:
        if node.op == "Split":
            sizes = node.ints_attribute("split")
            if sizes is None and len(node.inputs) > 1:
                sizes = constant_ints(node.inputs[1], self.graph)
            return list(sizes or [channels // len(node.outputs)] * len(node.outputs))
        bounds = [constant_ints(name, self.graph) for name in node.inputs[1:]]
        if any(bound is None or len(bound) != 1 for bound in bounds):
            raise CutError(f"'{node.name}' slices channels by computed bounds")
        start, stop, _, step = [bound[0] if bound else 1 for bound in [*bounds, (1,)][:4]]
        return [len(range(channels)[slice(*_clamped(start, stop, step, channels))])]

    def _convolution(self, node: Node) -> None:
        value = self.values[node.inputs[0]]
        kernel = kernel_of(node, self.graph)
        weight = self.model.weights.get(node.inputs[1])
        if weight is None:
            raise CutError(f"the weight of '{node.name}' is computed, not stored")
        name = self._with_context(value, kernel)
        bare = _without_pads(node)
        lag = value.lag + kernel.pads[1]
        self._emit(bare, (name, *node.inputs[1:]), weight.dims[0], value.rate, lag)

    def _with_context(self, value: _Value, kernel: Kernel) -> str:
        """`value` behind the end of the step before, [1, channels, extent + positions]."""
        if kernel.extent == 0:
            return value.name
        key = (value.name, kernel)
        if key not in self.padded:
            source = self._state(value, kernel.extent, initial=kernel.pads[0])
            parts = [source, value.name]
            if kernel.pads[1]:
                parts.append(self._tail(value.channels, kernel.pads[1]))
            joined = self._join(parts)
            self._keep_end(joined, kernel.extent)
            self.padded[key] = joined
        return self.padded[key]

    def _upsample(self, node: Node) -> None:
        value = self.values[node.inputs[0]]
        kernel = kernel_of(node, self.graph)
        weight = self.model.weights.get(node.inputs[1])
        if weight is None or kernel.output_padding:
            raise CutError(f"'{node.name}' has a computed weight or padded output")
        pad, stride = kernel.pads[0], kernel.stride
        overlap = -(-(kernel.size - stride) // stride)
        name = value.name
        if overlap:
            name = self._join([self._state(value, overlap, initial=0), name])
            self._keep_end(name, overlap)
        raw = self._fresh("raw")
        bare = _without_pads(node)
        self.nodes.append(Node(bare.op, (name, *node.inputs[1:]), (raw,), "", "", bare.attributes))
        unfinished = kernel.size - stride
        start = self._edge(overlap * stride, first=pad, last=overlap * stride)
        end = self._edge(_back(unfinished), first=_back(unfinished), last=_back(kernel.pads[1]))
        out = node.outputs[0]
        self._slice(raw, start, end, out)
        channels = weight.dims[1] * node.int_attribute("group", 1)
        self.values[out] = _Value(out, channels, value.rate * stride, value.lag * stride + pad)

    def _delayed(self, value: _Value, lag: int) -> _Value:
        """`value` held back until it comes at `lag`."""
        wait = lag - value.lag
        if wait == 0:
            return value
        joined = self._join([self._state(value, wait, initial=0), value.name])
        self._keep_end(joined, wait)
        name = self._fresh("waited")
        start = self._weight(np.array([0], np.int64))
        end = self._edge(-wait, first=-wait, last=_END)
        self._slice(joined, start, end, name)
        return _Value(name, value.channels, value.rate, lag)

    # --- pieces --------------------------------------------------------------------------------

    def _emit(self, node: Node, inputs: Sequence[str], channels: int, rate: int, lag: int) -> None:
        self.nodes.append(_like(node, tuple(inputs)))
        self.values[node.outputs[0]] = _Value(node.outputs[0], channels, rate, lag)

    def _fresh(self, word: str) -> str:
        return f"step/{word}_{len(self.nodes)}"

    def _state(self, value: _Value, length: int, initial: int) -> str:
        name = f"state_{len(self.states)}"
        self.states.append(StepState(name, f"{name}_next", value.channels, initial))
        return name

    def _keep_end(self, name: str, length: int) -> None:
        """The last `length` positions of `name` are the newest state's next value."""
        start = self._weight(np.array([-length], np.int64))
        end = self._weight(np.array([_END], np.int64))
        self._slice(name, start, end, self.states[-1].result)

    def _tail(self, channels: int, length: int) -> str:
        key = (channels, length)
        if key not in self.tails:
            self.tails[key] = Tail(f"tail_{channels}_{length}", channels, length)
        return self.tails[key].source

    def _edge(self, middle: int, *, first: int, last: int) -> str:
        if middle == first == last:
            return self._weight(np.array([middle], np.int64))
        key = (middle, first, last)
        if key not in self.edges:
            self.edges[key] = Edge(f"edge_{len(self.edges)}", middle, first, last)
        return self.edges[key].source

    def _weight(self, values: Array) -> str:
        name = f"step/const_{values.dtype}_{values.reshape(-1)[0]}"
        self.weights.setdefault(name, tensor(name, values))
        return name

    def _join(self, names: Sequence[str]) -> str:
        name = self._fresh("joined")
        self.nodes.append(
            Node("Concat", tuple(names), (name,), "", "", (int_attribute("axis", 2),))
        )
        return name

    def _slice(self, name: str, start: str, end: str, out: str) -> None:
        axis = self._weight(np.array([2], np.int64))
        self.nodes.append(Node("Slice", (name, start, end, axis), (out,)))

    def finish(self) -> tuple[OnnxFile, Steps]:
        """The rewritten graph, without nodes that nothing needs."""
        if self.output not in self.values:
            raise CutError(f"'{self.output}' does not depend on the frames")
        result = self.values[self.output]
        audio = "audio_step"
        self.nodes.append(Node("Identity", (result.name,), (audio,)))
        moving = [ValueInfo(n, FLOAT, (1, c, "frames")) for n, c in self.sources.items()]
        fixed = [v for v in self.model.inputs if v.name not in {*self.sources, self.mask}]
        states = [ValueInfo(s.source, FLOAT, (1, s.channels, None)) for s in self.states]
        tails = [ValueInfo(t.source, FLOAT, (1, t.channels, None)) for t in self.tails.values()]
        edges = [ValueInfo(e.source, INT64, (1,)) for e in self.edges.values()]
        outputs = [ValueInfo(audio, FLOAT, (1, result.channels, None))]
        outputs += [ValueInfo(s.result, FLOAT, (1, s.channels, None)) for s in self.states]
        inputs = {v.name: v for v in [*moving, *fixed, *states, *tails, *edges]}
        whole = OnnxFile(
            self.nodes,
            {**self.model.weights, **self.weights},
            list(inputs.values()),
            outputs,
            self.model.ir_version,
            dict(self.model.opsets),
        )
        part = Graph(whole).cut(inputs, {v.name: v for v in outputs})
        steps = Steps(
            tuple(self.states),
            tuple(self.tails.values()),
            tuple(self.edges.values()),
            result.lag,
            result.rate,
        )
        return part, steps


def _like(node: Node, inputs: tuple[str, ...]) -> Node:
    return Node(node.op, inputs, node.outputs, node.name, node.domain, node.attributes)


def _without_pads(node: Node) -> Node:
    kept: tuple[Attribute, ...] = tuple(
        a for a in node.attributes if a.name not in ("pads", "auto_pad", "output_padding")
    )
    attributes = (*kept, ints_attribute("pads", (0, 0)))
    return Node(node.op, node.inputs, node.outputs, node.name, node.domain, attributes)


def _back(positions: int) -> int:
    """A slice's end `positions` before the end."""
    return -positions if positions else _END


def _clamped(start: int, stop: int, step: int, size: int) -> tuple[int, int | None, int]:
    """ONNX slice bounds as Python's: out of range means the edge."""
    if step < 0:
        start = min(start, size - 1)
        return start, (None if stop < -size else stop), step
    return start, min(stop, size), step


def _evaluate(op: str, known: Sequence[float | None]) -> float | None:
    """An operator on values that are one number everywhere; None when it is not so simple."""
    if op in ("Identity", "Slice", "Cast", "Expand") and known[0] is not None:
        return known[0]
    if any(value is None for value in known):
        return None
    numbers = [value for value in known if value is not None]
    match op:
        case "Neg":
            return -numbers[0]
        case "Exp":
            return float(np.exp(np.float32(numbers[0])))
        case "Add":
            return numbers[0] + numbers[1]
        case "Sub":
            return numbers[0] - numbers[1]
        case "Mul":
            return numbers[0] * numbers[1]
        case _:
            pass
    return None
