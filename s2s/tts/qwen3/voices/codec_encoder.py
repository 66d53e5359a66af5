"""A reference recording to codes on ONNX Runtime: the `CodecEncoder` port.

Two graphs: convolutions and transformer over a stream of samples with explicit state, so that a
long recording needs no more memory than a short one; then downsampling and quantizer. Used once a
voice.

Architecture: the encoder half of Mimi as the official ``qwen-tts`` package uses it. Its attention
looks back to the start of the recording: the window in Mimi's config is not applied there.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from s2s.models.onnx_file.builder import GraphBuilder, cached_graph
from s2s.tts.qwen3.checkpoint.codec_spec import CodecEncoderSpec
from s2s.tts.qwen3.codec.tensors import NEXT_PREFIX, STATE_PREFIX, Tensors, Wide, expand_heads
from s2s.tts.qwen3.interfaces import Floats, Ids
from s2s.tts.qwen3.onnx.layers import StepBuilder
from s2s.tts.qwen3.onnx.session import open_session

GRAPH_NAME, QUANTIZER_NAME = "codec_encoder", "codec_quantizer"
ENCODER_GRAPH_VERSION = 1

CHUNK_FRAMES = 25
"""Frames of codes encoded at once: 2 s."""


class OnnxCodecEncoder:
    """The codec encoder of a checkpoint; safe to call from any thread."""

    def __init__(self, graph: Path, spec: CodecEncoderSpec, *, threads: int = 1) -> None:
        """Load the graphs `build_encoder_graphs` wrote; ``graph`` is the path it returned."""
        self._spec = spec
        self._stream = open_session(graph, threads, arena=False)
        quantizer = graph.with_name(f"{QUANTIZER_NAME}.onnx")
        self._quantizer = open_session(quantizer, threads, arena=False)
        self._empty = {
            item.name: np.zeros([size if isinstance(size, int) else 0 for size in item.shape], "f4")
            for item in self._stream.get_inputs()
            if item.name.startswith(STATE_PREFIX)
        }

    @classmethod
    def open(
        cls,
        spec: CodecEncoderSpec,
        tensors: Tensors,
        cache: Path,
        content_hash: str,
        *,
        threads: int = 1,
    ) -> OnnxCodecEncoder:
        """From a checkpoint's tensors; the graphs are built on first use and kept in ``cache``."""
        folder = cache / f"{GRAPH_NAME}-{content_hash}-v{ENCODER_GRAPH_VERSION}"
        graph = cached_graph(folder, GRAPH_NAME, lambda to: build_encoder_graphs(spec, tensors, to))
        return cls(graph, spec, threads=threads)

    def encode(self, pcm: Floats) -> Ids:
        """pcm: float32 [samples], mono, at the codec's rate.

        Returns int64 [ceil(samples / samples_per_frame), groups].
        Raises ValueError when there is no sample, or one that is not a finite number.
        """
        if pcm.ndim != 1 or len(pcm) == 0:
            raise ValueError(f"a reference recording must be [samples], got {list(pcm.shape)}")
        if not np.isfinite(pcm).all():
            raise ValueError("the reference recording holds samples that are not finite numbers")
        steps = self._embed(np.ascontiguousarray(pcm, dtype=np.float32))
        # Replicated on both sides, as MimiConv1d does for its downsampling.
        left = np.repeat(steps[:1], self._spec.downsample, axis=0)
        right = np.repeat(steps[-1:], -len(steps) % self._spec.downsample, axis=0)
        padded = np.concatenate([left, steps, right])
        (codes,) = self._quantizer.run(["codes"], {"steps": padded})
        return np.asarray(codes, dtype=np.int64)

    def _embed(self, pcm: Floats) -> Floats:
        """Samples to the transformer's output, [ceil(samples / convolution stride), hidden]."""
        state = self._empty
        outputs = ["steps", *(NEXT_PREFIX + name.removeprefix(STATE_PREFIX) for name in state)]
        chunk = CHUNK_FRAMES * self._spec.samples_per_frame
        parts: list[Floats] = []
        position = 0
        for start in range(0, len(pcm), chunk):
            feeds = {
                "pcm": pcm[start : start + chunk],
                "position": np.array(position, dtype=np.int64),
                **state,
            }
            steps, *tensors = self._stream.run(outputs, feeds)
            state = dict(zip(self._empty, tensors, strict=True))
            parts.append(np.asarray(steps, dtype=np.float32))
            position += len(parts[-1])
        return np.concatenate(parts)


