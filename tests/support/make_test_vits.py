"""Makes the small VITS voices that the tests cut: python tests/support/make_test_vits.py [FOLDER]

Same structure as Piper's export (text encoder, stochastic durations, expansion to frames, coupling
flow, HiFi-GAN), a few channels wide, random weights of a fixed seed. Written with the onnx package,
so that the tests do not check this project's own file format code against itself.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

FOLDER = Path(__file__).parents[1] / "data" / "vits"


@dataclass(frozen=True, slots=True)
class Shape:
    """What kind of voice to make."""

    channels: int = 16
    upsample: tuple[tuple[int, int], ...] = ((4, 8), (2, 4))
    """(stride, kernel) of each transposed convolution."""
    speakers: int = 0
    flows: int = 2
    chance_in_rhythm: bool = True
    pooled: bool = False
    """Ends with an average pool, whose reach this project does not know."""
    upsampling: bool = True
    """False: a decoder without transposed convolutions, which is no HiFi-GAN."""


VOICES = {
    "plain": Shape(),
    "speakers": Shape(channels=12, upsample=((3, 7), (2, 4), (2, 2)), speakers=3),
    "coarse": Shape(channels=12, upsample=((8, 16), (4, 8)), flows=4),
    "steady": Shape(chance_in_rhythm=False, flows=0),
    "pooled": Shape(pooled=True),
    "foreign": Shape(upsampling=False),
}


class Builder:
    """Collects nodes and weights under running names."""

    def __init__(self, seed: int) -> None:
        self.nodes: list = []
        self.weights: list = []
        self._rng = np.random.default_rng(seed)

    def add(self, op: str, *inputs: str, count: int = 1, **attributes: Any) -> str:
        """A node; gives the name of its first output, `name:1` is the second."""
        name = f"v{len(self.nodes)}"
        outputs = [name] + [f"{name}:{i}" for i in range(1, count)]
        self.nodes.append(
            helper.make_node(op, list(inputs), outputs, name=f"n_{name}", **attributes)
        )
        return name

    def const(self, values: object, kind: type = np.int64) -> str:
        """A weight of given values."""
        name = f"c{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.array(values, kind), name))
        return name

    def random(self, *shape: int, scale: float) -> str:
        """A weight of random values."""
        return self.const(self._rng.normal(0.0, scale, shape), np.float32)

    def conv(self, x: str, ins: int, outs: int, size: int, dilation: int = 1) -> str:
        """A convolution that keeps the length."""
        pad = (size - 1) * dilation // 2
        scale = 1.0 / np.sqrt(ins * size)
        weight = self.random(outs, ins, size, scale=scale)
        bias = self.random(outs, scale=0.1)
        return self.add(
            "Conv", x, weight, bias, kernel_shape=[size], dilations=[dilation], pads=[pad, pad]
        )

    def upsample(self, x: str, ins: int, outs: int, stride: int, size: int) -> str:
        """A transposed convolution that makes `stride` positions of one."""
        pad = (size - stride) // 2
        weight = self.random(ins, outs, size, scale=1.0 / np.sqrt(ins * size / stride))
        bias = self.random(outs, scale=0.1)
        return self.add(
            "ConvTranspose", x, weight, bias,
            kernel_shape=[size], strides=[stride], pads=[pad, pad],
        )  # fmt: skip

    def channel_slice(self, x: str, start: int, stop: int, step: int = 1) -> str:
        """Channels [start, stop) of x."""
        bounds = (self.const([n]) for n in (start, stop, 1, step))
        return self.add("Slice", x, *bounds)

    def size(self, x: str, axis: int) -> str:
        """Length of x along an axis, int64 [1]."""
        bounds = (self.const([n]) for n in (axis, axis + 1, 0))
        return self.add("Slice", self.add("Shape", x), *bounds)

    def zeros_like(self, x: str) -> str:
        """Zeros in the shape of x, the way PyTorch exports them."""
        value = helper.make_tensor("value", TensorProto.FLOAT, [1], [0.0])
        return self.add("ConstantOfShape", self.add("Shape", x), value=value)


def sentence_mask(b: Builder, x: str) -> str:
    """Ones up to each sentence's length, [1, 1, phonemes]."""
    index = b.add("Range", b.const(0), b.add("Squeeze", b.size(x, 2)), b.const(1))
    inside = b.add(
        "Less", b.add("Unsqueeze", index, b.const([0])),
        b.add("Unsqueeze", "input_lengths", b.const([1])),
    )  # fmt: skip
    return b.add("Unsqueeze", b.add("Cast", inside, to=TensorProto.FLOAT), b.const([1]))


