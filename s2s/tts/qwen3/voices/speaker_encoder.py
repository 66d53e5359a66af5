"""A reference recording to the vector that stands for its voice: the `SpeakerEncoder` port.

An ECAPA-TDNN on ONNX Runtime over the log mel spectrum. Used once a voice.
Architecture: Qwen3TTSSpeakerEncoder of the official ``qwen-tts`` package.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from s2s.models.onnx_file.builder import GraphBuilder, cached_graph
from s2s.tts.qwen3.checkpoint.codec_spec import MAX_KERNEL
from s2s.tts.qwen3.checkpoint.fields import Fields
from s2s.tts.qwen3.checkpoint.spec import MAX_WIDTH
from s2s.tts.qwen3.codec.tensors import Tensors, Wide
from s2s.tts.qwen3.errors import CodecError
from s2s.tts.qwen3.interfaces import Floats
from s2s.tts.qwen3.onnx.session import open_session
from s2s.tts.qwen3.voices.mel import MELS, RATE_HZ, log_mel

GRAPH_NAME = "speaker_encoder"
SPEAKER_GRAPH_VERSION = 1

_POOL_FLOOR = 1e-12


@dataclass(frozen=True, slots=True)
class SpeakerEncoderSpec:
    """Sizes of the encoder. Defaults are those of the official configuration class."""

    width: int
    """Size of the vector, the talker's hidden size."""
    channels: tuple[int, ...] = (512, 512, 512, 512, 1536)
    kernels: tuple[int, ...] = (5, 3, 3, 3, 1)
    dilations: tuple[int, ...] = (1, 2, 3, 4, 1)
    attention_channels: int = 128
    parts: int = 8
    squeeze_channels: int = 128

    @classmethod
    def from_config(cls, config: Mapping[str, object]) -> SpeakerEncoderSpec:
        """From ``speaker_encoder_config`` of config.json, absent fields at their defaults.

        Raises CodecError for a front end other than 128 mels at 24 kHz, or sizes that do not fit.
        """
        return cls.from_fields(Fields(config, "config.json", "speaker_encoder_config", CodecError))

    @classmethod
    def from_fields(cls, read: Fields) -> SpeakerEncoderSpec:
        """The same, from the part of a file."""
        read.fixed("sample_rate", RATE_HZ)
        read.fixed("mel_dim", MELS)
        default, many = cls(width=1024), range(1, 17)
        channels = read.wholes("enc_channels", MAX_WIDTH, many, default.channels)
        spec = cls(
            width=read.whole("enc_dim", 1, MAX_WIDTH, default.width),
            channels=channels,
            kernels=read.wholes("enc_kernel_sizes", MAX_KERNEL, many, default.kernels),
            dilations=read.wholes("enc_dilations", MAX_KERNEL, many, default.dilations),
            attention_channels=read.whole(
                "enc_attention_channels", 1, MAX_WIDTH, default.attention_channels
            ),
            parts=read.whole("enc_res2net_scale", 1, 64, default.parts),
            squeeze_channels=read.whole("enc_se_channels", 1, MAX_WIDTH, default.squeeze_channels),
        )
        if not len(channels) == len(spec.kernels) == len(spec.dilations) >= 3:
            read.refuse(
                "enc_channels",
                "enc_kernel_sizes and enc_dilations must have one length of at least 3, got "
                f"{len(channels)}, {len(spec.kernels)}, {len(spec.dilations)}",
            )
        if len(set(channels[:-1])) > 1 or channels[0] % spec.parts:
            read.refuse(
                "enc_channels",
                f"is {list(channels)}: all but the last must be the same multiple of {spec.parts}",
            )
        return spec

    @property
    def min_frames(self) -> int:
        """Mel frames that every convolution can mirror at the ends."""
        padding = max(
            (kernel - 1) * dilation // 2
            for kernel, dilation in zip(self.kernels, self.dilations, strict=True)
        )
        return padding + 1


