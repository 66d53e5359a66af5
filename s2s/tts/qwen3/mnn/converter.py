"""Graphs of ONNX to MNN's own files, by MNN's converter in a process of its own.

The converter prints, and may end the process that it runs in. It is called by its library: the
command that MNN installs for it, `mnnconvert`, installs a package of others and reports to a server
(docs/decisions/qwen3-mnn-core.md).
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from s2s.tts.qwen3.errors import MnnError
from s2s.tts.qwen3.mnn.devices import INSTALL, missing
from s2s.tts.qwen3.mnn.quant import MnnMix

WEIGHTS = ".weight"
"""Behind a file's name: its weights, which lie apart, so that no run holds them twice."""

_CONVERT_S = 1800
"""A gigabyte and a half takes half a minute on two cores that do nothing else."""
_PROGRAM = "import sys, _tools; _tools.mnnconvert(sys.argv)"
_LINES = 3


def converter_version() -> str:
    """Of MNN. Raises MnnError where it is not installed."""
    try:
        return version("MNN")
    except PackageNotFoundError:
        raise MnnError(INSTALL) from None


def convert_graphs(folder: Path, mix: MnnMix, build: Callable[[Path], Sequence[Path]]) -> None:
    """Files NAME.mnn and NAME.mnn.weight in ``folder`` of the graphs NAME.onnx that ``build``
    writes into the folder it is given.

    Raises MnnError with the converter's words.
    """
    reason = missing()
    if reason is not None:
        raise MnnError(reason)
    with tempfile.TemporaryDirectory(prefix=".mnn.", dir=folder) as scratch:
        for graph in build(Path(scratch)):
            _convert(graph, folder / f"{graph.stem}.mnn", mix)


def _convert(graph: Path, target: Path, mix: MnnMix) -> None:
    command = [
        *(sys.executable, "-c", _PROGRAM, "-f", "ONNX", "--modelFile", str(graph)),
        *("--MNNModel", str(target), "--bizCode", "s2s", "--saveExternalData", *mix.arguments),
    ]
    try:
        done = subprocess.run(
            command, cwd=graph.parent, capture_output=True, text=True, errors="replace",
            timeout=_CONVERT_S, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MnnError(f"{graph.name}: MNN's converter does not run: {error}") from error
    if done.returncode or not target.is_file():
        words = " / ".join(f"{done.stdout}\n{done.stderr}".strip().splitlines()[-_LINES:])
        raise MnnError(
            f"{graph.name}: MNN's converter failed with {done.returncode}: {words or 'no message'}"
        )
