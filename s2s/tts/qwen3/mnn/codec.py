"""Codes to sound on MNN: the `CodecDecoder` port, in float32, called chunk by chunk.

Runs have few numbers of frames, since MNN plans its graph anew for each.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from s2s.models.onnx_file.builder import cached_graph
from s2s.tts.qwen3.backend import CodecJob
from s2s.tts.qwen3.checkpoint.codec_spec import CodecDecoderSpec
from s2s.tts.qwen3.fixed.windowed_codec import WindowedDecoder
from s2s.tts.qwen3.interfaces import Floats
from s2s.tts.qwen3.mnn.codec_graph import CODEC_GRAPH, MNN_CODEC_VERSION, build_codec
from s2s.tts.qwen3.mnn.converter import convert_graphs, converter_version
from s2s.tts.qwen3.mnn.devices import MnnDevice, device_named
from s2s.tts.qwen3.mnn.quant import MNN_MIXES
from s2s.tts.qwen3.mnn.session import MnnGraph

FRAMES = (1, 2, 4)
"""Numbers of frames in a run, of which the largest are taken first; between two runs it is asked
whether to stop."""
_FILE = f"{CODEC_GRAPH}.mnn"


class MnnCodecDecoder(WindowedDecoder):
    """The codec decoder of a checkpoint. Weights are shared by all states; a call may come from
    any thread, a state from one at a time."""

    FRAMES = FRAMES

    def __init__(
        self, spec: CodecDecoderSpec, folder: Path, device: MnnDevice, threads: int = 1
    ) -> None:
        """folder: where the converted graph is. Raises MnnError."""
        super().__init__(spec)
        self._graph = MnnGraph(folder / _FILE, device, threads)

    @classmethod
    def of(cls, job: CodecJob) -> MnnCodecDecoder:
        """From a checkpoint's tensors; the graph is converted on first use and kept. Raises
        CodecError for a tensor of another shape, MnnError."""
        device = device_named(job.device)
        version = f"v{MNN_CODEC_VERSION}-{converter_version()}"
        folder = job.graphs / f"codec_mnn-{job.content_hash}-{version}"

        def build(to: Path) -> Path:
            convert_graphs(
                to, MNN_MIXES["mnn-f32"], lambda at: build_codec(job.spec, job.tensors, at)
            )
            return to / _FILE

        cached_graph(folder, _FILE, build)
        return cls(job.spec, folder, device, job.threads)

    def _computed(self, frames: int, feeds: Mapping[str, np.ndarray]) -> Mapping[str, Floats]:
        return self._graph.run(dict(feeds))
