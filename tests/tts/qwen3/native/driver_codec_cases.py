"""Cases of the codec for the kernel's driver: layers in double precision, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import erf

import numpy as np

from tests.tts.qwen3.native.driver_cases import DILATIONS, Cases, Wide, softmax

_TAPS = 7
_POINTS = (0, 1, -1, 2, -2, 0.5)
_erf = np.vectorize(erf)


class Layers:
    """Random weights, which it remembers by the driver's names."""

    def __init__(self, cases: Cases) -> None:
        self.cases = cases
        self.arrays: dict[str, Wide] = {}

    def weights(self, name: str, shape: tuple[int, int, int]) -> tuple[Wide, Wide]:
        """shape: [taps, in, out]; returns a matrix [taps * in, out] and a bias."""
        taps, into, out = shape
        matrix = self.cases.normal(taps * into, out, scale=(taps * into) ** -0.5)
        bias = self.cases.normal(out, scale=0.1)
        self.arrays |= {f"{name}.matrix": matrix, f"{name}.bias": bias}
        return matrix.astype(float), bias.astype(float)

    def apply(self, x: Wide, name: str, shape: tuple[int, int, int]) -> Wide:
        """A causal convolution, of zeros before its beginning."""
        matrix, bias = self.weights(name, shape)
        return _unfolded(x, shape[0], 1) @ matrix + bias

    def in_tiles(self, name: str) -> None:
        """The weights of two taps, as the kernel takes them for tiles of four steps."""
        matrix = self.arrays[f"{name}.matrix"].astype(float)
        taps = matrix.reshape(2, -1, matrix.shape[1])
        matrices = [*_at_points(taps, (0, 1, -1, 2)), taps[1]]
        self.arrays[f"{name}.matrix"] = np.concatenate(matrices)

    def snake(self, x: Wide, name: str) -> Wide:
        """Angles in half turns."""
        frequency = np.abs(self.cases.normal(x.shape[1], scale=0.5))
        scale = self.cases.normal(x.shape[1], scale=0.3)
        self.arrays |= {f"{name}.frequency": frequency, f"{name}.scale": scale}
        return x + scale * np.sin(np.pi * frequency.astype(float) * x) ** 2


def _at_points(taps: Wide, among: Sequence[float]) -> list[Wide]:
    """A polynomial of matrices at each of some points, by its distances to the others."""
    points = np.array(among, float)
    found = []
    for at, point in enumerate(points):
        powers = point ** np.arange(len(taps))
        apart = np.prod(point - np.delete(points, at))
        found.append((taps * powers[:, None, None]).sum(0) / apart)
    return found


def _unfolded(x: Wide, taps: int, dilation: int) -> Wide:
    """[rows, taps * width]: of each row those that a convolution sees, the oldest first."""
    padded = np.concatenate([np.zeros(((taps - 1) * dilation, x.shape[1])), x])
    return np.concatenate([padded[at * dilation :][: len(x)] for at in range(taps)], axis=1)


# --- the pre-transformer --------------------------------------------------------------------------


