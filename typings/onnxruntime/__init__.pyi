# What this project uses of ONNX Runtime, which brings no types of its own.
from collections.abc import Mapping, Sequence
from typing import Any

import numpy.typing as npt

Array = npt.NDArray[Any]

__version__: str

class NodeArg:
    name: str
    type: str
    shape: list[int | str | None]

class ModelMetadata:
    custom_metadata_map: dict[str, str]

class OrtValue:
    @staticmethod
    def ortvalue_from_numpy(
        numpy_obj: Array, device_type: str = ..., device_id: int = ...
    ) -> OrtValue: ...
    @staticmethod
    def ortvalue_from_shape_and_type(
        shape: Sequence[int],
        element_type: object = ...,
        device_type: str = ...,
        device_id: int = ...,
    ) -> OrtValue: ...
    def numpy(self) -> Array: ...
    def shape(self) -> list[int]: ...

class IOBinding:
    def bind_cpu_input(self, name: str, arr_on_cpu: Array) -> None: ...
    def bind_ortvalue_input(self, name: str, ortvalue: OrtValue) -> None: ...
    def bind_ortvalue_output(self, name: str, ortvalue: OrtValue) -> None: ...
    def bind_output(self, name: str, device_type: str = ..., device_id: int = ...) -> None: ...
    def get_outputs(self) -> list[OrtValue]: ...
    def copy_outputs_to_cpu(self) -> list[Array]: ...

class GraphOptimizationLevel:
    ORT_DISABLE_ALL: GraphOptimizationLevel
    ORT_ENABLE_BASIC: GraphOptimizationLevel
    ORT_ENABLE_EXTENDED: GraphOptimizationLevel
    ORT_ENABLE_ALL: GraphOptimizationLevel

class SessionOptions:
    intra_op_num_threads: int
    inter_op_num_threads: int
    log_severity_level: int
    enable_cpu_mem_arena: bool
    graph_optimization_level: GraphOptimizationLevel
    def add_session_config_entry(self, config_key: str, config_value: str) -> None: ...
    def add_provider_for_devices(
        self, ep_devices: Sequence[OrtEpDevice], provider_options: Mapping[str, str]
    ) -> None: ...

class OrtHardwareDeviceType:
    name: str

class OrtHardwareDevice:
    type: OrtHardwareDeviceType

class OrtEpDevice:
    ep_name: str
    device: OrtHardwareDevice

class OrtEpAssignedNode:
    name: str
    op_type: str

class OrtEpAssignedSubgraph:
    ep_name: str
    def get_nodes(self) -> list[OrtEpAssignedNode]: ...

class RunOptions: ...

class InferenceSession:
    def __init__(
        self,
        path_or_bytes: str | bytes,
        sess_options: SessionOptions | None = ...,
        providers: Sequence[str | tuple[str, dict[str, str]]] | None = ...,
        *,
        enable_fallback: int = ...,
    ) -> None: ...
    def run(
        self,
        output_names: Sequence[str] | None,
        input_feed: Mapping[str, Array],
        run_options: RunOptions | None = ...,
    ) -> list[Array]: ...
    def run_with_iobinding(
        self, iobinding: IOBinding, run_options: RunOptions | None = ...
    ) -> None: ...
    def io_binding(self) -> IOBinding: ...
    def get_inputs(self) -> list[NodeArg]: ...
    def get_outputs(self) -> list[NodeArg]: ...
    def get_modelmeta(self) -> ModelMetadata: ...
    def get_providers(self) -> list[str]: ...
    def get_provider_graph_assignment_info(self) -> list[OrtEpAssignedSubgraph]: ...

def get_available_providers() -> list[str]: ...
def get_ep_devices() -> list[OrtEpDevice]: ...
def register_execution_provider_library(registration_name: str, library_path: str) -> None: ...
