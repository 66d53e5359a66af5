"""A stack in pieces, and put together: the same as the reference backend's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.models.onnx_file.builder import GraphBuilder
from s2s.system.onnx import onnx_session
from s2s.tts.qwen3.checkpoint.safetensors import open_checkpoint
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.fixed.operators import FixedMatrices
from s2s.tts.qwen3.fixed.stack import FixedStack, KeysValues, RowPlaces
from s2s.tts.qwen3.fixed.weights import FIXED_F32, FIXED_MIXES
from s2s.tts.qwen3.onnx.session import rope
from s2s.tts.qwen3.onnx.transformer import Job
from s2s.tts.qwen3.reference import TALKER_NAME, ReferenceTalker
from tests.tts.qwen3.fixed.plain import check_plain

ROWS = 5


@pytest.mark.parametrize("joined", [False, True])
def test_rows_one_after_the_other_are_the_reference_backends(
    joined: bool, tiny_qwen3: Callable[[str], Path], tmp_path: Path
) -> None:
    """All in one graph: each run sees what those before have kept. Where what is new stays apart,
    that is only the row before."""
    count = ROWS if joined else 2
    source = tiny_qwen3("0.6b-base")
    spec, weights = read_spec(source), open_checkpoint(source, read_spec(source))
    job = Job(spec, weights, FIXED_MIXES[FIXED_F32], tmp_path, {})
    talker, half = spec.talker, spec.talker.head_dim // 2
    angles = rope(ROWS, talker)
    with GraphBuilder(tmp_path, "stack") as graph:
        stack = FixedStack(FixedMatrices(graph, job), TALKER_NAME, talker, joined=joined)
        rows = graph.input("rows", np.float32, (ROWS, talker.hidden))
        kept: list[KeysValues | None] = [None] * talker.layers
        outs: list[str] = []
        for at, row in enumerate(graph.split(rows, (1,) * ROWS, axis=0)[:count]):
            cos, sin = (graph.constant(angles[n][at].reshape(1, 1, half)) for n in ("cos", "sin"))
            out, after = stack.run(row, RowPlaces(1, cos, sin, None), kept)
            kept = list(after)
            outs.append(out)
        out = graph.op("Concat", *outs, axis=0)
        graph.output("out", out, np.float32, (count, talker.hidden))
        path = graph.save({})
    check_plain(path)
    vectors = np.random.default_rng(2).standard_normal((ROWS, talker.hidden)).astype(np.float32)
    (found,) = onnx_session(path).run(None, {"rows": vectors})
    reference = ReferenceTalker(spec, weights)
    state = reference.new_state(ROWS)
    expected = [reference.step(state, row).hidden for row in vectors[:count]]
    np.testing.assert_allclose(found, np.stack(expected), atol=1e-3, rtol=0)
