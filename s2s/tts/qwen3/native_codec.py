"""Codes to sound with the wide part on the compiled kernel: the `CodecDecoder` port.

The transformer stays a graph. States are those of `OnnxCodecDecoder`, by the same names: what one
has exported the other restores.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from s2s.tts.qwen3.codec_decoder import (
    CheckpointDecoder,
    CodecState,
    GraphPart,
    execution_providers,
)
from s2s.tts.qwen3.codec_decoder_graph import GRAPH_VERSION, LATENT_GRAPH, build_latent_graph
from s2s.tts.qwen3.codec_kernel import WideKernel, remembered
from s2s.tts.qwen3.codec_spec import CodecDecoderSpec
from s2s.tts.qwen3.onnx_builder import cached_graph
from s2s.tts.qwen3.onnx_steps import Tensors
from s2s.tts.qwen3.ports import Floats, Ids
from s2s.tts.qwen3.stack import Team

MAX_FRAMES_A_RUN = 8
"""A longer call is cut into runs of this many frames: more would not make a frame cheaper, and the
kernel has memory for as many."""


class NativeCodecDecoder(CheckpointDecoder):
    """The codec decoder of a checkpoint. Weights are shared by all states; a call may come from
    any thread (calls take turns), a state from one at a time. Any split into calls and any number
    of threads give the same samples to the last bit, as far as the graph does."""

    def __init__(
        self, graph: Path, spec: CodecDecoderSpec, kernel: WideKernel, *, threads: int = 1
    ) -> None:
        """From a graph written by `build_latent_graph` and packed weights.

        Raises CodecError for an older graph.
        """
        self._latents = GraphPart(graph, threads, execution_providers("cpu"))
        self._wide = kernel
        self._names = list(remembered(spec))
        plain = {
            name: np.zeros((state.steps, state.width), np.float32)
            for name, state in remembered(spec).items()
        }
        super().__init__(spec, self._latents.empty, plain)

    @classmethod
    def open(
        cls,
        spec: CodecDecoderSpec,
        tensors: Tensors,
        cache: Path,
        fingerprint: str,
        team: Team,
        *,
        threads: int = 1,
    ) -> NativeCodecDecoder:
        """From a checkpoint's tensors; the graph is built on first use and kept in ``cache``.

        fingerprint: stands for the checkpoint, so that another one gets another graph.
        team: whose threads compute the wide part. Raises KernelError when memory runs out.
        """
        folder = cache / f"codec_latent-{fingerprint}-v{GRAPH_VERSION}"
        graph = cached_graph(folder, LATENT_GRAPH, lambda to: build_latent_graph(spec, tensors, to))
        kernel = WideKernel(team, tensors, spec, frames=MAX_FRAMES_A_RUN)
        return cls(graph, spec, kernel, threads=threads)

    def _longest_run(self) -> int:
        return MAX_FRAMES_A_RUN

    def _run(self, state: CodecState, codes: Ids) -> Floats:
        tensors = dict(state.tensors)
        feeds = {"codes": codes, "position": np.array(state.position, dtype=np.int64)}
        latents = self._latents.run(feeds, tensors)
        past = [state.arrays[name] for name in self._names]
        samples, after = self._wide.run(latents, len(codes), state.position, past)
        state.tensors = tensors
        state.arrays = dict(zip(self._names, after, strict=True))
        state.position += len(codes)
        return samples
