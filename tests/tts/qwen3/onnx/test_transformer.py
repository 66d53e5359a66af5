"""A stack of layers as a graph: rows of matrices side by side, quantised, stored once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.models.onnx_file.builder import GraphBuilder
from s2s.system.onnx import onnx_session
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.onnx.quant import BLOCK_MIXES
from s2s.tts.qwen3.onnx.transformer import Job, Rows, product, stack_bytes

NAME = "talker.model.layers.0.self_attn.{}_proj.weight"


@pytest.mark.parametrize("threads", [1, 2])
def test_a_product_is_that_of_the_rows_within_eight_bits(
    threads: int, tiny_qwen3: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = tiny_qwen3("0.6b-base")
    spec, weights = read_spec(folder), Checkpoint(folder)
    mix, advanced = BLOCK_MIXES["int8"], list[int]()
    job = Job(spec, weights, mix, tmp_path, {}, threads, advanced.append)
    parts = [Rows(NAME.format("k"), 2, 18), Rows(NAME.format("v"), 0, 16)]
    with GraphBuilder(tmp_path, "x") as graph:
        given = graph.input("given", np.float32, (1, "n", spec.talker.hidden))
        out = product(graph, job, given, parts, mix)
        again = product(graph, job, given, parts, mix)
        graph.output("out", out, np.float32, (1, "n", 32))
        graph.output("again", again, np.float32, (1, "n", 32))
        graph.save({})
    x = np.random.default_rng(0).standard_normal((1, 3, spec.talker.hidden), np.float32)
    out, again = onnx_session(tmp_path / "x.onnx").run(["out", "again"], {"given": x})
    matrix = np.concatenate([weights.rows(part.name, part.start, part.stop) for part in parts])
    expected = x @ matrix.T
    assert np.abs(out - expected).max() < 0.05 * np.abs(expected).max()
    np.testing.assert_array_equal(out, again)
    assert len(job.stored) == 1  # the same rows are stored once
    assert sum(advanced) > 0


def test_fewer_bits_are_fewer_bytes(tiny_qwen3: Callable[[str], Path]) -> None:
    spec = read_spec(tiny_qwen3("0.6b-base")).talker
    sizes = {name: stack_bytes(mix, spec) for name, mix in BLOCK_MIXES.items()}
    assert sizes["int4"] < sizes["int8"]
    assert Rows("x", 3, 10).count == 7
