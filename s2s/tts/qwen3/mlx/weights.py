"""A language model stored for MLX: a safetensors file of each decoder, the tables in GGUF.

Names are those of the official checkpoint; a quantised matrix has ``.scales`` and ``.biases``
beside its ``.weight``, as in the checkpoints of ``mlx-community``. What such a checkpoint has in
the wanted bits already is copied, not quantised a second time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from s2s.core.untyped import is_object
from s2s.tts.qwen3.checkpoint.affine import GROUP, AffineRows, affine_quantize, row_words, to_bf16
from s2s.tts.qwen3.checkpoint.conversion import (
    Advance,
    BothMixes,
    Material,
    NewFile,
    mixes_named,
)
from s2s.tts.qwen3.checkpoint.gguf_layout import CONVERT_AGAIN
from s2s.tts.qwen3.checkpoint.gguf_weights import gguf_file, planner
from s2s.tts.qwen3.checkpoint.language_shapes import language_model_shapes
from s2s.tts.qwen3.checkpoint.quant import MIXES
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.checkpoint.spec import Spec
from s2s.tts.qwen3.checkpoint.tables import open_tables
from s2s.tts.qwen3.errors import CheckpointError, ConvertError
from s2s.tts.qwen3.mlx.quant import AFFINE_MIXES, AffineMix, predictor_default

TALKER_FILE, PREDICTOR_FILE = "talker.safetensors", "predictor.safetensors"
MLX_FILES_VERSION = 1
"""Raised when the files change: older conversions are then made again."""

_PREDICTOR = "talker.code_predictor."
_TABLES = ("text_embedding", "codec_embedding", "text_projection")
_PIECE_ROWS = 1024

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MlxWeights(BothMixes[AffineMix]):
    """The quantisations of both parts."""

    @classmethod
    def of(cls, talker: str, predictor: str | None) -> MlxWeights:
        """By name; a predictor of None gets the usual one. Raises ConvertError for an unknown."""
        return cls(*mixes_named(AFFINE_MIXES, predictor_default, talker, predictor))

    @property
    def usual_predictor(self) -> str:
        return predictor_default(self.talker_mix).name

    @property
    def graphs(self) -> int:
        return MLX_FILES_VERSION

    def files(self, material: Material) -> Sequence[NewFile]:
        """Talker, predictor, tables. Raises ConvertError where a row has no whole groups."""
        tables = planner(material).tables(MIXES["f32" if self.talker_mix.exact else "bf16"], None)
        parts = (
            (TALKER_FILE, talker_shapes(material.spec), self.talker_mix),
            (PREDICTOR_FILE, predictor_shapes(material.spec), self.predictor_mix),
        )
        files: list[NewFile] = []
        for name, shapes, mix in parts:
            check_groups(shapes, mix)
            nbytes = sum(_nbytes(shape, mix) for shape in shapes.values())
            files.append(NewFile(name, nbytes, partial(_write, name, shapes, mix, material)))
        return [*files, gguf_file(tables, self.talker, material.source)]


def talker_shapes(spec: Spec) -> dict[str, Shape]:
    """Every tensor of the talker's file, and its shape before it is quantised."""
    return _part(spec, predictor=False)


def predictor_shapes(spec: Spec) -> dict[str, Shape]:
    """Every tensor of the predictor's file, likewise."""
    return _part(spec, predictor=True)


def _part(spec: Spec, *, predictor: bool) -> dict[str, Shape]:
    return {
        name: shape
        for name, shape in language_model_shapes(spec).items()
        if name.startswith(_PREDICTOR) == predictor and not any(part in name for part in _TABLES)
    }


