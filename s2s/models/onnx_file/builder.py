"""Writes an ONNX graph node by node, straight from checkpoint tensors.

Weights go to a data file beside the graph as soon as they are added, so building needs room for
one tensor at a time whatever the size of the model. Knows nothing of any particular model, nor of
the file format.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from s2s.models.onnx_file import (
    Attribute,
    Dim,
    Node,
    OnnxFile,
    Tensor,
    ValueInfo,
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
from s2s.system.intact import damaged, seal

log = logging.getLogger(__name__)

AttributeValue = int | float | str | Sequence[int] | bytes
"""bytes are a graph, as `write_graph` gives it."""

_OPSET = 17
_IR_VERSION = 9
_CONTRIB = "com.microsoft"
_ALIGNMENT = 4096  # onnxruntime maps external data only from page boundaries
_SMALL_BYTES = 1024  # below this a tensor lies in the graph file itself


@dataclass(slots=True)
class _Level:
    """The nodes of a graph, or of one inside another, and the large tensors that lie there."""

    nodes: list[Node] = field(default_factory=list)
    bulk: list[Tensor] = field(default_factory=list)


class GraphBuilder:
    """One graph under construction in ``directory``; `save` finishes it.

    Values are named by strings, as in ONNX. Use as a context manager: the data file is closed
    at the end whatever happens.
    """

    def __init__(
        self, directory: Path, name: str, shared: dict[bytes, Tensor] | None = None
    ) -> None:
        """shared: large weights that graphs of the directory have stored, by their contents; what
        `weight` is given is looked for there first, and added."""
        self._name = name
        self._shared = shared
        self._directory = directory
        self._data_name = f"{name}.onnx.data"
        self._data = (directory / self._data_name).open("wb")
        self._graph = _Level()
        self._weights: list[Tensor] = []
        self._inputs: list[ValueInfo] = []
        self._outputs: list[ValueInfo] = []
        self._constants: dict[tuple[str, tuple[int, ...], bytes], str] = {}
        self._count = 0

    def __enter__(self) -> GraphBuilder:
        return self

    def __exit__(self, *_: object) -> None:
        self._data.close()

    def input(self, name: str, dtype: type[np.generic], shape: Sequence[Dim]) -> str:
        """Declare a graph input; a dimension given as a string is free."""
        self._inputs.append(_value_info(name, dtype, shape))
        return name

    def output(self, name: str, value: str, dtype: type[np.generic], shape: Sequence[Dim]) -> None:
        """Make ``value`` the graph output called ``name``."""
        self.op("Identity", value, name=name)
        self._outputs.append(_value_info(name, dtype, shape))

    def op(
        self,
        op_type: str,
        *inputs: str,
        contrib: bool = False,
        name: str | None = None,
        **attributes: AttributeValue,
    ) -> str:
        """Add a node with one output and return the output's name.

        contrib: the operator is one of onnxruntime's own (domain ``com.microsoft``).
        """
        output = name or self._fresh(op_type)
        self._add_node(op_type, inputs, [output], contrib, attributes)
        return output

    def ops(
        self,
        op_type: str,
        inputs: Sequence[str],
        outputs: Sequence[str],
        contrib: bool = False,
        **attributes: AttributeValue,
    ) -> None:
        """Add a node whose outputs have the given names. An optional input is left out by ""."""
        self._add_node(op_type, inputs, outputs, contrib, attributes)

    def several(self, op_type: str, inputs: Sequence[str], count: int) -> list[str]:
        """Add a node with ``count`` outputs and return their names."""
        outputs = [self._fresh(op_type) for _ in range(count)]
        self._add_node(op_type, inputs, outputs, False, {})
        return outputs

    def expose(self, value: str, dtype: type[np.generic], shape: Sequence[Dim]) -> None:
        """Make ``value`` a graph output under its own name, with no copy in between."""
        self._outputs.append(_value_info(value, dtype, shape))

    def choose(self, condition: str, yes: Callable[[], str], no: Callable[[], str]) -> str:
        """``yes()`` where the bool ``condition`` holds, else ``no()``: only that is computed.

        Both add nodes and return a float32 value; they may use everything added before. What
        they add by `bulk` belongs to the branch: onnxruntime rearranges the weights of an operator
        for speed only where they lie in the operator's own graph.
        """
        branches: list[bytes] = []
        for build in (yes, no):
            with self._inside() as branch:
                value = build()
                outputs = [_any_shape(value, np.float32)]
                branches.append(write_graph(value, branch.nodes, branch.bulk, [], outputs))
        return self.op("If", condition, then_branch=branches[0], else_branch=branches[1])

    def repeat(
        self,
        count: int,
        carried: Sequence[tuple[str, type[np.generic]]],
        build: Callable[[str, list[str]], tuple[list[str], str]],
    ) -> str:
        """What each of ``count`` rounds gives, stacked: int64 [count, ...].

        carried: what the first round starts from, and its type. ``build`` adds the nodes of a
        round, given its number and what is carried into it; it returns what is carried into the
        next and the int64 result. What it adds by `bulk` belongs to the round, as in `choose`.
        """
        number, going = self._fresh("round"), self._fresh("going")
        names = [self._fresh("carried") for _ in carried]
        types = [dtype for _, dtype in carried]
        with self._inside() as body:
            after, result = build(number, names)
            still = self.op("Identity", going)
            inputs = [_value_info(number, np.int64, ()), _value_info(going, np.bool_, ())]
            inputs += [_any_shape(*item) for item in zip(names, types, strict=True)]
            outputs = [_value_info(still, np.bool_, ())]
            outputs += [_any_shape(*item) for item in zip(after, types, strict=True)]
            outputs.append(_any_shape(result, np.int64))
            graph = write_graph(result, body.nodes, body.bulk, inputs, outputs)
        rounds = self.constant(np.array(count, np.int64))
        yes = self.constant(np.array(True))
        *_, stacked = ends = [self._fresh("end") for _ in (*carried, result)]
        start = [value for value, _ in carried]
        self._add_node("Loop", (rounds, yes, *start), ends, False, {"body": graph})
        return stacked

    def split(self, value: str, sizes: Sequence[int], axis: int) -> list[str]:
        """Cut ``value`` along ``axis`` into parts of the given sizes."""
        outputs = [self._fresh("Split") for _ in sizes]
        self._add_node("Split", (value, self.ints(*sizes)), outputs, False, {"axis": axis})
        return outputs

    def add_rms_norm(self, value: str, added: str, weight: str, epsilon: float) -> tuple[str, str]:
        """The root-mean-square norm of ``value + added`` over the last axis, and that sum."""
        normed, total = self._fresh("RmsNorm"), self._fresh("Sum")
        self._add_node(
            "SkipSimplifiedLayerNormalization",
            (value, added, weight),
            [normed, "", "", total],
            True,
            {"epsilon": epsilon},
        )
        return normed, total

    def ints(self, *values: int) -> str:
        """A constant int64 [len(values)]."""
        return self.constant(np.array(values, dtype=np.int64))

    def floats(self, *values: float) -> str:
        """A constant float32 [len(values)]."""
        return self.constant(np.array(values, dtype=np.float32))

    def constant(self, array: npt.NDArray[np.generic]) -> str:
        """A constant kept exactly as it is; equal ones are stored once."""
        array = np.asarray(array, order="C")
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._constants:
            name = self._fresh("const")
            self._weights.append(self._tensor(name, array))
            self._constants[key] = name
        return self._constants[key]

    def weight(self, array: npt.NDArray[np.floating]) -> str:
        """A weight, stored as float32."""
        array = array.astype(np.float32, copy=False)
        if self._shared is not None and array.nbytes > _SMALL_BYTES:
            key = _contents(array)
            if key not in self._shared:
                self._shared[key] = self.store(array)
            return self.include(self._shared[key])
        name = self._fresh("weight")
        self._weights.append(self._tensor(name, array))
        return name

    def bulk(self, array: npt.NDArray[np.generic]) -> str:
        """A large constant kept exactly as it is and never compared with others."""
        return self.include(self.store(array))

    def store(self, array: npt.NDArray[np.generic]) -> Tensor:
        """Write a tensor to the data file, to be used by this graph or another of the folder."""
        return self._tensor(self._fresh("stored"), np.asarray(array, order="C"))

    def include(self, stored: Tensor) -> str:
        """Use what `store` gave, of this graph or another of the folder."""
        name = self._fresh("bulk")
        self._graph.bulk.append(stored.renamed(name))
        return name

    def save(self, metadata: dict[str, str]) -> Path:
        """Write the graph file and return its path; a session can read ``metadata`` back."""
        model = OnnxFile(
            self._graph.nodes,
            {each.name: each for each in self._weights + self._graph.bulk},
            self._inputs,
            self._outputs,
            ir_version=_IR_VERSION,
            opsets={"": _OPSET, _CONTRIB: 1},
            metadata=metadata,
        )
        self._data.flush()
        os.fsync(self._data.fileno())
        path = self._directory / f"{self._name}.onnx"
        path.write_bytes(write_model(model, self._name))
        return path

    @contextmanager
    def _inside(self) -> Generator[_Level, None, None]:
        """What is added meanwhile belongs to an inner graph."""
        outer, self._graph = self._graph, _Level()
        try:
            yield self._graph
        finally:
            self._graph = outer

    def _fresh(self, stem: str) -> str:
        self._count += 1
        return f"{stem}_{self._count}"

    def _add_node(
        self,
        op_type: str,
        inputs: Sequence[str],
        outputs: Sequence[str],
        contrib: bool,
        attributes: dict[str, AttributeValue],
    ) -> None:
        node = Node(
            op_type,
            tuple(inputs),
            tuple(outputs),
            name=outputs[0],
            domain=_CONTRIB if contrib else "",
            attributes=tuple(_attribute(*item) for item in attributes.items()),
        )
        self._graph.nodes.append(node)

    def _tensor(self, name: str, array: npt.NDArray[np.generic]) -> Tensor:
        if array.nbytes <= _SMALL_BYTES:
            return tensor(name, array)
        self._data.write(bytes(-self._data.tell() % _ALIGNMENT))
        offset = self._data.tell()
        array.astype(array.dtype.newbyteorder("<"), copy=False).tofile(self._data)
        return external_tensor(name, array, self._data_name, offset, array.nbytes)


def cached_graph(folder: Path, name: str, build: Callable[[Path], Path]) -> Path:
    """The graph ``name`` in ``folder``, built on first use, and again when it is damaged.

    ``build`` writes the graph into the folder it is given. ``folder`` appears under its name in
    one step, complete; of two processes that build at once one wins and both are served.
    """
    path = folder / f"{name}.onnx"
    if _whole(folder, path):
        return path
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        build(unfinished)
        seal(unfinished)
        try:
            unfinished.rename(folder)
        except OSError:
            if damaged(folder) is not None:  # a damaged folder, not another process's
                shutil.rmtree(folder)
                unfinished.rename(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return path


def _whole(folder: Path, path: Path) -> bool:
    """The folder holds the graph, and every file of it is what was written."""
    if not path.is_file():
        return False
    bad = damaged(folder)
    if bad is not None:
        log.warning("%s is damaged: it is built again", folder / bad)
    return bad is None


def _contents(array: npt.NDArray[np.generic]) -> bytes:
    """Stands for the values and the shape of a weight."""
    found = hashlib.blake2b(repr(array.shape).encode(), digest_size=32)
    found.update(np.ascontiguousarray(array).data)
    return found.digest()


def _attribute(name: str, value: AttributeValue) -> Attribute:
    match value:
        case int():
            return int_attribute(name, value)
        case float():
            return float_attribute(name, value)
        case str():
            return text_attribute(name, value)
        case bytes():
            return graph_attribute(name, value)
        case _:
            return ints_attribute(name, value)


def _value_info(name: str, dtype: type[np.generic], shape: Sequence[Dim]) -> ValueInfo:
    return ValueInfo(name, item_type(dtype), tuple(shape))


def _any_shape(name: str, dtype: type[np.generic]) -> ValueInfo:
    """A value of any shape."""
    return ValueInfo(name, item_type(dtype), (), ranked=False)
