"""Write a Base checkpoint of the official layout as the folder that qwen3-tts-mnn reads.

    python s2s/bench/peers/mnn_files.py CHECKPOINT OUT
    (then, with the MNN package, one call of its converter a graph: see benchmark_qwen3_peers.py)

For random weights, as the package has no exporter of its own. Writes ``talker_step.onnx``,
``cp_step.onnx`` and ``vocoder.onnx`` with the inputs and outputs that the package asks for, in
plain operators that MNN's converter knows, its weight tables in half precision, and the tokenizer.
Its graph of the predictor unrolled over a frame is not made.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from s2s.bench.entry import existing_folder, run_measurement
from s2s.core.arrays import Floats
from s2s.models.onnx_file.builder import GraphBuilder
from s2s.tts.qwen3.checkpoint import (
    Checkpoint,
    CodecDecoderSpec,
    CodecSpec,
    DecoderSpec,
    read_json,
    read_spec,
)

GRAPHS = ("talker_step", "cp_step", "vocoder")
MASKED = -1e9
KERNEL = 7
DILATIONS = (1, 3, 9)
CONVNEXT_EPS = 1e-6


@dataclass(slots=True)
class PlainLayers:
    """Layers in plain operators."""

    graph: GraphBuilder
    weights: Checkpoint

    def linear(self, x: str, name: str) -> str:
        """x [n, in] times a matrix [out, in], plus its bias if it has one."""
        out = self.graph.op("MatMul", x, self.graph.weight(self.weights[f"{name}.weight"].T))
        if f"{name}.bias" in self.weights:
            out = self.graph.op("Add", out, self.graph.weight(self.weights[f"{name}.bias"]))
        return out

    def rms(self, x: str, name: str, epsilon: float) -> str:
        """Root-mean-square norm over the last axis."""
        graph = self.graph
        mean = graph.op("ReduceMean", graph.op("Mul", x, x), axes=[-1], keepdims=1)
        root = graph.op("Sqrt", graph.op("Add", mean, graph.floats(epsilon)))
        return graph.op("Mul", graph.op("Div", x, root), graph.weight(self.weights[name]))

    def silu(self, x: str) -> str:
        """x * sigmoid(x)."""
        return self.graph.op("Mul", x, self.graph.op("Sigmoid", x))

    def turned(self, x: str, turns: tuple[str, str], half: int) -> str:
        """Rotary embedding of [n, heads, 2 * half]; turns: [n, 1, 2 * half]."""
        graph = self.graph
        left, right = graph.split(x, (half, half), axis=2)
        swapped = graph.op("Concat", graph.op("Neg", right), left, axis=2)
        return graph.op("Add", graph.op("Mul", x, turns[0]), graph.op("Mul", swapped, turns[1]))

    def turns(self, positions: str, head_dim: int, theta: float) -> tuple[str, str]:
        """Cosine and sine for float positions [n, 1, 1]: [n, 1, head_dim]."""
        graph = self.graph
        exponents = np.arange(0, head_dim, 2, dtype=np.float32) / np.float32(head_dim)
        frequencies = np.tile(np.float32(1) / np.float32(theta) ** exponents, 2)
        angles = graph.op("Mul", positions, graph.constant(frequencies[None, None]))
        return graph.op("Cos", angles), graph.op("Sin", angles)

    def heads(self, x: str, heads: int, head_dim: int) -> str:
        """[n, heads * head_dim] to [n, heads, head_dim]."""
        return self.graph.op("Reshape", x, self.graph.ints(-1, heads, head_dim))

    def attended(
        self, query: str, key: str, value: str, mask: str, shape: tuple[int, int, int]
    ) -> str:
        """query [heads, n, dim] on key and value [shared, m, dim]: [n, heads * dim].

        mask: [n * heads / shared, m]. shape: heads, shared heads, dim.
        """
        graph, (heads, shared, dim) = self.graph, shape
        query = graph.op("Reshape", query, graph.ints(shared, -1, dim))
        scores = graph.op("MatMul", query, graph.op("Transpose", key, perm=(0, 2, 1)))
        scores = graph.op("Add", graph.op("Mul", scores, graph.floats(dim**-0.5)), mask)
        mixed = graph.op("MatMul", graph.op("Softmax", scores, axis=-1), value)
        mixed = graph.op("Reshape", mixed, graph.ints(heads, -1, dim))
        mixed = graph.op("Transpose", mixed, perm=(1, 0, 2))
        return graph.op("Reshape", mixed, graph.ints(-1, heads * dim))

    def gated(self, x: str, name: str) -> str:
        """The gated feed-forward layer."""
        gate = self.silu(self.linear(x, f"{name}.mlp.gate_proj"))
        inner = self.graph.op("Mul", gate, self.linear(x, f"{name}.mlp.up_proj"))
        return self.linear(inner, f"{name}.mlp.down_proj")


def write_step(
    folder: Path, name: str, weights: Checkpoint, prefix: str, shape: DecoderSpec
) -> None:
    """One step of a decoder stack, with its cache as input and output."""
    cache = (2 * shape.layers, 1, shape.kv_heads, "past", shape.head_dim)
    with GraphBuilder(folder, name) as graph:
        plain = PlainLayers(graph, weights)
        given = graph.input("inputs_embeds", np.float32, (1, "length", shape.hidden))
        ids = graph.input("position_ids", np.int32, (1, "length"))
        past = graph.input("past_kv", np.float32, cache)
        positions = graph.op("Reshape", graph.op("Cast", ids, to=1), graph.ints(-1, 1, 1))
        turns = plain.turns(positions, shape.head_dim, shape.rope_theta)
        pasts = graph.split(past, [1] * (2 * shape.layers), axis=0)
        mask = causal_mask(graph, positions, past, shape.heads // shape.kv_heads)
        x = graph.op("Reshape", given, graph.ints(-1, shape.hidden))
        grown: list[str] = []
        for layer in range(shape.layers):
            at = f"{prefix}.layers.{layer}"
            normed = plain.rms(x, f"{at}.input_layernorm.weight", shape.rms_norm_eps)
            query, key, value = (
                plain.heads(plain.linear(normed, f"{at}.self_attn.{part}_proj"), n, shape.head_dim)
                for part, n in (("q", shape.heads), ("k", shape.kv_heads), ("v", shape.kv_heads))
            )
            query = plain.rms(query, f"{at}.self_attn.q_norm.weight", shape.rms_norm_eps)
            key = plain.rms(key, f"{at}.self_attn.k_norm.weight", shape.rms_norm_eps)
            query, key = (plain.turned(x, turns, shape.head_dim // 2) for x in (query, key))
            query, key, value = (
                graph.op("Transpose", x, perm=(1, 0, 2)) for x in (query, key, value)
            )
            key, value = (
                graph.op("Concat", graph.op("Squeeze", old, graph.ints(0, 1)), new, axis=1)
                for old, new in zip(pasts[2 * layer : 2 * layer + 2], (key, value), strict=True)
            )
            grown += [graph.op("Unsqueeze", x, graph.ints(0, 1)) for x in (key, value)]
            sizes = (shape.heads, shape.kv_heads, shape.head_dim)
            mixed = plain.attended(query, key, value, mask, sizes)
            x = graph.op("Add", x, plain.linear(mixed, f"{at}.self_attn.o_proj"))
            normed = plain.rms(x, f"{at}.post_attention_layernorm.weight", shape.rms_norm_eps)
            x = graph.op("Add", x, plain.gated(normed, at))
        hidden = plain.rms(x, f"{prefix}.norm.weight", shape.rms_norm_eps)
        hidden = graph.op("Reshape", hidden, graph.ints(1, -1, shape.hidden))
        graph.output("last_hidden", hidden, np.float32, (1, "length", shape.hidden))
        together = graph.op("Concat", *grown, axis=0)
        graph.output("new_kv", together, np.float32, (*cache[:3], "total", shape.head_dim))
        graph.save({})


def causal_mask(graph: GraphBuilder, positions: str, past: str, times: int) -> str:
    """[times * n, past + n] for new positions [n, 1, 1]: what each may see."""
    held = graph.op("Gather", graph.op("Shape", past), graph.ints(3), axis=0)
    new = graph.op("Gather", graph.op("Shape", positions), graph.ints(0), axis=0)
    total = graph.op("Squeeze", graph.op("Add", held, new), graph.ints(0))
    zero, one = (graph.constant(np.array(value, np.int64)) for value in (0, 1))
    keys = graph.op("Cast", graph.op("Range", zero, total, one), to=1)
    late = graph.op("Sub", keys, graph.op("Reshape", positions, graph.ints(-1, 1)))
    late = graph.op(
        "Clip", late, *(graph.constant(np.array(value, np.float32)) for value in (0, 1))
    )
    mask = graph.op("Mul", late, graph.floats(MASKED))
    return graph.op("Concat", *[mask] * times, axis=0)


@dataclass(slots=True)
class Vocoder(PlainLayers):
    """The codec decoder over all frames at once; images are [1, channels, 1, steps]."""

    spec: CodecDecoderSpec

    def conv(
        self, x: str, name: str, *, dilation: int = 1, groups: int = 1, bias: bool = True
    ) -> str:
        """A causal convolution."""
        graph, kernel = self.graph, self.weights[f"{name}.weight"]
        before = (kernel.shape[2] - 1) * dilation
        if before:
            x = graph.op("Pad", x, graph.ints(0, 0, 0, before, 0, 0, 0, 0), graph.floats(0.0))
        inputs = [x, graph.weight(kernel[:, :, None, :])]
        inputs += [graph.weight(self.weights[f"{name}.bias"])] if bias else []
        size = (1, kernel.shape[2])
        return graph.op("Conv", *inputs, kernel_shape=size, dilations=(1, dilation), group=groups)

    def transposed(self, x: str, name: str, rate: int) -> str:
        """A transposed convolution of stride ``rate``, cut on the right to be causal."""
        graph, kernel = self.graph, self.weights[f"{name}.weight"]
        inputs = (
            x,
            graph.weight(kernel[:, :, None, :]),
            graph.weight(self.weights[f"{name}.bias"]),
        )
        size = (1, kernel.shape[2])
        x = graph.op("ConvTranspose", *inputs, kernel_shape=size, strides=(1, rate))
        extra = kernel.shape[2] - rate
        if extra:
            ends = (graph.ints(0), graph.ints(-extra), graph.ints(3))
            x = graph.op("Slice", x, *ends)
        return x

    def snake(self, x: str, name: str) -> str:
        """x + sin(e^alpha x)^2 / (e^beta + 1e-9), per channel."""
        graph = self.graph
        alpha = np.exp(self.weights[f"{name}.alpha"])[None, :, None, None]
        share = 1 / (np.exp(self.weights[f"{name}.beta"]) + 1e-9)[None, :, None, None]
        wave = graph.op("Sin", graph.op("Mul", x, graph.weight(alpha)))
        wave = graph.op("Mul", graph.op("Mul", wave, wave), graph.weight(share))
        return graph.op("Add", x, wave)

    def image(self, steps: str) -> str:
        """[steps, channels] to an image."""
        turned = self.graph.op("Transpose", steps, perm=(1, 0))
        return self.graph.op("Unsqueeze", turned, self.graph.ints(0, 2))

    def rows(self, image: str) -> str:
        """An image to [steps, channels]."""
        flat = self.graph.op("Squeeze", image, self.graph.ints(0, 2))
        return self.graph.op("Transpose", flat, perm=(1, 0))

    def vectors(self, codes: str) -> str:
        """codes int32 [1, frames, groups] to an image of code vectors."""
        graph, spec = self.graph, self.spec
        groups = graph.split(codes, [1] * spec.code_groups, axis=2)
        sums: list[str] = []
        for part, members in (("first", groups[:1]), ("rest", groups[1:])):
            base = f"decoder.quantizer.rvq_{part}"
            found: list[str] = []
            for at, group in enumerate(members):
                codebook = f"{base}.vq.layers.{at}._codebook"
                usage = np.maximum(self.weights[f"{codebook}.cluster_usage"], np.float32(1e-5))
                table = self.weights[f"{codebook}.embedding_sum"] / usage[:, None]
                ids = graph.op("Reshape", group, graph.ints(-1))
                found.append(graph.op("Gather", graph.weight(table), ids, axis=0))
            total = found[0]
            for other in found[1:]:
                total = graph.op("Add", total, other)
            matrix = self.weights[f"{base}.output_proj.weight"][:, :, 0].T
            sums.append(graph.op("MatMul", total, graph.weight(matrix)))
        return self.image(graph.op("Add", *sums))

    def transformer(self, image: str) -> str:
        """The window transformer: an image to [frames, latent]."""
        graph, spec = self.graph, self.spec
        name = "decoder.pre_transformer"
        x = self.linear(self.rows(image), f"{name}.input_proj")
        count = graph.op("Gather", graph.op("Shape", x), graph.ints(0), axis=0)
        count = graph.op("Squeeze", count, graph.ints(0))
        zero, one = (graph.constant(np.array(value, np.int64)) for value in (0, 1))
        steps = graph.op("Cast", graph.op("Range", zero, count, one), to=1)
        turns = self.turns(
            graph.op("Reshape", steps, graph.ints(-1, 1, 1)), spec.head_dim, spec.rope_theta
        )
        ages = graph.op(
            "Sub",
            graph.op("Reshape", steps, graph.ints(-1, 1)),
            graph.op("Reshape", steps, graph.ints(1, -1)),
        )
        limits = [graph.constant(np.array(value, np.float32)) for value in (0, 1)]
        late = graph.op("Clip", graph.op("Neg", ages), *limits)
        old = graph.op("Sub", ages, graph.floats(spec.window_frames - 1))
        old = graph.op("Clip", old, *limits)
        mask = graph.op("Mul", graph.op("Add", late, old), graph.floats(MASKED))
        for layer in range(spec.layers):
            at = f"{name}.layers.{layer}"
            normed = self.rms(x, f"{at}.input_layernorm.weight", spec.rms_norm_eps)
            query, key, value = (
                self.heads(
                    self.linear(normed, f"{at}.self_attn.{p}_proj"), spec.heads, spec.head_dim
                )
                for p in "qkv"
            )
            query, key = (self.turned(part, turns, spec.head_dim // 2) for part in (query, key))
            query, key, value = (
                graph.op("Transpose", part, perm=(1, 0, 2)) for part in (query, key, value)
            )
            sizes = (spec.heads, spec.heads, spec.head_dim)
            mixed = self.attended(query, key, value, mask, sizes)
            mixed = self.linear(mixed, f"{at}.self_attn.o_proj")
            x = graph.op("Add", x, self.scaled(mixed, f"{at}.self_attn_layer_scale.scale"))
            normed = self.rms(x, f"{at}.post_attention_layernorm.weight", spec.rms_norm_eps)
            mixed = self.gated(normed, at)
            x = graph.op("Add", x, self.scaled(mixed, f"{at}.mlp_layer_scale.scale"))
        return self.linear(
            self.rms(x, f"{name}.norm.weight", spec.rms_norm_eps), f"{name}.output_proj"
        )

    def scaled(self, x: str, name: str) -> str:
        """Times a vector of weights."""
        return self.graph.op("Mul", x, self.graph.weight(self.weights[name]))

    def convnext(self, image: str, name: str) -> str:
        """A ConvNeXt block."""
        graph = self.graph
        inner = self.rows(self.conv(image, f"{name}.dwconv.conv", groups=self.spec.latent_dim))
        mean = graph.op("ReduceMean", inner, axes=[-1], keepdims=1)
        inner = graph.op("Sub", inner, mean)
        variance = graph.op("ReduceMean", graph.op("Mul", inner, inner), axes=[-1], keepdims=1)
        root = graph.op("Sqrt", graph.op("Add", variance, graph.floats(CONVNEXT_EPS)))
        inner = self.scaled(graph.op("Div", inner, root), f"{name}.norm.weight")
        inner = graph.op("Add", inner, graph.weight(self.weights[f"{name}.norm.bias"]))
        inner = self.linear(inner, f"{name}.pwconv1")
        error = graph.op("Erf", graph.op("Mul", inner, graph.floats(0.5**0.5)))
        half = graph.op("Mul", inner, graph.floats(0.5))
        inner = graph.op("Mul", half, graph.op("Add", error, graph.floats(1.0)))
        inner = self.scaled(self.linear(inner, f"{name}.pwconv2"), f"{name}.gamma")
        return graph.op("Add", image, self.image(inner))

    def wave(self, image: str) -> str:
        """The convolutions that make sound of an image: float32 [1, samples]."""
        graph, spec = self.graph, self.spec
        x = self.conv(image, "decoder.decoder.0.conv")
        for at, rate in enumerate(spec.upsample_rates, start=1):
            name = f"decoder.decoder.{at}.block"
            x = self.transposed(self.snake(x, f"{name}.0"), f"{name}.1.conv", rate)
            for unit, dilation in enumerate(DILATIONS, start=2):
                part = f"{name}.{unit}"
                inner = self.snake(x, f"{part}.act1")
                inner = self.conv(inner, f"{part}.conv1.conv", dilation=dilation)
                inner = self.conv(self.snake(inner, f"{part}.act2"), f"{part}.conv2.conv")
                x = graph.op("Add", x, inner)
        last = len(spec.upsample_rates) + 1
        x = self.snake(x, f"decoder.decoder.{last}")
        x = self.conv(x, f"decoder.decoder.{last + 1}.conv")
        x = graph.op("Clip", x, *(graph.constant(np.array(value, np.float32)) for value in (-1, 1)))
        return graph.op("Reshape", x, graph.ints(1, -1))


def write_vocoder(folder: Path, codec: Path) -> None:
    """Codes to sound, all at once."""
    spec = CodecSpec.from_config(read_json(codec / "config.json")).decoder
    with GraphBuilder(folder, "vocoder") as graph:
        vocoder = Vocoder(graph, Checkpoint(codec), spec)
        codes = graph.input("codes", np.int32, (1, "frames", spec.code_groups))
        image = vocoder.conv(vocoder.vectors(codes), "decoder.pre_conv.conv")
        image = vocoder.image(vocoder.transformer(image))
        for at, factor in enumerate(spec.upsampling_ratios):
            image = vocoder.transposed(image, f"decoder.upsample.{at}.0.conv", factor)
            image = vocoder.convnext(image, f"decoder.upsample.{at}.1")
        graph.output("wav", vocoder.wave(image), np.float32, (1, "samples"))
        graph.save({})


def write_tables(folder: Path, weights: Checkpoint, groups: int) -> None:
    """Input tables, projections and heads: half precision, shapes in meta.json."""
    official = {
        "codec_embedding": "talker.model.codec_embedding.weight",
        "codec_head": "talker.codec_head.weight",
        "text_embedding": "talker.model.text_embedding.weight",
        "text_proj_fc1_w": "talker.text_projection.linear_fc1.weight",
        "text_proj_fc1_b": "talker.text_projection.linear_fc1.bias",
        "text_proj_fc2_w": "talker.text_projection.linear_fc2.weight",
        "text_proj_fc2_b": "talker.text_projection.linear_fc2.bias",
    }
    for group in range(groups - 1):
        predictor = "talker.code_predictor"
        official[f"cp_embed_{group}"] = f"{predictor}.model.codec_embedding.{group}.weight"
        official[f"cp_head_{group}"] = f"{predictor}.lm_head.{group}.weight"
    shapes: dict[str, dict[str, Sequence[int]]] = {}
    for name, source in official.items():
        values: Floats = weights.load(source)
        values.astype(np.float16).tofile(folder / f"{name}.bin")
        shapes[name] = {"shape": values.shape}
    (folder / "meta.json").write_text(json.dumps(shapes), encoding="utf-8")


def make(checkpoint: Path, out: Path) -> None:
    """Everything but the conversion of the graphs."""
    spec, weights = read_spec(checkpoint), Checkpoint(checkpoint)
    for name in ("weights", "tokenizer"):
        (out / name).mkdir(parents=True, exist_ok=True)
    for name in ("vocab.json", "merges.txt"):
        shutil.copy(checkpoint / name, out / "tokenizer" / name)
    write_tables(out / "weights", weights, spec.groups)
    write_step(out, GRAPHS[0], weights, "talker.model", spec.talker)
    write_step(out, GRAPHS[1], weights, "talker.code_predictor.model", spec.predictor)
    write_vocoder(out, checkpoint / "speech_tokenizer")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("checkpoint", type=existing_folder)
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()
    make(arguments.checkpoint, arguments.out)


if __name__ == "__main__":
    sys.exit(run_measurement(main))