def widened(b: Builder, table: str, count: str, window: int) -> str:
    """A table of distances with zeros for all that a sentence of `count` phonemes has."""
    more = b.add("Sub", count, b.const([window + 1]))
    zero = b.const([0])
    wide = b.add("Pad", table, b.add("Concat", zero, more, zero, zero, more, zero, axis=0))
    end = b.add("Sub", b.add("Mul", count, b.const([2])), b.const([1]))
    used = b.add("Slice", wide, zero, end, b.const([1]), b.const([1]))
    return b.add("Unsqueeze", used, zero)


def relative_attention(b: Builder, x: str, mask: str, channels: int) -> str:
    """Self-attention that knows distances up to two phonemes, as VITS's exporter writes it."""
    heads, window = 2, 2
    size = channels // heads
    n, zero, one, minus = b.size(x, 2), b.const([0]), b.const([1]), b.const([-1])
    split = b.add("Concat", one, b.const([heads, size]), n, axis=0)
    query, key, value = (
        b.add("Reshape", b.conv(x, channels, channels, 1), split) for _ in range(3)
    )
    query = b.add("Transpose", query, perm=[0, 1, 3, 2])
    query = b.add("Div", query, b.const(size**0.5, np.float32))
    tables = [widened(b, b.random(1, 2 * window + 1, size, scale=1.0), n, window) for _ in "kv"]
    local = b.add("MatMul", query, b.add("Transpose", tables[0], perm=[0, 1, 3, 2]))
    twice = b.add("Mul", n, b.const([2]))
    start = b.add("Concat", one, b.const([heads]), axis=0)
    local = b.add("Pad", local, b.const([0] * 7 + [1]))
    local = b.add("Reshape", local, b.add("Concat", start, b.add("Mul", n, twice), axis=0))
    fill = b.add("Sub", n, one)
    local = b.add("Pad", local, b.add("Concat", *[zero] * 5, fill, axis=0))
    rows = b.add("Concat", start, b.add("Add", n, one), b.add("Sub", twice, one), axis=0)
    local = b.add("Reshape", local, rows)
    local = b.add("Slice", local, zero, n, b.const([2]), one)
    local = b.add("Slice", local, fill, b.const([2**62]), b.const([3]), one)
    scores = b.add("Add", b.add("MatMul", query, key), local)
    pairs = b.add("Mul", b.add("Unsqueeze", mask, b.const([2])), b.add("Unsqueeze", mask, minus))
    hidden = b.add("Equal", pairs, b.const(0.0, np.float32))
    scores = b.add("Where", hidden, b.const(-1e4, np.float32), scores)
    attention = b.add("Softmax", scores, axis=-1)
    out = b.add("MatMul", attention, b.add("Transpose", value, perm=[0, 1, 3, 2]))
    wide = b.add("Pad", attention, b.add("Concat", *[zero] * 7, fill, axis=0))
    flat = b.add("Mul", n, b.add("Sub", twice, one))
    wide = b.add("Reshape", wide, b.add("Concat", start, flat, axis=0))
    wide = b.add("Pad", wide, b.add("Concat", zero, zero, n, zero, zero, zero, axis=0))
    wide = b.add("Reshape", wide, b.add("Concat", start, n, twice, axis=0))
    wide = b.add("Slice", wide, one, b.const([2**62]), b.const([3]), one)
    out = b.add("Add", out, b.add("MatMul", wide, tables[1]))
    out = b.add("Transpose", out, perm=[0, 1, 3, 2])
    out = b.add("Reshape", out, b.add("Concat", one, b.const([channels]), n, axis=0))
    return b.add("Mul", b.add("Add", x, b.conv(out, channels, channels, 1)), mask)


def text_side(b: Builder, shape: Shape) -> tuple[str, str, str]:
    """(token mean, token log deviation, durations), [1, channels or 1, phonemes]."""
    c = shape.channels
    x = b.add("Gather", b.random(64, c, scale=1.0), "input")
    x = b.add("Transpose", x, perm=[0, 2, 1])
    mask = sentence_mask(b, x)
    x = relative_attention(b, b.add("Mul", x, mask), mask, c)
    x = b.add("Mul", b.add("Relu", b.conv(x, c, c, 3)), mask)
    stats = b.add("Mul", b.conv(x, c, 2 * c, 1), mask)
    stats = b.add("Split", stats, b.const([c, c]), axis=1, count=2)
    rhythm = b.conv(x, c, 1, 3)
    if shape.chance_in_rhythm:
        empty = b.channel_slice(b.add("Concat", x, x, axis=1), 0, 2)
        noise = b.add("RandomNormalLike", empty)
        noise = b.add("Mul", noise, b.add("Gather", "scales", b.const(2), axis=0))
        rhythm = b.add("Add", rhythm, b.conv(noise, 2, 1, 1))
    rhythm = b.add("Mul", b.add("Exp", rhythm), b.const(3.0, np.float32))
    rhythm = b.add("Mul", rhythm, b.add("Gather", "scales", b.const(1), axis=0))
    return stats, f"{stats}:1", b.add("Ceil", b.add("Mul", rhythm, mask))


