"""The codec decoder as one graph for MNN's converter: any number of frames, the state explicit.

The stages and the signature are those of `fixed.codec_graph`, but for the number of frames, which
is whatever a run is given: MNN plans the graph anew for it. Any split into calls gives the result
of one.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from s2s.models.onnx_file.builder import GraphBuilder
from s2s.tts.qwen3.checkpoint.codec_spec import CodecDecoderSpec
from s2s.tts.qwen3.codec.tensors import Tensors
from s2s.tts.qwen3.fixed.codec_graph import FixedStages

CODEC_GRAPH = "codec"
MNN_CODEC_VERSION = 1
"""Raised when the graph changes: older ones are then built again."""


def build_codec(spec: CodecDecoderSpec, tensors: Tensors, folder: Path) -> list[Path]:
    """Write the graph.

    Raises CodecError when a tensor does not have the shape the spec asks for.
    """
    half = spec.head_dim // 2
    with GraphBuilder(folder, CODEC_GRAPH) as graph:
        stages = FixedStages(graph, tensors, spec)
        codes = graph.input("codes", np.int32, ("frames", spec.code_groups))
        cos, sin = (graph.input(name, np.float32, ("frames", 1, half)) for name in ("cos", "sin"))
        mask = graph.input("mask", np.float32, ("frames", "seen"))
        stages.declare_caches(spec.layers, spec.heads, spec.head_dim)
        vectors = stages.vectors(codes, np.int32)
        steps = stages.upsample(stages.window_layers(vectors, (cos, sin), mask))
        blocks = range(1, len(spec.upsample_rates) + 1)
        pcm = stages.waveform(stages.widen(stages.first(steps), blocks))
        graph.output("pcm", pcm, np.float32, ("samples",))
        return [graph.save({})]
