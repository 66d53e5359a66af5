"""CUDA."""

from executorch.exir.backend.partitioner import Partitioner

class CudaPartitioner(Partitioner):
    def __init__(self, compile_spec: list[object]) -> None: ...
