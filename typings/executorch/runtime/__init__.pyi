"""What s2s uses of ExecuTorch's runtime."""

from collections.abc import Sequence
from pathlib import Path

from torch import Tensor

class Method:
    def execute(self, inputs: Sequence[Tensor]) -> Sequence[Tensor]: ...

class Program:
    @property
    def method_names(self) -> set[str]: ...
    def load_method(self, name: str) -> Method | None: ...

class BackendRegistry:
    def is_available(self, backend_name: str) -> bool: ...

class Runtime:
    backend_registry: BackendRegistry
    @staticmethod
    def get() -> Runtime: ...
    def load_program(self, data: Path) -> Program: ...
