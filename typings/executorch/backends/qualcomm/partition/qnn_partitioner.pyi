"""QNN."""

from executorch.exir.backend.partitioner import Partitioner

class QnnPartitioner(Partitioner):
    def __init__(self, compiler_specs: list[object]) -> None: ...
