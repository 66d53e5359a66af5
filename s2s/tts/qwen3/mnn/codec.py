"""Codes to sound on MNN: the `CodecDecoder` port, in float32, called chunk by chunk.

A call is cut into runs of few numbers of frames, since MNN plans its graph anew for each. A state
is kept as every decoder keeps it, and is filled up to the whole window for a run.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from s2s.models.onnx_file.builder import cached_graph
from s2s.tts.qwen3.backend import CodecJob
from s2s.tts.qwen3.checkpoint.codec_spec import CodecDecoderSpec
from s2s.tts.qwen3.codec.decoder import CheckpointDecoder, CodecState
from s2s.tts.qwen3.codec.tensors import NEXT_PREFIX, STATE_PREFIX, state_shapes
from s2s.tts.qwen3.fixed.operators import MASKED
from s2s.tts.qwen3.interfaces import Floats, Ids, Stale, Stopped
from s2s.tts.qwen3.mnn.codec_graph import CODEC_GRAPH, MNN_CODEC_VERSION, build_codec
from s2s.tts.qwen3.mnn.converter import convert_graphs, converter_version
from s2s.tts.qwen3.mnn.devices import MnnDevice, device_named
from s2s.tts.qwen3.mnn.quant import MNN_MIXES
from s2s.tts.qwen3.mnn.session import MnnGraph

FRAMES = (1, 2, 4)
"""Numbers of frames in a run, of which the largest are taken first; between two runs it is asked
whether to stop."""
_FILE = f"{CODEC_GRAPH}.mnn"


class MnnCodecDecoder(CheckpointDecoder):
    """The codec decoder of a checkpoint. Weights are shared by all states; a call may come from
    any thread, a state from one at a time."""

    def __init__(
        self, spec: CodecDecoderSpec, folder: Path, device: MnnDevice, threads: int = 1
    ) -> None:
        """folder: where the converted graph is. Raises MnnError."""
        super().__init__(spec)
        self._graph = MnnGraph(folder / _FILE, device, threads)
        self._shapes = state_shapes(spec, spec.window_frames)
        half = spec.head_dim // 2
        inverse = spec.rope_theta ** -(np.arange(half, dtype=np.float32) / np.float32(half))
        self._inverse = inverse.astype(np.float32)

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

    def _longest_run(self) -> int:
        return FRAMES[-1]

    def _run(self, state: CodecState, codes: Ids, stale: Stale) -> Floats:
        arrays, position, start, pcm = dict(state.arrays), state.position, 0, list[Floats]()
        for size in reversed(FRAMES):
            while len(codes) - start >= size:
                if stale():
                    raise Stopped
                pcm.append(self._decoded(codes[start : start + size], arrays, position + start))
                start += size
        state.arrays = arrays
        state.position += len(codes)
        return pcm[0] if len(pcm) == 1 else np.concatenate(pcm)

    def _decoded(self, codes: Ids, arrays: dict[str, Floats], position: int) -> Floats:
        """The samples of a run; the arrays are replaced by those after it."""
        n = len(codes)
        angles = np.arange(position, position + n, dtype=np.float32)[:, None] * self._inverse
        found = self._graph.run(
            {
                "codes": codes.astype(np.int32),
                "cos": np.cos(angles)[:, None],
                "sin": np.sin(angles)[:, None],
                "mask": self._mask(position, n),
                **{name: _filled(arrays[name], shape) for name, shape in self._shapes.items()},
            }
        )
        for name, shape in state_shapes(self._spec, position + n).items():
            array = found[NEXT_PREFIX + name.removeprefix(STATE_PREFIX)]
            arrays[name] = array if array.shape == shape else array[:, -shape[1] :].copy()
        return found["pcm"].reshape(-1)

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
