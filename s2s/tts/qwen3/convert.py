"""Converts a checkpoint to a quantisation by its name, whichever backend that is of."""

from __future__ import annotations

from pathlib import Path

from s2s.tts.qwen3.backend import Quants
from s2s.tts.qwen3.backends import DEFAULT_QUANT, backend_with
from s2s.tts.qwen3.checkpoint.conversion import ConversionJob, Progress, silent
from s2s.tts.qwen3.folders import CONVERTED_FOLDER


def convert(
    source: str | Path,
    quant: str = DEFAULT_QUANT,
    *,
    predictor_quant: str | None = None,
    converted: Path,
    threads: int = 1,
    progress: Progress = silent,
) -> Path:
    """The folder of a checkpoint converted to a quantisation, for the backends that compute in it.

    For the rest see `ConversionJob`. The code predictor gets eight bits or more unless
    ``predictor_quant`` says otherwise. Raises Qwen3Error, as `Backend.convert` does.
    """
    job = ConversionJob(source, converted, threads, progress)
    if predictor_quant:
        backend_with(predictor_quant)
    return backend_with(quant).convert(Quants(quant, predictor_quant), job)


def convert_model(
    source: str | Path,
    home: Path,
    quant: str = DEFAULT_QUANT,
    *,
    predictor_quant: str | None = None,
    threads: int = 1,
    progress: Progress = silent,
) -> Path:
    """The same, where `open_model` finds it: in ``home``."""
    return convert(
        source,
        quant,
        predictor_quant=predictor_quant,
        converted=home.expanduser() / CONVERTED_FOLDER,
        threads=threads,
        progress=progress,
    )
