"""Codes to sound in graphs of fixed shapes: the `CodecDecoder` port."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from s2s.models.onnx_file.builder import cached_graph
from s2s.tts.qwen3.backend import CodecJob
from s2s.tts.qwen3.checkpoint.codec_spec import CodecDecoderSpec
from s2s.tts.qwen3.fixed.codec_graph import (
    FIXED_CODEC_VERSION,
    FRAMES,
    build_codec,
    codec_graph_name,
)
from s2s.tts.qwen3.fixed.providers import OpenedGraphs, Provider
from s2s.tts.qwen3.fixed.windowed_codec import WindowedDecoder
from s2s.tts.qwen3.interfaces import Floats


class FixedCodecDecoder(WindowedDecoder):
    """The codec decoder of a checkpoint. Weights are shared by all states; a call may come from
    any thread, a state from one at a time."""

    FRAMES = FRAMES

    def __init__(
        self, spec: CodecDecoderSpec, folder: Path, provider: Provider, threads: int = 1
    ) -> None:
        """folder: where `build_codec` has written. Raises OnnxError."""
        super().__init__(spec)
        self.graphs = OpenedGraphs("codec", folder, provider, threads)
        self.graphs.session(codec_graph_name(FRAMES[0]), FIXED_CODEC_VERSION)

    @classmethod
    def of(cls, job: CodecJob, provider: Provider) -> FixedCodecDecoder:
        """From a checkpoint's tensors; the graphs are built on first use and kept. Raises
        CodecError for a tensor of another shape, OnnxError."""
        folder = job.graphs / f"codec_fixed-{job.content_hash}-v{FIXED_CODEC_VERSION}"
        name = codec_graph_name(FRAMES[0])
        cached_graph(folder, name, lambda to: build_codec(job.spec, job.tensors, to)[FRAMES[0]])
        return cls(job.spec, folder, provider, job.threads)

    @property
    def remark(self) -> str:
        """See `CheckpointDecoder`: what the provider could not take."""
        return self.graphs.remark

    def _computed(self, frames: int, feeds: Mapping[str, np.ndarray]) -> Mapping[str, Floats]:
        session = self.graphs.session(codec_graph_name(frames), FIXED_CODEC_VERSION)
        names = [item.name for item in session.get_outputs()]
        return dict(zip(names, session.run(names, dict(feeds)), strict=True))
