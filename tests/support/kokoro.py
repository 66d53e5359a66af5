"""A small Kokoro: a graph with the inputs of the real one, its vocabulary and two voices."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import numpy as np

from s2s.models.onnx_file import (
    FLOAT,
    INT64,
    Node,
    OnnxFile,
    ValueInfo,
    int_attribute,
    item_type,
    tensor,
    write_model,
)

SYMBOLS = ' ;:,.!?—…"()abcdefghijklmnoprstuvwxyzæðŋɑɔəɛɜɡɪɹɾʃʊʌʒθˈˌːAIOQWYʤʧᵊᵻT'
STEP = 600
"""Samples of a symbol."""

Layout = Literal["thewh1teagle", "onnx-community"]


def kokoro_folder(parent: Path, layout: Layout = "thewh1teagle") -> Path:
    """A folder in `parent` with graph, vocabulary and the voices af_loud and af_soft. A symbol is
    600 samples of a tone as loud as the style's numbers, divided by the speed."""
    folder = parent / f"kokoro-{layout}"
    (folder / "voices").mkdir(parents=True)
    community = layout == "onnx-community"
    graph = folder / "onnx" / "model_q8.onnx" if community else folder / "kokoro.onnx"
    graph.parent.mkdir(exist_ok=True)
    graph.write_bytes(write_model(_graph(community)))
    vocabulary: dict[str, object] = {"vocab": {s: i + 1 for i, s in enumerate(SYMBOLS)}}
    if community:
        vocabulary = {"model": vocabulary}
    name = "tokenizer.json" if community else "vocab.json"
    (folder / name).write_text(json.dumps(vocabulary), encoding="utf-8")
    rows = np.ones((510, 1, 256), np.float32)
    voices = {"af_loud": 0.5 * rows, "af_soft": 0.1 * rows}
    if community:
        for voice, style in voices.items():
            style.tofile(folder / "voices" / f"{voice}.bin")
    else:
        np.savez(folder / "voices.npz", af_loud=voices["af_loud"], af_soft=voices["af_soft"])
    return folder


def _graph(community: bool) -> OnnxFile:
    ids, audio = ("input_ids", "waveform") if community else ("tokens", "audio")
    speed = item_type(np.int32) if community else FLOAT
    tone = np.sin(np.arange(STEP, dtype=np.float32) * np.float32(0.1))[None]
    nodes = (
        Node("Equal", (ids, "pad"), ("is_pad",)),
        Node("Not", ("is_pad",), ("sounds",)),
        Node("Cast", ("sounds",), ("loud",), attributes=(int_attribute("to", FLOAT),)),
        Node("Reshape", ("loud", "column"), ("symbols",)),
        Node("MatMul", ("symbols", "tone"), ("waves",)),
        Node("ReduceMean", ("style",), ("level",), attributes=(int_attribute("keepdims", 1),)),
        Node("Mul", ("waves", "level"), ("leveled",)),
        Node("Cast", ("speed",), ("rate",), attributes=(int_attribute("to", FLOAT),)),
        Node("Div", ("leveled", "rate"), ("paced",)),
        Node("Reshape", ("paced", "flat"), (audio,)),
    )
    weights = {
        "pad": tensor("pad", np.array(0, np.int64)),
        "column": tensor("column", np.array([-1, 1], np.int64)),
        "tone": tensor("tone", tone),
        "flat": tensor("flat", np.array([-1], np.int64)),
    }
    return OnnxFile(
        ir_version=8,
        opsets={"": 13},
        nodes=list(nodes),
        weights=weights,
        inputs=[
            ValueInfo(ids, INT64, (1, "symbols")),
            ValueInfo("style", FLOAT, (1, 256)),
            ValueInfo("speed", speed, (1,)),
        ],
        outputs=[ValueInfo(audio, FLOAT, ("samples",))],
        metadata={},
    )
