"""The codec decoder as three ONNX graphs with explicit state, built from the checkpoint's tensors.

The first takes codes as far as the wide layers go, which are all weights: best run on many frames.
The other two make samples, and are all activations: best run on half a frame, so that these stay in
the processor's cache, and side by side on two cores, as both cost the same. In each, any split into
calls gives the result of one call; zero state is the start of a stream.

Linear layers that follow one another are multiplied into one matrix when the graph is built, in
float64: quantizer projections, first convolution and input projection; output projection and first
upsampling; norm weights and layer scales into the neighbouring matrices.

Architecture: Qwen3TTSTokenizerV2Decoder of the official ``qwen-tts`` package.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from s2s.tts.qwen3.codec_spec import CodecDecoderSpec
from s2s.tts.qwen3.codec_weights import (
    DILATIONS,
    KERNEL,
    Convolution,
    Residual,
    Snake,
    WideWeights,
)
from s2s.tts.qwen3.onnx_builder import GraphBuilder
from s2s.tts.qwen3.onnx_steps import StepBuilder, Tensors, Wide, expand_heads

FRAMES_GRAPH, STEPS_GRAPH, WAVE_GRAPH = "codec_frames", "codec_steps", "codec_wave"
LATENT_GRAPH = "codec_latent"
GRAPH_VERSION = 2
"""Raised when graphs or state change: older caches and primed states are then not used."""

_CONVNEXT_EPS = 1e-6


def build_decoder_graphs(spec: CodecDecoderSpec, tensors: Tensors, folder: Path) -> Path:
    """Write the graphs into ``folder`` and return the path of the first.

    The first: ``codes`` int64 [frames, groups] and ``position`` int64 [] (frames decoded so far)
    to ``output`` float32 [steps, width]; the second: ``steps`` to ``output`` likewise, at a higher
    rate; the third: ``steps`` to ``output`` float32 [samples]. All have state tensors besides,
    ``state.X`` in and ``next.X`` out.

    Raises CodecError when a tensor does not have the shape the spec asks for.
    """
    blocks = range(1, len(spec.upsample_rates) + 1)
    wide, middle, last = blocks[:-2], blocks[-2:-1], blocks[-1:]
    widths = [spec.decoder_dim >> count for count in (len(wide), len(blocks) - 1)]
    metadata = {"version": str(GRAPH_VERSION)}
    with GraphBuilder(folder, WAVE_GRAPH) as graph:
        decoder = _Decoder(graph, tensors, spec)
        steps = graph.input("steps", np.float32, ("steps", widths[1]))
        pcm = decoder.waveform(decoder.widen(steps, last))
        graph.output("output", pcm, np.float32, ("samples",))
        graph.save(metadata)
    with GraphBuilder(folder, STEPS_GRAPH) as graph:
        decoder = _Decoder(graph, tensors, spec)
        steps = graph.input("steps", np.float32, ("steps", widths[0]))
        steps = decoder.widen(steps, middle)
        graph.output("output", steps, np.float32, ("more", widths[1]))
        graph.save(metadata)
    with GraphBuilder(folder, FRAMES_GRAPH) as graph:
        decoder = _Decoder(graph, tensors, spec)
        codes = graph.input("codes", np.int64, ("frames", spec.code_groups))
        position = graph.input("position", np.int64, ())
        steps = decoder.transformer(decoder.vectors(codes), position)
        steps = decoder.widen(decoder.first(decoder.upsample(steps)), wide)
        graph.output("output", steps, np.float32, ("steps", widths[0]))
        return graph.save(metadata)


def build_latent_graph(spec: CodecDecoderSpec, tensors: Tensors, folder: Path) -> Path:
    """Write the first graph as far as the layers go that the compiled kernel does not have, and
    return its path: codes and position to float32 [steps, latent_dim], in front of the first
    convolution. States are named as in the others.

    Raises CodecError when a tensor does not have the shape the spec asks for.
    """
    with GraphBuilder(folder, LATENT_GRAPH) as graph:
        decoder = _Decoder(graph, tensors, spec)
        codes = graph.input("codes", np.int64, ("frames", spec.code_groups))
        position = graph.input("position", np.int64, ())
        steps = decoder.transformer(decoder.vectors(codes), position)
        steps = decoder.upsample(steps)
        graph.output("output", steps, np.float32, ("steps", spec.latent_dim))
        return graph.save({"version": str(GRAPH_VERSION)})


@dataclass(slots=True)
class _Decoder(StepBuilder):
    """The decoder's stages, in order."""

    spec: CodecDecoderSpec

    @property
    def weights(self) -> WideWeights:
        """Of the stages from the first convolution on."""
        return WideWeights(self.tensors, self.spec)

    def vectors(self, codes: str) -> str:
        """Codes to sums of their code vectors, semantic beside acoustic: [frames, codebook_dim]."""
        graph, spec = self.graph, self.spec
        names = ["rvq_first.vq.layers.0"]
        names += [f"rvq_rest.vq.layers.{at}" for at in range(spec.code_groups - 1)]
        books = [
            self.codebook(
                f"decoder.quantizer.{name}._codebook",
                "embedding_sum",
                spec.codebook_size,
                spec.codebook_dim // 2,
            )
            for name in names
        ]
        offsets = np.arange(spec.code_groups, dtype=np.int64) * spec.codebook_size
        rows = graph.op("Add", codes, graph.constant(offsets))
        found = graph.op("Gather", graph.weight(np.concatenate(books)), rows, axis=0)
        first, rest = graph.split(found, (1, spec.code_groups - 1), axis=1)
        first = graph.op("Squeeze", first, graph.ints(1))
        rest = graph.op("ReduceSum", rest, graph.ints(1), keepdims=0)
        return graph.op("Concat", first, rest, axis=1)

    def transformer(self, vectors: str, position: str) -> str:
        """Code vectors to the normed output of the window transformer: [frames, hidden]."""
        graph, spec = self.graph, self.spec
        padded = self.with_history("input", vectors, 2, spec.codebook_dim)
        steps = self.linear(self.taps(padded, 3), *self._input_projection())
        past = self.declare_caches(spec.layers, spec.heads, spec.head_dim)
        turns = self.turns(vectors, position, spec.head_dim, spec.rope_theta)
        mask = self.causal_mask(vectors, past, spec.window_frames)
        ones = self.values(np.ones(spec.hidden_size))
        normed = graph.op("SimplifiedLayerNormalization", steps, ones, epsilon=spec.rms_norm_eps)
        for layer in range(spec.layers):
            name = f"decoder.pre_transformer.layers.{layer}"
            joined = self.linear(normed, self._query_key_value(name))
            mixed = self.attention(
                layer, joined, spec.heads, spec.head_dim, turns, mask, spec.window_frames
            )
            out = self.wide(
                f"{name}.self_attn.o_proj.weight", spec.hidden_size, spec.heads * spec.head_dim
            )
            scale = self.wide(f"{name}.self_attn_layer_scale.scale", spec.hidden_size)
            attended = self.linear(mixed, (scale[:, None] * out).T)
            normed, steps = graph.add_rms_norm(steps, attended, ones, spec.rms_norm_eps)
            mixed = self._gated(name, normed)
            normed, steps = graph.add_rms_norm(steps, mixed, ones, spec.rms_norm_eps)
        return normed

    def upsample(self, normed: str) -> str:
        """Frames through the ConvNeXt blocks: [steps, latent]."""
        spec = self.spec
        latent = spec.latent_dim
        name = "decoder.pre_transformer"
        norm = self.wide(f"{name}.norm.weight", spec.hidden_size)
        project = self.wide(f"{name}.output_proj.weight", latent, spec.hidden_size)
        project_bias = self.wide(f"{name}.output_proj.bias", latent)
        steps = normed
        for at, factor in enumerate(spec.upsampling_ratios):
            name = f"decoder.upsample.{at}"
            spread = self.wide(f"{name}.0.conv.weight", latent, latent, factor)
            matrix = spread.transpose(0, 2, 1).reshape(latent, factor * latent)
            bias = np.tile(self.wide(f"{name}.0.conv.bias", latent), factor)
            if at == 0:
                bias = project_bias @ matrix + bias
                matrix = norm[:, None] * project.T @ matrix
            steps = self.linear(steps, matrix, bias)
            steps = self.graph.op("Reshape", steps, self.graph.ints(-1, latent))
            steps = self._convnext(f"{name}.1", f"convnext_{at}", steps)
        return steps

    def first(self, steps: str) -> str:
        """The first convolution: [steps, decoder_dim]."""
        return self._conv(self.weights.first(), "first", steps)

    def widen(self, steps: str, blocks: range) -> str:
        """Upsampling blocks, numbered from 1: each has fewer channels and a higher rate."""
        for at in blocks:
            steps = self._snake(self.weights.before_spread(at), steps)
            steps = self._spread(at, steps)
            for unit, dilation in enumerate(DILATIONS):
                weights = self.weights.residual(at, unit)
                steps = self._residual(weights, f"unit_{at}_{unit}", steps, dilation)
        return steps

    def waveform(self, steps: str) -> str:
        """The last channels to float32 [samples]."""
        graph = self.graph
        snake, conv = self.weights.last()
        steps = self._conv(conv, "last", self._snake(snake, steps))
        steps = graph.op("Clip", steps, self.scalar(-1.0), self.scalar(1.0))
        return graph.op("Reshape", steps, graph.ints(-1))

    def _input_projection(self) -> tuple[Wide, Wide]:
        """Quantizer projections, first convolution and input projection as one matrix over the
        three newest code vectors, oldest first: [3 * codebook_dim, hidden], and its bias."""
        spec = self.spec
        book, latent, hidden = spec.codebook_dim, spec.latent_dim, spec.hidden_size
        project = np.concatenate(
            [
                self.wide(f"decoder.quantizer.rvq_{part}.output_proj.weight", book, book // 2, 1)
                .squeeze(2)
                .T
                for part in ("first", "rest")
            ]
        )
        kernel = self.wide("decoder.pre_conv.conv.weight", latent, book, 3)
        into = self.wide("decoder.pre_transformer.input_proj.weight", hidden, latent).T
        matrix = np.concatenate([project @ kernel[:, :, tap].T @ into for tap in range(3)])
        bias = self.wide("decoder.pre_conv.conv.bias", latent) @ into
        return matrix, bias + self.wide("decoder.pre_transformer.input_proj.bias", hidden)

    def _query_key_value(self, name: str) -> Wide:
        """[hidden, 3 * heads * head_dim], with the norm's weight and the score scale inside."""
        spec = self.spec
        query = self.wide(
            f"{name}.self_attn.q_proj.weight", spec.heads * spec.head_dim, spec.hidden_size
        )
        narrow = spec.key_value_heads * spec.head_dim
        key, value = (
            expand_heads(
                self.wide(f"{name}.self_attn.{part}_proj.weight", narrow, spec.hidden_size),
                spec.key_value_heads,
                spec.heads,
            )
            for part in ("k", "v")
        )
        norm = self.wide(f"{name}.input_layernorm.weight", spec.hidden_size)
        return norm[:, None] * np.concatenate([query / np.sqrt(spec.head_dim), key, value]).T

    def _gated(self, name: str, normed: str) -> str:
        """The gated feed-forward layer, times its layer scale: [frames, hidden]."""
        graph, spec = self.graph, self.spec
        inner, hidden = spec.intermediate_size, spec.hidden_size
        norm = self.wide(f"{name}.post_attention_layernorm.weight", hidden)
        gate, up = (
            self.wide(f"{name}.mlp.{part}_proj.weight", inner, hidden) for part in ("gate", "up")
        )
        joined = self.linear(normed, norm[:, None] * np.concatenate([gate, up]).T)
        left, right = graph.split(joined, (inner, inner), axis=1)
        gated = graph.op("Mul", graph.op("QuickGelu", left, contrib=True, alpha=1.0), right)
        down = self.wide(f"{name}.mlp.down_proj.weight", hidden, inner)
        scale = self.wide(f"{name}.mlp_layer_scale.scale", hidden)
        return self.linear(gated, (scale[:, None] * down).T)

    def _convnext(self, name: str, state: str, steps: str) -> str:
        graph, width = self.graph, self.spec.latent_dim
        padded = self.with_history(state, steps, KERNEL - 1, width)
        inner = self.conv(
            padded,
            self.wide(f"{name}.dwconv.conv.weight", width, 1, KERNEL),
            self.wide(f"{name}.dwconv.conv.bias", width),
            groups=width,
        )
        inner = self.layer_norm(inner, width, _CONVNEXT_EPS)
        matrix = self.wide(f"{name}.pwconv1.weight", 4 * width, width).T
        bias = self.wide(f"{name}.norm.bias", width) @ matrix
        matrix = self.wide(f"{name}.norm.weight", width)[:, None] * matrix
        inner = self.linear(inner, matrix, bias + self.wide(f"{name}.pwconv1.bias", 4 * width))
        inner = graph.op("Gelu", inner, contrib=True)
        gamma = self.wide(f"{name}.gamma", width)
        matrix = gamma[:, None] * self.wide(f"{name}.pwconv2.weight", width, 4 * width)
        inner = self.linear(inner, matrix.T, gamma * self.wide(f"{name}.pwconv2.bias", width))
        return graph.op("Add", steps, inner)

    def _conv(self, conv: Convolution, state: str, steps: str, dilation: int = 1) -> str:
        """A causal convolution of kernel 7."""
        padded = self.with_history(state, steps, (KERNEL - 1) * dilation, conv.weight.shape[1])
        return self.conv(padded, conv.weight, conv.bias, dilation=dilation)

    def _residual(self, unit: Residual, state: str, steps: str, dilation: int) -> str:
        """Snake, convolution, waves, matrix, added to the steps."""
        angles = self._conv(unit.conv, state, self._snake(unit.before, steps), dilation)
        inner = self._add_waves(angles, angles, unit.heights)
        return self.graph.op("Add", steps, self.linear(inner, unit.matrix, unit.bias))

    def _spread(self, block: int, steps: str) -> str:
        """A transposed convolution: [steps * rate, width / 2]."""
        width = self.weights.width(block)
        padded = self.with_history(f"spread_{block}", steps, 1, width)
        steps = self.linear(self.taps(padded, 2), *self.weights.spread(block))
        return self.graph.op("Reshape", steps, self.graph.ints(-1, width // 2))

    def _snake(self, snake: Snake, steps: str) -> str:
        """SnakeBeta: x + sin(e^alpha x)^2 / (e^beta + 1e-9), per channel."""
        angles = self.graph.op("Mul", steps, self.values(snake.frequencies))
        return self._add_waves(steps, angles, snake.heights)

    def _add_waves(self, steps: str, angles: str, heights: Wide) -> str:
        graph = self.graph
        wave = graph.op("Sin", angles)
        wave = graph.op("Mul", graph.op("Mul", wave, wave), self.values(heights))
        return graph.op("Add", steps, wave)
