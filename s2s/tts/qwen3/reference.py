"""Talker, code predictor and input tables in plain numpy, float32: slow, short, and the measure.

Every other backend is compared with this one, and this one with the official package. It reads
the checkpoint as it is, folds nothing and quantises nothing. A ``Trace`` sees each layer's result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.checkpoint.spec import DecoderSpec, Spec
from s2s.tts.qwen3.interfaces import Floats, Ids, TalkerOutput
from s2s.tts.qwen3.sampling import Draws, Sampling, choose

Trace = Callable[[str, Floats], None]
"""Called with a tensor's name and value, float32 [positions, width], as it is computed."""

_PREDICTOR = "talker.code_predictor"
TALKER_NAME, PREDICTOR_NAME = "talker.model", f"{_PREDICTOR}.model"
"""Names of the two decoders, in the checkpoint and in a trace."""


def no_trace(name: str, value: Floats) -> None:
    """Sees nothing."""


@dataclass(slots=True)
class Cache:
    """Keys and values of one decoder, for one utterance or one frame.

    keys, values: float32 [layers, kv heads, room, head_dim], keys after rotation; ``length``
    positions of them are filled, by ``forward_passes`` over the decoder.
    """

    keys: Floats
    values: Floats
    length: int = 0
    forward_passes: int = 0

    @property
    def room(self) -> int:
        """Positions it can hold."""
        return self.keys.shape[2]

    def close(self) -> None:
        """Nothing lies outside Python."""


@dataclass(frozen=True, slots=True)
class _Layer:
    """One decoder layer's weights, matrices as [out, in]."""

    attention_norm: Floats
    query: Floats
    key: Floats
    value: Floats
    out: Floats
    query_norm: Floats
    key_norm: Floats
    mlp_norm: Floats
    gate: Floats
    up: Floats
    down: Floats


class Decoder:
    """A stack of Qwen3 layers and the final norm; vectors in, vectors out."""

    def __init__(self, weights: Checkpoint, prefix: str, spec: DecoderSpec, trace: Trace) -> None:
        self._spec = spec
        self._trace = trace
        self._name = prefix
        self._layers = [_read_layer(weights, f"{prefix}.layers.{at}") for at in range(spec.layers)]
        self._norm = weights[f"{prefix}.norm.weight"]

    def new_cache(self, room: int) -> Cache:
        """An empty cache for ``room`` positions."""
        if room < 1:
            raise ValueError(f"a cache of {room} positions holds nothing")
        spec = self._spec
        shape = (spec.layers, spec.kv_heads, room, spec.head_dim)
        return Cache(np.zeros(shape, np.float32), np.zeros(shape, np.float32))

    def forward(self, cache: Cache, inputs: Floats) -> Floats:
        """Append positions. inputs: float32 [n, hidden]; returns the normed outputs, same shape.

        Raises ValueError when the cache has no room for n more.
        """
        start, stop = cache.length, cache.length + len(inputs)
        if stop > cache.room:
            raise ValueError(f"the cache holds {cache.room} positions, {stop} were asked for")
        turn = _rotation(np.arange(start, stop), self._spec)
        x = inputs
        for at, layer in enumerate(self._layers):
            normed = rms_norm(x, layer.attention_norm, self._spec.rms_norm_eps)
            x = x + self._attend(layer, cache, at, normed, turn)
            self._trace(f"{self._name}.layers.{at}.attention", x)
            normed = rms_norm(x, layer.mlp_norm, self._spec.rms_norm_eps)
            gated = np.multiply(silu(normed @ layer.gate.T), normed @ layer.up.T, dtype=np.float32)
            x = x + gated @ layer.down.T
            self._trace(f"{self._name}.layers.{at}", x)
        cache.length = stop
        cache.forward_passes += 1
        x = rms_norm(x, self._norm, self._spec.rms_norm_eps)
        self._trace(f"{self._name}.norm", x)
        return x

    def _attend(
        self, layer: _Layer, cache: Cache, at: int, normed: Floats, turn: tuple[Floats, Floats]
    ) -> Floats:
        """Causal grouped-query attention over the cache and the new positions: [n, hidden]."""
        spec, count = self._spec, len(normed)
        start, stop = cache.length, cache.length + count

        def heads(matrix: Floats, number: int) -> Floats:
            return (normed @ matrix.T).reshape(count, number, spec.head_dim)

        query = rms_norm(heads(layer.query, spec.heads), layer.query_norm, spec.rms_norm_eps)
        key = rms_norm(heads(layer.key, spec.kv_heads), layer.key_norm, spec.rms_norm_eps)
        query, key = _rotate(query, turn), _rotate(key, turn)
        cache.keys[at, :, start:stop] = key.swapaxes(0, 1)
        cache.values[at, :, start:stop] = heads(layer.value, spec.kv_heads).swapaxes(0, 1)
        keys, values = cache.keys[at, :, :stop], cache.values[at, :, :stop]
        # Query head q reads key head q // (heads / kv_heads).
        grouped = query.reshape(count, spec.kv_heads, -1, spec.head_dim).transpose(1, 2, 0, 3)
        scores = grouped @ keys[:, None].swapaxes(-1, -2) * np.float32(spec.head_dim**-0.5)
        future = np.arange(stop) > np.arange(start, stop)[:, None]
        scores[..., future] = -np.inf
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        mixed = scores @ values[:, None]
        return mixed.transpose(2, 0, 1, 3).reshape(count, -1) @ layer.out.T


