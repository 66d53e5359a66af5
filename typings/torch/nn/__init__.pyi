"""What s2s uses of torch.nn."""

from collections.abc import Sequence

from torch import Tensor

from . import functional as functional

class Parameter(Tensor):
    def __init__(self, data: Tensor, requires_grad: bool = True) -> None: ...

class Module:
    def __init__(self) -> None: ...
    def eval(self) -> Module: ...
    def forward(self, *inputs: Tensor) -> object: ...

class ModuleList(Module):
    def __init__(self, modules: Sequence[Module]) -> None: ...

class Linear(Module):
    weight: Parameter
    bias: Parameter | None
    def __init__(self, into: int, out: int, *, bias: bool = True, device: str = "cpu") -> None: ...
    def __call__(self, x: Tensor) -> Tensor: ...
