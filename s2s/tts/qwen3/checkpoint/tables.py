"""The input tables of a converted checkpoint, which every backend shares.

Rows are mapped from ``tables.gguf`` (see ``layout``) and widened when they are asked for, so only
what is spoken is read. Knows nothing of how anything is computed from them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from s2s.tts.qwen3.checkpoint.gguf import GGUFFile, refuse_foreign
from s2s.tts.qwen3.checkpoint.gguf_layout import (
    CONVERT_AGAIN,
    FORMAT,
    PREDICTOR_VOCABULARY,
    TABLES,
    TALKER,
    check_decoder,
)
from s2s.tts.qwen3.checkpoint.quant import TYPES, Bytes, TensorType, dequantize
from s2s.tts.qwen3.checkpoint.spec import Spec
from s2s.tts.qwen3.errors import GGUFError
from s2s.tts.qwen3.interfaces import Floats, Ids

_FLOATS = {"f32", "f16", "bf16"}
_WIDENED = ("f32", "f16", "bf16", "q8_0")
"""What `dequantize` widens."""


def open_file(path: Path) -> GGUFFile:
    """A file of a converted checkpoint. Raises GGUFError when it is missing, damaged, of another
    format or another program's."""
    if not path.is_file():
        raise GGUFError(f"{path} is missing; convert the checkpoint")
    file = GGUFFile(path)
    found = file.metadata.get("s2s.format")
    if found is None:
        refuse_foreign(path)
    if found != FORMAT:
        raise GGUFError(f"{path} has format {found}, this program reads {FORMAT}; convert it again")
    return file


def open_tables(folder: Path) -> GGUFFile:
    """The tables of a converted checkpoint. Raises GGUFError."""
    return open_file(folder / TABLES)


def open_part(folder: Path, name: str, spec: Spec) -> tuple[GGUFFile, str]:
    """A decoder's file of a converted checkpoint, and what it is quantised to. Raises GGUFError,
    also when it is not of the same checkpoint as the tables, or not what ``spec`` says."""
    tables, file = open_tables(folder), open_file(folder / name)
    if file.metadata.get("s2s.source") != tables.metadata.get("s2s.source"):
        raise GGUFError(f"{folder}: its files come from different checkpoints; convert again")
    if name == TALKER:
        check_decoder(file, spec.talker, spec.talker.vocabulary, "talker_config")
    else:
        part = "talker_config.code_predictor_config"
        check_decoder(file, spec.predictor, PREDICTOR_VOCABULARY, part)
    return file, str(file.metadata.get("s2s.quant"))


def vector(file: GGUFFile, name: str, width: int) -> Floats:
    """A stored vector: float32 [width]. Raises GGUFError, also for one that is no number."""
    values = np.array(Table(file, name, (width,)).row(0), np.float32)
    if not np.isfinite(values).all():
        raise GGUFError(
            "holds what is no finite number", file=file.path, field=name, advice=CONVERT_AGAIN
        )
    return values


def kind_of(file: GGUFFile, name: str) -> TensorType:
    """The type of a tensor that ``GGUFFile.raw`` has given out."""
    kind = file.tensors[name].kind
    assert kind is not None
    return kind


class Table:
    """Rows of a stored matrix, widened when they are asked for."""

    def __init__(self, file: GGUFFile, name: str, shape: tuple[int, ...]) -> None:
        file.require(name, shape)
        self.raw = file.raw(name)
        self.kind = kind_of(file, name)
        if self.kind.name not in _WIDENED:
            raise GGUFError(
                f"has tensor type {self.kind.name}; tables are in {', '.join(_WIDENED)}",
                file=file.path,
                field=name,
                advice=CONVERT_AGAIN,
            )

    def __call__(self, ids: Ids) -> Floats:
        """float32 [n, width]. Raises IndexError for an id outside the table."""
        if (ids < 0).any():  # numpy would count from the end
            raise IndexError(f"id {ids.min()} is below 0")
        return dequantize(self.raw[ids], self.kind)

    def row(self, at: int) -> Floats:
        """float32 [width]: one of them, in less time. Raises IndexError as above."""
        if at < 0:
            raise IndexError(f"id {at} is below 0")
        return dequantize(self.raw[at : at + 1], self.kind)[0]


class TableEmbeddings:
    """The embeddings port."""

    def __init__(self, file: GGUFFile, spec: Spec) -> None:
        width = spec.talker.hidden
        self._text = Table(file, "text", (spec.text_vocabulary, width))
        self._codec = Table(file, "codec", (spec.talker.vocabulary, width))
        self._codes = [
            Table(file, f"codes.{group}", (spec.codes, width)) for group in range(spec.groups - 1)
        ]

    def text(self, ids: Ids) -> Floats:
        """Projected text vectors: float32 [n, H]."""
        return self._text(ids)

    def codec(self, ids: Ids) -> Floats:
        """Rows of the talker's codec table: float32 [n, H]."""
        return self._codec(ids)

    def frames(self, codes: Ids) -> Floats:
        """The sum of a frame's code vectors: float32 [frames, H]."""
        total = self._codec(codes[:, 0])
        for group, table in enumerate(self._codes, start=1):
            total = total + table(codes[:, group])
        return total


class CodeVectors:
    """The codes of a frame as the code predictor is fed them, after its input projection."""

    def __init__(self, file: GGUFFile, spec: Spec) -> None:
        self.groups = spec.groups
        names = [f"predictor_in.{group}" for group in range(spec.groups - 1)]
        vocabulary = spec.talker.vocabulary
        if not spec.projected:  # there is no projection: the talker's tables serve
            names = ["codec", *(f"codes.{group}" for group in range(spec.groups - 2))]
        width = spec.predictor.hidden
        self._tables = [
            Table(file, name, (vocabulary if name == "codec" else spec.codes, width))
            for name in names
        ]

    def stored(self) -> tuple[TensorType, list[Bytes]]:
        """One type of floats, and each group's rows in it: uint8 [codes or more, row bytes]. The
        arrays must be kept as long as they are read by address."""
        kinds = {table.kind.name for table in self._tables}
        if len(kinds) == 1 and kinds <= _FLOATS:
            return self._tables[0].kind, [table.raw for table in self._tables]
        widened = [dequantize(table.raw, table.kind) for table in self._tables]
        return TYPES["f32"], [table.view(np.uint8) for table in widened]

    def __call__(self, group: int, code: int) -> Floats:
        """A code of a group, 0 being the first code: float32 [width]."""
        return self._tables[group].row(code)