@dataclass(frozen=True)
class CodecTransformer:
    """Of the driver's numbers; every width is a multiple of 16."""

    frames: int = 9
    layers: int = 2
    heads: int = 2
    head_dim: int = 32
    window: int = 5
    upsamples: int = 2
    into: int = 32
    hidden: int = 48
    inner: int = 80
    latent: int = 64
    factor: int = 2

    def add(self, cases: Cases) -> None:
        """A case of it."""
        layers = Layers(cases)
        rows = cases.normal(self.frames, self.into)
        frequencies = (10000.0 ** (-np.arange(self.head_dim // 2) / (self.head_dim // 2))).astype(
            np.float32
        )
        x = layers.apply(rows.astype(float), "input0", (3, self.into, self.hidden))
        for at in range(self.layers):
            x = x + self._attended(layers, at, _normalised(x), frequencies)
            gates = layers.apply(_normalised(x), f"gate_up{at}", (1, self.hidden, 2 * self.inner))
            gate, up = gates[:, : self.inner], gates[:, self.inner :]
            inner = gate / (1 + np.exp(-gate)) * up
            x = x + layers.apply(inner, f"down{at}", (1, self.inner, self.hidden))
        x = _normalised(x)
        for at in range(self.upsamples):
            x = self._upsampled(layers, at, x)
        numbers = np.array([getattr(self, name) for name in self.__dataclass_fields__])
        arrays = {"shape": numbers, "in": rows, "frequencies": frequencies, "wanted": x}
        cases.add("codec_transformer", arrays | layers.arrays, 1e-5)

    def _attended(self, layers: Layers, at: int, x: Wide, frequencies: Wide) -> Wide:
        width = self.heads * self.head_dim
        qkv = layers.apply(x, f"qkv{at}", (1, self.hidden, 3 * width))
        heads = qkv.reshape(len(x), 3, self.heads, self.head_dim)
        angles = np.arange(len(x))[:, None, None] * frequencies.astype(float)
        query, key = (_rotated(heads[:, part], angles) for part in (0, 1))
        scores = np.einsum("qhd,khd->hqk", query, key)
        ages = np.arange(len(x))[:, None] - np.arange(len(x))
        scores = np.where((ages >= 0) & (ages < self.window), scores, -np.inf)
        out = np.einsum("hqk,khd->qhd", softmax(scores), heads[:, 2]).reshape(len(x), width)
        return layers.apply(out, f"out{at}", (1, width, self.hidden))

    def _upsampled(self, layers: Layers, at: int, x: Wide) -> Wide:
        into = self.latent if at else self.hidden
        shape = (1, into, self.factor * self.latent)
        x = layers.apply(x, f"transposed{at}", shape).reshape(-1, self.latent)
        taps = layers.cases.normal(_TAPS, self.latent, scale=0.4)
        bias = layers.cases.normal(self.latent, scale=0.1)
        layers.arrays |= {f"depthwise{at}.taps": taps, f"depthwise{at}.bias": bias}
        seen = _unfolded(x, _TAPS, 1).reshape(len(x), _TAPS, self.latent)
        y = (seen * taps.astype(float)).sum(1) + bias
        y = y - y.mean(-1, keepdims=True)
        y = y / np.sqrt((y**2).mean(-1, keepdims=True) + 1e-6)
        wide = layers.apply(y, f"up{at}", (1, self.latent, 4 * self.latent))
        wide = wide * (0.5 + 0.5 * _erf(wide / np.sqrt(2)))
        return x + layers.apply(wide, f"shrink{at}", (1, 4 * self.latent, self.latent))


def _normalised(x: Wide) -> Wide:
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5)


def _rotated(heads: Wide, angles: Wide) -> Wide:
    half = heads.shape[-1] // 2
    first, second, cosines, sines = (
        heads[..., :half],
        heads[..., half:],
        np.cos(angles),
        np.sin(angles),
    )
    return np.concatenate([first * cosines - second * sines, second * cosines + first * sines], -1)


# --- the upsampling decoder -----------------------------------------------------------------------


@dataclass(frozen=True)
class CodecUpsampler:
    """widths: at the input of each block and behind the last, multiples of 16."""

    frames: int = 7
    steps: int = 4
    batched: int = 1
    latent: int = 32
    widths: tuple[int, ...] = (64, 48, 32)
    strides: tuple[int, ...] = (3, 2)

    def add(self, cases: Cases) -> None:
        """A case of it."""
        layers = Layers(cases)
        rows = cases.normal(self.frames * self.steps, self.latent)
        x = layers.apply(rows.astype(float), "input0", (_TAPS, self.latent, self.widths[0]))
        steps = self.steps
        for at, stride in enumerate(self.strides):
            into, out = self.widths[at : at + 2]
            x = layers.snake(x, f"snake{at}")
            x = layers.apply(x, f"transposed{at}", (2, into, stride * out)).reshape(-1, out)
            if steps % 4 == 0:
                layers.in_tiles(f"transposed{at}")
            steps *= stride
            for unit, dilation in enumerate(DILATIONS):
                x = x + self._residual(layers, x, 10 * at + unit, dilation)
        width = self.widths[-1]
        taps = cases.normal(_TAPS * width, scale=0.3 * (_TAPS * width) ** -0.5)
        bias = cases.normal(1, scale=0.1)
        samples = _unfolded(layers.snake(x, "last0"), _TAPS, 1) @ taps.astype(float) + bias
        pairs = [number for pair in zip(self.widths, self.strides, strict=False) for number in pair]
        numbers = [self.frames, self.steps, len(self.strides), self.batched, self.latent, *pairs]
        arrays = {
            "shape": np.array([*numbers, width]), "in": rows, "output.taps": taps,
            "output.bias": bias, "wanted": np.clip(samples, -1, 1),
        }  # fmt: skip
        cases.add("codec_upsampler", arrays | layers.arrays, 1e-5)

    def _residual(self, layers: Layers, x: Wide, name: int, dilation: int) -> Wide:
        width = x.shape[1]
        seen = layers.snake(x, f"before{name}")
        w = layers.cases.normal(_TAPS, width, width, scale=(_TAPS * width) ** -0.5).astype(float)
        bias = layers.cases.normal(width, scale=0.1)
        front, back = w[:4], w[4:]
        matrices = [*_at_points(front, _POINTS), front[-1], *_at_points(back, _POINTS)]
        layers.arrays |= {
            f"winograd{name}.matrix": np.concatenate(matrices), f"winograd{name}.bias": bias,
        }  # fmt: skip
        y = _unfolded(seen, _TAPS, dilation) @ w.reshape(-1, width) + bias
        return layers.apply(layers.snake(y, f"middle{name}"), f"pointwise{name}", (1, width, width))
