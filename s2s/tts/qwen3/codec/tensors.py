"""Names and shapes of what a codec decoder carries from call to call, and of its weights.

Whatever computes the decoder keeps a stream's state under these names, so that a state which one
has exported another restores. Knows no implementation.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from s2s.tts.qwen3.checkpoint.codec_spec import CodecDecoderSpec
from s2s.tts.qwen3.errors import CodecError

STATE_PREFIX, NEXT_PREFIX = "state.", "next."
"""Of a state tensor's name before a call, and of the same tensor's after it in a graph."""

INPUT_TAPS = 3
KERNEL = 7
"""Taps of the convolutions over time."""
DILATIONS = (1, 3, 9)
"""Of the three residual units of a block."""

Wide = npt.NDArray[np.float64]
"""Weights are combined in float64 before they are stored."""

_USAGE_FLOOR = 1e-5  # of MimiEuclideanCodebook and EuclideanCodebook


class Tensors(Protocol):
    """Named tensors of a checkpoint as float32, read when asked for."""

    def __getitem__(self, name: str) -> npt.NDArray[np.float32]: ...


def block_width(spec: CodecDecoderSpec, block: int) -> int:
    """Channels that go into a block, numbered from 1; into what follows for one more."""
    return spec.decoder_dim >> (block - 1)


def transformer_state(spec: CodecDecoderSpec, frames: int) -> dict[str, tuple[int, ...]]:
    """Shapes of the state of everything in front of the upsampling decoder after so many frames,
    in the order it is computed: keys and values [heads, context, head_dim] of the attention
    window, the others [steps, channels]."""
    context = min(frames, spec.window_frames - 1)
    state: dict[str, tuple[int, ...]] = {"input": (INPUT_TAPS - 1, spec.codebook_dim)}
    for layer in range(spec.layers):
        for part in ("key", "value"):
            state[f"{part}_{layer}"] = (spec.heads, context, spec.head_dim)
    for at in range(len(spec.upsampling_ratios)):
        state[f"convnext_{at}"] = (KERNEL - 1, spec.latent_dim)
    return {STATE_PREFIX + name: shape for name, shape in state.items()}


def upsampler_state(spec: CodecDecoderSpec) -> dict[str, tuple[int, int]]:
    """Shapes [steps, channels] of the upsampling decoder's state, in the order it is computed."""
    last = len(spec.upsample_rates) + 1
    state = {"first": (KERNEL - 1, spec.latent_dim)}
    for block in range(1, last):
        state[f"spread_{block}"] = (1, block_width(spec, block))
        for unit, dilation in enumerate(DILATIONS):
            state[f"unit_{block}_{unit}"] = (
                (KERNEL - 1) * dilation,
                block_width(spec, block + 1),
            )
    state["last"] = (KERNEL - 1, block_width(spec, last))
    return {STATE_PREFIX + name: shape for name, shape in state.items()}


def state_shapes(spec: CodecDecoderSpec, frames: int) -> dict[str, tuple[int, ...]]:
    """Shapes of a whole state after so many frames, by name."""
    return transformer_state(spec, frames) | upsampler_state(spec)


def wide(tensors: Tensors, name: str, *shape: int) -> Wide:
    """A tensor in float64. Raises CodecError when its shape is another one."""
    found = tensors[name]
    if found.shape != shape:
        raise CodecError(
            f"{name} has shape {list(found.shape)} where the config asks for {list(shape)}"
        )
    return found.astype(np.float64)


def codebook(tensors: Tensors, name: str, sums: str, size: int, width: int) -> Wide:
    """Code vectors [size, width]: sums over a cluster divided by the cluster's usage."""
    usage = wide(tensors, f"{name}.cluster_usage", size)
    return wide(tensors, f"{name}.{sums}", size, width) / np.maximum(usage, _USAGE_FLOOR)[:, None]


def expand_heads(matrix: Wide, key_value_heads: int, heads: int) -> Wide:
    """Repeat each key (or value) head for the query heads that share it: rows are heads * width."""
    by_head = matrix.reshape(key_value_heads, -1, matrix.shape[1])
    repeated = np.repeat(by_head, heads // key_value_heads, axis=0)
    return repeated.reshape(-1, matrix.shape[1])
