"""Converts a checkpoint in the official layout, once, into one that a backend loads.

The result is a folder that still has the official layout, so that everything else reads it like
the original: configs, tokenizer files, the speech tokenizer as it was, the speaker encoder in
``model.safetensors``. The language model lies beside them, in the files of a `Weights`. The folder
is built under another name and renamed when it is whole. A few megabytes of weights are in memory
at a time. Knows no backend.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from s2s.system.filelock import locked
from s2s.system.intact import SEAL, seal
from s2s.tts.qwen3.checkpoint.content_hash import content_hash
from s2s.tts.qwen3.checkpoint.gguf_layout import FORMAT
from s2s.tts.qwen3.checkpoint.hub import Source, fetch, hub_id, local
from s2s.tts.qwen3.checkpoint.record import (
    RECORD_FILE,
    Record,
    begun_as,
    check_converted,
    read_record,
    weights_of,
)
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint, open_checkpoint
from s2s.tts.qwen3.checkpoint.spec import Spec, read_spec
from s2s.tts.qwen3.errors import ConvertError, Qwen3Error

log = logging.getLogger(__name__)

Progress = Callable[[str, int, int], None]
"""Called as (file, bytes done, bytes in all) while a file is made."""

Advance = Callable[[int], None]
"""Called with the bytes that were done since the last call."""

_BEGUN = "begun.json"
"""Of a folder that is being made: its record to be."""
_WHOLE = ".whole"
"""Behind the name of a file: it is finished."""
_COPIED = ("*.json", "*.txt")
_SPEAKER = "speaker_encoder."
_SPARE_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Material:
    """What the files of a language model are made from."""

    spec: Spec
    weights: Checkpoint
    source: str
    """Content hash of the official checkpoint; every file carries it."""
    threads: int


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file to make, or a graph with the files that belong to it."""

    name: str
    nbytes: int
    write: Callable[[Path, Advance], None]
    """Makes it in a folder."""


class Weights(Protocol):
    """One way to store a language model, at one quantisation of each part."""

    @property
    def talker(self) -> str:
        """Name of the talker's quantisation."""
        ...

    @property
    def predictor(self) -> str:
        """Name of the code predictor's."""
        ...

    @property
    def usual_predictor(self) -> str:
        """The code predictor's quantisation when none is asked for."""
        ...

    @property
    def graphs(self) -> int:
        """Version of its graphs; 0 when it has none."""
        ...

    def files(self, material: Material) -> Sequence[NewFile]:
        """What to make; nothing is read before a file is made."""
        ...


class NamedMix(Protocol):
    """A quantisation of one decoder."""

    @property
    def name(self) -> str: ...


M = TypeVar("M", bound=NamedMix)


@dataclass(frozen=True, slots=True)
class BothMixes(Generic[M]):
    """The quantisations of both parts, whatever they are stored as."""

    talker_mix: M
    predictor_mix: M

    @property
    def talker(self) -> str:
        return self.talker_mix.name

    @property
    def predictor(self) -> str:
        return self.predictor_mix.name


def mixes_named(
    mixes: Mapping[str, M], usual: Callable[[M], M], talker: str, predictor: str | None
) -> tuple[M, M]:
    """Those of talker and predictor by name; a predictor of None gets the usual one for the talker.

    Raises:
        ConvertError: the predictor's is none of `mixes`.
    """
    whole = mixes[talker.lower()]
    if not predictor:
        return whole, usual(whole)
    found = mixes.get(predictor.lower())
    if found is None:
        raise ConvertError(
            f"a talker in {talker} needs a predictor in one of {', '.join(mixes)}, not {predictor}"
        )
    return whole, found


def silent(file: str, done_bytes: int, total_bytes: int) -> None:
    """A `Progress` that shows nothing."""


@dataclass(frozen=True, slots=True)
class ConversionJob:
    """A checkpoint to convert.

    source: a folder in the official layout, the name of an entry in ``converted``, a short name of
    a published model, or a hub id. converted: the folder of converted checkpoints, made if missing.
    ``threads`` work on a tensor at once; ``progress`` is told of every piece.
    """

    source: str | Path
    converted: Path
    threads: int = 1
    progress: Progress = silent


def convert_to(weights: Weights, job: ConversionJob) -> Path:
    """The folder of the checkpoint converted to ``weights``; made if it is not there yet.

    What was once converted from the hub needs neither the network nor the download again.
    Raises Qwen3Error: HubError when the source cannot be had, SpecError or CheckpointError for one
    that cannot be used, ConvertError when it is already converted to something else or the disk is
    full, LlamaError when a K-quant is wanted and there is no llama.cpp library to make it.
    """
    source, converted = job.source, job.converted
    wanted = (weights.talker, weights.predictor, FORMAT, weights.graphs)
    origin = ""
    found = local(source, converted)
    if found is None:
        origin = hub_id(source)
        for folder, record in _records(converted):
            if record.origin == origin and _made(record) == wanted and _is_whole(folder, record):
                return folder
        found = fetch(origin)
    done = read_record(found.folder)
    if done is not None:
        if _made(done) == wanted:
            check_converted(found.folder, done)
            return found.folder
        raise ConvertError(
            f"{found.folder} is already converted, to {done.quant} (predictor "
            f"{done.predictor_quant}); give the official checkpoint to convert it anew"
        )
    conversion = _Conversion(found, origin, weights, job)
    target = converted / conversion.folder_name
    if conversion.done(target):
        return target
    converted.mkdir(parents=True, exist_ok=True)
    with locked(converted / ".lock"):
        if not conversion.done(target):
            conversion.run(target)
    return target


