"""The codec decoder as three ONNX graphs with explicit state, built from the checkpoint's tensors.

The first takes codes as far as the wide layers go, which are all weights: best run on many frames.
The other two make samples, and are all activations: best run on half a frame, so that these stay in
the processor's cache, and side by side on two cores, as both cost the same. In each, any split into
calls gives the result of one call; zero state is the start of a stream. What was tried:
docs/decisions/qwen3-codec-onnx-graphs.md.

Linear layers that follow one another are multiplied into one matrix when the graph is built, in
float64: quantizer projections, first convolution and input projection; output projection and first
upsampling; norm weights and layer scales into the neighbouring matrices.

Architecture: Qwen3TTSTokenizerV2Decoder of the official ``qwen-tts`` package.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from s2s.models.onnx_file.builder import GraphBuilder
from s2s.tts.qwen3.checkpoint.codec_spec import CodecDecoderSpec
from s2s.tts.qwen3.codec.tensors import DILATIONS, INPUT_TAPS, KERNEL, Tensors, Wide, block_width
from s2s.tts.qwen3.codec.weights import (
    CONVNEXT_EPS,
    Convolution,
    Layer,
    PreTransformerWeights,
    Residual,
    Snake,
    Upsample,
    UpsamplerWeights,
)
from s2s.tts.qwen3.onnx.layers import StepBuilder

FRAMES_GRAPH, STEPS_GRAPH, WAVE_GRAPH = "codec_frames", "codec_steps", "codec_wave"
CODEC_GRAPHS_VERSION = 2
"""Raised when graphs or state change: older caches and warm-start states are then not used."""


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
    metadata = {"version": str(CODEC_GRAPHS_VERSION)}
    with GraphBuilder(folder, WAVE_GRAPH) as graph:
        decoder = CodecStages(graph, tensors, spec)
        steps = graph.input("steps", np.float32, ("steps", widths[1]))
        pcm = decoder.waveform(decoder.widen(steps, last))
        graph.output("output", pcm, np.float32, ("samples",))
        graph.save(metadata)
    with GraphBuilder(folder, STEPS_GRAPH) as graph:
        decoder = CodecStages(graph, tensors, spec)
        steps = graph.input("steps", np.float32, ("steps", widths[0]))
        steps = decoder.widen(steps, middle)
        graph.output("output", steps, np.float32, ("more", widths[1]))
        graph.save(metadata)
    with GraphBuilder(folder, FRAMES_GRAPH) as graph:
        decoder = CodecStages(graph, tensors, spec)
        codes = graph.input("codes", np.int64, ("frames", spec.code_groups))
        position = graph.input("position", np.int64, ())
        steps = decoder.transformer(decoder.vectors(codes), position)
        steps = decoder.widen(decoder.first(decoder.upsample(steps)), wide)
        graph.output("output", steps, np.float32, ("steps", widths[0]))
        return graph.save(metadata)


@dataclass(slots=True)
class CodecStages(StepBuilder):
    """The decoder's stages, in order."""

    spec: CodecDecoderSpec

    @property
    def latents(self) -> PreTransformerWeights:
        """Weights of the stages in front of the first convolution."""
        return PreTransformerWeights(self.tensors, self.spec)

    @property
    def weights(self) -> UpsamplerWeights:
        """Of the stages from there on."""
        return UpsamplerWeights(self.tensors, self.spec)

    def vectors(self, codes: str, integers: type[np.signedinteger] = np.int64) -> str:
        """Codes to sums of their code vectors, semantic beside acoustic: [frames, codebook_dim].

        integers: what the codes are in.
        """
        graph, spec = self.graph, self.spec
        offsets = np.arange(spec.code_groups, dtype=integers) * integers(spec.codebook_size)
        rows = graph.op("Add", codes, graph.constant(offsets))
        found = graph.op("Gather", graph.weight(self.latents.codebooks()), rows, axis=0)
        first, rest = graph.split(found, (1, spec.code_groups - 1), axis=1)
        first = graph.op("Squeeze", first, graph.ints(1))
        rest = graph.op("ReduceSum", rest, graph.ints(1), keepdims=0)
        return graph.op("Concat", first, rest, axis=1)

    def transformer(self, vectors: str, position: str) -> str:
        """Code vectors to the normed output of the window transformer: [frames, hidden]."""
        past = self.declare_caches(self.spec.layers, self.spec.heads, self.spec.head_dim)
        rope = self.rope(vectors, position, self.spec.head_dim, self.spec.rope_theta)
        mask = self.causal_mask(vectors, past, self.spec.window_frames)
        return self.window_layers(vectors, rope, mask)

    def window_layers(self, vectors: str, rope: tuple[str, str], mask: str) -> str:
        """The transformer, after its caches are declared, with what says where the frames stand:
        see `rope` and `causal_mask`."""
        spec = self.spec
        padded = self.with_history("input", vectors, INPUT_TAPS - 1, spec.codebook_dim)
        steps = self.linear(self.taps(padded, INPUT_TAPS), *self.latents.input())
        size = spec.hidden_size, spec.rms_norm_eps
        normed = self.rms_norm(steps, *size)
        for layer in range(spec.layers):
            weights = self.latents.layer(layer)
            joined = self.linear(normed, weights.query_key_value)
            mixed = self.attention(
                layer, joined, spec.heads, spec.head_dim, rope, mask, spec.window_frames
            )
            attended = self.linear(mixed, weights.out)
            normed, steps = self.add_rms_norm(steps, attended, *size)
            normed, steps = self.add_rms_norm(steps, self._gated(weights, normed), *size)
        return normed

    def upsample(self, normed: str) -> str:
        """Frames through the ConvNeXt blocks: [steps, latent]."""
        steps = normed
        for at in range(len(self.spec.upsampling_ratios)):
            weights = self.latents.upsample(at)
            steps = self.linear(steps, *weights.transposed)
            steps = self.graph.op("Reshape", steps, self.graph.ints(-1, self.spec.latent_dim))
            steps = self._convnext(weights, f"convnext_{at}", steps)
        return steps

    def first(self, steps: str) -> str:
        """The first convolution: [steps, decoder_dim]."""
        return self._conv(self.weights.first(), "first", steps)

    def widen(self, steps: str, blocks: range) -> str:
        """Upsampling blocks, numbered from 1: each has fewer channels and a higher rate."""
        for at in blocks:
            steps = self._snake(self.weights.before_transposed(at), steps)
            steps = self._transposed(at, steps)
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

    def _gated(self, layer: Layer, normed: str) -> str:
        """The gated feed-forward layer: [frames, hidden]."""
        graph, inner = self.graph, self.spec.intermediate_size
        left, right = graph.split(self.linear(normed, layer.gate_up), (inner, inner), axis=1)
        gated = graph.op("Mul", self.silu(left), right)
        return self.linear(gated, layer.down)

    def _convnext(self, weights: Upsample, state: str, steps: str) -> str:
        graph, width = self.graph, self.spec.latent_dim
        padded = self.with_history(state, steps, KERNEL - 1, width)
        inner = self.conv(padded, weights.taps.weight, weights.taps.bias, groups=width)
        inner = self.linear(self.layer_norm(inner, width, CONVNEXT_EPS), *weights.up)
        inner = self.linear(self.gelu(inner), *weights.down)
        return graph.op("Add", steps, inner)

    def _conv(self, conv: Convolution, state: str, steps: str, dilation: int = 1) -> str:
        """A causal convolution of kernel 7."""
        padded = self.with_history(state, steps, (KERNEL - 1) * dilation, conv.weight.shape[1])
        return self.conv(padded, conv.weight, conv.bias, dilation=dilation)

    def _residual(self, unit: Residual, state: str, steps: str, dilation: int) -> str:
        """Snake, convolution, waves, matrix, added to the steps."""
        angles = self._conv(unit.conv, state, self._snake(unit.before, steps), dilation)
        inner = self._add_sine(angles, angles, unit.scales)
        return self.graph.op("Add", steps, self.linear(inner, unit.matrix, unit.bias))

    def _transposed(self, block: int, steps: str) -> str:
        """A transposed convolution: [steps * rate, width / 2]."""
        width = block_width(self.spec, block)
        padded = self.with_history(f"spread_{block}", steps, 1, width)
        steps = self.linear(self.taps(padded, 2), *self.weights.transposed(block))
        return self.graph.op("Reshape", steps, self.graph.ints(-1, width // 2))

    def _snake(self, snake: Snake, steps: str) -> str:
        """SnakeBeta: x + sin(e^alpha x)^2 / (e^beta + 1e-9), per channel."""
        angles = self.graph.op("Mul", steps, self.values(snake.frequencies))
        return self._add_sine(steps, angles, snake.scales)

    def _add_sine(self, steps: str, angles: str, scales: Wide) -> str:
        graph = self.graph
        wave = graph.op("Sin", angles)
        wave = graph.op("Mul", graph.op("Mul", wave, wave), self.values(scales))
        return graph.op("Add", steps, wave)
