"""What s2s uses of torch.export."""

from collections.abc import Mapping, Sequence

from torch import Tensor
from torch.nn import Module

class Dim:
    def __init__(self, name: str, *, min: int, max: int) -> None: ...
    def __rmul__(self, factor: int) -> Dim: ...

class ExportedProgram: ...

def export(
    module: Module,
    inputs: tuple[Tensor, ...],
    *,
    dynamic_shapes: tuple[Sequence[Mapping[int, Dim]]] | None,
    strict: bool,
) -> ExportedProgram: ...