def expanded(b: Builder, tokens: str, path: str) -> str:
    """Tokens repeated for their durations, [1, channels, frames]."""
    product = b.add("MatMul", path, b.add("Transpose", tokens, perm=[0, 2, 1]))
    return b.add("Transpose", product, perm=[0, 2, 1])


def alignment(b: Builder, durations: str) -> tuple[str, str]:
    """(path [1, frames, phonemes], mask [1, 1, frames])."""
    ends = b.add("CumSum", durations, b.const(2))
    total = b.add("ReduceSum", durations, b.const([1, 2]), keepdims=0)
    total = b.add("Clip", total, b.const(1.0, np.float32))
    length = b.add("ReduceMax", b.add("Cast", total, to=TensorProto.INT64), keepdims=0)
    index = b.add("Range", b.const(0), length, b.const(1))
    times = b.add("Cast", b.add("Unsqueeze", index, b.const([0, 2])), to=TensorProto.FLOAT)
    upto = b.add("Cast", b.add("Less", times, ends), to=TensorProto.FLOAT)
    before = b.add("Less", times, b.add("Sub", ends, durations))
    path = b.add("Sub", upto, b.add("Cast", before, to=TensorProto.FLOAT))
    inside = b.add("Less", times, b.add("Unsqueeze", total, b.const([1, 2])))
    mask = b.add("Cast", inside, to=TensorProto.FLOAT)
    return path, b.add("Transpose", mask, perm=[0, 2, 1])


def coupling(b: Builder, x: str, mask: str, channels: int, voice: tuple[str, int] | None) -> str:
    """One step of the flow: flip, and shift one half by a function of the other."""
    half = channels // 2
    x = b.channel_slice(x, -1, -(2**62), -1)
    parts = b.add("Split", x, b.const([half, channels - half]), axis=1, count=2)
    h = b.add("Mul", b.conv(parts, half, channels, 1), mask)
    skipped = b.zeros_like(h)
    layers = 2
    for layer in range(layers):
        inner = b.conv(h, channels, 2 * channels, 5)
        extra = b.conv(voice[0], voice[1], 2 * channels, 1) if voice else b.zeros_like(inner)
        inner = b.add("Add", inner, extra)
        gate = b.add("Mul", b.add("Tanh", b.channel_slice(inner, 0, channels)),
                     b.add("Sigmoid", b.channel_slice(inner, channels, 2 * channels)))  # fmt: skip
        if layer < layers - 1:
            both = b.conv(gate, channels, 2 * channels, 1)
            h = b.add("Mul", b.add("Add", h, b.channel_slice(both, 0, channels)), mask)
            skipped = b.add("Add", skipped, b.channel_slice(both, channels, 2 * channels))
        else:
            skipped = b.add("Add", skipped, b.conv(gate, channels, channels, 1))
    shift = b.conv(b.add("Mul", skipped, mask), channels, channels - half, 1)
    other = b.add("Mul", b.add("Sub", f"{parts}:1", b.add("Mul", shift, mask)), mask)
    return b.add("Concat", parts, other, axis=1)


