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
from s2s.tts.qwen3.onnx_builder import GraphBuilder
from s2s.tts.qwen3.onnx_steps import StepBuilder, Tensors, Wide, expand_heads

FRAMES_GRAPH, STEPS_GRAPH, WAVE_GRAPH = "codec_frames", "codec_steps", "codec_wave"
GRAPH_VERSION = 2
"""Raised when graphs or state change: older caches and primed states are then not used."""

_CONVNEXT_EPS = 1e-6
_SNAKE_EPS = 1e-9
_KERNEL = 7
_DILATIONS = (1, 3, 9)


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
        steps = decoder.widen(decoder.upsample(steps), wide)
        graph.output("output", steps, np.float32, ("steps", widths[0]))
        return graph.save(metadata)


@dataclass(slots=True)
class _Decoder(StepBuilder):
    """The decoder's stages, in order."""

    spec: CodecDecoderSpec

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
        """Frames through the ConvNeXt blocks and the first convolution: [steps, decoder_dim]."""
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
        return self._conv("decoder.decoder.0.conv", "first", steps, latent, spec.decoder_dim)

    def widen(self, steps: str, blocks: range) -> str:
        """Upsampling blocks, numbered from 1: each has fewer channels and a higher rate."""
        for at in blocks:
            name = f"decoder.decoder.{at}.block"
            width = self.spec.decoder_dim >> (at - 1)
            steps = self._snake(f"{name}.0", steps, width)
            rate = self.spec.upsample_rates[at - 1]
            steps = self._spread(f"{name}.1.conv", f"spread_{at}", steps, width, rate)
            for unit, dilation in enumerate(_DILATIONS):
                state = f"unit_{at}_{unit}"
                steps = self._residual(f"{name}.{unit + 2}", state, steps, width // 2, dilation)
        return steps

    def waveform(self, steps: str) -> str:
        """The last channels to float32 [samples]."""
        graph, last = self.graph, len(self.spec.upsample_rates) + 1
        width = self.spec.decoder_dim >> (last - 1)
        steps = self._snake(f"decoder.decoder.{last}", steps, width)
        steps = self._conv(f"decoder.decoder.{last + 1}.conv", "last", steps, width, 1)
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
        padded = self.with_history(state, steps, _KERNEL - 1, width)
        inner = self.conv(
            padded,
            self.wide(f"{name}.dwconv.conv.weight", width, 1, _KERNEL),
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

    def _conv(
        self, name: str, state: str, steps: str, into: int, out: int, dilation: int = 1
    ) -> str:
        """A causal convolution of kernel 7."""
        padded = self.with_history(state, steps, (_KERNEL - 1) * dilation, into)
        weight = self.wide(f"{name}.weight", out, into, _KERNEL)
        return self.conv(padded, weight, self.wide(f"{name}.bias", out), dilation=dilation)

    def _residual(self, name: str, state: str, steps: str, width: int, dilation: int) -> str:
        """Snake, convolution, Snake, matrix, added to the steps. The second Snake's frequencies are
        multiplied into the convolution and divided out of the matrix."""
        graph = self.graph
        inner = self._snake(f"{name}.act1", steps, width)
        padded = self.with_history(state, inner, (_KERNEL - 1) * dilation, width)
        alpha, share = self._snake_values(f"{name}.act2", width)
        kernel = self.wide(f"{name}.conv1.conv.weight", width, width, _KERNEL)
        bias = self.wide(f"{name}.conv1.conv.bias", width)
        kernel = alpha[:, None, None] * kernel
        angles = self.conv(padded, kernel, alpha * bias, dilation=dilation)
        inner = self._add_waves(angles, angles, alpha * share)
        matrix = self.wide(f"{name}.conv2.conv.weight", width, width, 1).squeeze(2).T
        bias = self.wide(f"{name}.conv2.conv.bias", width)
        inner = self.linear(inner, matrix / alpha[:, None], bias)
        return graph.op("Add", steps, inner)

    def _spread(self, name: str, state: str, steps: str, width: int, rate: int) -> str:
        """A transposed convolution of kernel ``2 * rate`` and stride ``rate``, as a matrix: each
        step gives ``rate`` steps, from the step before and itself. No overlap is carried, so the
        bias is added once. Returns [steps * rate, width / 2]."""
        out = width // 2
        padded = self.with_history(state, steps, 1, width)
        kernel = self.wide(f"{name}.weight", width, out, 2 * rate).transpose(0, 2, 1)
        matrix = np.concatenate([kernel[:, rate:], kernel[:, :rate]]).reshape(2 * width, rate * out)
        bias = np.tile(self.wide(f"{name}.bias", out), rate)
        steps = self.linear(self.taps(padded, 2), matrix, bias)
        return self.graph.op("Reshape", steps, self.graph.ints(-1, out))

    def _snake(self, name: str, steps: str, width: int) -> str:
        """SnakeBeta: x + sin(e^alpha x)^2 / (e^beta + 1e-9), per channel."""
        alpha, share = self._snake_values(name, width)
        angles = self.graph.op("Mul", steps, self.values(alpha))
        return self._add_waves(steps, angles, share)

    def _snake_values(self, name: str, width: int) -> tuple[Wide, Wide]:
        """Frequency and height of the waves of each channel."""
        alpha = np.exp(self.wide(f"{name}.alpha", width))
        return alpha, 1.0 / (np.exp(self.wide(f"{name}.beta", width)) + _SNAKE_EPS)

    def _add_waves(self, steps: str, angles: str, heights: Wide) -> str:
        graph = self.graph
        wave = graph.op("Sin", angles)
        wave = graph.op("Mul", graph.op("Mul", wave, wave), self.values(heights))
        return graph.op("Add", steps, wave)
