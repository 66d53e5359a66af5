"""onnxruntime sessions with their threads pinned down.

Worker threads never spin while there is nothing to do: two stages that spin on two busy cores cost
more than one (a factor of six on the language model, measured).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnxruntime


Providers = tuple[str | tuple[str, dict[str, str]], ...]
"""Execution providers in order of preference, by their names in onnxruntime, each alone or with its
options."""

SPINNING = {"session.intra_op.allow_spinning": "1"}
"""Threads wait for each other awake while a run lasts, which pays where nothing else wants the
processor meanwhile, and nowhere else."""


def onnx_session(
    model: str | Path | bytes,
    *,
    threads: int = 1,
    providers: Providers = ("CPUExecutionProvider",),
    arena: bool = True,
    optimised: bool = True,
    entries: Mapping[str, str] | None = None,
) -> onnxruntime.InferenceSession:
    """An onnxruntime session with explicit threads that never spin between runs.

    Args:
        model: path of an .onnx or .ort file, or the serialized model itself.
        threads: intra-op threads; inter-op is always 1.
        providers: execution providers in order of preference.
        arena: False gives memory back after each run instead of keeping the peak.
        optimised: False runs the graph node by node as it is written, which rounds otherwise.
        entries: onnxruntime's own settings of a session by their names there, such as `SPINNING`.

    A provider that cannot be had is an error: nothing else is taken in its place unsaid.
    """
    import onnxruntime

    options = session_options(threads=threads, arena=arena, optimised=optimised, entries=entries)
    source = model if isinstance(model, bytes) else str(model)
    return onnxruntime.InferenceSession(
        source, options, providers=list(providers), enable_fallback=0
    )


def session_options(
    *,
    threads: int,
    arena: bool = True,
    optimised: bool = True,
    entries: Mapping[str, str] | None = None,
    severity: int = 3,
) -> onnxruntime.SessionOptions:
    """Of such a session, for one that is made otherwise; see `onnx_session`.

    severity: of its own messages that come through; 3 are errors, 4 what ends the process.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = severity
    options.enable_cpu_mem_arena = arena
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.force_spinning_stop", "1")
    options.add_session_config_entry("session.inter_op.allow_spinning", "0")
    for name, value in (entries or {}).items():
        options.add_session_config_entry(name, value)
    if not optimised:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return options


def is_runtime_error(error: BaseException) -> bool:
    """The error is one of onnxruntime's own, which have no base: a graph that it refuses."""
    return type(error).__module__.startswith("onnxruntime")
