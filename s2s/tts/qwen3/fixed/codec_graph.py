"""The codec decoder as one graph for each number of frames, all shapes fixed.

The stages are those of `onnx.codec_graph`, in plain operators. Inputs: ``codes`` int32
[frames, groups]; ``cos`` and ``sin`` float32 [frames, 1, head_dim / 2], the rotary angles of the
frames; ``mask`` [frames, window - 1 + frames], 0 for what each frame sees and `operators.MASKED`
for what not; and the state as after very many frames (`codec.tensors.state_shapes`): keys and
values [heads, window - 1, head_dim], the newest last. Outputs: ``pcm`` float32 [samples], and the
state ``next.X`` in the same shapes. Any split into calls gives the result of one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from s2s.models.onnx_file import Tensor
from s2s.models.onnx_file.builder import GraphBuilder
from s2s.tts.qwen3.checkpoint.codec_spec import CodecDecoderSpec
from s2s.tts.qwen3.codec.tensors import NEXT_PREFIX, STATE_PREFIX, Tensors
from s2s.tts.qwen3.fixed.operators import gelu, part, rms_norm, silu
from s2s.tts.qwen3.onnx.codec_graph import CodecStages

FRAMES = (1, 2, 4, 8)
"""The numbers of frames there are graphs for."""
FIXED_CODEC_VERSION = 1
"""Raised when the graphs change: older ones are then built again."""


def codec_graph_name(frames: int) -> str:
    """Of a graph's file, without its ending."""
    return f"codec-{frames}"


def build_codec(spec: CodecDecoderSpec, tensors: Tensors, folder: Path) -> Mapping[int, Path]:
    """Write the graphs, whose weights lie once in the folder; their paths by number of frames.

    Raises CodecError when a tensor does not have the shape the spec asks for.
    """
    shared: dict[bytes, Tensor] = {}
    return {frames: _build(spec, tensors, folder, shared, frames) for frames in FRAMES}


def _build(
    spec: CodecDecoderSpec,
    tensors: Tensors,
    folder: Path,
    shared: dict[bytes, Tensor],
    frames: int,
) -> Path:
    past, half = spec.window_frames - 1, spec.head_dim // 2
    with GraphBuilder(folder, codec_graph_name(frames), shared) as graph:
        stages = FixedStages(graph, tensors, spec)
        codes = graph.input("codes", np.int32, (frames, spec.code_groups))
        cos, sin = (graph.input(name, np.float32, (frames, 1, half)) for name in ("cos", "sin"))
        mask = graph.input("mask", np.float32, (frames, past + frames))
        stages.declare_caches(spec.layers, spec.heads, spec.head_dim)
        vectors = stages.vectors(codes, np.int32)
        steps = stages.upsample(stages.window_layers(vectors, (cos, sin), mask))
        blocks = range(1, len(spec.upsample_rates) + 1)
        pcm = stages.waveform(stages.widen(stages.first(steps), blocks))
        graph.output("pcm", pcm, np.float32, (frames * spec.samples_per_frame,))
        return graph.save({"version": str(FIXED_CODEC_VERSION)})


@dataclass(slots=True)
class FixedStages(CodecStages):
    """The decoder's stages in plain operators, with an attention window that is always full."""

    def silu(self, steps: str) -> str:
        """See `StepBuilder`."""
        return silu(self.graph, steps)

    def gelu(self, steps: str) -> str:
        """See `StepBuilder`."""
        return gelu(self.graph, steps)

    def rms_norm(self, steps: str, width: int, epsilon: float) -> str:
        """See `StepBuilder`."""
        return rms_norm(self.graph, steps, epsilon)

    def add_rms_norm(self, steps: str, added: str, width: int, epsilon: float) -> tuple[str, str]:
        """See `StepBuilder`."""
        total = self.graph.op("Add", steps, added)
        return self.rms_norm(total, width, epsilon), total

    def declare_caches(self, layers: int, heads: int, head_dim: int) -> str:
        """See `StepBuilder`; full."""
        past = self.spec.window_frames - 1
        for layer in range(layers):
            for kind in ("key", "value"):
                name = f"{STATE_PREFIX}{kind}_{layer}"
                self.graph.input(name, np.float32, (heads, past, head_dim))
        return f"{STATE_PREFIX}key_0"

    def with_window(self, state: str, new: str, heads: tuple[int, int], window: int | None) -> str:
        """See `StepBuilder`; as many are kept as there were."""
        graph, past = self.graph, self.spec.window_frames - 1
        joined = graph.op("Concat", f"{STATE_PREFIX}{state}", new, axis=1)
        end = int(np.iinfo(np.int64).max)
        kept = part(graph, joined, 1, -past, end)
        graph.output(f"{NEXT_PREFIX}{state}", kept, np.float32, (heads[0], past, heads[1]))
        return joined
