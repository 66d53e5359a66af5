"""How ExecuTorch checks what it exports."""

class EdgeCompileConfig:
    def __init__(self, *, _check_ir_validity: bool) -> None: ...