class OnnxSpeakerEncoder:
    """The speaker encoder of a Base checkpoint; safe to call from any thread."""

    def __init__(self, graph: Path, spec: SpeakerEncoderSpec, *, threads: int = 1) -> None:
        """Load a graph written by `build_speaker_graph`."""
        self._spec = spec
        self._session = open_session(graph, threads, arena=False)

    @classmethod
    def open(
        cls,
        spec: SpeakerEncoderSpec,
        tensors: Tensors,
        cache: Path,
        content_hash: str,
        *,
        threads: int = 1,
    ) -> OnnxSpeakerEncoder:
        """From a checkpoint's tensors; the graph is built on first use and kept in ``cache``."""
        folder = cache / f"{GRAPH_NAME}-{content_hash}-v{SPEAKER_GRAPH_VERSION}"
        graph = cached_graph(folder, GRAPH_NAME, lambda to: build_speaker_graph(spec, tensors, to))
        return cls(graph, spec, threads=threads)

    def embed(self, pcm: Floats) -> Floats:
        """pcm: float32 [samples], mono, 24 kHz; returns float32 [width], not normalised.

        Raises ValueError when the recording is too short or holds what is not a finite number.
        """
        if not np.isfinite(pcm).all():
            raise ValueError("the reference recording holds samples that are not finite numbers")
        mel = log_mel(pcm)
        if len(mel) < self._spec.min_frames:
            raise ValueError(
                f"a reference recording of {len(pcm)} samples is too short: "
                f"it gives {len(mel)} mel frames, {self._spec.min_frames} are needed"
            )
        (vector,) = self._session.run(["vector"], {"mel": mel})
        return np.asarray(vector, dtype=np.float32)


def build_speaker_graph(spec: SpeakerEncoderSpec, tensors: Tensors, folder: Path) -> Path:
    """Write the graph into ``folder`` and return its path.

    Input ``mel`` float32 [frames, 128], output ``vector`` float32 [width].
    Raises CodecError when a tensor does not have the shape the spec asks for.
    """
    with GraphBuilder(folder, GRAPH_NAME) as graph:
        encoder = _Ecapa(graph, tensors, spec)
        mel = graph.input("mel", np.float32, ("frames", MELS))
        graph.output("vector", encoder.vector(mel), np.float32, (spec.width,))
        return graph.save({})


def speaker_shapes(spec: SpeakerEncoderSpec) -> dict[str, tuple[int, ...]]:
    """Every tensor of the encoder in model.safetensors, and its shape."""
    first, *blocks, last = spec.channels
    attention, part = spec.attention_channels, first // spec.parts
    convolutions = {"blocks.0.conv": (first, MELS, spec.kernels[0])}
    for at, width in enumerate(blocks, start=1):
        name, squeezed = f"blocks.{at}", spec.squeeze_channels
        convolutions |= {
            f"{name}.tdnn1.conv": (width, width, 1),
            f"{name}.tdnn2.conv": (width, width, 1),
            f"{name}.se_block.conv1": (squeezed, width, 1),
            f"{name}.se_block.conv2": (width, squeezed, 1),
        }
        for unit in range(spec.parts - 1):
            inner = f"{name}.res2net_block.blocks.{unit}.conv"
            convolutions[inner] = (part, part, spec.kernels[at])
    convolutions |= {
        "mfa.conv": (last, sum(blocks), spec.kernels[-1]),
        "asp.tdnn.conv": (attention, 3 * last, 1),
        "asp.conv": (last, attention, 1),
        "fc": (spec.width, 2 * last, 1),
    }
    shapes: dict[str, tuple[int, ...]] = {}
    for name, shape in convolutions.items():
        shapes[f"speaker_encoder.{name}.weight"] = shape
        shapes[f"speaker_encoder.{name}.bias"] = shape[:1]
    return shapes