def waveform(b: Builder, z: str, shape: Shape, voice: tuple[str, int] | None) -> str:
    """HiFi-GAN: upsample, then residual blocks of several widths, summed."""
    width = 16
    x = b.conv(z, shape.channels, width, 7)
    if voice:
        x = b.add("Add", x, b.conv(voice[0], voice[1], width, 1))
    for stride, size in shape.upsample if shape.upsampling else ():
        x = b.upsample(b.add("LeakyRelu", x, alpha=0.1), width, width // 2, stride, size)
        width //= 2
        blocks = [residual(b, x, width, k, d) for k, d in ((3, (1, 2)), (5, (2, 6)))]
        x = b.add("Div", b.add("Add", *blocks), b.const(2.0, np.float32))
    x = b.conv(b.add("LeakyRelu", x, alpha=0.01), width, 1, 7)
    if shape.pooled:
        x = b.add("AveragePool", x, kernel_shape=[3], pads=[1, 1], strides=[1])
    return b.add("Tanh", x)


def residual(b: Builder, x: str, width: int, size: int, dilations: tuple[int, ...]) -> str:
    """Dilated convolutions added to their input."""
    for dilation in dilations:
        x = b.add("Add", x, b.conv(b.add("LeakyRelu", x, alpha=0.1), width, width, size, dilation))
    return x


def inputs_of(shape: Shape) -> list:
    """The inputs of a Piper voice."""
    inputs = [
        helper.make_tensor_value_info("input", TensorProto.INT64, ["batch_size", "phonemes"]),
        helper.make_tensor_value_info("input_lengths", TensorProto.INT64, ["batch_size"]),
        helper.make_tensor_value_info("scales", TensorProto.FLOAT, [3]),
    ]
    if shape.speakers:
        inputs.append(helper.make_tensor_value_info("sid", TensorProto.INT64, ["batch_size"]))
    return inputs


def latent_side(b: Builder, shape: Shape) -> tuple[str, str, tuple[str, int] | None]:
    """(latent before its mask, mask, speaker embedding and its size)."""
    voice = None
    if shape.speakers:
        table = b.random(shape.speakers, 6, scale=1.0)
        voice = (b.add("Unsqueeze", b.add("Gather", table, "sid"), b.const([-1])), 6)
    mean, log_std, durations = text_side(b, shape)
    path, mask = alignment(b, durations)
    mean, log_std = expanded(b, mean, path), expanded(b, log_std, path)
    noise = b.add("Mul", b.add("RandomNormalLike", mean), b.add("Exp", log_std))
    noise = b.add("Mul", noise, b.add("Gather", "scales", b.const(0), axis=0))
    z = b.add("Add", mean, noise)
    for _ in range(shape.flows):
        z = coupling(b, z, mask, shape.channels, voice)
    return z, mask, voice


def finish(b: Builder, inputs: list, outputs: dict[str, list]) -> ModelProto:
    """A model of what was built."""
    values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in outputs.items()]
    graph = helper.make_graph(b.nodes, "voice", inputs, values, b.weights)
    opsets = [helper.make_opsetid("", 15)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def whole_voice(shape: Shape, seed: int) -> ModelProto:
    """A voice as one graph, as Piper exports it."""
    b = Builder(seed)
    z, mask, voice = latent_side(b, shape)
    audio = waveform(b, b.add("Mul", z, mask), shape, voice)
    b.nodes.append(
        helper.make_node("Unsqueeze", [audio, b.const([1])], ["output"], name="n_output")
    )
    return finish(b, inputs_of(shape), {"output": ["batch_size", 1, 1, "samples"]})


def voice_pair(shape: Shape, seed: int) -> tuple[ModelProto, ModelProto]:
    """A voice as encoder and decoder with a separate mask, as the +RT voices come."""
    b = Builder(seed)
    z, mask, _ = latent_side(b, shape)
    for name, value in (("z", z), ("y_mask", mask)):
        b.nodes.append(helper.make_node("Identity", [value], [name], name=f"n_{name}"))
    c = shape.channels
    encoder = finish(b, inputs_of(shape), {"z": ["b", c, "t"], "y_mask": ["b", 1, "t"]})
    b = Builder(seed + 1)
    audio = waveform(b, b.add("Mul", "z", "y_mask"), shape, None)
    b.nodes.append(helper.make_node("Identity", [audio], ["output"], name="n_output"))
    inputs = [
        helper.make_tensor_value_info("z", TensorProto.FLOAT, ["b", c, "t"]),
        helper.make_tensor_value_info("y_mask", TensorProto.FLOAT, ["b", 1, "t"]),
    ]
    return encoder, finish(b, inputs, {"output": ["b", 1, "n"]})


def files() -> dict[str, bytes]:
    """Every file by its name inside the folder."""
    made = {
        f"{name}.onnx": whole_voice(shape, seed).SerializeToString(deterministic=True)
        for seed, (name, shape) in enumerate(VOICES.items())
    }
    encoder, decoder = voice_pair(Shape(), seed=100)
    made["pair/encoder.onnx"] = encoder.SerializeToString(deterministic=True)
    made["pair/decoder.onnx"] = decoder.SerializeToString(deterministic=True)
    return made


def main() -> None:
    """Write the files."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    for name, data in files().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        print(f"{path}: {len(data)} bytes")


if __name__ == "__main__":
    main()
