"""Where ExecuTorch puts what a program computes."""

class MemoryPlanningPass:
    def __init__(self, *, alloc_graph_input: bool) -> None: ...
