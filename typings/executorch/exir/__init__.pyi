"""What s2s uses of ExecuTorch to export."""

from collections.abc import Mapping, Sequence

from torch.export import ExportedProgram

from .backend.partitioner import Partitioner
from .capture import EdgeCompileConfig
from .passes import MemoryPlanningPass

class ExecutorchBackendConfig:
    def __init__(self, *, memory_planning_pass: MemoryPlanningPass) -> None: ...

class ExecutorchProgramManager:
    @property
    def buffer(self) -> bytes: ...

class EdgeProgramManager:
    def to_executorch(self, config: ExecutorchBackendConfig) -> ExecutorchProgramManager: ...

def to_edge_transform_and_lower(
    programs: Mapping[str, ExportedProgram],
    *,
    partitioner: Mapping[str, Sequence[Partitioner]],
    compile_config: EdgeCompileConfig,
) -> EdgeProgramManager: ...
