"""A small MMS voice as sherpa-onnx exports them: a VITS graph with three scales, and letters."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from s2s.models.onnx_file import (
    FLOAT,
    Node,
    ValueInfo,
    int_attribute,
    read_model,
    write_model,
)
from tests.support.vits import LETTERS, VOICES

SCALES = ("noise_scale", "length_scale", "noise_scale_w")


def mms_voice(folder: Path, letters: str = "") -> Path:
    """`model.onnx` and `tokens.txt` in `folder`, with the letters of tests.support.vits or others
    in their place."""
    graph = read_model(VOICES / "plain.onnx")
    (scales,) = (value for value in graph.inputs if value.shape == (3,))
    joined = Node("Concat", SCALES, ("joined",), "join", attributes=(int_attribute("axis", 0),))
    graph.nodes = [joined, *(_renamed(node, scales.name, "joined") for node in graph.nodes)]
    graph.inputs = [
        *(value for value in graph.inputs if value is not scales),
        *(ValueInfo(name, FLOAT, (1,)) for name in SCALES),
    ]
    graph.metadata = {"model_type": "vits", "comment": "mms", "sample_rate": "16000"}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(write_model(graph))
    table = {symbol: numbers[0] for symbol, numbers in LETTERS.items()}
    if letters:
        table = {letter: number for number, letter in enumerate(letters)}
    lines = [f"{symbol} {number}\n" for symbol, number in table.items()]
    (folder / "tokens.txt").write_text("".join(lines), encoding="utf-8")
    return folder


def _renamed(node: Node, old: str, new: str) -> Node:
    return replace(node, inputs=tuple(new if name == old else name for name in node.inputs))
