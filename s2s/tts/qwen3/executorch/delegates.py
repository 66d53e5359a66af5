"""What computes an exported program: XNNPACK on processors, and the delegates of other devices.

A delegate is chosen when a program is exported, and is in the file from then on. Only XNNPACK was
run: docs/decisions/qwen3-executorch-core.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from s2s.tts.qwen3.errors import BackendError

if TYPE_CHECKING:
    from executorch.exir.backend.partitioner import Partitioner

XNNPACK = "xnnpack"
QNN_CHIP = "SM8650"
"""The Snapdragon that a program for QNN is exported for."""


@dataclass(frozen=True, slots=True)
class Delegate:
    """One of them. runtime_name: what the runtime calls it. needs: what an export takes beside the
    package. partitioners: for the methods of a program by name, see `Partitioner`."""

    name: str
    runtime_name: str
    needs: str
    partitioners: Callable[[list[str]], dict[str, Partitioner]]

    def for_methods(self, methods: list[str]) -> dict[str, Partitioner]:
        """What says which operators of each method go to it. Raises BackendError where something
        that the export takes is missing."""
        try:
            return self.partitioners(methods)
        except (ImportError, OSError) as error:
            raise BackendError(f"an export for {self.name} needs {self.needs} ({error})") from error


def _xnnpack(methods: list[str]) -> dict[str, Partitioner]:
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner

    return {method: XnnpackPartitioner() for method in methods}


def _coreml(methods: list[str]) -> dict[str, Partitioner]:
    from executorch.backends.apple.coreml.partition import CoreMLPartitioner

    return {method: CoreMLPartitioner() for method in methods}


def _qnn(methods: list[str]) -> dict[str, Partitioner]:
    from executorch.backends.qualcomm.partition.qnn_partitioner import QnnPartitioner
    from executorch.backends.qualcomm.serialization.qc_schema import QcomChipset
    from executorch.backends.qualcomm.utils.utils import (
        generate_htp_compiler_spec,
        generate_qnn_executorch_compiler_spec,
    )

    options = generate_htp_compiler_spec(use_fp16=True)
    spec = generate_qnn_executorch_compiler_spec(QcomChipset[QNN_CHIP], options)
    return {method: QnnPartitioner(spec) for method in methods}


def _cuda(methods: list[str]) -> dict[str, Partitioner]:
    from executorch.backends.cuda.cuda_backend import CudaBackend
    from executorch.backends.cuda.cuda_partitioner import CudaPartitioner

    return {
        method: CudaPartitioner([CudaBackend.generate_method_name_compile_spec(method)])
        for method in methods
    }


_SDK = "Qualcomm's AI Engine Direct SDK (QNN_SDK_ROOT) on Linux"
DELEGATES = {
    each.name: each
    for each in (
        Delegate(XNNPACK, "XnnpackBackend", "pip install 's2s[executorch]'", _xnnpack),
        Delegate("coreml", "CoreMLBackend", "coremltools, and a Mac to compile it", _coreml),
        Delegate("qnn", "QnnBackend", _SDK, _qnn),
        Delegate("cuda", "CudaBackend", "torch for CUDA, Triton and a CUDA toolkit", _cuda),
    )
}


def delegate_named(name: str) -> Delegate:
    """Raises BackendError that names the known ones."""
    found = DELEGATES.get(name.lower())
    if found is None:
        known = ", ".join(DELEGATES)
        raise BackendError(f"ExecuTorch has no delegate {name!r} here; known: {known}")
    return found
