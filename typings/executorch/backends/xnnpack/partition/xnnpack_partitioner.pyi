"""XNNPACK."""

from executorch.exir.backend.partitioner import Partitioner

class XnnpackPartitioner(Partitioner): ...
