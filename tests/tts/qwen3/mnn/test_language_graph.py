"""The predictor's graphs: one of each, and every weight in one of them alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.mnn.language_graph import build_predictor, head_graph
from s2s.tts.qwen3.mnn.weights import FLOATS
from s2s.tts.qwen3.onnx.transformer import Job


@pytest.mark.parametrize(("kind", "projected"), [("0.6b-base", []), ("1.7b-base", ["projection"])])
def test_a_frame_has_a_stack_and_a_head_a_group(
    kind: str, projected: list[str], tiny_qwen3: Callable[[str], Path], tmp_path: Path
) -> None:
    source, done = tiny_qwen3(kind), list[int]()
    spec = read_spec(source)
    job = Job(spec, Checkpoint(source), FLOATS, tmp_path, {}, advance=done.append)
    names = [path.stem for path in build_predictor(job)]
    assert names == ["predictor", *(head_graph(group) for group in range(15)), *projected]
    written = sum(path.stat().st_size for path in tmp_path.glob("*.data"))
    assert sum(done) <= written < 1.2 * sum(done)
