"""Codes to sound on ONNX Runtime, frame-exact: the `CodecDecoder` port.

Knows nothing of text, talker or voices.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from s2s.runtime import onnx_session
from s2s.tts.qwen3.codec_decoder_graph import (
    GRAPH_NAME,
    GRAPH_VERSION,
    build_decoder_graph,
)
from s2s.tts.qwen3.codec_spec import CodecDecoderSpec, CodecError
from s2s.tts.qwen3.onnx_builder import cached_graph
from s2s.tts.qwen3.onnx_steps import NEXT_PREFIX, STATE_PREFIX, Tensors
from s2s.tts.qwen3.ports import Floats, Ids

if TYPE_CHECKING:
    from onnxruntime import OrtValue

MAX_FRAMES_A_RUN = 16
"""A longer call is cut into runs of this many frames: same samples, bounded memory."""


@dataclass(slots=True)
class CodecState:
    """What the decoder remembers of one stream. Its tensors are never written to, only replaced,
    so copies of a state share them."""

    position: int = 0
    """Frames decoded so far."""
    tensors: dict[str, OrtValue] = field(default_factory=dict)

    def close(self) -> None:
        """Drop the tensors; the state cannot be used any more."""
        self.tensors = {}


class OnnxCodecDecoder:
    """The codec decoder of a checkpoint. Weights are shared by all states; a call may come from
    any thread, a state from one at a time."""

    def __init__(self, graph: Path, spec: CodecDecoderSpec, *, threads: int = 1) -> None:
        """Load a graph written by `build_decoder_graph`. Raises CodecError for an older one."""
        self._session = onnx_session(graph, threads=threads)
        self._spec = spec
        version = self._session.get_modelmeta().custom_metadata_map.get("version")
        if version != str(GRAPH_VERSION):
            raise CodecError(
                f"{graph} has version {version}, this program needs {GRAPH_VERSION}: "
                "delete it, it is built again"
            )
        self._empty = {
            item.name: np.zeros([size if isinstance(size, int) else 0 for size in item.shape], "f4")
            for item in self._session.get_inputs()
            if item.name.startswith(STATE_PREFIX)
        }
        self._outputs = ["pcm", *(_next(name) for name in self._empty)]

    @classmethod
    def open(
        cls,
        spec: CodecDecoderSpec,
        tensors: Tensors,
        cache: Path,
        fingerprint: str,
        *,
        threads: int = 1,
    ) -> OnnxCodecDecoder:
        """From a checkpoint's tensors; the graph is built on first use and kept in ``cache``.

        fingerprint: stands for the checkpoint, so that another one gets another graph.
        """
        folder = cache / f"{GRAPH_NAME}-{fingerprint}-v{GRAPH_VERSION}"
        graph = cached_graph(folder, GRAPH_NAME, lambda to: build_decoder_graph(spec, tensors, to))
        return cls(graph, spec, threads=threads)

    @property
    def samples_per_frame(self) -> int:
        """Samples one frame decodes to."""
        return self._spec.samples_per_frame

    def new_state(self) -> CodecState:
        """The state before the first frame."""
        return self.restore(self._empty, 0)

    def decode(self, state: CodecState, codes: Ids) -> Floats:
        """The samples of the next frames; ``state`` moves on.

        codes: int64 [frames, groups]; returns float32 [frames * samples_per_frame] in [-1, 1].
        Raises ValueError for codes of another shape or outside the code books; the state has not
        moved then.
        """
        if not state.tensors:
            raise ValueError("this codec state is closed: make a new one")
        codes = self._checked(codes)
        parts = [
            self._run(state, codes[start : start + MAX_FRAMES_A_RUN])
            for start in range(0, len(codes), MAX_FRAMES_A_RUN)
        ]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def fork(self, state: CodecState) -> CodecState:
        """An independent copy, without copying memory."""
        return CodecState(state.position, dict(state.tensors))

    def export(self, state: CodecState) -> dict[str, npt.NDArray[np.float32]]:
        """The state's tensors by name, to be kept in a file; `restore` takes them back."""
        return {name: np.array(value.numpy()) for name, value in state.tensors.items()}

    def restore(self, tensors: Mapping[str, npt.NDArray[np.float32]], position: int) -> CodecState:
        """A state from exported tensors. Raises ValueError when they are not this decoder's."""
        from onnxruntime import OrtValue

        values: dict[str, OrtValue] = {}
        window = min(position, self._spec.window_frames - 1)
        for name, empty in self._empty.items():
            array = tensors.get(name)
            shape = tuple(size or window for size in empty.shape)
            if array is None or array.shape != shape or array.dtype != np.float32:
                raise ValueError(f"not a state of this codec decoder: {name} should be {shape}")
            values[name] = OrtValue.ortvalue_from_numpy(np.ascontiguousarray(array))
        return CodecState(position, values)

    def _run(self, state: CodecState, codes: Ids) -> Floats:
        from onnxruntime import OrtValue

        feeds = dict(state.tensors)
        feeds["codes"] = OrtValue.ortvalue_from_numpy(codes)
        feeds["position"] = OrtValue.ortvalue_from_numpy(np.array(state.position, dtype=np.int64))
        pcm, *tensors = self._session.run_with_ort_values(self._outputs, feeds)
        state.tensors = dict(zip(self._empty, tensors, strict=True))
        state.position += len(codes)
        return np.asarray(pcm.numpy(), dtype=np.float32)

    def _checked(self, codes: Ids) -> Ids:
        groups, size = self._spec.code_groups, self._spec.codebook_size
        if codes.ndim != 2 or codes.shape[0] < 1 or codes.shape[1] != groups:
            raise ValueError(
                f"codes must be [frames, {groups}] with at least one frame, got {codes.shape}"
            )
        low, high = int(codes.min()), int(codes.max())
        if low < 0 or high >= size:
            raise ValueError(f"codes must be from 0 to {size - 1}, got {low} to {high}")
        return np.ascontiguousarray(codes, dtype=np.int64)


def _next(state: str) -> str:
    return NEXT_PREFIX + state.removeprefix(STATE_PREFIX)
