"""Converts a checkpoint in the official layout, once, into one that a backend loads.

The result is a folder that still has the official layout, so that everything else reads it like
the original: configs, tokenizer files, the speech tokenizer as it was, the speaker encoder in
``model.safetensors``. The language model lies beside them: in three GGUF files (see ``layout``),
or, for a mix of ``onnx_quant``, in graphs (see ``onnx_decoder``) and the third of those files. It
is built under another name and renamed when it is whole. A few megabytes of weights are in memory
at a time.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from s2s.system.filelock import locked
from s2s.tts.qwen3.checkpoint import gguf
from s2s.tts.qwen3.checkpoint.fingerprint import fingerprint
from s2s.tts.qwen3.checkpoint.gguf_layout import FORMAT, Plan, Planner
from s2s.tts.qwen3.checkpoint.hub import Source, fetch, hub_id, local
from s2s.tts.qwen3.checkpoint.quant import (
    MIXES,
    Bytes,
    Floats,
    Mix,
    TensorType,
    mix,
    predictor_default,
)
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint, open_checkpoint
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.errors import ConvertError
from s2s.tts.qwen3.onnx.language_graph import (
    GRAPH_VERSION,
    PREDICTOR_GRAPH,
    TALKER_GRAPH,
    build_predictor,
    build_talker,
    predictor_bytes,
    talker_bytes,
)
from s2s.tts.qwen3.onnx.quant import BLOCK_MIXES, BlockMix
from s2s.tts.qwen3.onnx.quant import predictor_default as block_predictor_default
from s2s.tts.qwen3.onnx.transformer import Job

DEFAULT_QUANT = "q4_k_m"

Progress = Callable[[str, int, int], None]
"""Called as (file, bytes done, bytes in all) while a file is made."""

_RECORD = "converted.json"
_COPIED = ("*.json", "*.txt")
_SPEAKER = "speaker_encoder."
_SPARE_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Record:
    """What a converted folder was made from and with."""

    source: str
    """Fingerprint of the official checkpoint."""
    name: str
    origin: str
    """Its hub id; "" for a folder."""
    quant: str
    predictor_quant: str
    format: int = FORMAT
    graphs: int = 0
    """Version of its graphs; 0 when it has none and is for ``ggml``."""


def silent(file: str, done_bytes: int, total_bytes: int) -> None:
    """A `Progress` that shows nothing."""


def convert(
    source: str | Path,
    quant: str = DEFAULT_QUANT,
    *,
    predictor_quant: str | None = None,
    converted: Path,
    threads: int = 1,
    progress: Progress = silent,
) -> Path:
    """The folder of the converted checkpoint; made if it is not there yet.

    source: a folder in the official layout, the name of an entry in ``converted``, a short name of
    a published model, or a hub id; what was once converted from the hub needs neither the network
    nor the download again. quant: a name of ``quant.MIXES`` or ``onnx_quant.BLOCK_MIXES``; the code
    predictor gets eight bits or more unless ``predictor_quant`` says otherwise. converted: the
    folder of converted checkpoints, made if missing.
    Raises Qwen3Error: HubError when the source cannot be had, SpecError or CheckpointError for one
    that cannot be used, ConvertError for an unknown quant, when it is already converted to
    something else or the disk is full, LlamaError when a K-quant is wanted and there is no
    llama.cpp library to make it.
    """
    mixes = _mixes(quant, predictor_quant)
    wanted = (*(mix.name for mix in mixes), FORMAT, _graphs(mixes[0]))
    origin = ""
    found = local(source, converted)
    if found is None:
        origin = hub_id(source)
        for folder, record in _records(converted):
            if record.origin == origin and _made(record) == wanted:
                return folder
        found = fetch(origin)
    done = read_record(found.folder)
    if done is not None:
        if _made(done) == wanted:
            return found.folder
        raise ConvertError(
            f"{found.folder} is already converted, to {done.quant} (predictor "
            f"{done.predictor_quant}); give the official checkpoint to convert it anew"
        )
    job = _Conversion(found, origin, mixes, threads, progress)
    target = converted / job.folder_name
    if read_record(target) == job.record:
        return target
    converted.mkdir(parents=True, exist_ok=True)
    with locked(converted / ".lock"):
        if read_record(target) != job.record:
            job.run(target)
    return target


_Mixes = tuple[Mix, Mix] | tuple[BlockMix, BlockMix]
"""Of talker and predictor; both for the same backend."""


def _mixes(quant: str, predictor_quant: str | None) -> _Mixes:
    known = [*MIXES, *BLOCK_MIXES]
    for name in (quant, predictor_quant or quant):
        if name.lower() not in known:
            raise ConvertError(f"unknown quant {name!r}; known: {', '.join(known)}")
    block = BLOCK_MIXES.get(quant.lower())
    if block is None:
        whole = mix(quant)
        return whole, mix(predictor_quant) if predictor_quant else predictor_default(whole)
    if not predictor_quant:
        return block, block_predictor_default(block)
    predictor = BLOCK_MIXES.get(predictor_quant.lower())
    if predictor is None:
        raise ConvertError(
            f"a talker in {quant} needs a predictor in one of {', '.join(BLOCK_MIXES)}, "
            f"not {predictor_quant}"
        )
    return block, predictor


def _graphs(talker: Mix | BlockMix) -> int:
    return GRAPH_VERSION if isinstance(talker, BlockMix) else 0


def _made(record: Record) -> tuple[str, str, int, int]:
    return record.quant, record.predictor_quant, record.format, record.graphs


def _records(converted: Path) -> Iterator[tuple[Path, Record]]:
    """The whole folders among the converted ones."""
    for folder in sorted(converted.glob("[!.]*")):
        record = read_record(folder)
        if record is not None:
            yield folder, record


def read_record(folder: Path) -> Record | None:
    """What a folder was converted from; None when it is not a converted checkpoint."""
    try:
        return Record(**json.loads((folder / _RECORD).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


class _Conversion:
    """One conversion."""

    def __init__(
        self,
        source: Source,
        origin: str,
        mixes: _Mixes,
        threads: int,
        progress: Progress,
    ) -> None:
        self._folder = source.folder
        self._progress = progress
        self._mixes = mixes
        self._threads = threads
        self._spec = read_spec(source.folder)
        self._weights = open_checkpoint(source.folder, self._spec)
        files = sorted(source.folder.glob("*.safetensors"))
        codec = source.folder / "speech_tokenizer"
        if not (codec / "model.safetensors").is_file():
            raise ConvertError(f"{codec}: model.safetensors is missing; is the download whole?")
        key = fingerprint(
            source.folder / "config.json", *files, *sorted(codec.glob("*.safetensors"))
        )
        self.record = Record(
            key, source.name, origin, mixes[0].name, mixes[1].name, graphs=_graphs(mixes[0])
        )

    @property
    def folder_name(self) -> str:
        """Name, quantisation and source: another checkpoint of the same name gets another."""
        record = self.record
        quant = record.quant
        if record.predictor_quant != _mixes(record.quant, None)[1].name:
            quant += f"-predictor-{record.predictor_quant}"
        return f"{record.name}-{quant}-{record.source[:8]}"

    def run(self, target: Path) -> None:
        """Build the folder beside ``target`` and rename it."""
        partial = target.with_name(f".{target.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        try:
            self._fill(partial)
            shutil.rmtree(target, ignore_errors=True)
            os.replace(partial, target)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise

    def _fill(self, folder: Path) -> None:
        planner = Planner(self._spec, self._weights, _k_quantize, self._threads)
        match self._mixes:
            case Mix() as talker, Mix() as predictor:
                plans = (
                    (planner.talker(talker), talker),
                    (planner.predictor(predictor), predictor),
                    (planner.tables(talker, predictor), talker),
                )
                self._check_disk(folder, _plan_bytes([plan for plan, _ in plans]))
                for plan, used in plans:
                    self._write(folder, plan, used.name)
            case BlockMix() as talker, BlockMix() as predictor:
                plan = planner.tables(MIXES["f32" if talker.whole else "q8_0"], None)
                stacks = (
                    (build_talker, TALKER_GRAPH, talker, talker_bytes(self._spec, talker)),
                    (
                        build_predictor,
                        PREDICTOR_GRAPH,
                        predictor,
                        predictor_bytes(self._spec, predictor),
                    ),
                )
                self._check_disk(folder, _plan_bytes([plan]) + sum(size for *_, size in stacks))
                for build, name, used, size in stacks:
                    build(self._job(folder, used, self._advance(f"{name}.onnx", size)))
                self._write(folder, plan, talker.name)
        _write_speaker_encoder(self._weights, folder / "model.safetensors", self.record.source)
        _copy_small(self._folder, folder)
        codec = folder / "speech_tokenizer"
        codec.mkdir()
        _copy_small(self._folder / codec.name, codec)
        for file in sorted((self._folder / codec.name).glob("*.safetensors")):
            _link_or_copy(file, codec / file.name)
        record = json.dumps(asdict(self.record), indent=1)
        (folder / _RECORD).write_text(record + "\n", encoding="utf-8")

    def _job(self, folder: Path, used: BlockMix, advance: Callable[[int], None]) -> Job:
        marks = {"source": self.record.source}
        return Job(self._spec, self._weights, used, folder, marks, self._threads, advance)

    def _advance(self, name: str, total: int) -> Callable[[int], None]:
        """Sums up the bytes of a file that are done, and shows them."""
        done = 0

        def advance(nbytes: int) -> None:
            nonlocal done
            done += nbytes
            self._progress(name, done, total)

        return advance

    def _write(self, folder: Path, plan: Plan, quant: str) -> None:
        advance = self._advance(plan.name, _plan_bytes([plan]))
        marks: dict[str, gguf.Value] = {
            "s2s.format": FORMAT,
            "s2s.source": self.record.source,
            "s2s.quant": quant,
        }
        gguf.write(folder / plan.name, plan.metadata | marks, plan.tensors, advance)

    def _check_disk(self, folder: Path, language_bytes: int) -> None:
        codec = sum(
            file.stat().st_size
            for file in (self._folder / "speech_tokenizer").glob("*.safetensors")
        )
        need = language_bytes + codec
        free = shutil.disk_usage(folder).free
        if free < need + _SPARE_BYTES:
            raise ConvertError(
                f"{folder.parent}: {need >> 20} MB are needed and {free >> 20} MB are free"
            )


def _plan_bytes(plans: list[Plan]) -> int:
    return sum(tensor.nbytes for plan in plans for tensor in plan.tensors)


def _k_quantize(rows: Floats, kind: TensorType) -> Bytes:
    """K-quants by the llama.cpp library, which is loaded at the first one."""
    from s2s.tts.qwen3.ggml.library import k_quantize, library

    return k_quantize(library(), rows, kind)


def _write_speaker_encoder(weights: Checkpoint, path: Path, source: str) -> None:
    """A safetensors file of the speaker encoder alone, float32; without tensors for a model that
    has none. Its header names the source, so that fingerprints tell checkpoints apart."""
    names = sorted(name for name in weights.names if name.startswith(_SPEAKER))
    header: dict[str, object] = {"__metadata__": {"format": "pt", "source": source}}
    offset = 0
    for name in names:
        nbytes = 4 * weights.load(name).size
        header[name] = {
            "dtype": "F32",
            "shape": list(weights.shape(name)),
            "data_offsets": [offset, offset + nbytes],
        }
        offset += nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name in names:
            file.write(weights.load(name).tobytes())


def _small(folder: Path) -> Iterator[Path]:
    for pattern in _COPIED:
        yield from sorted(folder.glob(pattern))


def _copy_small(source: Path, target: Path) -> None:
    for file in _small(source):
        if file.name != "model.safetensors.index.json":
            shutil.copyfile(file, target / file.name)


def _link_or_copy(source: Path, target: Path) -> None:
    """The same file under another name where the disk can do that, else a copy."""
    try:
        os.link(source.resolve(), target)
    except OSError:
        shutil.copyfile(source, target)
