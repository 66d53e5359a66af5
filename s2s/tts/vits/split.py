"""Makes a voice ready to stream: cut once, checked once, kept beside the model.

What is kept is a folder `<model>.split-<hash>` with `encoder.onnx`, `decoder.onnx` and
`split.json`; where the model's folder can't be written, in the cache folder. It is made under
another name and renamed, so that it is whole or not there, also when two processes make it at
once. Where it is cut, and why: docs/decisions/streaming-vits.md.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import cast

from s2s.models.onnx_file import OnnxFile, read_model, write_model
from s2s.models.store import home
from s2s.system.intact import damaged, seal
from s2s.tts.vits.check import (
    TRIALS,
    compare_steps,
    compare_windows,
    hop_of,
    parts_sounds,
    whole_feed,
)
from s2s.tts.vits.errors import CutError, VitsFileError, VitsVoiceError, model_file_errors
from s2s.tts.vits.graph.attention import narrow_attention
from s2s.tts.vits.graph.cuts import find_inputs
from s2s.tts.vits.graph.images import convolve_as_images
from s2s.tts.vits.graph.masks import drop_masks
from s2s.tts.vits.graph.stepwise import Edge, Steps, StepState, Tail, make_stepwise
from s2s.tts.vits.parts import AUDIO, CUTS, Cut, Parts, adopt_pair, cut_voice
from s2s.tts.vits.reference import Comparison, ReferenceSounds
from s2s.tts.vits.windows import FALLBACK_CONTEXT, Context

_log = logging.getLogger(__name__)

_VERSION = 5
"""Raised when what is kept in a folder changes, so that older folders are made anew."""


@dataclass(frozen=True, slots=True)
class Split:
    """A voice ready to stream, as it lies on disk."""

    folder: Path
    cut: Cut
    channels: int
    hop: int
    """Samples of a frame."""
    context: Context
    """For decoding in windows."""
    steps: Steps | None
    """For decoding in steps; None where the graph has no exact stepwise form."""
    error: float
    """Largest difference that the check found."""
    decoder_inputs: tuple[str, ...]
    speakers: bool
    """The voice takes a speaker's number."""

    @property
    def encoder(self) -> Path:
        """The graph that runs once a sentence."""
        return self.folder / "encoder.onnx"

    @property
    def decoder(self) -> Path:
        """The graph that runs once a piece."""
        return self.folder / "decoder.onnx"


@model_file_errors()
def split_voice(model: Path, *, cache: Path | None = None, anew: bool = False) -> Split:
    """Cut a single-graph voice, or fetch what was cut before.

    Args:
        model: the voice's .onnx file.
        cache: where to keep the result when the model's folder can't be written; None is this
            program's cache folder.
        anew: cut again even if that was done before.

    Raises:
        VitsFileError: the file is not a usable ONNX model.
        CutError: the graph can't be cut anywhere, or what came out is not the same voice.
    """
    return _kept(
        _hash_files(model),
        [model.parent, cache or home() / "split"],
        model.name,
        lambda: _cut_and_check(read_model(model), model),
        anew,
    )


@model_file_errors()
def split_pair(encoder: Path, decoder: Path, *, cache: Path | None = None) -> Split:
    """Adopt a voice that comes as two graphs. Arguments and errors as for `split_voice`."""
    return _kept(
        _hash_files(encoder, decoder),
        [decoder.parent, cache or home() / "split"],
        decoder.name,
        lambda: _prepare(adopt_pair(read_model(encoder), read_model(decoder))),
        anew=False,
    )


def prepare_voice(path: str | Path, *, cache: Path | None = None, anew: bool = False) -> Split:
    """Make a voice ready to stream, whatever form it comes in.

    Args:
        path: a single-graph voice `.onnx`, or `encoder.onnx` beside a `decoder.onnx`, or a folder
            with either.
        cache: as for `split_voice`.
        anew: as for `split_voice`; a pair is never cut.

    Raises:
        VitsVoiceError: no voice there.
        VitsFileError, CutError: as for `split_voice`.
    """
    model = model_path(Path(path))
    decoder = decoder_beside(model)
    if decoder is not None:
        return split_pair(model, decoder, cache=cache)
    return split_voice(model, cache=cache, anew=anew)


def model_path(path: Path) -> Path:
    """The model file meant by `path`, a file or a folder with one voice. Raises VitsVoiceError."""
    if path.is_file():
        return path
    if not path.is_dir():
        raise VitsVoiceError(f"{path}: no such file or folder")
    if (path / "encoder.onnx").is_file():
        return path / "encoder.onnx"
    models = sorted(path.glob("*.onnx"))
    if len(models) != 1:
        raise VitsVoiceError(f"{path}: expected one .onnx voice in it, found {len(models)}")
    return models[0]


def decoder_beside(model: Path) -> Path | None:
    """The second graph of a voice that comes as a pair; None for one that is a single graph."""
    decoder = model.with_name("decoder.onnx")
    return decoder if model.name == "encoder.onnx" and decoder.is_file() else None


# --- cutting and checking ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Made:
    """What goes into a folder."""

    encoder: OnnxFile
    decoder: OnnxFile
    split: Split


