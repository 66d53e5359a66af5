"""Weights of the codec decoder as they are multiplied with: folded in float64.

Linear layers that follow one another become one matrix: quantizer projections, first convolution
and input projection; output projection and first upsampling; norm weights and layer scales go into
the neighbouring matrices. A graph and the compiled kernel both take the decoder's weights from
here.

Architecture: Qwen3TTSTokenizerV2Decoder of the official ``qwen-tts`` package.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from s2s.tts.qwen3.checkpoint.codec_spec import CodecDecoderSpec
from s2s.tts.qwen3.codec.tensors import (
    KERNEL,
    Tensors,
    Wide,
    block_width,
    codebook,
    expand_heads,
    wide,
)
from s2s.tts.qwen3.errors import CodecError

CONVNEXT_EPS = 1e-6

_SNAKE_EPS = 1e-9
_LARGEST_EXPONENT = 80.0


@dataclass(frozen=True, slots=True)
class Snake:
    """SnakeBeta: x + scales * sin(frequencies * x)^2, per channel."""

    frequencies: Wide
    scales: Wide


@dataclass(frozen=True, slots=True)
class Convolution:
    """A convolution over time. weight: [out, in, kernel]; bias: [out]."""

    weight: Wide
    bias: Wide


@dataclass(frozen=True, slots=True)
class Residual:
    """steps += matrix of Snake of the convolution of ``before`` of steps.

    The second Snake's frequencies are multiplied into the convolution and divided out of the
    matrix, so what the convolution gives are angles a, and Snake is a + scales * sin(a)^2.
    matrix: [in, out]; bias: [out].
    """

    before: Snake
    conv: Convolution
    scales: Wide
    matrix: Wide
    bias: Wide


@dataclass(frozen=True, slots=True)
class UpsamplerWeights:
    """The layers from the first convolution on. Blocks are numbered from 1.

    Methods raise CodecError when a tensor does not have the shape the spec asks for.
    """

    tensors: Tensors
    spec: CodecDecoderSpec

    def first(self) -> Convolution:
        """The convolution in front of the blocks."""
        spec = self.spec
        return self._conv("decoder.decoder.0.conv", spec.latent_dim, spec.decoder_dim)

    def before_transposed(self, block: int) -> Snake:
        """What a block begins with."""
        return self._snake(f"decoder.decoder.{block}.block.0", block_width(self.spec, block))

    def transposed(self, block: int) -> tuple[Wide, Wide]:
        """A transposed convolution of kernel ``2 * rate`` and stride ``rate``, as a matrix: each
        step gives ``rate`` steps, from the step before and itself. No overlap is carried, so the
        bias is added once. Returns [2 * width, rate * width / 2] and [rate * width / 2]."""
        name = f"decoder.decoder.{block}.block.1.conv"
        width, rate = block_width(self.spec, block), self.spec.upsample_rates[block - 1]
        out = width // 2
        kernel = self._wide(f"{name}.weight", width, out, 2 * rate).transpose(0, 2, 1)
        matrix = np.concatenate([kernel[:, rate:], kernel[:, :rate]]).reshape(2 * width, rate * out)
        return matrix, np.tile(self._wide(f"{name}.bias", out), rate)

    def residual(self, block: int, unit: int) -> Residual:
        """A residual unit of a block, counted from 0."""
        name, width = f"decoder.decoder.{block}.block.{unit + 2}", block_width(self.spec, block + 1)
        between = self._snake(f"{name}.act2", width)
        alpha = between.frequencies
        conv = self._conv(f"{name}.conv1.conv", width, width)
        matrix = self._wide(f"{name}.conv2.conv.weight", width, width, 1).squeeze(2).T
        return Residual(
            before=self._snake(f"{name}.act1", width),
            conv=Convolution(alpha[:, None, None] * conv.weight, alpha * conv.bias),
            scales=alpha * between.scales,
            matrix=matrix / alpha[:, None],
            bias=self._wide(f"{name}.conv2.conv.bias", width),
        )

    def last(self) -> tuple[Snake, Convolution]:
        """What makes samples."""
        block = len(self.spec.upsample_rates) + 1
        width = block_width(self.spec, block)
        snake = self._snake(f"decoder.decoder.{block}", width)
        return snake, self._conv(f"decoder.decoder.{block + 1}.conv", width, 1)

    def _snake(self, name: str, width: int) -> Snake:
        frequencies = self._exponential(f"{name}.alpha", width)
        scales = 1.0 / (self._exponential(f"{name}.beta", width) + _SNAKE_EPS)
        return Snake(frequencies, scales)

    def _exponential(self, name: str, width: int) -> Wide:
        """e to the power of a parameter. Raises CodecError when float32 cannot hold it."""
        values = self._wide(name, width)
        if np.abs(values).max(initial=0) > _LARGEST_EXPONENT:
            raise CodecError(
                f"{name} holds {values[np.abs(values).argmax()]:g}, whose exponential is no "
                "float32: the weights are damaged; fetch them again"
            )
        return np.exp(values)

    def _conv(self, name: str, into: int, out: int) -> Convolution:
        weight = self._wide(f"{name}.weight", out, into, KERNEL)
        return Convolution(weight, self._wide(f"{name}.bias", out))

    def _wide(self, name: str, *shape: int) -> Wide:
        return wide(self.tensors, name, *shape)


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer of the transformer: matrices [in, out]. ``query_key_value`` has the scale of the
    scores in it, ``gate_up`` both matrices side by side."""

    query_key_value: Wide
    out: Wide
    gate_up: Wide
    down: Wide


