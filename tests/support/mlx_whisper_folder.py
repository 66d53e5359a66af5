"""A Whisper model of CTranslate2 as the folder that MLX reads: the same trained weights."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import numpy.typing as npt

Tensors = dict[str, npt.NDArray[np.generic]]
_TYPES = {0: np.float32, 1: np.int8, 2: np.int16, 3: np.int32, 4: np.float16}
_NORMS = (("gamma", "weight"), ("beta", "bias"))
_HEAD_DIM = 64


def read_ctranslate2(path: Path) -> Tensors:
    """The variables of a model.bin: a header, then name, shape, type and bytes of each."""
    data, position = path.read_bytes(), 0

    def take(form: str) -> int:
        nonlocal position
        (value,) = struct.unpack_from("<" + form, data, position)
        position += struct.calcsize(form)
        return value

    def text() -> str:
        nonlocal position
        length = take("H")
        position += length
        return data[position - length : position - 1].decode()

    take("I")
    text()
    take("I")
    tensors: Tensors = {}
    for _ in range(take("I")):
        name = text()
        shape = [take("I") for _ in range(take("B"))]
        kind, size = _TYPES[take("B")], take("I")
        tensors[name] = np.frombuffer(data, kind, size // kind().itemsize, position).reshape(shape)
        position += size
    return tensors


def write_mlx(source: Path, folder: Path) -> Path:
    """Write the model.bin of `source` as weights.npz and config.json in `folder`, which is made."""
    given = read_ctranslate2(source)
    made: Tensors = {}
    for name in ("conv1", "conv2"):  # [out, in, width] there, [out, width, in] here
        made[f"encoder.{name}.weight"] = given[f"encoder/{name}/weight"].transpose(0, 2, 1)
        made[f"encoder.{name}.bias"] = given[f"encoder/{name}/bias"]
    made["decoder.token_embedding.weight"] = given["decoder/embeddings/weight"]
    made["decoder.positional_embedding"] = given["decoder/position_encodings/encodings"]
    for theirs, ours in (
        ("encoder/layer_norm", "encoder.ln_post"),
        ("decoder/layer_norm", "decoder.ln"),
    ):
        _norm(made, given, theirs, ours)
    for side in ("encoder", "decoder"):
        layers = _layers(given, side)
        for layer in range(layers):
            _layer(made, given, f"{side}/layer_{layer}", f"{side}.blocks.{layer}")
    folder.mkdir(parents=True)
    # On Linux's processors MLX multiplies single precision quickly alone.
    whole = {name: tensor.astype(np.float32) for name, tensor in made.items()}
    np.savez(folder / "weights.npz", **whole)  # pyright: ignore[reportArgumentType]
    width = made["decoder.positional_embedding"].shape[1]
    vocabulary = made["decoder.token_embedding.weight"].shape[0]
    about = {"n_mels": 80, "n_audio_ctx": 1500, "n_text_ctx": 448, "n_vocab": vocabulary}
    for part, side in (("audio", "encoder"), ("text", "decoder")):
        about[f"n_{part}_state"] = width
        about[f"n_{part}_head"] = width // _HEAD_DIM
        about[f"n_{part}_layer"] = _layers(given, side)
    (folder / "config.json").write_text(json.dumps(about), encoding="utf-8")
    return folder


def _layers(given: Tensors, side: str) -> int:
    return len(
        {name.split("/")[1] for name in given if name.startswith(f"{side}/layer_")} - {"layer_norm"}
    )


def _layer(made: Tensors, given: Tensors, theirs: str, ours: str) -> None:
    _norm(made, given, f"{theirs}/self_attention/layer_norm", f"{ours}.attn_ln")
    _attention(made, given, f"{theirs}/self_attention", f"{ours}.attn", (3, 1))
    if f"{theirs}/attention/linear_0/weight" in given:
        _norm(made, given, f"{theirs}/attention/layer_norm", f"{ours}.cross_attn_ln")
        _attention(made, given, f"{theirs}/attention", f"{ours}.cross_attn", (1, 2, 1))
    _norm(made, given, f"{theirs}/ffn/layer_norm", f"{ours}.mlp_ln")
    for index, name in enumerate(("mlp1", "mlp2")):
        for kind in ("weight", "bias"):
            made[f"{ours}.{name}.{kind}"] = given[f"{theirs}/ffn/linear_{index}/{kind}"]


def _attention(
    made: Tensors, given: Tensors, theirs: str, ours: str, fused: tuple[int, ...]
) -> None:
    """Query, key, value and output, of which the first are fused into `fused` matrices."""
    names = iter(("query", "key", "value", "out"))
    for index, count in enumerate(fused):
        for kind in ("weight", "bias"):
            whole = given[f"{theirs}/linear_{index}/{kind}"]
            parts = np.split(whole, count)
            if kind == "weight":
                chosen = [next(names) for _ in parts]
            for name, part in zip(chosen, parts, strict=True):  # pyright: ignore
                if name != "key" or kind == "weight":  # keys have no bias
                    made[f"{ours}.{name}.{kind}"] = part


def _norm(made: Tensors, given: Tensors, theirs: str, ours: str) -> None:
    for there, here in _NORMS:
        made[f"{ours}.{here}"] = given[f"{theirs}/{there}"]
