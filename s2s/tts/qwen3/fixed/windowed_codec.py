"""A codec decoder whose runs have fixed numbers of frames, over a whole window of state.

A call is cut into runs of the numbers of frames that there are, the largest first. A state is kept
as every decoder keeps it, and is filled up to the whole window for a run.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from s2s.tts.qwen3.checkpoint.codec_spec import CodecDecoderSpec
from s2s.tts.qwen3.codec.decoder import CheckpointDecoder, CodecState
from s2s.tts.qwen3.codec.tensors import NEXT_PREFIX, STATE_PREFIX, state_shapes
from s2s.tts.qwen3.fixed.operators import MASKED
from s2s.tts.qwen3.interfaces import Floats, Ids, Stale, Stopped


class WindowedDecoder(CheckpointDecoder):
    """What is the same for all runtimes that compute such runs."""

    FRAMES: ClassVar[tuple[int, ...]]
    """Numbers of frames in a run, ascending, from 1; between two runs it is asked whether to
    stop."""

    def __init__(self, spec: CodecDecoderSpec) -> None:
        super().__init__(spec)
        self._shapes = state_shapes(spec, spec.window_frames)
        half = spec.head_dim // 2
        inverse = spec.rope_theta ** -(np.arange(half, dtype=np.float32) / np.float32(half))
        self._inverse = inverse.astype(np.float32)

    @abstractmethod
    def _computed(self, frames: int, feeds: Mapping[str, np.ndarray]) -> Mapping[str, Floats]:
        """The graph's outputs by name: "pcm", and the state after it."""

    def _longest_run(self) -> int:
        return self.FRAMES[-1]

    def _run(self, state: CodecState, codes: Ids, stale: Stale) -> Floats:
        arrays, position, start, pcm = dict(state.arrays), state.position, 0, list[Floats]()
        for size in reversed(self.FRAMES):
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
        feeds = {
            "codes": codes.astype(np.int32),
            "cos": np.cos(angles)[:, None],
            "sin": np.sin(angles)[:, None],
            "mask": self._mask(position, n),
            **{name: _filled(arrays[name], shape) for name, shape in self._shapes.items()},
        }
        found = self._computed(n, feeds)
        for name, shape in state_shapes(self._spec, position + n).items():
            array = found[NEXT_PREFIX + name.removeprefix(STATE_PREFIX)]
            arrays[name] = array if array.shape == shape else array[:, -shape[1] :].copy()
        return np.asarray(found["pcm"], np.float32).reshape(-1)

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
