"""Codes to sound in graphs of fixed shapes: the `CodecDecoder` port.

A call is cut into runs of the numbers of frames that there are graphs for, the largest first. A
state is kept as every decoder keeps it, and is filled up to the whole window for a run.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from s2s.models.onnx_file.builder import cached_graph
from s2s.tts.qwen3.backend import CodecJob
from s2s.tts.qwen3.checkpoint.codec_spec import CodecDecoderSpec
from s2s.tts.qwen3.codec.decoder import CheckpointDecoder, CodecState
from s2s.tts.qwen3.codec.tensors import NEXT_PREFIX, STATE_PREFIX, state_shapes
from s2s.tts.qwen3.fixed.codec_graph import (
    FIXED_CODEC_VERSION,
    FRAMES,
    build_codec,
    codec_graph_name,
)
from s2s.tts.qwen3.fixed.operators import MASKED
from s2s.tts.qwen3.fixed.providers import OpenedGraphs, Provider
from s2s.tts.qwen3.interfaces import Floats, Ids, Stale, Stopped


class FixedCodecDecoder(CheckpointDecoder):
    """The codec decoder of a checkpoint. Weights are shared by all states; a call may come from
    any thread, a state from one at a time."""

    def __init__(
        self, spec: CodecDecoderSpec, folder: Path, provider: Provider, threads: int = 1
    ) -> None:
        """folder: where `build_codec` has written. Raises OnnxError."""
        super().__init__(spec)
        self.graphs = OpenedGraphs("codec", folder, provider, threads)
        self._shapes = state_shapes(spec, spec.window_frames)
        half = spec.head_dim // 2
        inverse = spec.rope_theta ** -(np.arange(half, dtype=np.float32) / np.float32(half))
        self._inverse = inverse.astype(np.float32)
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

    def _longest_run(self) -> int:
        return FRAMES[-1]

    def _run(self, state: CodecState, codes: Ids, stale: Stale) -> Floats:
        arrays, position, start, pcm = dict(state.arrays), state.position, 0, list[Floats]()
        for size in reversed(FRAMES):
            while len(codes) - start >= size:
                if stale():
                    raise Stopped
                part = codes[start : start + size]
                pcm.append(self._decoded(part, arrays, position + start))
                start += size
        state.arrays = arrays
        state.position += len(codes)
        return pcm[0] if len(pcm) == 1 else np.concatenate(pcm)

    def _decoded(self, codes: Ids, arrays: dict[str, Floats], position: int) -> Floats:
        """The samples of as many frames as a graph has; the arrays are replaced by those after."""
        n = len(codes)
        session = self.graphs.session(codec_graph_name(n), FIXED_CODEC_VERSION)
        angles = np.arange(position, position + n, dtype=np.float32)[:, None] * self._inverse
        feeds = {
            "codes": codes.astype(np.int32),
            "cos": np.cos(angles)[:, None],
            "sin": np.sin(angles)[:, None],
            "mask": self._mask(position, n),
            **{name: _filled(arrays[name], shape) for name, shape in self._shapes.items()},
        }
        names = [item.name for item in session.get_outputs()]
        found = dict(zip(names, session.run(names, feeds), strict=True))
        for name, shape in state_shapes(self._spec, position + n).items():
            array = found[NEXT_PREFIX + name.removeprefix(STATE_PREFIX)]
            arrays[name] = array if array.shape == shape else array[:, -shape[1] :].copy()
        return np.asarray(found["pcm"], np.float32)

    def _mask(self, position: int, n: int) -> Floats:
        """float32 [n, window - 1 + n]: each frame sees itself and those before it, as far as the
        window reaches and there were any."""
        past = self._spec.window_frames - 1
        ages = np.arange(past, past + n)[:, None] - np.arange(past + n)
        seen = (ages >= 0) & (ages <= past) & (np.arange(past + n) >= past - position)
        return np.where(seen, 0, MASKED).astype(np.float32)


def _filled(array: Floats, shape: tuple[int, ...]) -> Floats:
    """Keys or values [heads, context, head_dim] of a whole window, the newest last; others as they
    are."""
    if array.shape == shape:
        return array
    whole = np.zeros(shape, np.float32)
    whole[:, shape[1] - array.shape[1] :] = array
    return whole