def build_encoder_graphs(spec: CodecEncoderSpec, tensors: Tensors, folder: Path) -> Path:
    """Write both graphs into ``folder`` and return the path of the first.

    Raises CodecError when a tensor does not have the shape the spec asks for.
    """
    with GraphBuilder(folder, QUANTIZER_NAME) as graph:
        quantizer = _Encoder(graph, tensors, spec)
        steps = graph.input("steps", np.float32, ("steps", spec.hidden_size))
        graph.output("codes", quantizer.quantize(steps), np.int64, ("frames", spec.code_groups))
        graph.save({})
    with GraphBuilder(folder, GRAPH_NAME) as graph:
        encoder = _Encoder(graph, tensors, spec)
        pcm = graph.input("pcm", np.float32, ("samples",))
        position = graph.input("position", np.int64, ())
        steps = encoder.transform(encoder.convolve(pcm), position)
        graph.output("steps", steps, np.float32, ("steps", spec.hidden_size))
        return graph.save({})


@dataclass(slots=True)
class _Encoder(StepBuilder):
    """The encoder's stages, in order."""

    spec: CodecEncoderSpec

    def convolve(self, pcm: str) -> str:
        """Samples [samples] to steps of the transformer, through the strided convolutions."""
        graph, spec = self.graph, self.spec
        steps = graph.op("Reshape", pcm, graph.ints(-1, 1))
        width = spec.num_filters
        steps = self._conv(0, steps, 1, width, spec.kernel_size)
        layer = 1
        for ratio in spec.ratios:
            for unit in range(spec.residual_layers):
                dilation = spec.dilation_growth_rate**unit
                steps = self._residual(layer, steps, width, dilation)
                layer += 1
            steps = graph.op("Elu", steps)
            layer += 1
            steps = self._conv(layer, steps, width, 2 * width, 2 * ratio, stride=ratio)
            layer += 1
            width *= 2
        steps = graph.op("Elu", steps)
        return self._conv(layer + 1, steps, width, spec.hidden_size, spec.last_kernel_size)

    def transform(self, steps: str, position: str) -> str:
        """The causal transformer: [steps, hidden]."""
        graph, spec = self.graph, self.spec
        past = self.declare_caches(spec.layers, spec.heads, spec.head_dim)
        rope = self.rope(steps, position, spec.head_dim, spec.rope_theta)
        mask = self.causal_mask(steps, past, None)
        hidden = spec.hidden_size
        for layer in range(spec.layers):
            name = f"encoder.encoder_transformer.layers.{layer}"
            normed = self.layer_norm(steps, hidden, spec.norm_eps)
            joined = self._normed_linear(
                normed, f"{name}.input_layernorm", self._query_key_value(name)
            )
            mixed = self.attention(layer, joined, spec.heads, spec.head_dim, rope, mask, None)
            attention = spec.heads * spec.head_dim
            out = self.wide(f"{name}.self_attn.o_proj.weight", hidden, attention)
            mixed = self._scaled_linear(mixed, f"{name}.self_attn_layer_scale", out)
            steps = graph.op("Add", steps, mixed)
            normed = self.layer_norm(steps, hidden, spec.norm_eps)
            inner = self.wide(f"{name}.mlp.fc1.weight", spec.intermediate_size, hidden)
            mixed = self._normed_linear(normed, f"{name}.post_attention_layernorm", inner)
            mixed = graph.op("Gelu", mixed, contrib=True)
            out = self.wide(f"{name}.mlp.fc2.weight", hidden, spec.intermediate_size)
            mixed = self._scaled_linear(mixed, f"{name}.mlp_layer_scale", out)
            steps = graph.op("Add", steps, mixed)
        return steps

    def quantize(self, steps: str) -> str:
        """Padded steps to codes [frames, groups]: the semantic codebooks on their own projection,
        the acoustic ones, residual by residual, on theirs."""
        spec = self.spec
        stride = spec.downsample
        weight = self.wide(
            "encoder.downsample.conv.weight", spec.hidden_size, spec.hidden_size, 2 * stride
        )
        latent = self.conv(steps, weight, None, stride=stride)
        acoustic = spec.code_groups - spec.semantic_groups
        codes = self._residual_codes("semantic", latent, spec.semantic_groups)
        codes += self._residual_codes("acoustic", latent, acoustic)
        return self.graph.op("Concat", *codes, axis=1)

    def _residual_codes(self, part: str, latent: str, codebooks: int) -> list[str]:
        graph, spec = self.graph, self.spec
        name = f"encoder.quantizer.{part}_residual_vector_quantizer"
        width = spec.codebook_dim
        project = self.wide(f"{name}.input_proj.weight", width, spec.hidden_size, 1)
        left = self.linear(latent, project.squeeze(2).T)
        codes: list[str] = []
        for at in range(codebooks):
            layer = f"{name}.layers.{at}.codebook"
            book = self.codebook(layer, "embed_sum", spec.codebook_size, width)
            vectors = graph.weight(book)
            # The nearest vector e of x has the largest x e - |e|^2 / 2.
            offset = graph.weight(-0.5 * np.square(book).sum(axis=1))
            nearness = graph.op("Gemm", left, vectors, offset, transB=1)
            codes.append(graph.op("ArgMax", nearness, axis=1, keepdims=1))
            found = graph.op("Gather", vectors, graph.op("Squeeze", codes[-1], graph.ints(1)))
            left = graph.op("Sub", left, found)
        return codes

    def _conv(
        self, layer: int, steps: str, into: int, out: int, kernel: int, stride: int = 1
    ) -> str:
        """A causal convolution; the end of a recording is filled with zeros to a whole stride."""
        graph = self.graph
        padded = self.with_history(f"conv_{layer}", steps, kernel - stride, into)
        if stride > 1:
            length = self.size(steps, 0)
            missing = graph.op("Mod", graph.op("Neg", length), self.integer(stride))
            missing = graph.op("Unsqueeze", missing, graph.ints(0))
            pads = graph.op("Concat", graph.ints(0, 0), missing, graph.ints(0), axis=0)
            padded = graph.op("Pad", padded, pads)
        name = f"encoder.encoder.layers.{layer}.conv"
        weight = self.wide(f"{name}.weight", out, into, kernel)
        return self.conv(padded, weight, self.wide(f"{name}.bias", out), stride=stride)

    def _residual(self, layer: int, steps: str, width: int, dilation: int) -> str:
        graph, kernel = self.graph, self.spec.residual_kernel_size
        name, inner = f"encoder.encoder.layers.{layer}.block", width // self.spec.compress
        padded = self.with_history(
            f"unit_{layer}", graph.op("Elu", steps), (kernel - 1) * dilation, width
        )
        weight = self.wide(f"{name}.1.conv.weight", inner, width, kernel)
        mixed = self.conv(
            padded, weight, self.wide(f"{name}.1.conv.bias", inner), dilation=dilation
        )
        matrix = self.wide(f"{name}.3.conv.weight", width, inner, 1).squeeze(2).T
        mixed = self.linear(graph.op("Elu", mixed), matrix, self.wide(f"{name}.3.conv.bias", width))
        return graph.op("Add", steps, mixed)

    def _query_key_value(self, name: str) -> Wide:
        """[3 * heads * head_dim, hidden], with the score scale inside."""
        spec = self.spec
        width, narrow = spec.heads * spec.head_dim, spec.key_value_heads * spec.head_dim
        query = self.wide(f"{name}.self_attn.q_proj.weight", width, spec.hidden_size)
        key, value = (
            expand_heads(
                self.wide(f"{name}.self_attn.{part}_proj.weight", narrow, spec.hidden_size),
                spec.key_value_heads,
                spec.heads,
            )
            for part in ("k", "v")
        )
        return np.concatenate([query / np.sqrt(spec.head_dim), key, value])

    def _normed_linear(self, normed: str, name: str, weight: Wide) -> str:
        """A norm's affine part and the matrix [out, hidden] behind it."""
        hidden = self.spec.hidden_size
        bias = weight @ self.wide(f"{name}.bias", hidden)
        return self.linear(normed, (weight * self.wide(f"{name}.weight", hidden)).T, bias)

    def _scaled_linear(self, steps: str, name: str, weight: Wide) -> str:
        """A matrix [hidden, in] and the layer scale behind it."""
        scale = self.wide(f"{name}.scale", self.spec.hidden_size)
        return self.linear(steps, (scale[:, None] * weight).T)
