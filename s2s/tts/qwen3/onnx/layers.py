"""Causal layers over a stream of steps, each with the state that makes any split exact.

A value is ``[steps, channels]``, time first: a convolution's history is then one block of memory
in front of the new steps. What a layer saw to the left of a call is a graph input ``state.X`` and
an output ``next.X``; zeros (and empty key/value caches) are the start of a stream.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from s2s.models.onnx_file.builder import GraphBuilder
from s2s.tts.qwen3.codec.tensors import (
    NEXT_PREFIX,
    STATE_PREFIX,
    Tensors,
    Wide,
    codebook,
    wide,
)

_END = np.iinfo(np.int64).max
_MASKED = -1e9


@dataclass(slots=True)
class StepBuilder:
    """Adds layers to ``graph`` with weights from ``tensors``."""

    graph: GraphBuilder
    tensors: Tensors

    # --- weights -------------------------------------------------------------------------------

    def wide(self, name: str, *shape: int) -> Wide:
        """A tensor in float64. Raises CodecError when its shape is another one."""
        return wide(self.tensors, name, *shape)

    def codebook(self, name: str, sums: str, size: int, width: int) -> Wide:
        """Code vectors [size, width]: sums over a cluster divided by the cluster's usage."""
        return codebook(self.tensors, name, sums, size, width)

    def values(self, array: Wide) -> str:
        """Small constant values as float32; equal ones are stored once."""
        return self.graph.constant(array.astype(np.float32))

    def integer(self, value: int) -> str:
        """A constant int64 []."""
        return self.graph.constant(np.array(value, dtype=np.int64))

    def scalar(self, value: float) -> str:
        """A constant float32 []."""
        return self.graph.constant(np.array(value, dtype=np.float32))

    # --- layers --------------------------------------------------------------------------------

    def linear(self, steps: str, matrix: Wide, bias: Wide | None = None) -> str:
        """steps [steps, in] times matrix [in, out], plus bias [out]."""
        graph = self.graph
        if bias is None:
            return graph.op("MatMul", steps, graph.weight(matrix))
        return graph.op("Gemm", steps, graph.weight(matrix), graph.weight(bias))

    def layer_norm(self, steps: str, width: int, epsilon: float) -> str:
        """Normalise each step; the affine part belongs into the next matrix."""
        one, zero = np.ones(width), np.zeros(width)
        return self.graph.op(
            "LayerNormalization",
            steps,
            self.values(one),
            self.values(zero),
            axis=-1,
            epsilon=epsilon,
        )

    def silu(self, steps: str) -> str:
        """x times the logistic function of x."""
        return self.graph.op("QuickGelu", steps, contrib=True, alpha=1.0)

    def gelu(self, steps: str) -> str:
        """x times the distribution function of the normal distribution at x."""
        return self.graph.op("Gelu", steps, contrib=True)

    def rms_norm(self, steps: str, width: int, epsilon: float) -> str:
        """Normalise each step; the weight belongs into the next matrix."""
        ones = self.values(np.ones(width))
        return self.graph.op("SimplifiedLayerNormalization", steps, ones, epsilon=epsilon)

    def add_rms_norm(self, steps: str, added: str, width: int, epsilon: float) -> tuple[str, str]:
        """Likewise of a sum, and the sum."""
        return self.graph.add_rms_norm(steps, added, self.values(np.ones(width)), epsilon)

    def with_history(self, state: str, steps: str, history: int, width: int) -> str:
        """``history`` steps of the streaming state in front of the new ones; keeps the newest."""
        graph = self.graph
        past = graph.input(f"{STATE_PREFIX}{state}", np.float32, (history, width))
        padded = graph.op("Concat", past, steps, axis=0)
        kept = graph.op("Slice", padded, graph.ints(-history), graph.ints(_END), graph.ints(0))
        graph.output(f"{NEXT_PREFIX}{state}", kept, np.float32, (history, width))
        return padded

    def taps(self, padded: str, kernel: int) -> str:
        """Each step beside the ``kernel - 1`` before it, oldest first: [steps, kernel * width]."""
        graph = self.graph
        shifted = [
            graph.op(
                "Slice",
                padded,
                graph.ints(tap),
                graph.ints(tap - kernel + 1 if tap < kernel - 1 else _END),
                graph.ints(0),
            )
            for tap in range(kernel)
        ]
        return graph.op("Concat", *shifted, axis=1)

    def conv(
        self,
        padded: str,
        weight: Wide,
        bias: Wide | None,
        *,
        dilation: int = 1,
        stride: int = 1,
        groups: int = 1,
    ) -> str:
        """A convolution without padding. weight: [out, in / groups, kernel].

        Its image of height 1 gets onnxruntime's blocked kernels, which it has for images only.
        """
        graph = self.graph
        image = graph.op("Unsqueeze", padded, graph.ints(0, 1))
        image = graph.op("Transpose", image, perm=(0, 3, 1, 2))
        inputs = [image, graph.weight(weight[:, :, None, :])]
        if bias is not None:
            inputs.append(graph.weight(bias))
        image = graph.op(
            "Conv",
            *inputs,
            kernel_shape=(1, weight.shape[2]),
            dilations=(1, dilation),
            strides=(1, stride),
            group=groups,
        )
        image = graph.op("Transpose", image, perm=(0, 2, 3, 1))
        return graph.op("Squeeze", image, graph.ints(0, 1))

    # --- attention -----------------------------------------------------------------------------

    def rope(self, steps: str, position: str, head_dim: int, theta: float) -> tuple[str, str]:
        """Cosine and sine of the rotary angles of the new steps: [steps, 1, head_dim / 2].

        position: int64 [], the number of steps before these.
        """
        graph = self.graph
        exponents = np.arange(0, head_dim, 2, dtype=np.float32) / np.float32(head_dim)
        frequencies = np.float32(1.0) / np.float32(theta) ** exponents
        end = graph.op("Add", position, self.size(steps, 0))
        positions = graph.op("Range", position, end, self.integer(1))
        positions = graph.op("Cast", positions, to=1)
        positions = graph.op("Reshape", positions, graph.ints(-1, 1, 1))
        angles = graph.op("Mul", positions, graph.constant(frequencies))
        return graph.op("Cos", angles), graph.op("Sin", angles)

    def causal_mask(self, steps: str, past: str, window: int | None) -> str:
        """What is added to scores [steps, past + steps]: 0 for itself and what came before, as
        far as ``window - 1`` steps back.

        past: a key cache [heads, past, head_dim].
        """
        graph = self.graph
        held = self.size(past, 1)
        total = graph.op("Add", held, self.size(steps, 0))
        queries = graph.op("Range", held, total, self.integer(1))
        keys = graph.op("Range", self.integer(0), total, self.integer(1))
        ages = graph.op("Sub", graph.op("Unsqueeze", queries, graph.ints(1)), keys)
        seen = graph.op("GreaterOrEqual", ages, self.integer(0))
        if window is not None:
            seen = graph.op("And", seen, graph.op("Less", ages, self.integer(window)))
        return graph.op("Where", seen, self.scalar(0.0), self.scalar(_MASKED))

    def attention(
        self,
        layer: int,
        joined: str,
        heads: int,
        head_dim: int,
        rope: tuple[str, str],
        mask: str,
        window: int | None,
    ) -> str:
        """Attention over the cache and the new steps: [steps, heads * head_dim].

        joined: queries (already scaled), keys and values, [steps, 3 * heads * head_dim]. The
        caches are declared with `declare_caches`, and are cut to the newest
        ``window - 1`` steps.
        """
        graph, width = self.graph, heads * head_dim
        pair, value = graph.split(joined, (2 * width, width), axis=1)
        pair = graph.op("Reshape", pair, graph.ints(-1, 2 * heads, head_dim))
        pair = graph.op("Transpose", self._rotate(pair, head_dim // 2, rope), perm=(1, 0, 2))
        query, key = graph.split(pair, (heads, heads), axis=0)
        value = graph.op("Reshape", value, graph.ints(-1, heads, head_dim))
        value = graph.op("Transpose", value, perm=(1, 0, 2))
        keys = self.with_window(f"key_{layer}", key, (heads, head_dim), window)
        values = self.with_window(f"value_{layer}", value, (heads, head_dim), window)
        scores = graph.op("MatMul", query, graph.op("Transpose", keys, perm=(0, 2, 1)))
        weights = graph.op("Softmax", graph.op("Add", scores, mask), axis=-1)
        mixed = graph.op("Transpose", graph.op("MatMul", weights, values), perm=(1, 0, 2))
        return graph.op("Reshape", mixed, graph.ints(-1, width))

    def declare_caches(self, layers: int, heads: int, head_dim: int) -> str:
        """The key and value caches of all layers as inputs; returns the first keys' name."""
        for layer in range(layers):
            for part in ("key", "value"):
                name = f"{STATE_PREFIX}{part}_{layer}"
                self.graph.input(name, np.float32, (heads, "past", head_dim))
        return f"{STATE_PREFIX}key_0"

    def size(self, value: str, axis: int) -> str:
        """The length of an axis, int64 []."""
        shape = self.graph.op("Shape", value, start=axis, end=axis + 1)
        return self.graph.op("Squeeze", shape)

    def _rotate(self, pair: str, half: int, rope: tuple[str, str]) -> str:
        """Rotary embedding of [steps, heads, 2 * half]: the halves are the two coordinates."""
        graph = self.graph
        cosine, sine = rope
        left, right = graph.split(pair, (half, half), axis=2)
        new_left = graph.op("Sub", graph.op("Mul", left, cosine), graph.op("Mul", right, sine))
        new_right = graph.op("Add", graph.op("Mul", right, cosine), graph.op("Mul", left, sine))
        return graph.op("Concat", new_left, new_right, axis=2)

    def with_window(self, state: str, new: str, heads: tuple[int, int], window: int | None) -> str:
        """Cached and new keys (or values) [heads, past + steps, head_dim]; keeps the newest."""
        graph = self.graph
        joined = kept = graph.op("Concat", f"{STATE_PREFIX}{state}", new, axis=1)
        if window is not None:
            kept = graph.op(
                "Slice", joined, graph.ints(1 - window), graph.ints(_END), graph.ints(1)
            )
        graph.output(f"{NEXT_PREFIX}{state}", kept, np.float32, (heads[0], "kept", heads[1]))
        return joined
