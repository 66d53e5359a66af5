"""A language model stored in graphs of fixed shapes: its files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from s2s.tts.qwen3.checkpoint.record import read_record
from s2s.tts.qwen3.convert import convert
from s2s.tts.qwen3.fixed.talker_graph import FIXED_GRAPHS_VERSION
from s2s.tts.qwen3.fixed.weights import FIXED_F32

WIDE_KIND = "1.7b-base"


def test_progress_ends_where_it_said(tiny_qwen3: Callable[[str], Path], tmp_path: Path) -> None:
    seen: dict[str, tuple[int, int]] = {}

    def progress(file: str, done: int, total: int) -> None:
        assert done > seen.get(file, (0, 0))[0]
        seen[file] = done, total

    folder = convert(tiny_qwen3(WIDE_KIND), FIXED_F32, converted=tmp_path, progress=progress)
    assert list(seen) == ["tables.gguf", "talker-512-1.onnx", "frame.onnx"]
    assert all(done == total for done, total in seen.values())
    record = read_record(folder)
    assert record is not None
    assert (record.quant, record.predictor_quant) == (FIXED_F32, FIXED_F32)
    assert record.graphs == FIXED_GRAPHS_VERSION


def test_mixes_of_two_backends_are_refused(
    tiny_qwen3: Callable[[str], Path], tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="predictor in one of"):
        convert(tiny_qwen3(WIDE_KIND), FIXED_F32, predictor_quant="int8", converted=tmp_path)
    assert not list(tmp_path.iterdir())
