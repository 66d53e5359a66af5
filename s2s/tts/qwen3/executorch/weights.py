"""A language model stored for ExecuTorch: a program of each decoder with its record, the tables in
GGUF."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from s2s.core.untyped import is_object
from s2s.system.whole_file import write_whole
from s2s.tts.qwen3.checkpoint.conversion import (
    Advance,
    BothMixes,
    Material,
    NewFile,
    mixes_named,
)
from s2s.tts.qwen3.checkpoint.gguf_weights import gguf_file, planner
from s2s.tts.qwen3.checkpoint.quant import MIXES
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.checkpoint.spec import DecoderSpec, Spec
from s2s.tts.qwen3.checkpoint.tables import open_tables
from s2s.tts.qwen3.errors import BackendError, ConvertError, ExecutorchError
from s2s.tts.qwen3.executorch.parts import Method, lowered
from s2s.tts.qwen3.executorch.program import EXPORT, INSTALL, Program
from s2s.tts.qwen3.executorch.quant import (
    EXPORT_MIXES,
    GROUP,
    ExportMix,
    head_mix,
    predictor_default,
)
from s2s.tts.qwen3.executorch.transformer import predictor_methods, stack_bytes, talker_methods

if TYPE_CHECKING:
    from executorch.exir import ExecutorchProgramManager

TALKER_FILE, PREDICTOR_FILE = "talker.pte", "predictor.pte"
EXECUTORCH_FILES_VERSION = 1
"""Raised when the programs change: older exports are then made again."""

Methods = Callable[[Spec, Checkpoint, ExportMix], Mapping[str, Method]]


@dataclass(frozen=True, slots=True)
class ExportRecord:
    """What a program was exported from and with; it lies beside it."""

    source: str
    """Content hash of the checkpoint."""
    quant: str
    delegate: str
    version: int
    executorch: str
    torch: str


@dataclass(frozen=True, slots=True)
class ExecutorchWeights(BothMixes[ExportMix]):
    """The quantisations of both parts."""

    @classmethod
    def of(cls, talker: str, predictor: str | None) -> ExecutorchWeights:
        """By name; a predictor of None gets the usual one. Raises ConvertError for an unknown."""
        return cls(*mixes_named(EXPORT_MIXES, predictor_default, talker, predictor))

    @property
    def usual_predictor(self) -> str:
        return predictor_default(self.talker_mix).name

    @property
    def graphs(self) -> int:
        return EXECUTORCH_FILES_VERSION

    def files(self, material: Material) -> Sequence[NewFile]:
        """Talker, predictor, tables. Raises ConvertError where a row has no whole groups,
        BackendError without the package."""
        require_exporter()
        spec = material.spec
        check_groups(self.talker_mix, spec.talker, "talker", "quant")
        check_groups(self.predictor_mix, spec.predictor, "predictor", "predictor_quant")
        tables = planner(material).tables(MIXES["f32" if self.talker_mix.whole else "q8_0"], None)
        return [
            NewFile(
                TALKER_FILE,
                talker_bytes(spec, self.talker_mix),
                partial(_write, TALKER_FILE, talker_methods, self.talker_mix, material),
            ),
            NewFile(
                PREDICTOR_FILE,
                predictor_bytes(spec, self.predictor_mix),
                partial(_write, PREDICTOR_FILE, predictor_methods, self.predictor_mix, material),
            ),
            gguf_file(tables, self.talker, material.source),
        ]


def require_exporter() -> None:
    """Raise BackendError without what exports programs, which is more than what runs them."""
    for name in ("executorch", "torch"):
        if importlib.util.find_spec(name) is None:
            raise BackendError(f"an export needs {name}: {INSTALL}")


def talker_bytes(spec: Spec, mix: ExportMix) -> int:
    """About what the talker's program takes."""
    head = head_mix(mix).nbytes(spec.talker.vocabulary, spec.talker.hidden)
    return stack_bytes(mix, spec.talker) + head


def predictor_bytes(spec: Spec, mix: ExportMix) -> int:
    """About what the predictor's program takes."""
    width, small = spec.predictor.hidden, head_mix(mix)
    heads = (spec.groups - 1) * small.nbytes(spec.codes, width)
    projection = small.nbytes(width, spec.talker.hidden) if spec.projected else 0
    return stack_bytes(mix, spec.predictor) + heads + projection


def check_groups(mix: ExportMix, spec: DecoderSpec, part: str, option: str) -> None:
    """Raise ConvertError unless every row of a matrix divides into groups."""
    for width in (spec.hidden, spec.heads * spec.head_dim, spec.intermediate):
        if mix.bits == 4 and width % GROUP:
            able = " or ".join(name for name, each in EXPORT_MIXES.items() if each.bits != 4)
            raise ConvertError(
                f"the {part} in {mix.name}: rows of {width} values do not divide into groups of "
                f"{GROUP}; set {option} to {able}, or take another core"
            )


def new_record(source: str, quant: str, delegate: str, version: int) -> ExportRecord:
    """Of what is exported now."""
    version_of = importlib.metadata.version
    return ExportRecord(
        source, quant, delegate, version, version_of("executorch"), version_of("torch")
    )


def save(program: ExecutorchProgramManager, path: Path, record: ExportRecord) -> None:
    """A program and its record, each whole or not at all."""
    write_whole(path, program.buffer)
    text = json.dumps(asdict(record), indent=1) + "\n"
    write_whole(path.with_name(f"{path.name}.json"), text)


def read_export_record(path: Path) -> ExportRecord:
    """What lies beside a program. Raises ExecutorchError where one of both is missing or odd."""
    beside = path.with_name(f"{path.name}.json")
    for file in (path, beside):
        if not file.is_file():
            raise ExecutorchError("is missing", file=file, advice=EXPORT)
    try:
        said: object = json.loads(beside.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ExecutorchError(f"is no record ({error})", file=beside, advice=EXPORT) from error
    names = list(ExportRecord.__dataclass_fields__)
    if not is_object(said) or sorted(said) != sorted(names):
        raise ExecutorchError("is no record of an export", file=beside, advice=EXPORT)
    texts = {name: str(said[name]) for name in names if name != "version"}
    version = said["version"]
    return ExportRecord(**texts, version=version if isinstance(version, int) else 0)


def open_program(folder: Path, file: str) -> tuple[Program, str]:
    """A decoder's program of a converted checkpoint, and what it is quantised to.

    Raises ExecutorchError or GGUFError when it is missing, damaged, of another version, or not of
    the same checkpoint as the tables; BackendError where this machine cannot run it.
    """
    path = folder / file
    record = read_export_record(path)
    if record.version != EXECUTORCH_FILES_VERSION or record.quant not in EXPORT_MIXES:
        raise ExecutorchError("is of another version of this program", file=path, advice=EXPORT)
    if record.source != open_tables(folder).metadata.get("s2s.source"):
        raise ExecutorchError("is of another checkpoint than the tables", file=path, advice=EXPORT)
    return Program(path, record.delegate), record.quant


def _write(
    file: str,
    methods: Methods,
    mix: ExportMix,
    material: Material,
    folder: Path,
    advance: Advance,
) -> None:
    program = lowered(methods(material.spec, material.weights, mix), mix.delegate)
    record = new_record(material.source, mix.name, mix.delegate, EXECUTORCH_FILES_VERSION)
    save(program, folder / file, record)
    advance((folder / file).stat().st_size)
