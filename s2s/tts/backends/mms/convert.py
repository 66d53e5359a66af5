"""A published MMS voice as a voice of Piper's layout, which the streaming engine cuts in two.

sherpa-onnx's export is the same network with its three scales as inputs of their own, and a table
of letters in place of a config: https://k2-fsa.github.io/sherpa/onnx/tts/mms.html. What is made is
kept, named by the hash of the file it was made from.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np

from s2s.models.onnx_file import (
    FLOAT,
    Node,
    OnnxFile,
    OnnxFileError,
    ValueInfo,
    read_model,
    tensor,
    write_model,
)
from s2s.system.whole_file import write_whole
from s2s.tts.base import TtsError

SCALES = ("noise_scale", "length_scale", "noise_scale_w")
"""Inputs of sherpa-onnx's export, in the order of Piper's one."""
_RATE_HZ = 16_000
_BLANK = "_"
"""Piper's mark between symbols; in MMS that is number 0, whatever letter has it too."""
_VERSION = 1


def converted(model: Path, tokens: Path, code: str, keep: Path) -> Path:
    """The folder of the voice in Piper's layout, made where it is missing.

    Args:
        model: sherpa-onnx's `model.onnx`.
        tokens: its `tokens.txt`.
        code: of the language.
        keep: folder for what is made.

    Raises:
        TtsError: other files than that.
    """
    digest = hashlib.sha256(f"mms {_VERSION} {code}".encode())
    try:
        digest.update(model.read_bytes() + tokens.read_bytes())
        folder = keep / f"{code}-{digest.hexdigest()[:12]}"
        if (folder / "voice.onnx.json").is_file():
            return folder
        graph = read_model(model)
        config = _config(graph, read_tokens(tokens), code)
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / "voice.onnx", write_model(with_scales(graph)))
        write_whole(folder / "voice.onnx.json", json.dumps(config).encode())
    except (OSError, OnnxFileError) as error:
        raise TtsError(f"mms: {model}: {error}") from error
    return folder


def read_tokens(path: Path) -> dict[str, int]:
    """Symbol -> number of a `tokens.txt`, a line each: the symbol, a space, the number.

    Raises:
        TtsError: a line that is not so.
    """
    table: dict[str, int] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        symbol, space, number = line.rpartition(" ")
        if not space or not number.isdigit():
            raise TtsError(f"mms: {path}: {line!r} is not a symbol and its number.")
        table[symbol or " "] = int(number)
    if not table:
        raise TtsError(f"mms: {path} is empty.")
    return table


def with_scales(graph: OnnxFile) -> OnnxFile:
    """The graph with one input for its three scales, float32 [3].

    Raises:
        TtsError: it has not those three.
    """
    names = [value.name for value in graph.inputs]
    if lacking := [name for name in SCALES if name not in names]:
        raise TtsError(
            f"mms: the graph takes {', '.join(names)} and lacks {', '.join(lacking)}: it is not "
            "sherpa-onnx's export of an MMS voice."
        )
    picked = [
        Node("Gather", ("scales", f"pick_{name}"), (name,), name=f"pick_{name}") for name in SCALES
    ]
    weights = {
        f"pick_{name}": tensor(f"pick_{name}", np.array([at], np.int64))
        for at, name in enumerate(SCALES)
    }
    return OnnxFile(
        nodes=[*picked, *graph.nodes],
        weights={**weights, **graph.weights},
        inputs=[
            *(value for value in graph.inputs if value.name not in SCALES),
            ValueInfo("scales", FLOAT, (3,)),
        ],
        outputs=graph.outputs,
        ir_version=graph.ir_version,
        opsets=graph.opsets,
        metadata=graph.metadata,
    )


def _config(graph: OnnxFile, table: dict[str, int], code: str) -> dict[str, object]:
    rate = graph.metadata.get("sample_rate", "")
    ids = {symbol: [number] for symbol, number in table.items() if len(symbol) == 1}
    return {
        "audio": {"sample_rate": int(rate) if rate.isdigit() else _RATE_HZ},
        "phoneme_type": "letters",
        "phoneme_id_map": {**ids, _BLANK: [0]},
        "language": {"code": code},
    }
