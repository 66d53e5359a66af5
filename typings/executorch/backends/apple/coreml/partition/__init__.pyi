"""CoreML."""

from executorch.exir.backend.partitioner import Partitioner

class CoreMLPartitioner(Partitioner): ...
