"""The package onnxruntime-qnn: registered with ONNX Runtime once, and sessions on its processor.

Its wheel for Linux on x86-64 has the compiler and a simulator of the chip, those for ARM the chip's
own library. Names of options after the package's documentation; seen at work: 2.7.0 with ONNX
Runtime 1.32.0.
"""

from __future__ import annotations

import importlib.util
import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from s2s.system.onnx import is_runtime_error, session_options
from s2s.tts.qwen3.errors import ProviderError
from s2s.tts.qwen3.fixed.qnn.options import QnnOptions

if TYPE_CHECKING:
    from onnxruntime import InferenceSession, OrtEpDevice

_PROVIDER = "QNNExecutionProvider"
_PACKAGE, _MODULE = "onnxruntime-qnn", "onnxruntime_qnn"
_WHOLE = {
    "session.disable_cpu_ep_fallback": "1",
    # It makes a Gemm of a product and a sum of one row, which the compiler does not take.
    "optimization.disable_specified_optimizers": "MatMulAddFusion",
}
_NAMED = 4
"""Operators that are named when some cannot be taken."""


class Plugin(Protocol):
    """What compiles and computes."""

    def missing(self, options: QnnOptions) -> str | None:
        """What is not there and how to get it. Loads nothing."""
        ...

    def versions(self) -> str:
        """Of all that compiles: another one compiles again."""
        ...

    def compile(self, graph: Path, context: Path, options: QnnOptions) -> None:
        """Write a graph as it is compiled; its binary lies beside it. Raises ProviderError with the
        operators that cannot be taken."""
        ...

    def open(self, context: Path, options: QnnOptions, threads: int) -> InferenceSession:
        """What was compiled. Raises ProviderError."""
        ...


class InstalledPlugin:
    """The package itself."""

    def missing(self, options: QnnOptions) -> str | None:
        """See `Plugin`."""
        if importlib.util.find_spec(_MODULE) is None:
            return f"{_PACKAGE} is not installed: pip install 's2s[qwen3,qnn]'"
        if platform.machine().lower() in ("x86_64", "amd64") and not options.simulate:
            return (
                "there is no Hexagon processor here; fixed@qnn:simulate=1 computes in Qualcomm's "
                "simulator, seconds for each frame"
            )
        return None

    def versions(self) -> str:
        """See `Plugin`."""
        return f"onnxruntime {version('onnxruntime')}, {_PACKAGE} {version(_PACKAGE)}"

    def compile(self, graph: Path, context: Path, options: QnnOptions) -> None:
        """See `Plugin`."""
        written = {
            "ep.context_enable": "1",
            "ep.context_embed_mode": "0",
            "ep.context_file_path": str(context),
        }
        try:
            _session(graph, options, 1, {**_WHOLE, **written})
        except Exception as error:
            if not is_runtime_error(error):
                raise
            raise ProviderError(_refusal(graph, options, error)) from error
        if not context.is_file():
            raise ProviderError(f"qnn has written nothing for {graph.name}")

    def open(self, context: Path, options: QnnOptions, threads: int) -> InferenceSession:
        """See `Plugin`."""
        try:
            return _session(context, options, threads, _WHOLE)
        except Exception as error:
            if not is_runtime_error(error):
                raise
            raise ProviderError(f"qnn cannot open {context.name} ({error})") from error


def _refusal(graph: Path, options: QnnOptions, error: Exception) -> str:
    """The operators that are left to the processor; the error names none."""
    asked = {
        "session.record_ep_graph_assignment_info": "1",
        "optimization.disable_specified_optimizers": "MatMulAddFusion",
    }
    try:
        session = _session(graph, options, 1, asked)
    except Exception as other:
        if not is_runtime_error(other):
            raise
        return f"qnn cannot take {graph.name} ({other})"
    left = [
        f"{node.op_type} ({node.name})"
        for part in session.get_provider_graph_assignment_info()
        if part.ep_name != _PROVIDER
        for node in part.get_nodes()
    ]
    if not left:
        return f"qnn cannot take {graph.name} ({error})"
    more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
    return f"qnn has no {', '.join(left[:_NAMED])}{more} of {graph.name}"


def _session(
    path: Path, options: QnnOptions, threads: int, entries: Mapping[str, str]
) -> InferenceSession:
    from onnxruntime import InferenceSession
    from onnxruntime_qnn import get_qnn_htp_path

    given = {
        "backend_path": get_qnn_htp_path(),
        "soc_model": str(options.soc_model),
        "htp_arch": str(options.htp_arch),
        "enable_htp_fp16_precision": "1",
    }
    # Its own lines on the standard error output say no more than the errors that are raised.
    settings = session_options(threads=threads, entries=entries, severity=4)
    settings.add_provider_for_devices([_device()], given)
    return InferenceSession(str(path), settings, enable_fallback=0)


@cache
def _device() -> OrtEpDevice:
    """The chip, or the simulator where there is none; the plug-in is registered at the first call:
    a second one is an error there."""
    from onnxruntime import get_ep_devices, register_execution_provider_library
    from onnxruntime_qnn import get_library_path

    register_execution_provider_library(_PROVIDER, get_library_path())
    devices = [each for each in get_ep_devices() if each.ep_name == _PROVIDER]
    if not devices:
        raise ProviderError(f"{_PACKAGE} finds no device here")
    return min(devices, key=lambda each: each.device.type.name != "NPU")