class ReferenceTalker:
    """The talker port."""

    def __init__(self, spec: Spec, weights: Checkpoint, trace: Trace = no_trace) -> None:
        self._decoder = Decoder(weights, TALKER_NAME, spec.talker, trace)
        self._head = weights["talker.codec_head.weight"]

    def new_state(self, max_positions: int) -> Cache:
        """An empty cache."""
        return self._decoder.new_cache(max_positions)

    def prefill(self, state: Cache, embeddings: Floats) -> TalkerOutput:
        """Append prompt positions. embeddings: float32 [n, H]."""
        hidden = self._decoder.forward(state, embeddings)[-1]
        return TalkerOutput(logits=self._head @ hidden, hidden=hidden)

    def step(self, state: Cache, embedding: Floats) -> TalkerOutput:
        """Append one position. embedding: float32 [H]."""
        return self.prefill(state, embedding[None])

    def rewind(self, state: Cache, positions: int) -> None:
        """Forget all but the first ``positions``."""
        if positions > state.length:
            raise ValueError(f"{positions} positions wanted, the state holds {state.length}")
        state.length = positions


class ReferencePredictor:
    """The code predictor port."""

    def __init__(self, spec: Spec, weights: Checkpoint, trace: Trace = no_trace) -> None:
        groups = range(spec.groups - 1)
        self._groups = spec.groups
        self._decoder = Decoder(weights, PREDICTOR_NAME, spec.predictor, trace)
        self._heads = [weights[f"{_PREDICTOR}.lm_head.{group}.weight"] for group in groups]
        self._first = weights.rows("talker.model.codec_embedding.weight", 0, spec.codes)
        self._rest = [
            weights[f"{_PREDICTOR}.model.codec_embedding.{group}.weight"] for group in groups[:-1]
        ]
        self._projection: tuple[Floats, Floats] | None = None
        if spec.projected:
            name = f"{_PREDICTOR}.small_to_mtp_projection"
            self._projection = weights[f"{name}.weight"], weights[f"{name}.bias"]

    def new_state(self) -> Cache:
        """Room for one frame."""
        return self._decoder.new_cache(self._groups)

    def frame(
        self, state: Cache, hidden: Floats, code0: int, sampling: Sampling, draws: Draws
    ) -> Ids:
        """The other codes of a frame: int64 [G - 1]."""
        return self.frame_with_logits(state, hidden, code0, sampling, draws)[0]

    def frame_with_logits(
        self, state: Cache, hidden: Floats, code0: int, sampling: Sampling, draws: Draws
    ) -> tuple[Ids, Floats]:
        """Codes int64 [G - 1] and the logits they were chosen from, float32 [G - 1, B]."""
        state.length = 0
        inputs = np.stack([hidden, self._first[code0]])
        codes: list[int] = []
        logits: list[Floats] = []
        for group, head in enumerate(self._heads):
            logits.append(head @ self._decoder.forward(state, self._narrow(inputs))[-1])
            codes.append(choose(logits[-1], sampling, draws))
            if group < len(self._rest):
                inputs = self._rest[group][codes[-1]][None]
        return np.array(codes), np.stack(logits)

    def _narrow(self, inputs: Floats) -> Floats:
        if self._projection is None:
            return inputs
        return affine(inputs, *self._projection)