def stored_shapes(shapes: dict[str, Shape], mix: AffineMix) -> dict[str, tuple[str, Shape]]:
    """How each tensor of a file is stored: its dtype by safetensors' name, and its shape."""
    floats = "F32" if mix.exact else "BF16"
    found: dict[str, tuple[str, Shape]] = {}
    for name, shape in shapes.items():
        if mix.whole or len(shape) == 1:
            found[name] = floats, shape
            continue
        rows, width = shape
        base = name.removesuffix(".weight")
        found[name] = "U32", (rows, row_words(width, mix.bits))
        found[f"{base}.scales"] = found[f"{base}.biases"] = floats, (rows, width // GROUP)
    return found


def open_stored(folder: Path, file: str, shapes: dict[str, Shape]) -> tuple[Checkpoint, str]:
    """A decoder's file of a converted checkpoint, and what it is quantised to.

    shapes: `talker_shapes` or `predictor_shapes`. Raises CheckpointError or GGUFError when it is
    missing, damaged, of another version, or not of the same checkpoint as the tables.
    """
    path = folder / file
    if not path.is_file():
        raise CheckpointError(f"{path} is missing; {CONVERT_AGAIN}")
    weights = Checkpoint(path)
    marks = _marks(path)
    mix = AFFINE_MIXES.get(str(marks.get("quant")))
    if mix is None or marks.get("version") != str(MLX_FILES_VERSION):
        raise CheckpointError(f"{path} is of another version of this program; {CONVERT_AGAIN}")
    if marks.get("source") != open_tables(folder).metadata.get("s2s.source"):
        raise CheckpointError(
            f"{folder}: its files come from different checkpoints; {CONVERT_AGAIN}"
        )
    stored = stored_shapes(shapes, mix)
    found = set(weights.names)
    for name, (dtype, shape) in stored.items():
        if name not in found or (weights.dtype(name), weights.stored(name).shape) != (dtype, shape):
            raise CheckpointError(
                f"is not {dtype} {list(shape)}, as config.json has it",
                file=path,
                field=name,
                advice=CONVERT_AGAIN,
            )
    return weights, mix.name


def _marks(path: Path) -> Mapping[str, object]:
    """What a file says of itself, whose header was found whole."""
    with path.open("rb") as opened:
        length = int.from_bytes(opened.read(8), "little")
        header: object = json.loads(opened.read(length))
    marks = header.get("__metadata__") if is_object(header) else None
    return marks if is_object(marks) else {}


def check_groups(shapes: dict[str, Shape], mix: AffineMix) -> None:
    """Raise ConvertError unless every row of a matrix divides into groups."""
    for name, shape in shapes.items():
        if not mix.whole and len(shape) == 2 and shape[1] % GROUP:
            able = ", ".join(each.name for each in AFFINE_MIXES.values() if each.whole)
            raise ConvertError(
                f"{name}: rows of {shape[1]} values do not divide into groups of {GROUP} for "
                f"{mix.name}; set the quant to {able}, or take another core"
            )


def _nbytes(shape: Shape, mix: AffineMix) -> int:
    if len(shape) == 1:
        return shape[0] * (4 if mix.exact else 2)
    return mix.nbytes(*shape)


_ITEM_BYTES = {"F32": 4, "BF16": 2, "U32": 4}


def _write(
    file: str,
    shapes: dict[str, Shape],
    mix: AffineMix,
    material: Material,
    folder: Path,
    advance: Advance,
) -> None:
    """A header with what it was made from and how, then tensor after tensor."""
    marks = {"source": material.source, "quant": mix.name, "version": str(MLX_FILES_VERSION)}
    header: dict[str, object] = {"__metadata__": {"format": "mlx", **marks}}
    offset = 0
    for name, (dtype, shape) in stored_shapes(shapes, mix).items():
        nbytes = int(np.prod(shape)) * _ITEM_BYTES[dtype]
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + nbytes]}
        offset += nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with (folder / file).open("wb") as opened:
        opened.write(len(text).to_bytes(8, "little") + text)
        for name, shape in shapes.items():
            for array in _stored(name, shape, mix, material):
                opened.write(array.tobytes())
                advance(array.nbytes)


def _stored(
    name: str, shape: Shape, mix: AffineMix, material: Material
) -> Iterator[npt.NDArray[np.generic]]:
    """The arrays of a tensor, in the order of `stored_shapes`."""
    weights = material.weights
    if mix.whole or len(shape) == 1:
        values = weights.load(name)
        yield values if mix.exact else to_bf16(values)
        return
    packed = weights.affine(name)
    if packed is None or packed.values.shape[1] != row_words(shape[1], mix.bits):
        packed = _quantize(name, shape, mix, material)
    yield packed.values
    yield packed.scales
    yield packed.biases


def _quantize(name: str, shape: Shape, mix: AffineMix, material: Material) -> AffineRows:
    """Some rows at a time: the float32 of few of them is in memory at once."""

    def piece(start: int) -> AffineRows:
        stop = min(start + _PIECE_ROWS, shape[0])
        return affine_quantize(material.weights.rows(name, start, stop), mix.bits)

    with ThreadPoolExecutor(material.threads) as pool:
        done = list(pool.map(piece, range(0, shape[0], _PIECE_ROWS)))
    return AffineRows(
        np.concatenate([each.values for each in done]),
        np.concatenate([each.scales for each in done]),
        np.concatenate([each.biases for each in done]),
    )
