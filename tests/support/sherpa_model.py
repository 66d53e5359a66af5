"""A tiny streaming transducer of random weights in the layout that sherpa-onnx reads.

The files are those of icefall's LSTM transducers: an encoder with a state that is carried from
chunk to chunk, a decoder that sees the last two tokens, and a joiner. Weights are random: what it
writes means nothing, but it is written by sherpa-onnx's own features, chunks, search and hot words.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

_MELS, _WIDTH, _STEP = 80, 16, 4
_CHUNK_FRAMES, _SHIFT_FRAMES = 20, 16
"""Frames of 10 ms that a chunk holds, and by which chunks follow on one another: 160 ms."""
PIECES = ("▁GO", "▁MA", "RY", "▁TO", "▁THE", "▁SEA", "E", "S", "▁A", "N")
"""What the model can write, behind `<blk>`, `<sos/eos>` and `<unk>`."""


def write_transducer(folder: Path, *, seed: int = 0) -> Path:
    """Write the model to `folder`, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(seed)
    tokens = ["<blk>", "<sos/eos>", "<unk>", *PIECES]
    lines = "".join(f"{token} {index}\n" for index, token in enumerate(tokens))
    (folder / "tokens.txt").write_text(lines, encoding="utf-8")
    scores = "".join(f"{token}\t{-index}\n" for index, token in enumerate(tokens))
    (folder / "bpe.vocab").write_text(scores, encoding="utf-8")
    _encoder(folder / "encoder.int8.onnx", random)
    _decoder(folder / "decoder.onnx", random, len(tokens))
    _joiner(folder / "joiner.onnx", random, len(tokens))
    return folder


def _encoder(path: Path, random: np.random.Generator) -> None:
    weights = {
        "project": random.standard_normal((_MELS, _WIDTH)) / 20,
        "mix": random.standard_normal((_WIDTH, _WIDTH)) / 4,
        "starts": np.array([0]),
        "ends": np.array([_SHIFT_FRAMES]),
        "axis": np.array([1]),
        "shape": np.array([0, _SHIFT_FRAMES // _STEP, _STEP, _MELS]),
        "rows": np.array([1, -1, _WIDTH]),
    }
    nodes = [
        helper.make_node("Slice", ["x", "starts", "ends", "axis"], ["chunk"]),
        helper.make_node("Reshape", ["chunk", "shape"], ["steps"]),
        helper.make_node("ReduceMean", ["steps"], ["means"], axes=[2], keepdims=0),
        helper.make_node("MatMul", ["means", "project"], ["sound"]),
        # What was heard before colours what is heard now: [1, N, width] to [N, 1, width].
        helper.make_node("Transpose", ["h"], ["past"], perm=[1, 0, 2]),
        helper.make_node("MatMul", ["past", "mix"], ["coloured"]),
        helper.make_node("Add", ["sound", "coloured"], ["both"]),
        helper.make_node("Tanh", ["both"], ["encoder_out"]),
        helper.make_node("ReduceMean", ["encoder_out"], ["mean"], axes=[1], keepdims=0),
        helper.make_node("Reshape", ["mean", "rows"], ["next_h"]),
        helper.make_node("Add", ["c", "next_h"], ["next_c"]),
    ]
    state = [1, "N", _WIDTH]
    _write(
        path,
        nodes,
        {"x": ["N", "T", _MELS], "h": state, "c": state},
        {"encoder_out": ["N", "S", _WIDTH], "next_h": state, "next_c": state},
        weights,
        {
            "model_type": "lstm",
            "num_encoder_layers": 1,
            "T": _CHUNK_FRAMES,
            "decode_chunk_len": _SHIFT_FRAMES,
            "rnn_hidden_size": _WIDTH,
            "d_model": _WIDTH,
        },
    )


def _decoder(path: Path, random: np.random.Generator, tokens: int) -> None:
    nodes = [
        helper.make_node("Gather", ["table", "y"], ["both"]),
        helper.make_node("ReduceMean", ["both"], ["decoder_out"], axes=[1], keepdims=0),
    ]
    weights = {"table": random.standard_normal((tokens, _WIDTH))}
    _write(
        path,
        nodes,
        {"y": ["N", 2]},
        {"decoder_out": ["N", _WIDTH]},
        weights,
        {"context_size": 2, "vocab_size": tokens},
    )


def _joiner(path: Path, random: np.random.Generator, tokens: int) -> None:
    bias = np.zeros(tokens)
    bias[1:3] = -1000.0  # neither the end of a sentence nor the unknown is ever written
    nodes = [
        helper.make_node("Add", ["encoder_out", "decoder_out"], ["both"]),
        helper.make_node("MatMul", ["both", "weight"], ["product"]),
        helper.make_node("Add", ["product", "bias"], ["logit"]),
    ]
    weights = {"weight": random.standard_normal((_WIDTH, tokens)) * 2, "bias": bias}
    part = ["N", _WIDTH]
    _write(
        path,
        nodes,
        {"encoder_out": part, "decoder_out": part},
        {"logit": ["N", tokens]},
        weights,
        {"joiner_dim": _WIDTH},
    )


def _write(
    path: Path,
    nodes: list[onnx.NodeProto],
    inputs: Mapping[str, list[int | str]],
    outputs: Mapping[str, list[int | str]],
    weights: Mapping[str, npt.NDArray[np.generic]],
    about: Mapping[str, int | str],
) -> None:
    def values(shapes: Mapping[str, list[int | str]]) -> list[onnx.ValueInfoProto]:
        kinds = {"y": TensorProto.INT64}
        return [
            helper.make_tensor_value_info(name, kinds.get(name, TensorProto.FLOAT), shape)
            for name, shape in shapes.items()
        ]

    kept = [
        numpy_helper.from_array(
            value.astype(np.int64 if value.dtype.kind == "i" else np.float32), name
        )
        for name, value in weights.items()
    ]
    graph = helper.make_graph(nodes, "tiny", values(inputs), values(outputs), kept)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    helper.set_model_props(model, {key: str(value) for key, value in about.items()})
    onnx.save(model, path)
