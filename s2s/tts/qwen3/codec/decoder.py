"""Codes to sound, frame-exact: the `CodecDecoder` port, and its implementation on ONNX Runtime.

Knows nothing of text, talker or voices.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from s2s.system.onnx import onnx_session
from s2s.tts.qwen3.checkpoint.codec_spec import CodecDecoderSpec
from s2s.tts.qwen3.errors import CodecError
from s2s.tts.qwen3.interfaces import Floats, Ids, Stale, Stopped, never
from s2s.tts.qwen3.onnx.builder import cached_graph
from s2s.tts.qwen3.onnx.codec_graph import (
    FRAMES_GRAPH,
    GRAPH_VERSION,
    STEPS_GRAPH,
    WAVE_GRAPH,
    build_decoder_graphs,
)
from s2s.tts.qwen3.onnx.layers import NEXT_PREFIX, STATE_PREFIX, Tensors

if TYPE_CHECKING:
    from onnxruntime import OrtValue

CPU = "cpu"
_PROVIDER = "ExecutionProvider"

MAX_FRAMES_A_RUN = 25
"""A longer call is cut into runs of this many frames, the longest chunk of the usual schedules:
same samples, bounded memory."""

SLICES_A_FRAME = 2
"""Pieces in which a frame goes through the last two graphs: what is computed for one then fits the
processor's cache, and two threads have something to do from the first frame on."""


@dataclass(slots=True)
class CodecState:
    """What the decoder remembers of one stream. Its tensors are never written to, only replaced,
    so copies of a state share them."""

    position: int = 0
    """Frames decoded so far."""
    tensors: dict[str, OrtValue] = field(default_factory=dict)
    """Those of graphs."""
    arrays: dict[str, Floats] = field(default_factory=dict)
    """Those of layers that are not in a graph."""

    def close(self) -> None:
        """Drop the tensors; the state cannot be used any more."""
        self.tensors, self.arrays = {}, {}


class CheckpointDecoder(ABC):
    """The codec decoder of a checkpoint; its states can be kept in a file.

    Names and shapes of what they hold are the same for all implementations.
    """

    def __init__(
        self,
        spec: CodecDecoderSpec,
        tensors: Mapping[str, Floats],
        arrays: Mapping[str, Floats] | None = None,
    ) -> None:
        """``tensors`` and ``arrays``: what a state has of either at the start of a stream; an axis
        of length 0 grows with the frames, as far as the attention window."""
        self._spec = spec
        self._tensors = dict(tensors)
        self._arrays = dict(arrays or {})

    @property
    def codebook_size(self) -> int:
        """Codes are from 0 to one less than this."""
        return self._spec.codebook_size

    @property
    def code_groups(self) -> int:
        """Codes in a frame."""
        return self._spec.code_groups

    @property
    def samples_per_frame(self) -> int:
        """Samples one frame decodes to."""
        return self._spec.samples_per_frame

    def new_state(self) -> CodecState:
        """The state before the first frame."""
        return self.restore(self._tensors | self._arrays, 0)

    def decode(self, state: CodecState, codes: Ids, stale: Stale = never) -> Floats:
        """The samples of the next frames; ``state`` moves on.

        codes: int64 [frames, groups]; returns float32 [frames * samples_per_frame] in [-1, 1].
        Raises ValueError for codes of another shape or outside the code books; the state has not
        moved then.
        """
        if not (state.tensors or state.arrays):
            raise ValueError("this codec state is closed: make a new one")
        codes = self._checked(codes)
        size = self._longest_run()
        parts = [
            self._run(state, codes[start : start + size], stale)
            for start in range(0, len(codes), size)
        ]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def fork(self, state: CodecState) -> CodecState:
        """An independent copy, without copying memory."""
        return CodecState(state.position, dict(state.tensors), dict(state.arrays))

    def export(self, state: CodecState) -> dict[str, Floats]:
        """The state's tensors by name, to be kept in a file; `restore` takes them back."""
        tensors = {name: np.array(value.numpy()) for name, value in state.tensors.items()}
        return tensors | {name: array.copy() for name, array in state.arrays.items()}

    def restore(self, tensors: Mapping[str, Floats], position: int) -> CodecState:
        """A state from exported tensors. Raises ValueError when they are not this decoder's."""
        from onnxruntime import OrtValue

        values = {
            name: OrtValue.ortvalue_from_numpy(_exported(tensors, name, shape))
            for name, shape in self._shapes(self._tensors, position)
        }
        arrays = {
            name: _exported(tensors, name, shape)
            for name, shape in self._shapes(self._arrays, position)
        }
        return CodecState(position, values, arrays)

    @abstractmethod
    def _longest_run(self) -> int:
        """How many frames `_run` may be given."""

    @abstractmethod
    def _run(self, state: CodecState, codes: Ids, stale: Stale) -> Floats:
        """The samples of checked codes, not too many; the state moves on when all went well."""

    def _shapes(
        self, empty: Mapping[str, Floats], position: int
    ) -> list[tuple[str, tuple[int, ...]]]:
        window = min(position, self._spec.window_frames - 1)
        return [
            (name, tuple(size or window for size in array.shape)) for name, array in empty.items()
        ]

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


