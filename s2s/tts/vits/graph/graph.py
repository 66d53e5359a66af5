"""Questions about an ONNX graph, and cutting a part out of it. Knows nothing about VITS."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from s2s.models.onnx_file import Node, OnnxFile, ValueInfo
from s2s.tts.vits.errors import CutError


class Graph:
    """A model with its edges: who makes a value, who uses it."""

    def __init__(self, model: OnnxFile) -> None:
        self.model = model
        self.maker: dict[str, Node] = {}
        self.users: dict[str, list[Node]] = {}
        for node in model.nodes:
            for name in node.outputs:
                if name in self.maker:
                    raise CutError(f"'{name}' is made twice: the graph is damaged")
                self.maker[name] = node
            for name in set(node.inputs):
                self.users.setdefault(name, []).append(node)
        self.input_names = [value.name for value in model.inputs]
        self.output_names = [value.name for value in model.outputs]

    def users_of(self, name: str) -> list[Node]:
        """Nodes that take `name` as an input, in graph order."""
        return self.users.get(name, [])

    def before(self, values: Iterable[str], stop: Iterable[str] = ()) -> set[str]:
        """Every value that `values` are computed from, themselves included; not past `stop`."""
        stops = set(stop)
        seen: set[str] = set()
        todo = list(values)
        while todo:
            name = todo.pop()
            if not name or name in seen:
                continue
            seen.add(name)
            if name not in stops and name in self.maker:
                todo.extend(self.maker[name].inputs)
        return seen

    def after(self, values: Iterable[str]) -> set[str]:
        """Every value that is computed from `values`, themselves included."""
        seen: set[str] = set()
        todo = list(values)
        while todo:
            name = todo.pop()
            if name in seen:
                continue
            seen.add(name)
            for node in self.users_of(name):
                todo.extend(node.outputs)
        return seen

    @cached_property
    def fixed(self) -> set[str]:
        """Values of no input and no random number: weights, constants and their products."""
        free = self.after(
            [*self.input_names]
            + [name for node in self.model.nodes if _is_random(node) for name in node.outputs]
        )
        return (set(self.maker) | set(self.model.weights)) - free

    def inputs_of(self, values: Iterable[str], stop: Iterable[str] = ()) -> set[str]:
        """Graph inputs that `values` still need when the values in `stop` are given."""
        found = self.before(values, stop)
        return (found & set(self.input_names)) - set(stop)

    def cut(self, inputs: Mapping[str, ValueInfo], outputs: Mapping[str, ValueInfo]) -> OnnxFile:
        """The part of the graph between two sets of values.

        Args:
            inputs: value inside the graph -> its name, type and shape as an input of the part.
            outputs: the same for what the part gives. A graph input keeps its own name when it
                is listed under it.

        Raises:
            CutError: the part needs something that is neither given nor fixed.
        """
        needed = self.before(outputs, inputs)
        missing = (needed & set(self.input_names)) - set(inputs)
        if missing:
            raise CutError(f"the part also needs {sorted(missing)}")
        names = {old: value.name for old, value in {**inputs, **outputs}.items()}
        made = needed - set(inputs)
        nodes = [
            _renamed(node, names)
            for node in self.model.nodes
            if any(name in made for name in node.outputs)
        ]
        weights = {name: weight for name, weight in self.model.weights.items() if name in needed}
        return OnnxFile(
            nodes,
            weights,
            list(inputs.values()),
            list(outputs.values()),
            self.model.ir_version,
            dict(self.model.opsets),
        )


def _is_random(node: Node) -> bool:
    return node.op.startswith("Random") or node.op in ("Bernoulli", "Multinomial")


def _renamed(node: Node, names: Mapping[str, str]) -> Node:
    inputs = tuple(names.get(name, name) for name in node.inputs)
    outputs = tuple(names.get(name, name) for name in node.outputs)
    if inputs == node.inputs and outputs == node.outputs:
        return node
    return Node(node.op, inputs, outputs, node.name, node.domain, node.attributes)
