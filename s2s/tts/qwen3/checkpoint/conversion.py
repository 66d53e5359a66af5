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
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Protocol

from s2s.system.filelock import locked
from s2s.system.intact import damaged, is_sealed, seal
from s2s.tts.qwen3.checkpoint.content_hash import content_hash
from s2s.tts.qwen3.checkpoint.gguf_layout import FORMAT
from s2s.tts.qwen3.checkpoint.hub import Source, fetch, hub_id, local
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint, open_checkpoint
from s2s.tts.qwen3.checkpoint.spec import DecoderSpec, Spec, read_spec
from s2s.tts.qwen3.errors import CheckpointError, ConvertError, Qwen3Error, SpecError

log = logging.getLogger(__name__)

Progress = Callable[[str, int, int], None]
"""Called as (file, bytes done, bytes in all) while a file is made."""

Advance = Callable[[int], None]
"""Called with the bytes that were done since the last call."""

_RECORD = "converted.json"
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


@dataclass(frozen=True, slots=True)
class Record:
    """What a converted folder was made from and with."""

    source: str
    """Content hash of the official checkpoint."""
    name: str
    origin: str
    """Its hub id; "" for a folder."""
    quant: str
    predictor_quant: str
    format: int = FORMAT
    graphs: int = 0
    """Version of its graphs; 0 when it has none."""
    spec: Mapping[str, object] = field(default_factory=dict, compare=False)
    """What of config.json is in the weights, by field; empty in older folders."""


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


def check_converted(folder: Path, record: Record) -> None:
    """Raise CheckpointError when a file of a converted checkpoint is not what was made, and
    SpecError when its config.json contradicts what the weights were made with."""
    # Older folders have no list of digests; graphs are not opened without: a damaged one can end
    # the process inside ONNX Runtime: docs/decisions/qwen3-sealed-folders.md.
    bad = damaged(folder) if is_sealed(folder) or record.graphs else None
    if bad is not None:
        raise CheckpointError(
            "is not what the conversion made",
            file=folder / bad,
            advice="give the official checkpoint, and it is converted again",
        )
    now = _weights_of(read_spec(folder))
    for name, was in record.spec.items():
        if name in now and now[name] != was:
            raise SpecError(
                f"is {now[name]!r:.80}, but the weights were made with {was!r:.80}",
                file=folder / "config.json",
                field=name,
                advice="undo the edit, or convert the official checkpoint again",
            )


def _is_whole(folder: Path, record: Record) -> bool:
    """`check_converted`, for a folder that can be made again."""
    try:
        check_converted(folder, record)
    except Qwen3Error as error:
        log.warning("%s: it is converted again", error)
        return False
    return True


def _weights_of(spec: Spec) -> dict[str, object]:
    """What of a config is in the weights, by the config's own field names."""
    predictor = "talker_config.code_predictor_config"
    return {
        **_decoder_of(spec.talker, "talker_config"),
        **_decoder_of(spec.predictor, predictor),
        "talker_config.num_code_groups": spec.groups,
        "talker_config.text_vocab_size": spec.text_vocabulary,
        "talker_config.text_hidden_size": spec.text_hidden,
        "talker_config.codec_eos_token_id": spec.ids.eos,
    }


def _decoder_of(spec: DecoderSpec, part: str) -> dict[str, object]:
    named = {
        "hidden_size": spec.hidden,
        "intermediate_size": spec.intermediate,
        "num_hidden_layers": spec.layers,
        "num_attention_heads": spec.heads,
        "num_key_value_heads": spec.kv_heads,
        "head_dim": spec.head_dim,
        "vocab_size": spec.vocabulary,
        "rms_norm_eps": spec.rms_norm_eps,
        "rope_theta": spec.rope_theta,
        "max_position_embeddings": spec.max_positions,
    }
    return {f"{part}.{name}": value for name, value in named.items()}


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
        record = Record(**json.loads((folder / _RECORD).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    texts = (record.source, record.name, record.origin, record.quant, record.predictor_quant)
    if not all(isinstance(text, str) for text in texts) or not isinstance(record.spec, dict):
        return None
    return record


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
            spec=_weights_of(spec),
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
        files = self._weights.files(self._material)
        self._check_disk(folder, sum(file.nbytes for file in files))
        for file in files:
            file.write(folder, self._advance(file))
        seal(folder, [file.name for file in folder.iterdir() if file.is_file()])
        official = self._material.weights
        _write_speaker_encoder(official, folder / "model.safetensors", self.record.source)
        _copy_small(self._folder, folder)
        codec = folder / "speech_tokenizer"
        codec.mkdir()
        _copy_small(self._folder / codec.name, codec)
        for file in sorted((self._folder / codec.name).glob("*.safetensors")):
            _check_finite(Checkpoint(file))
            _link_or_copy(file, codec / file.name)
        record = json.dumps(asdict(self.record), indent=1)
        (folder / _RECORD).write_text(record + "\n", encoding="utf-8")

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