class OnnxCodecDecoder(CheckpointDecoder):
    """The codec decoder of a checkpoint. Weights are shared by all states; a call may come from
    any thread, a state from one at a time."""

    def __init__(
        self, graph: Path, spec: CodecDecoderSpec, *, threads: int = 1, device: str = CPU
    ) -> None:
        """Load graphs written by `build_decoder_graphs`; ``graph`` is the path it returned.

        Raises CodecError for older ones, and for a device that is not there.
        """
        self._threads = threads
        providers = execution_providers(device)
        self._frames = GraphPart(graph, threads, providers)
        self._steps = GraphPart(graph.with_name(f"{STEPS_GRAPH}.onnx"), 1, providers)
        self._wave = GraphPart(graph.with_name(f"{WAVE_GRAPH}.onnx"), 1, providers)
        super().__init__(spec, self._frames.empty | self._steps.empty | self._wave.empty)

    @classmethod
    def open(
        cls,
        spec: CodecDecoderSpec,
        tensors: Tensors,
        cache: Path,
        fingerprint: str,
        *,
        threads: int = 1,
        device: str = CPU,
    ) -> OnnxCodecDecoder:
        """From a checkpoint's tensors; the graph is built on first use and kept in ``cache``.

        fingerprint: stands for the checkpoint, so that another one gets another graph.
        """
        folder = cache / f"codec_decoder-{fingerprint}-v{GRAPH_VERSION}"
        graph = cached_graph(
            folder, FRAMES_GRAPH, lambda to: build_decoder_graphs(spec, tensors, to)
        )
        return cls(graph, spec, threads=threads, device=device)

    def _longest_run(self) -> int:
        return MAX_FRAMES_A_RUN

    def _run(self, state: CodecState, codes: Ids, stale: Stale) -> Floats:
        """One run of the first graph, and of the others as many as there are slices."""
        tensors = dict(state.tensors)
        feeds = {"codes": codes, "position": np.array(state.position, dtype=np.int64)}
        steps = self._frames.run(feeds, tensors)
        size = max(1, len(steps) // (len(codes) * SLICES_A_FRAME))
        slices = [steps[start : start + size] for start in range(0, len(steps), size)]
        pcm = self._finish(slices, tensors, stale)
        state.tensors = tensors
        state.position += len(codes)
        return np.concatenate(pcm)

    def _finish(
        self, slices: list[Floats], tensors: dict[str, OrtValue], stale: Stale
    ) -> list[Floats]:
        """The last two graphs over the slices; with two threads the second is a slice ahead."""

        def steps(part: Floats) -> dict[str, Floats]:
            if stale():
                raise Stopped
            return {"steps": self._steps.run({"steps": part}, tensors)}

        if self._threads == 1:
            return [self._wave.run(steps(part), tensors) for part in slices]
        with ThreadPoolExecutor(1) as behind:  # one worker: slices stay in order
            made = [behind.submit(self._wave.run, steps(part), tensors) for part in slices]
            return [each.result() for each in made]


def _exported(tensors: Mapping[str, Floats], name: str, shape: tuple[int, ...]) -> Floats:
    array = tensors.get(name)
    if array is None or array.shape != shape or array.dtype != np.float32:
        raise ValueError(f"not a state of this codec decoder: {name} should be {shape}")
    return np.ascontiguousarray(array)


def execution_providers(device: str) -> tuple[str, ...]:
    """What onnxruntime calls a device, and the processor for what that cannot do.

    Raises CodecError that names those of the installed package.
    """
    import onnxruntime

    names = onnxruntime.get_available_providers()
    known = {name.removesuffix(_PROVIDER).lower(): name for name in names}
    found = known.get(device.lower())
    if found is None:
        raise CodecError(
            f"onnxruntime has no device {device!r} here, only {', '.join(sorted(known))}; "
            "another build of it may (onnxruntime-gpu, for example)"
        )
    return (found,) if device.lower() == CPU else (found, known[CPU])


class GraphPart:
    """One graph: an output from inputs and its share of the state, which is not the others'."""

    def __init__(self, graph: Path, threads: int, providers: tuple[str, ...]) -> None:
        self._session = onnx_session(graph, threads=threads, providers=providers)
        version = self._session.get_modelmeta().custom_metadata_map.get("version")
        if version != str(GRAPH_VERSION):
            raise CodecError(
                f"{graph} has version {version}, this program needs {GRAPH_VERSION}: "
                "delete it, it is built again"
            )
        self.empty = {
            item.name: np.zeros([size if isinstance(size, int) else 0 for size in item.shape], "f4")
            for item in self._session.get_inputs()
            if item.name.startswith(STATE_PREFIX)
        }
        """What its part of the state is at the start of a stream, by name."""
        after = [NEXT_PREFIX + name.removeprefix(STATE_PREFIX) for name in self.empty]
        self._outputs = ["output", *after]

    def run(
        self, inputs: Mapping[str, npt.NDArray[np.generic]], state: dict[str, OrtValue]
    ) -> Floats:
        """The output; this graph's tensors in ``state`` are replaced by the next ones."""
        from onnxruntime import OrtValue

        feeds = {name: OrtValue.ortvalue_from_numpy(array) for name, array in inputs.items()}
        feeds |= {name: state[name] for name in self.empty}
        output, *tensors = self._session.run_with_ort_values(self._outputs, feeds)
        state.update(zip(self.empty, tensors, strict=True))
        return np.asarray(output.numpy(), dtype=np.float32)
