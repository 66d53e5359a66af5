"""Sizes of the programs of talker and predictor; what they compute: `test_language.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.executorch.quant import EXPORT_MIXES
from s2s.tts.qwen3.executorch.transformer import stack_bytes
from s2s.tts.qwen3.reference import TALKER_NAME


def test_bytes_of_a_stack_are_those_of_its_matrices(tiny_qwen3: Callable[[str], Path]) -> None:
    folder = tiny_qwen3("0.6b-base")
    spec, weights = read_spec(folder).talker, Checkpoint(folder)
    sizes = [weights.load(n).nbytes for n in weights.names if n.startswith(f"{TALKER_NAME}.layers")]
    matrices = sum(size for size in sizes if size > 4096)
    assert stack_bytes(EXPORT_MIXES["et-f32"], spec) == matrices
    assert matrices / 4 < stack_bytes(EXPORT_MIXES["et-8"], spec) < matrices / 3.8
    twice = replace(spec, layers=2 * spec.layers)
    assert stack_bytes(EXPORT_MIXES["et-f32"], twice) == 2 * matrices
