"""A stack with any number of rows and slots, and the talker's graph around it, against the
reference backend: in ONNX Runtime, before any converter."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.fixed.operators import MASKED
from s2s.tts.qwen3.mnn.language_graph import build_talker
from s2s.tts.qwen3.mnn.weights import FLOATS
from s2s.tts.qwen3.onnx.session import rope
from s2s.tts.qwen3.onnx.transformer import Job
from s2s.tts.qwen3.reference import ReferenceTalker


@pytest.mark.parametrize("slots", [12, 40])
def test_any_split_of_rows_and_any_slots_give_the_reference(
    slots: int, tiny_qwen3: Callable[[str], Path], tmp_path: Path
) -> None:
    source = tiny_qwen3("1.7b-base")
    spec = read_spec(source)
    (path,) = build_talker(Job(spec, Checkpoint(source), FLOATS, tmp_path, {}))
    graph = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    shape, names = spec.talker, [item.name for item in graph.get_outputs()]
    caches = {
        item.name: np.zeros([slots if dim == "slots" else dim for dim in item.shape], np.float32)
        for item in graph.get_inputs()
        if "." in item.name
    }
    assert len(caches) == 2 * shape.layers
    rows = np.random.default_rng(4).standard_normal((9, shape.hidden), dtype=np.float32)
    tables, found, start = rope(9, shape), {}, 0
    for count in (5, 1, 3):
        stop = start + count
        mask = np.zeros((count, slots + count), np.float32)
        mask[:, start:slots] = MASKED
        mask[:, slots:] = np.triu(np.full((count, count), MASKED, np.float32), 1)
        feeds = {name: table[start:stop] for name, table in tables.items()}
        feeds |= {"vectors": rows[start:stop], "mask": mask, **caches}
        found = dict(zip(names, graph.run(names, feeds), strict=True))
        for name, cache in caches.items():
            new = found[f"new.{name}"]
            if name.startswith("key"):
                cache[:, :, start:stop] = new
            else:
                cache[:, start:stop] = new
        start = stop
    reference = ReferenceTalker(spec, Checkpoint(source))
    expected = reference.prefill(reference.new_state(9), rows)
    sampled = [*range(spec.codes), spec.ids.eos]
    np.testing.assert_allclose(found["logits"][0], expected.logits[sampled], atol=1e-3)
    np.testing.assert_allclose(found["hidden"][0], expected.hidden, atol=1e-3)
