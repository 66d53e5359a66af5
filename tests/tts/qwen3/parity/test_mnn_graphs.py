"""Graphs that are written for another engine compute what the reference computes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from s2s.bench.peers.mnn_files import GRAPHS, make
from s2s.system.onnx import onnx_session
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.parity.compare import reference
from s2s.tts.qwen3.reference import no_trace


def test_steps_of_the_talker_are_those_of_the_reference(
    tiny_qwen3: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = tiny_qwen3("0.6b-base")
    make(folder, tmp_path)
    spec = read_spec(folder)
    shape = spec.talker
    session = onnx_session(tmp_path / f"{GRAPHS[0]}.onnx")
    vectors = np.random.default_rng(0).standard_normal((3, shape.hidden), np.float32)
    past = np.zeros((2 * shape.layers, 1, shape.kv_heads, 0, shape.head_dim), np.float32)
    talker = reference(folder, spec, no_trace).talker
    state = talker.new_state(3)
    for at, vector in enumerate(vectors):
        feed = {
            "inputs_embeds": vector[None, None],
            "position_ids": np.array([[at]], np.int32),
            "past_kv": past,
        }
        hidden, past = session.run(["last_hidden", "new_kv"], feed)
        expected = talker.prefill(state, vector[None]).hidden
        np.testing.assert_allclose(hidden[0, -1], expected, atol=1e-3)
    assert past.shape[3] == 3
