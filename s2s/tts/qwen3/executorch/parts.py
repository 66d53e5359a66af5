"""What exported modules are made of: matrices, norms and attention, and how they become a program.

XNNPACK takes no slices of a free length and no reshapes by one, so what is computed over a free
number of rows does without: the halves of a head are turned by a matrix, means are products, and
what comes before is an input of its own (docs/decisions/qwen3-executorch-core.md). torch is
imported when something is exported, never before. Knows no checkpoint.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from s2s.tts.qwen3.executorch.delegates import delegate_named
from s2s.tts.qwen3.executorch.quant import GROUP, ExportMix
from s2s.tts.qwen3.interfaces import Floats

if TYPE_CHECKING:
    from executorch.exir import EdgeProgramManager, ExecutorchProgramManager
    from torch import Tensor
    from torch.export import Dim, ExportedProgram
    from torch.nn import Linear, Module

log = logging.getLogger(__name__)

MASKED = -1e9
"""Added to the score of what is not to be seen."""

Product = Callable[["Tensor"], "Tensor"]
Compute = Callable[..., "tuple[Tensor, ...]"]
Sizes = Mapping[int, "Dim"]


class ProgramParts:
    """The matrices of one program; what else it holds are constants."""

    def __init__(self) -> None:
        self._matrices: list[tuple[Linear, ExportMix | None]] = []

    def matrix(
        self,
        weight: npt.NDArray[np.floating],
        bias: npt.NDArray[np.floating] | None = None,
        mix: ExportMix | None = None,
    ) -> Product:
        """x [n, in] to x times ``weight`` [out, in] and a bias; ``mix``: how it is quantised."""
        import torch

        out, into = weight.shape
        # Without memory of its own: the weight's takes its place.
        made = torch.nn.Linear(into, out, bias=bias is not None, device="meta")
        made.weight = torch.nn.Parameter(tensor(weight), requires_grad=False)
        if bias is not None:
            made.bias = torch.nn.Parameter(tensor(bias), requires_grad=False)
        self._matrices.append((made, mix))
        return made

    def norm(self, width: int, epsilon: float, weight: Floats | None = None) -> Product:
        """The root-mean-square norm of the last axis."""
        import torch

        mean = self.matrix(np.full((1, width), 1 / width, np.float32))
        scale = None if weight is None else tensor(weight)

        def normed(x: Tensor) -> Tensor:
            level = torch.rsqrt(mean(x * x) + epsilon)
            return x * level if scale is None else x * level * scale

        return normed

    def module(self, compute: Compute) -> Module:
        """What `torch.export` takes: ``compute`` with these matrices, quantised."""
        import torch

        class Program(torch.nn.Module):
            def __init__(self, matrices: Sequence[Module]) -> None:
                super().__init__()
                self.matrices = torch.nn.ModuleList(matrices)

            def forward(self, *inputs: Tensor) -> tuple[Tensor, ...]:
                return compute(*inputs)

        made = Program([matrix for matrix, _ in self._matrices])
        made.eval()
        for bits in (8, 4):
            chosen = {id(m) for m, mix in self._matrices if mix is not None and mix.bits == bits}
            if chosen:
                _quantize(made, bits, chosen)
        return made


def tensor(values: npt.NDArray[np.floating]) -> Tensor:
    """Float32 in memory of its own."""
    import torch

    return torch.from_numpy(np.array(values, np.float32, order="C"))


def _quantize(module: Module, bits: int, chosen: set[int]) -> None:
    """The chosen matrices of a module, in place."""
    import torch
    from torchao.quantization import Int8DynamicActivationIntxWeightConfig, quantize_
    from torchao.quantization.granularity import PerAxis, PerGroup

    config = Int8DynamicActivationIntxWeightConfig(
        weight_dtype=torch.int4 if bits == 4 else torch.int8,
        weight_granularity=PerGroup(GROUP) if bits == 4 else PerAxis(0),
    )
    quantize_(module, config, lambda each, _: id(each) in chosen)


@dataclass(frozen=True, slots=True)
class HeadShape:
    """Heads of queries, heads of keys and values, and the width of each."""

    heads: int
    kv_heads: int
    width: int

    @property
    def sharing(self) -> int:
        """Queries to a key."""
        return self.heads // self.kv_heads


@dataclass(frozen=True, slots=True)
class Rotation:
    """Rotary positions: ``cosine`` and ``sine`` [n, 1, width] of both halves of a head."""

    cosine: Tensor
    sine: Tensor
    swap: Product

    def __call__(self, x: Tensor) -> Tensor:
        """x [n, heads, width]."""
        return x * self.cosine + self.swap(x) * self.sine


def swap_matrix(width: int) -> Floats:
    """[width, width]: the second half of a head, negated, in front of the first."""
    half = width // 2
    made = np.zeros((width, width), np.float32)
    made[:half, half:] = -np.eye(half, dtype=np.float32)
    made[half:, :half] = np.eye(half, dtype=np.float32)
    return made


@dataclass(frozen=True, slots=True)
class Past:
    """What came before: ``keys`` [kv heads, width, room], ``values`` [kv heads, room, width] and a
    mask [sharing * n, room + n], added to the scores, for what is before and the new rows."""

    keys: Tensor
    values: Tensor
    mask: Tensor


def attend(
    shape: HeadShape, query: Tensor, key: Tensor, value: Tensor, past: Past
) -> tuple[Tensor, Tensor, Tensor]:
    """query [n, heads, width], scaled, and key and value [n, kv heads, width] of new rows. Returns
    the mixed values [n, heads * width], and keys and values [kv heads, n, width] of these rows."""
    import torch

    by_key = query.permute(1, 0, 2).contiguous().view(shape.kv_heads, -1, shape.width)
    key = key.permute(1, 0, 2).contiguous()
    value = value.permute(1, 0, 2).contiguous()
    scores = torch.cat([torch.bmm(by_key, past.keys), torch.bmm(by_key, key.permute(0, 2, 1))], -1)
    weights = torch.softmax(scores + past.mask, -1)
    mixed = torch.bmm(weights, torch.cat([past.values, value], 1)).view(
        shape.heads, -1, shape.width
    )
    rows = mixed.permute(1, 0, 2).contiguous().view(-1, shape.heads * shape.width)
    return rows, key, value


@dataclass(frozen=True, slots=True)
class Method:
    """One method of a program: what it computes, example inputs, and which of their sizes are
    free."""

    module: Module
    inputs: tuple[Tensor, ...]
    free: tuple[Sizes, ...] = ()


def traced(method: Method) -> ExportedProgram:
    """The operators of a method, for every size that is free."""
    import torch
    from torch.fx.experimental import _config as shapes

    free = (tuple(dict(each) for each in method.free),) if method.free else None
    # A free size may be one: nothing is concluded from its not being so.
    with torch.no_grad(), shapes.patch(backed_size_oblivious=True):
        return torch.export.export(method.module, method.inputs, dynamic_shapes=free, strict=False)


def lowered_edge(methods: Mapping[str, Method], delegate: str) -> EdgeProgramManager:
    """The methods with what a delegate takes of each in its own form. Raises BackendError where it
    takes something that is missing."""
    from executorch.exir import to_edge_transform_and_lower
    from executorch.exir.capture import EdgeCompileConfig

    chosen = delegate_named(delegate).for_methods(list(methods))
    return to_edge_transform_and_lower(
        {name: traced(method) for name, method in methods.items()},
        partitioner={name: [each] for name, each in chosen.items()},
        # Quantised products are operators of torchao's, which its check does not know.
        compile_config=EdgeCompileConfig(_check_ir_validity=False),
    )


def lowered(methods: Mapping[str, Method], delegate: str) -> ExecutorchProgramManager:
    """A program of these methods for a delegate. Raises as `lowered_edge` does."""
    from executorch.exir import ExecutorchBackendConfig
    from executorch.exir.passes import MemoryPlanningPass

    # Inputs are read where they lie: caches are not copied.
    plan = MemoryPlanningPass(alloc_graph_input=False)
    config = ExecutorchBackendConfig(memory_planning_pass=plan)
    return lowered_edge(methods, delegate).to_executorch(config)
