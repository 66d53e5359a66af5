"""Writes an ONNX graph node by node, straight from checkpoint tensors.

Weights go to a data file beside the graph as soon as they are added, so building needs room for
one tensor at a time whatever the size of the model. Needs the ``onnx`` package. Knows nothing of
any particular model.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto, TensorProto, ValueInfoProto

Attribute: TypeAlias = "int | float | str | Sequence[int] | GraphProto"
Dim = int | str

_OPSET = 17
_IR_VERSION = 9
_CONTRIB = "com.microsoft"
_ALIGNMENT = 4096  # onnxruntime maps external data only from page boundaries
_SMALL_BYTES = 1024  # below this a tensor lies in the graph file itself


@dataclass(slots=True)
class _Level:
    """The nodes of a graph, or of one inside another, and the large tensors that lie there."""

    nodes: list[NodeProto] = field(default_factory=list)
    bulk: list[TensorProto] = field(default_factory=list)


class GraphBuilder:
    """One graph under construction in ``directory``; `save` finishes it.

    Values are named by strings, as in ONNX. Use as a context manager: the data file is closed
    at the end whatever happens.
    """

    def __init__(self, directory: Path, name: str) -> None:
        self._name = name
        self._directory = directory
        self._data_name = f"{name}.onnx.data"
        self._data = (directory / self._data_name).open("wb")
        self._graph = _Level()
        self._weights: list[TensorProto] = []
        self._inputs: list[ValueInfoProto] = []
        self._outputs: list[ValueInfoProto] = []
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
        **attributes: Attribute,
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
        **attributes: Attribute,
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
        from onnx import helper

        branches: list[GraphProto] = []
        for build in (yes, no):
            with self._inside() as branch:
                value = build()
                outputs = [_any_shape(value, np.float32)]
                branches.append(helper.make_graph(branch.nodes, value, [], outputs, branch.bulk))
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
        from onnx import helper

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
            graph = helper.make_graph(body.nodes, result, inputs, outputs, body.bulk)
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
        name = self._fresh("weight")
        self._weights.append(self._tensor(name, array.astype(np.float32, copy=False)))
        return name

    def bulk(self, array: npt.NDArray[np.generic]) -> str:
        """A large constant kept exactly as it is and never compared with others."""
        return self.include(self.store(array))

    def store(self, array: npt.NDArray[np.generic]) -> TensorProto:
        """Write a tensor to the data file, to be used by this graph or another of the folder."""
        return self._tensor(self._fresh("stored"), np.asarray(array, order="C"))

    def include(self, stored: TensorProto) -> str:
        """Use what `store` gave, of this graph or another of the folder."""
        from onnx import TensorProto

        tensor = TensorProto()
        tensor.CopyFrom(stored)
        tensor.name = self._fresh("bulk")
        self._graph.bulk.append(tensor)
        return tensor.name

    def save(self, metadata: dict[str, str]) -> Path:
        """Write the graph file and return its path; a session can read ``metadata`` back."""
        import onnx
        from onnx import helper

        graph = helper.make_graph(
            self._graph.nodes,
            self._name,
            self._inputs,
            self._outputs,
            initializer=self._weights + self._graph.bulk,
        )
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", _OPSET), helper.make_opsetid(_CONTRIB, 1)],
            ir_version=_IR_VERSION,
            producer_name="s2s",
        )
        helper.set_model_props(model, metadata)
        self._data.flush()
        os.fsync(self._data.fileno())
        path = self._directory / f"{self._name}.onnx"
        onnx.save_model(model, str(path))
        return path

    @contextmanager
    def _inside(self) -> Iterator[_Level]:
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
        attributes: dict[str, Attribute],
    ) -> None:
        from onnx import helper

        node = helper.make_node(op_type, list(inputs), list(outputs), name=outputs[0])
        node.attribute.extend(helper.make_attribute(*item) for item in attributes.items())
        if contrib:
            node.domain = _CONTRIB
        self._graph.nodes.append(node)

    def _tensor(self, name: str, array: npt.NDArray[np.generic]) -> TensorProto:
        from onnx import TensorProto, helper, numpy_helper

        if array.nbytes <= _SMALL_BYTES:
            return numpy_helper.from_array(array, name)
        self._data.write(bytes(-self._data.tell() % _ALIGNMENT))
        offset = self._data.tell()
        array.astype(array.dtype.newbyteorder("<"), copy=False).tofile(self._data)
        tensor = TensorProto(
            name=name,
            data_type=helper.np_dtype_to_tensor_dtype(array.dtype),
            dims=array.shape,
            data_location=TensorProto.EXTERNAL,
        )
        for key, value in (
            ("location", self._data_name),
            ("offset", str(offset)),
            ("length", str(array.nbytes)),
        ):
            tensor.external_data.add(key=key, value=value)
        return tensor


def cached_graph(folder: Path, name: str, build: Callable[[Path], Path]) -> Path:
    """The graph ``name`` in ``folder``, built on first use.

    ``build`` writes the graph into the folder it is given. ``folder`` appears under its name in
    one step, complete; of two processes that build at once one wins and both are served.
    """
    path = folder / f"{name}.onnx"
    if path.is_file():
        return path
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        build(unfinished)
        try:
            unfinished.rename(folder)
        except OSError:
            if not path.is_file():  # a folder that lost its graph, not another process's
                shutil.rmtree(folder)
                unfinished.rename(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return path


def _value_info(name: str, dtype: type[np.generic], shape: Sequence[Dim]) -> ValueInfoProto:
    from onnx import helper

    element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return helper.make_tensor_value_info(name, element, list(shape))


def _any_shape(name: str, dtype: type[np.generic]) -> ValueInfoProto:
    """A value of any shape."""
    from onnx import helper

    element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return helper.make_tensor_value_info(name, element, None)
