"""Weights of the codec decoder's wide part, as they are multiplied with: folded in float64.

Whoever computes that part, a graph or the compiled kernel, takes them from here.

Architecture: Qwen3TTSTokenizerV2Decoder of the official ``qwen-tts`` package.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from s2s.tts.qwen3.codec_spec import CodecDecoderSpec
from s2s.tts.qwen3.onnx_steps import Tensors, Wide, wide

KERNEL = 7
DILATIONS = (1, 3, 9)
"""Of the three residual units of a block."""

_SNAKE_EPS = 1e-9


@dataclass(frozen=True, slots=True)
class Snake:
    """SnakeBeta: x + heights * sin(frequencies * x)^2, per channel."""

    frequencies: Wide
    heights: Wide


@dataclass(frozen=True, slots=True)
class Convolution:
    """A convolution over time. weight: [out, in, kernel]; bias: [out]."""

    weight: Wide
    bias: Wide


@dataclass(frozen=True, slots=True)
class Residual:
    """steps += matrix of waves of the convolution of ``before`` of steps.

    The second Snake's frequencies are multiplied into the convolution and divided out of the
    matrix, so what the convolution gives are angles: waves are a + heights * sin(a)^2.
    matrix: [in, out]; bias: [out].
    """

    before: Snake
    conv: Convolution
    heights: Wide
    matrix: Wide
    bias: Wide


@dataclass(frozen=True, slots=True)
class WideWeights:
    """The layers from the first convolution on. Blocks are numbered from 1.

    Methods raise CodecError when a tensor does not have the shape the spec asks for.
    """

    tensors: Tensors
    spec: CodecDecoderSpec

    def width(self, block: int) -> int:
        """Channels that go into a block; into what follows for one more than there are."""
        return self.spec.decoder_dim >> (block - 1)

    def first(self) -> Convolution:
        """The convolution in front of the blocks."""
        spec = self.spec
        return self._conv("decoder.decoder.0.conv", spec.latent_dim, spec.decoder_dim)

    def before_spread(self, block: int) -> Snake:
        """What a block begins with."""
        return self._snake(f"decoder.decoder.{block}.block.0", self.width(block))

    def spread(self, block: int) -> tuple[Wide, Wide]:
        """A transposed convolution of kernel ``2 * rate`` and stride ``rate``, as a matrix: each
        step gives ``rate`` steps, from the step before and itself. No overlap is carried, so the
        bias is added once. Returns [2 * width, rate * width / 2] and [rate * width / 2]."""
        name = f"decoder.decoder.{block}.block.1.conv"
        width, rate = self.width(block), self.spec.upsample_rates[block - 1]
        out = width // 2
        kernel = self._wide(f"{name}.weight", width, out, 2 * rate).transpose(0, 2, 1)
        matrix = np.concatenate([kernel[:, rate:], kernel[:, :rate]]).reshape(2 * width, rate * out)
        return matrix, np.tile(self._wide(f"{name}.bias", out), rate)

    def residual(self, block: int, unit: int) -> Residual:
        """A residual unit of a block, counted from 0."""
        name, width = f"decoder.decoder.{block}.block.{unit + 2}", self.width(block + 1)
        between = self._snake(f"{name}.act2", width)
        alpha = between.frequencies
        conv = self._conv(f"{name}.conv1.conv", width, width)
        matrix = self._wide(f"{name}.conv2.conv.weight", width, width, 1).squeeze(2).T
        return Residual(
            before=self._snake(f"{name}.act1", width),
            conv=Convolution(alpha[:, None, None] * conv.weight, alpha * conv.bias),
            heights=alpha * between.heights,
            matrix=matrix / alpha[:, None],
            bias=self._wide(f"{name}.conv2.conv.bias", width),
        )

    def last(self) -> tuple[Snake, Convolution]:
        """What makes samples."""
        block = len(self.spec.upsample_rates) + 1
        width = self.width(block)
        snake = self._snake(f"decoder.decoder.{block}", width)
        return snake, self._conv(f"decoder.decoder.{block + 1}.conv", width, 1)

    def _snake(self, name: str, width: int) -> Snake:
        frequencies = np.exp(self._wide(f"{name}.alpha", width))
        heights = 1.0 / (np.exp(self._wide(f"{name}.beta", width)) + _SNAKE_EPS)
        return Snake(frequencies, heights)

    def _conv(self, name: str, into: int, out: int) -> Convolution:
        weight = self._wide(f"{name}.weight", out, into, KERNEL)
        return Convolution(weight, self._wide(f"{name}.bias", out))

    def _wide(self, name: str, *shape: int) -> Wide:
        return wide(self.tensors, name, *shape)
