"""How a program is compiled for QNN."""

from executorch.backends.qualcomm.serialization.qc_schema import QcomChipset

def generate_htp_compiler_spec(use_fp16: bool) -> object: ...
def generate_qnn_executorch_compiler_spec(
    soc_model: QcomChipset, backend_options: object
) -> list[object]: ...
