"""Codes to sound, frame-exact: what all codec decoders have in common.

A state is a plain mapping of arrays and a position, whatever computes it; `tensors` has the names.
Knows neither its implementations nor text, talker or voices.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from s2s.tts.qwen3.checkpoint.codec_spec import CodecDecoderSpec
from s2s.tts.qwen3.codec.tensors import state_shapes
from s2s.tts.qwen3.interfaces import Floats, Ids, Stale, never


@dataclass(slots=True)
class CodecState:
    """The streaming state of one utterance. Its arrays are never written to, only replaced, so
    copies of a state share them."""

    position: int = 0
    """Frames decoded so far."""
    arrays: dict[str, Floats] = field(default_factory=dict)
    """By the names of `tensors.state_shapes`; empty once closed."""

    def close(self) -> None:
        """Drop the arrays; the state cannot be used any more."""
        self.arrays = {}


class CheckpointDecoder(ABC):
    """The codec decoder of a checkpoint; its states can be kept in a file.

    Names and shapes of what they hold are the same for all implementations.
    """

    def __init__(self, spec: CodecDecoderSpec) -> None:
        self._spec = spec

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

    @property
    def remark(self) -> str:
        """What is computed elsewhere than it was asked for, and why; else ""."""
        return ""

    def new_state(self) -> CodecState:
        """The state before the first frame: zeros, and empty attention windows."""
        shapes = state_shapes(self._spec, 0)
        return CodecState(0, {name: np.zeros(shape, np.float32) for name, shape in shapes.items()})

    def decode(self, state: CodecState, codes: Ids, stale: Stale = never) -> Floats:
        """The samples of the next frames; ``state`` moves on.

        codes: int64 [frames, groups]; returns float32 [frames * samples_per_frame] in [-1, 1].
        Raises ValueError for a closed state, and for codes of another shape or outside the
        codebooks; the state has not moved then.
        """
        if not state.arrays:
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
        return CodecState(state.position, dict(state.arrays))

    def export(self, state: CodecState) -> dict[str, Floats]:
        """The state's arrays by name, to be kept in a file; `restore` takes them back."""
        return {name: array.copy() for name, array in state.arrays.items()}

    def restore(self, arrays: Mapping[str, Floats], position: int) -> CodecState:
        """A state from exported arrays, of any decoder of this checkpoint.

        Raises ValueError when they are not this checkpoint's.
        """
        shapes = state_shapes(self._spec, position)
        found = {name: _exported(arrays, name, shape) for name, shape in shapes.items()}
        return CodecState(position, found)

    @abstractmethod
    def _longest_run(self) -> int:
        """How many frames `_run` may be given."""

    @abstractmethod
    def _run(self, state: CodecState, codes: Ids, stale: Stale) -> Floats:
        """The samples of checked codes, not too many; the state moves on when all went well."""

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


def _exported(arrays: Mapping[str, Floats], name: str, shape: tuple[int, ...]) -> Floats:
    array = arrays.get(name)
    if array is None or array.shape != shape or array.dtype != np.float32:
        raise ValueError(f"not a state of this codec decoder: {name} should be {shape}")
    return np.ascontiguousarray(array)