def _cut_and_check(model: OnnxFile, path: Path) -> _Made:
    """The best cut that passes both checks."""
    inputs = find_inputs(model)
    whole = ReferenceSounds(path, [whole_feed(inputs, trial) for trial in TRIALS])
    reasons: list[str] = []
    for cut in CUTS:
        try:
            parts = cut_voice(model, cut)
            made, found = _quickest(_prepare(parts), parts, whole)
        except CutError as reason:
            reasons.append(f"{cut}: {reason}")
            _log.info("%s: no cut %s: %s", path.name, cut, reason)
            continue
        if found.same:
            error = max(found.error, made.split.error)
            return replace(made, split=replace(made.split, error=error))
        reasons.append(
            f"{cut}: differs from the whole graph by {found.error:.2g}, "
            f"where {found.allowed:.2g} is rounding"
        )
    raise CutError("; ".join(dict.fromkeys(reasons)))


def _quickest(made: _Made, parts: Parts, whole: ReferenceSounds) -> tuple[_Made, Comparison]:
    """The quickest encoder that gives the whole graph's sound, and how near it comes."""
    quick = convolve_as_images(drop_masks(narrow_attention(made.encoder)))
    found = whole.compare(parts_sounds(replace(parts, encoder=quick), TRIALS))
    if found.same:
        return replace(made, encoder=quick), found
    _log.info("the quicker encoder differs from the whole graph by %.2g", found.error)
    return made, whole.compare(parts_sounds(parts, TRIALS))


def _prepare(parts: Parts) -> _Made:
    """Choose how the decoder runs in pieces: in steps if that is exact, else in windows."""
    context, hop = parts.receptive_field()
    split = Split(
        folder=Path(),
        cut=parts.cut,
        channels=parts.channels,
        hop=hop or hop_of(parts),
        context=context,
        steps=None,
        error=0.0,
        decoder_inputs=tuple(value.name for value in parts.decoder.inputs),
        speakers=any(value.name == "speaker" for value in parts.encoder.inputs),
    )
    try:
        plain, steps = make_stepwise(parts.decoder, parts.moving, AUDIO, parts.mask)
        for stepper in (convolve_as_images(plain), plain):
            found = compare_steps(parts, stepper, steps)
            if found.same:
                return _Made(parts.encoder, stepper, replace(split, steps=steps, error=found.error))
            _log.info("decoding in steps differs by %.2g", found.error)
    except CutError as reason:
        _log.info("no decoding in steps (%s): decoding in windows", reason)
    for wide in (context, FALLBACK_CONTEXT):
        found = compare_windows(parts, wide, split.hop)
        if found.same:
            made = replace(split, context=wide, error=found.error)
            return _Made(parts.encoder, parts.decoder, made)
    raise CutError(f"decoding in windows differs by {found.error:.2g}")


# --- keeping -----------------------------------------------------------------------------------


def _kept(
    digest: str, folders: list[Path], name: str, make: Callable[[], _Made], anew: bool
) -> Split:
    """The split of this digest out of one of `folders`, made if it is in none."""
    places = [folder / f"{name}.split-{digest[:12]}" for folder in folders]
    if not anew:
        for place in places:
            if (split := _read(place)) is not None:
                return split
    made = make()
    for place in places:
        try:
            return _write(made, place, anew)
        except OSError as error:
            _log.info("%s: cannot be written (%s)", place, error)
    raise CutError(f"none of these folders can be written: {', '.join(map(str, folders))}")


def _write(made: _Made, place: Path, anew: bool) -> Split:
    place.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{place.name}.", dir=place.parent))
    try:
        (draft / "encoder.onnx").write_bytes(write_model(made.encoder))
        (draft / "decoder.onnx").write_bytes(write_model(made.decoder))
        told = {"version": _VERSION, **_told(made.split)}
        (draft / "split.json").write_text(json.dumps(told), encoding="utf-8")
        seal(draft)
        draft.chmod(0o755)
        if anew or _read(place) is None:
            shutil.rmtree(place, ignore_errors=True)
        try:
            os.rename(draft, place)
        except OSError:
            # Another process was faster. Its result is from the same file, so it is as good.
            if _read(place) is None:
                raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return replace(made.split, folder=place)


def _told(split: Split) -> dict[str, object]:
    told = asdict(split)
    del told["folder"]
    return told


def _read(place: Path) -> Split | None:
    """The split that lies in `place`; None when there is none, or it is damaged or of old."""
    try:
        told = json.loads((place / "split.json").read_text(encoding="utf-8"))
        if told.pop("version") != _VERSION:
            return None
        bad = damaged(place)
        if bad is not None:
            _log.warning("%s is damaged: the voice is cut again", place / bad)
            return None
        steps = told.pop("steps")
        return Split(
            folder=place,
            context=Context(**told.pop("context")),
            steps=_read_steps(steps) if steps else None,
            decoder_inputs=tuple(told.pop("decoder_inputs")),
            **told,
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _read_steps(told: dict[str, list[dict[str, object]]]) -> Steps:
    return Steps(
        states=tuple(StepState(**item) for item in told["states"]),  # pyright: ignore[reportArgumentType]
        tails=tuple(Tail(**item) for item in told["tails"]),  # pyright: ignore[reportArgumentType]
        edges=tuple(Edge(**item) for item in told["edges"]),  # pyright: ignore[reportArgumentType]
        lag=cast(int, told["lag"]),
        hop=cast(int, told["hop"]),
    )


def _hash_files(*paths: Path) -> str:
    """SHA-256 over the files, one after the other."""
    digest = hashlib.sha256(f"split {_VERSION}".encode())
    for path in paths:
        try:
            with path.open("rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
        except OSError as error:
            raise VitsFileError(f"{path}: cannot be read ({error.strerror})") from error
    return digest.hexdigest()