@dataclass(slots=True)
class _Ecapa:
    """Adds the encoder to a graph. Values are [1, channels, frames]."""

    graph: GraphBuilder
    tensors: Tensors
    spec: SpeakerEncoderSpec

    def vector(self, mel: str) -> str:
        """Log mel [frames, 128] to the speaker's vector [width]."""
        graph, spec = self.graph, self.spec
        frames = graph.op("Unsqueeze", graph.op("Transpose", mel, perm=(1, 0)), graph.ints(0))
        first, *blocks, last = spec.channels
        frames = self._tdnn("blocks.0", frames, MELS, first, spec.kernels[0], spec.dilations[0])
        outputs: list[str] = []
        into = first
        for at, out in enumerate(blocks, start=1):
            frames = self._block(f"blocks.{at}", frames, into, out, at)
            outputs.append(frames)
            into = out
        joined = graph.op("Concat", *outputs, axis=1)
        width = sum(blocks)
        frames = self._tdnn("mfa", joined, width, last, spec.kernels[-1], spec.dilations[-1])
        pooled = self._pool(frames, last)
        vector = self._conv("fc", pooled, 2 * last, spec.width)
        return graph.op("Reshape", vector, graph.ints(-1))

    def _block(self, name: str, frames: str, into: int, out: int, at: int) -> str:
        """Squeeze-and-excitation around a Res2Net, with a residual."""
        graph, spec = self.graph, self.spec
        inner = self._tdnn(f"{name}.tdnn1", frames, into, out)
        width = out // spec.parts
        parts = graph.split(inner, (width,) * spec.parts, axis=1)
        outputs = [parts[0]]
        for unit, part in enumerate(parts[1:]):
            summed = part if unit == 0 else graph.op("Add", part, outputs[-1])
            unit_name = f"{name}.res2net_block.blocks.{unit}"
            kernel, dilation = spec.kernels[at], spec.dilations[at]
            outputs.append(self._tdnn(unit_name, summed, width, width, kernel, dilation))
        inner = graph.op("Concat", *outputs, axis=1)
        inner = self._tdnn(f"{name}.tdnn2", inner, out, out)
        squeezed = graph.op("ReduceMean", inner, axes=(2,), keepdims=1)
        squeezed = self._conv(f"{name}.se_block.conv1", squeezed, out, spec.squeeze_channels)
        squeezed = graph.op("Relu", squeezed)
        gate = self._conv(f"{name}.se_block.conv2", squeezed, spec.squeeze_channels, out)
        inner = graph.op("Mul", inner, graph.op("Sigmoid", gate))
        return graph.op("Add", inner, frames)

    def _pool(self, frames: str, width: int) -> str:
        """Attentive statistics: weighted mean and deviation over time, [1, 2 * width, 1]."""
        graph, spec = self.graph, self.spec
        mean = graph.op("ReduceMean", frames, axes=(2,), keepdims=1)
        centred = graph.op("Sub", frames, mean)
        power = graph.op("ReduceMean", graph.op("Mul", centred, centred), axes=(2,), keepdims=1)
        deviation = self._root(power)
        # The attention sees [frame, mean, deviation]; the last two are the same in every frame.
        weight = self._wide("asp.tdnn.conv.weight", spec.attention_channels, 3 * width, 1)
        bias = graph.weight(self._wide("asp.tdnn.conv.bias", spec.attention_channels))
        seen = graph.op("Conv", frames, graph.weight(weight[:, :width]), bias)
        whole = graph.op("Concat", mean, deviation, axis=1)
        whole = graph.op("Conv", whole, graph.weight(weight[:, width:]))
        attention = graph.op("Tanh", graph.op("Relu", graph.op("Add", seen, whole)))
        attention = self._conv("asp.conv", attention, spec.attention_channels, width)
        attention = graph.op("Softmax", attention, axis=2)
        weighted = graph.op("Mul", frames, attention)
        mean = graph.op("ReduceSum", weighted, graph.ints(2), keepdims=1)
        centred = graph.op("Sub", frames, mean)
        power = graph.op("Mul", attention, graph.op("Mul", centred, centred))
        deviation = self._root(graph.op("ReduceSum", power, graph.ints(2), keepdims=1))
        return graph.op("Concat", mean, deviation, axis=1)

    def _root(self, power: str) -> str:
        floor = self.graph.constant(np.array(_POOL_FLOOR, dtype=np.float32))
        return self.graph.op("Sqrt", self.graph.op("Max", power, floor))

    def _tdnn(
        self, name: str, frames: str, into: int, out: int, kernel: int = 1, dilation: int = 1
    ) -> str:
        conv = self._conv(f"{name}.conv", frames, into, out, kernel, dilation)
        return self.graph.op("Relu", conv)

    def _conv(
        self, name: str, frames: str, into: int, out: int, kernel: int = 1, dilation: int = 1
    ) -> str:
        """A convolution that keeps the length, mirrored at both ends."""
        graph = self.graph
        padding = (kernel - 1) * dilation
        if padding:
            left = padding // 2
            pads = graph.ints(0, 0, left, 0, 0, padding - left)
            frames = graph.op("Pad", frames, pads, mode="reflect")
        weight = graph.weight(self._wide(f"{name}.weight", out, into, kernel))
        bias = graph.weight(self._wide(f"{name}.bias", out))
        return graph.op("Conv", frames, weight, bias, dilations=(dilation,))

    def _wide(self, name: str, *shape: int) -> Wide:
        full = f"speaker_encoder.{name}"
        found = self.tensors[full]
        if found.shape != shape:
            raise CodecError(
                f"{full} has shape {list(found.shape)} where the config asks for {list(shape)}"
            )
        return found.astype(np.float64)