class ReferenceEmbeddings:
    """The embeddings port; text vectors are projected when they are asked for."""

    def __init__(self, spec: Spec, weights: Checkpoint) -> None:
        self._weights = weights
        name = "talker.text_projection.linear_fc"
        self._inner = weights[f"{name}1.weight"], weights[f"{name}1.bias"]
        self._outer = weights[f"{name}2.weight"], weights[f"{name}2.bias"]
        self._tables = [
            "talker.model.codec_embedding.weight",
            *(f"{_PREDICTOR}.model.codec_embedding.{at}.weight" for at in range(spec.groups - 1)),
        ]

    def text(self, ids: Ids) -> Floats:
        """Projected text vectors: float32 [n, H]."""
        raw = self._weights.take("talker.model.text_embedding.weight", ids)
        return affine(silu(affine(raw, *self._inner)), *self._outer)

    def codec(self, ids: Ids) -> Floats:
        """Rows of the talker's codec table: float32 [n, H]."""
        return self._weights.take(self._tables[0], ids)

    def frames(self, codes: Ids) -> Floats:
        """The sum of each frame's code vectors: float32 [frames, H]."""
        total = self.codec(codes[:, 0])
        for group, table in enumerate(self._tables[1:], start=1):
            total = total + self._weights.take(table, codes[:, group])
        return total


def rms_norm(x: Floats, weight: Floats, eps: float) -> Floats:
    """Root-mean-square norm over the last axis."""
    power = np.mean(x * x, -1, keepdims=True, dtype=np.float32)
    return np.multiply(x / np.sqrt(power + np.float32(eps)), weight, dtype=np.float32)


def affine(x: Floats, weight: Floats, bias: Floats) -> Floats:
    """A linear layer. weight: float32 [out, in]."""
    return np.add(x @ weight.T, bias, dtype=np.float32)


def silu(x: Floats) -> Floats:
    """x times its logistic."""
    return np.divide(x, 1 + np.exp(-x), dtype=np.float32)


def _rotation(positions: Ids, spec: DecoderSpec) -> tuple[Floats, Floats]:
    """Cosines and sines of plain rotary positions, float32 [n, 1, head_dim / 2] each.

    The talker's config asks for three interleaved position streams; they are always equal, which
    is one plain stream.
    """
    half = spec.head_dim // 2
    inverse = spec.rope_theta ** -(np.arange(half, dtype=np.float32) / np.float32(half))
    angles = positions.astype(np.float32)[:, None, None] * inverse.astype(np.float32)
    return np.cos(angles), np.sin(angles)


def _rotate(x: Floats, turn: tuple[Floats, Floats]) -> Floats:
    """Rotate the first half of each head against the second. x: float32 [n, heads, head_dim]."""
    (cosine, sine), half = turn, x.shape[-1] // 2
    first, second, turned = x[..., :half], x[..., half:], np.empty_like(x)
    turned[..., :half] = first * cosine - second * sine
    turned[..., half:] = second * cosine + first * sine
    return turned


def _read_layer(weights: Checkpoint, name: str) -> _Layer:
    def read(part: str) -> Floats:
        return weights[f"{name}.{part}.weight"]

    return _Layer(
        attention_norm=read("input_layernorm"),
        query=read("self_attn.q_proj"),
        key=read("self_attn.k_proj"),
        value=read("self_attn.v_proj"),
        out=read("self_attn.o_proj"),
        query_norm=read("self_attn.q_norm"),
        key_norm=read("self_attn.k_norm"),
        mlp_norm=read("post_attention_layernorm"),
        gate=read("mlp.gate_proj"),
        up=read("mlp.up_proj"),
        down=read("mlp.down_proj"),
    )
