"""The codec's graph: it converts as it is, for any number of frames."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import onnx

from s2s.tts.qwen3.checkpoint.codec_spec import read_codec_spec
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.codec.tensors import state_shapes
from s2s.tts.qwen3.mnn.codec_graph import build_codec
from tests.tts.qwen3.fixed.plain import OPERATORS


def test_operators_are_plain_and_the_frames_are_free(
    tiny_qwen3: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = tiny_qwen3("0.6b-base") / "speech_tokenizer"
    spec = read_codec_spec(folder).decoder
    (path,) = build_codec(spec, Checkpoint(folder), tmp_path)
    graph = onnx.load(str(path), load_external_data=False).graph
    assert {node.op_type for node in graph.node} <= OPERATORS
    assert {node.domain for node in graph.node} == {""}
    names = {item.name for item in graph.input}
    assert names == {"codes", "cos", "sin", "mask", *state_shapes(spec, spec.window_frames)}
    assert graph.input[0].type.tensor_type.shape.dim[0].dim_param == "frames"