@dataclass(frozen=True, slots=True)
class Upsample:
    """One step to ``factor`` steps, and a ConvNeXt block.

    transposed: [in, factor * width] with its bias; taps: [width, 1, 7], a convolution of each
    channel by itself; up, down: [width, 4 * width] and back, with their biases.
    """

    transposed: tuple[Wide, Wide]
    taps: Convolution
    up: tuple[Wide, Wide]
    down: tuple[Wide, Wide]


@dataclass(frozen=True, slots=True)
class PreTransformerWeights:
    """The layers in front of the first convolution.

    Methods raise CodecError when a tensor does not have the shape the spec asks for.
    """

    tensors: Tensors
    spec: CodecDecoderSpec

    def codebooks(self) -> Wide:
        """Code vectors of all groups one after the other: [groups * size, codebook_dim / 2]."""
        spec = self.spec
        names = ["rvq_first.vq.layers.0"]
        names += [f"rvq_rest.vq.layers.{at}" for at in range(spec.code_groups - 1)]
        codebooks = [
            codebook(
                self.tensors,
                f"decoder.quantizer.{name}._codebook",
                "embedding_sum",
                spec.codebook_size,
                spec.codebook_dim // 2,
            )
            for name in names
        ]
        return np.concatenate(codebooks)

    def input(self) -> tuple[Wide, Wide]:
        """Quantizer projections, first convolution and input projection as one matrix over the
        three newest code vectors, oldest first: [3 * codebook_dim, hidden], and its bias."""
        spec = self.spec
        book, latent, hidden = spec.codebook_dim, spec.latent_dim, spec.hidden_size
        project = np.concatenate(
            [
                self._wide(f"decoder.quantizer.rvq_{part}.output_proj.weight", book, book // 2, 1)
                .squeeze(2)
                .T
                for part in ("first", "rest")
            ]
        )
        kernel = self._wide("decoder.pre_conv.conv.weight", latent, book, 3)
        into = self._wide("decoder.pre_transformer.input_proj.weight", hidden, latent).T
        matrix = np.concatenate([project @ kernel[:, :, tap].T @ into for tap in range(3)])
        bias = self._wide("decoder.pre_conv.conv.bias", latent) @ into
        return matrix, bias + self._wide("decoder.pre_transformer.input_proj.bias", hidden)

    def layer(self, at: int) -> Layer:
        """A layer of the transformer, counted from 0."""
        spec, name = self.spec, f"decoder.pre_transformer.layers.{at}"
        hidden, heads = spec.hidden_size, spec.heads * spec.head_dim
        inner = spec.intermediate_size
        out = self._wide(f"{name}.self_attn.o_proj.weight", hidden, heads)
        scale = self._wide(f"{name}.self_attn_layer_scale.scale", hidden)
        norm = self._wide(f"{name}.post_attention_layernorm.weight", hidden)
        gate, up = (
            self._wide(f"{name}.mlp.{part}_proj.weight", inner, hidden) for part in ("gate", "up")
        )
        down = self._wide(f"{name}.mlp.down_proj.weight", hidden, inner)
        mlp_scale = self._wide(f"{name}.mlp_layer_scale.scale", hidden)
        return Layer(
            query_key_value=self._query_key_value(name),
            out=(scale[:, None] * out).T,
            gate_up=norm[:, None] * np.concatenate([gate, up]).T,
            down=(mlp_scale[:, None] * down).T,
        )

    def upsample(self, at: int) -> Upsample:
        """An upsampling, counted from 0. The first has the end of the transformer in it."""
        latent, factor = self.spec.latent_dim, self.spec.upsampling_ratios[at]
        name = f"decoder.upsample.{at}"
        transposed = self._wide(f"{name}.0.conv.weight", latent, latent, factor)
        matrix = transposed.transpose(0, 2, 1).reshape(latent, factor * latent)
        bias = np.tile(self._wide(f"{name}.0.conv.bias", latent), factor)
        if at == 0:
            hidden, end = self.spec.hidden_size, "decoder.pre_transformer"
            norm = self._wide(f"{end}.norm.weight", hidden)
            project = self._wide(f"{end}.output_proj.weight", latent, hidden)
            bias = self._wide(f"{end}.output_proj.bias", latent) @ matrix + bias
            matrix = norm[:, None] * project.T @ matrix
        return Upsample((matrix, bias), *self._convnext(f"{name}.1", latent))

    def _query_key_value(self, name: str) -> Wide:
        """[hidden, 3 * heads * head_dim], with the norm's weight and the score scale inside."""
        spec = self.spec
        query = self._wide(
            f"{name}.self_attn.q_proj.weight", spec.heads * spec.head_dim, spec.hidden_size
        )
        narrow = spec.key_value_heads * spec.head_dim
        key, value = (
            expand_heads(
                self._wide(f"{name}.self_attn.{part}_proj.weight", narrow, spec.hidden_size),
                spec.key_value_heads,
                spec.heads,
            )
            for part in ("k", "v")
        )
        norm = self._wide(f"{name}.input_layernorm.weight", spec.hidden_size)
        return norm[:, None] * np.concatenate([query / np.sqrt(spec.head_dim), key, value]).T

    def _convnext(
        self, name: str, width: int
    ) -> tuple[Convolution, tuple[Wide, Wide], tuple[Wide, Wide]]:
        taps = Convolution(
            self._wide(f"{name}.dwconv.conv.weight", width, 1, KERNEL),
            self._wide(f"{name}.dwconv.conv.bias", width),
        )
        up = self._wide(f"{name}.pwconv1.weight", 4 * width, width).T
        bias = self._wide(f"{name}.norm.bias", width) @ up
        up = self._wide(f"{name}.norm.weight", width)[:, None] * up
        gamma = self._wide(f"{name}.gamma", width)
        down = gamma[:, None] * self._wide(f"{name}.pwconv2.weight", width, 4 * width)
        return (
            taps,
            (up, bias + self._wide(f"{name}.pwconv1.bias", 4 * width)),
            (down.T, gamma * self._wide(f"{name}.pwconv2.bias", width)),
        )

    def _wide(self, name: str, *shape: int) -> Wide:
        return wide(self.tensors, name, *shape)
