"""A checkpoint as mlx-community publishes it: the official one, its matrices quantised by MLX's
rule, convolutions [out, kernel, in]."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np

from s2s.tts.qwen3.checkpoint.affine import GROUP, affine_quantize, to_bf16
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint

NOT_QUANTISED = ("codec_embedding", "text_embedding", "speaker_encoder")


def write_mlx_community(official: Path, folder: Path, bits: int) -> Path:
    """The folder."""
    shutil.copytree(official, folder, ignore=shutil.ignore_patterns("model.safetensors*"))
    codec = "speech_tokenizer/model.safetensors"
    shutil.copy(official / codec, folder / codec)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config["quantization"] = {"group_size": GROUP, "bits": bits, "mode": "affine"}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    weights, arrays = Checkpoint(official), dict[str, np.ndarray]()
    for name in weights.names:
        values = weights.load(name)
        if values.ndim != 2 or any(part in name for part in NOT_QUANTISED):
            arrays[name] = to_bf16(values.swapaxes(1, 2) if values.ndim == 3 else values)
            continue
        stored, base = affine_quantize(values, bits), name.removesuffix(".weight")
        arrays[name] = stored.values
        arrays[f"{base}.scales"], arrays[f"{base}.biases"] = stored.scales, stored.biases
    _write(folder / "model.safetensors", arrays)
    return folder


def _write(path: Path, arrays: dict[str, np.ndarray]) -> None:
    header: dict[str, object] = {"__metadata__": {"format": "mlx"}}
    offset = 0
    for name, array in arrays.items():
        dtype = "U32" if array.dtype == np.uint32 else "BF16"
        places = [offset, offset + array.nbytes]
        header[name] = {"dtype": dtype, "shape": array.shape, "data_offsets": places}
        offset += array.nbytes
    text = json.dumps(header).encode()
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for array in arrays.values():
            file.write(array.tobytes())