def _is_whole(folder: Path, record: Record) -> bool:
    """`check_converted`, for a folder that can be made again."""
    try:
        check_converted(folder, record)
    except Qwen3Error as error:
        log.warning("%s: it is converted again", error)
        return False
    return True


def _made(record: Record) -> tuple[str, str, int, int]:
    return record.quant, record.predictor_quant, record.format, record.graphs


def _records(converted: Path) -> Iterator[tuple[Path, Record]]:
    """The whole folders among the converted ones."""
    for folder in sorted(converted.glob("[!.]*")):
        record = read_record(folder)
        if record is not None:
            yield folder, record


class _Conversion:
    """One conversion."""

    def __init__(self, source: Source, origin: str, weights: Weights, job: ConversionJob) -> None:
        self._folder = source.folder
        self._progress = job.progress
        self._weights = weights
        spec = read_spec(source.folder)
        official = open_checkpoint(source.folder, spec)
        files = sorted(source.folder.glob("*.safetensors"))
        codec = source.folder / "speech_tokenizer"
        if not (codec / "model.safetensors").is_file():
            raise ConvertError(f"{codec}: model.safetensors is missing; is the download whole?")
        key = content_hash(
            source.folder / "config.json", *files, *sorted(codec.glob("*.safetensors"))
        )
        self._material = Material(spec, official, key, job.threads)
        self.record = Record(
            key,
            source.name,
            origin,
            weights.talker,
            weights.predictor,
            graphs=weights.graphs,
            spec=weights_of(spec),
        )

    def done(self, target: Path) -> bool:
        """It is there, whole."""
        kept = read_record(target)
        return kept == self.record and _is_whole(target, self.record)

    @property
    def folder_name(self) -> str:
        """Name, quantisation and source: another checkpoint of the same name gets another."""
        record = self.record
        quant = record.quant
        if record.predictor_quant != self._weights.usual_predictor:
            quant += f"-predictor-{record.predictor_quant}"
        return f"{record.name}-{quant}-{record.source[:8]}"

    def run(self, target: Path) -> None:
        """Build the folder beside ``target`` and rename it. One whose making was interrupted, by
        the person or the power, is gone on with."""
        partial = target.with_name(f".{target.name}.partial")
        begun, record = partial / _BEGUN, json.dumps(asdict(self.record))
        if begun_as(begun) != json.loads(record):
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir()
            begun.write_text(record, encoding="utf-8")
        try:
            self._fill(partial)
            begun.unlink()
            shutil.rmtree(target, ignore_errors=True)
            os.replace(partial, target)
        except Exception:
            shutil.rmtree(partial, ignore_errors=True)
            raise

    def _fill(self, folder: Path) -> None:
        files = self._weights.files(self._material)
        self._check_disk(folder, sum(file.nbytes for file in files))
        _copy_small(self._folder, folder)  # a file may be made by speaking a sentence
        for file in files:
            whole = folder / f"{file.name}{_WHOLE}"
            if whole.is_file():
                self._progress(file.name, file.nbytes, file.nbytes)
                continue
            file.write(folder, self._advance(file))
            whole.touch()
        seal(folder, self._made_files(folder))
        official = self._material.weights
        _write_speaker_encoder(official, folder / "model.safetensors", self.record.source)
        codec = folder / "speech_tokenizer"
        codec.mkdir(exist_ok=True)
        _copy_small(self._folder / codec.name, codec)
        for file in sorted((self._folder / codec.name).glob("*.safetensors")):
            _check_finite(Checkpoint(file))
            _link_or_copy(file, codec / file.name)
        for marker in folder.glob(f"*{_WHOLE}"):
            marker.unlink()
        record = json.dumps(asdict(self.record), indent=1)
        (folder / RECORD_FILE).write_text(record + "\n", encoding="utf-8")

    def _made_files(self, folder: Path) -> list[str]:
        """Names of the files that hold the language model; what is copied beside them may be there
        from a run that was interrupted."""
        others = {file.name for file in _small(self._folder)}
        others |= {"model.safetensors", RECORD_FILE, _BEGUN, SEAL}
        found = (file.name for file in folder.iterdir() if file.is_file())
        return [name for name in found if name not in others and not name.endswith(_WHOLE)]

    def _advance(self, file: NewFile) -> Advance:
        """Sums up the bytes of a file that are done, and shows them."""
        done = 0

        def advance(nbytes: int) -> None:
            nonlocal done
            done += nbytes
            self._progress(file.name, done, file.nbytes)

        return advance

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


def _write_speaker_encoder(weights: Checkpoint, path: Path, source: str) -> None:
    """A safetensors file of the speaker encoder alone, float32; without tensors for a model that
    has none. Its header names the source, so that content hashes tell checkpoints apart."""
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


def _check_finite(weights: Checkpoint) -> None:
    """Raise WeightError for a weight that is no number; a tensor is in memory at a time."""
    for name in weights.names:
        weights.load(name)


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
