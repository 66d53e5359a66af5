"""Codes to sound on ONNX Runtime: the `CodecDecoder` port in three graphs.

The arrays of a state are bound to a run in their own memory: nothing is copied in or out.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from s2s.models.onnx_file.builder import cached_graph
from s2s.tts.qwen3.checkpoint.codec_spec import CodecDecoderSpec
from s2s.tts.qwen3.codec.decoder import CheckpointDecoder, CodecState
from s2s.tts.qwen3.codec.tensors import NEXT_PREFIX, STATE_PREFIX, Tensors, state_shapes
from s2s.tts.qwen3.errors import CodecError
from s2s.tts.qwen3.interfaces import Floats, Ids, Stale, Stopped
from s2s.tts.qwen3.onnx.codec_graph import (
    CODEC_GRAPHS_VERSION,
    FRAMES_GRAPH,
    STEPS_GRAPH,
    WAVE_GRAPH,
    build_decoder_graphs,
)
from s2s.tts.qwen3.onnx.session import open_session

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


class OnnxCodecDecoder(CheckpointDecoder):
    """The codec decoder of a checkpoint. Weights are shared by all states; a call may come from
    any thread, a state from one at a time."""

    def __init__(
        self, graph: Path, spec: CodecDecoderSpec, *, threads: int = 1, device: str = CPU
    ) -> None:
        """Load graphs written by `build_decoder_graphs`; ``graph`` is the path it returned.

        Raises CodecError for older ones, and for a device that is not there.
        """
        super().__init__(spec)
        self._threads = threads
        providers = execution_providers(device)
        self._frames = GraphPart(graph, threads, providers)
        self._steps = GraphPart(graph.with_name(f"{STEPS_GRAPH}.onnx"), 1, providers)
        self._wave = GraphPart(graph.with_name(f"{WAVE_GRAPH}.onnx"), 1, providers)

    @classmethod
    def open(
        cls,
        spec: CodecDecoderSpec,
        tensors: Tensors,
        cache: Path,
        content_hash: str,
        *,
        threads: int = 1,
        device: str = CPU,
    ) -> OnnxCodecDecoder:
        """From a checkpoint's tensors; the graph is built on first use and kept in ``cache``.

        content_hash: stands for the checkpoint, so that another one gets another graph.
        """
        folder = cache / f"codec_decoder-{content_hash}-v{CODEC_GRAPHS_VERSION}"
        graph = cached_graph(
            folder, FRAMES_GRAPH, lambda to: build_decoder_graphs(spec, tensors, to)
        )
        return cls(graph, spec, threads=threads, device=device)

    def _longest_run(self) -> int:
        return MAX_FRAMES_A_RUN

    def _run(self, state: CodecState, codes: Ids, stale: Stale) -> Floats:
        """One run of the first graph, and of the others as many as there are slices."""
        arrays = dict(state.arrays)
        after = state_shapes(self._spec, state.position + len(codes))
        feeds = {"codes": codes, "position": np.array(state.position, dtype=np.int64)}
        steps = self._frames.run(feeds, arrays, after)
        size = max(1, len(steps) // (len(codes) * SLICES_A_FRAME))
        slices = [steps[start : start + size] for start in range(0, len(steps), size)]
        pcm = self._finish(slices, arrays, after, stale)
        state.arrays = arrays
        state.position += len(codes)
        return np.concatenate(pcm)

    def _finish(
        self,
        slices: list[Floats],
        arrays: dict[str, Floats],
        after: Mapping[str, tuple[int, ...]],
        stale: Stale,
    ) -> list[Floats]:
        """The last two graphs over the slices; with two threads the second is a slice ahead."""

        def steps(part: Floats) -> dict[str, Floats]:
            if stale():
                raise Stopped
            return {"steps": self._steps.run({"steps": part}, arrays, after)}

        if self._threads == 1:
            return [self._wave.run(steps(part), arrays, after) for part in slices]
        with ThreadPoolExecutor(1) as behind:  # one worker: slices stay in order
            made = [behind.submit(self._wave.run, steps(part), arrays, after) for part in slices]
            return [each.result() for each in made]


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
        self._session = open_session(graph, threads, providers=providers)
        version = self._session.get_modelmeta().custom_metadata_map.get("version")
        if version != str(CODEC_GRAPHS_VERSION):
            raise CodecError(
                f"{graph} has version {version}, this program needs {CODEC_GRAPHS_VERSION}: "
                "delete it, it is built again"
            )
        names = [item.name for item in self._session.get_inputs()]
        self.state = tuple(name for name in names if name.startswith(STATE_PREFIX))
        """Names of its part of the state."""

    def run(
        self,
        inputs: Mapping[str, npt.NDArray[np.generic]],
        state: dict[str, Floats],
        after: Mapping[str, tuple[int, ...]],
    ) -> Floats:
        """The output; this graph's arrays in ``state`` are replaced by new ones, whose shapes are
        in ``after``."""
        binding = self._session.io_binding()
        for name, array in inputs.items():
            binding.bind_ortvalue_input(name, _shared(array))
        made = {name: np.empty(after[name], np.float32) for name in self.state}
        for name, array in made.items():
            binding.bind_ortvalue_input(name, _shared(state[name]))
            next_name = NEXT_PREFIX + name.removeprefix(STATE_PREFIX)
            binding.bind_ortvalue_output(next_name, _shared(array))
        binding.bind_output("output", CPU)
        self._session.run_with_iobinding(binding)
        state.update(made)
        return np.asarray(binding.get_outputs()[-1].numpy(), dtype=np.float32)


def _shared(array: npt.NDArray[np.generic]) -> OrtValue:
    """A value in the array's own memory; the array has to outlive it."""
    from onnxruntime import OrtValue

    return OrtValue.ortvalue_from_numpy(array)
