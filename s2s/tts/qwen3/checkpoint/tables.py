"""The input tables of a converted checkpoint, which every backend shares.

Rows are mapped from ``tables.gguf`` (see ``layout``) and widened when they are asked for, so only
what is spoken is read. Knows nothing of how anything is computed from them.
"""

from __future__ import annotations

from pathlib import Path

from s2s.tts.qwen3.checkpoint.gguf import GGUFFile, refuse_foreign
from s2s.tts.qwen3.checkpoint.gguf_layout import FORMAT, TABLES
from s2s.tts.qwen3.checkpoint.quant import Bytes, TensorType, dequantize
from s2s.tts.qwen3.checkpoint.spec import Spec
from s2s.tts.qwen3.errors import GGUFError
from s2s.tts.qwen3.interfaces import Floats, Ids


def open_file(path: Path) -> GGUFFile:
    """A file of a converted checkpoint. Raises GGUFError when it is missing, damaged, of another
    format or somebody else's."""
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


def open_part(folder: Path, name: str) -> tuple[GGUFFile, str]:
    """A decoder's file of a converted checkpoint, and what it is quantised to. Raises GGUFError,
    also when it is not of the same checkpoint as the tables."""
    tables, file = open_tables(folder), open_file(folder / name)
    if file.metadata.get("s2s.source") != tables.metadata.get("s2s.source"):
        raise GGUFError(f"{folder}: its files come from different checkpoints; convert again")
    return file, str(file.metadata.get("s2s.quant"))


def kind_of(file: GGUFFile, name: str) -> TensorType:
    """The type of a tensor that ``GGUFFile.raw`` has given out."""
    kind = file.tensors[name].kind
    assert kind is not None
    return kind


class Table:
    """Rows of a stored matrix, widened when they are asked for."""

    def __init__(self, file: GGUFFile, name: str, shape: tuple[int, int]) -> None:
        file.require(name, shape)
        self.raw = file.raw(name)
        self.kind = kind_of(file, name)

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
        if names[0] not in file.tensors:  # there is no projection: the talker's tables serve
            names = ["codec", *(f"codes.{group}" for group in range(spec.groups - 2))]
        width = spec.predictor.hidden
        self._tables = [Table(file, name, (_rows(file, name), width)) for name in names]

    def stored(self) -> tuple[TensorType, list[Bytes]]:
        """Their type, which all have, and each group's rows: uint8 [codes, row bytes]."""
        return self._tables[0].kind, [table.raw for table in self._tables]

    def __call__(self, group: int, code: int) -> Floats:
        """A code of a group, 0 being the first code: float32 [width]."""
        return self._tables[group].row(code)


def _rows(file: GGUFFile, name: str) -> int:
    info = file.tensors.get(name)
    if info is None:
        raise GGUFError(f"{file.path}: tensor {name!r} is missing")
    return info.shape[0]
