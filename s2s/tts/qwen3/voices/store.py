"""Enrolled voices: one small file each, made once, good for the model it was made with.

A file is a NumPy archive without pickled objects. It holds the speaker vector; with a transcript
also the recording's codes and the codec decoder's state after them, so that speech goes on where
the reference ended without decoding it again. Knows nothing of models: see `enrol`.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from s2s.tts.qwen3.errors import VoiceError
from s2s.tts.qwen3.interfaces import Floats, Ids
from s2s.tts.qwen3.text.prompt import Reference
from s2s.tts.qwen3.voices.archive import DAMAGED, read_archive

FORMAT = 1
SUFFIX = ".voice.npz"

_NAME = re.compile(r"\w([\w .-]{0,62}\w)?")
_STATE_PREFIX = "decoder/"
_HASH = "fingerprint"  # what files of format 1 call it
_HEAD = ("format", "model", _HASH, "text", "seconds")
_MAX_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class WarmStart:
    """The codec decoder's state after the reference. ``tensors``: by the decoder's own names."""

    version: int
    tensors: Mapping[str, npt.NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Voice:
    """One enrolled voice.

    model: the model's name, for people; content_hash: the model's, for `load_voice`.
    speaker: float32 [H]. codes: int64 [frames, groups] of the reference, with ``text``, all that
    is said in it; None and empty without a transcript.
    """

    name: str
    model: str
    content_hash: str
    speaker: Floats
    seconds: float
    """Length of the reference."""
    codes: Ids | None = None
    text: str = ""
    warm_start: WarmStart | None = field(default=None, repr=False)

    @property
    def reference(self) -> Reference:
        """What a prompt needs of it."""
        return Reference(self.speaker, self.codes, self.text)


@dataclass(frozen=True, slots=True)
class VoiceEntry:
    """A line of the list of voices. ``problem`` says why a file cannot be read; empty if it can."""

    name: str
    model: str = ""
    content_hash: str = ""
    seconds: float = 0.0
    in_context: bool = False
    problem: str = ""


def save_voice(voice: Voice, folder: Path) -> Path:
    """Write the voice into ``folder``, whole or not at all; one of the same name is replaced.

    Raises VoiceError for a name that is not letters, digits, space, dot, dash, underscore.
    """
    path = voice_path(voice.name, folder)
    arrays: dict[str, npt.NDArray[np.generic]] = {
        "format": np.array(FORMAT),
        "model": np.array(voice.model),
        _HASH: np.array(voice.content_hash),
        "text": np.array(voice.text),
        "seconds": np.array(voice.seconds),
        "speaker": voice.speaker.astype(np.float32),
    }
    if voice.codes is not None:
        arrays["codes"] = voice.codes.astype(np.uint16)
    if voice.warm_start is not None:
        arrays["decoder_version"] = np.array(voice.warm_start.version)
        arrays |= {_STATE_PREFIX + name: array for name, array in voice.warm_start.tensors.items()}
    folder.mkdir(parents=True, exist_ok=True)
    handle, unfinished = tempfile.mkstemp(prefix=".", suffix=SUFFIX, dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    finally:
        Path(unfinished).unlink(missing_ok=True)
    return path


def load_voice(name: str, folder: Path, content_hash: str) -> Voice:
    """The voice of that name.

    content_hash: of the model it is to be used with.
    Raises VoiceError when there is none, its file is damaged, or it was made with another model.
    """
    path = voice_path(name, folder)
    if not path.is_file():
        known = ", ".join(entry.name for entry in list_voices(folder)) or "none"
        raise VoiceError(f"no voice named {name!r}; enrolled: {known}")
    try:
        voice = _read(name, read_archive(path))
    except DAMAGED as error:
        raise VoiceError(
            f"the voice {name!r} ({path}) cannot be read: {error}. Enrol it again"
        ) from error
    if voice.content_hash != content_hash:
        raise VoiceError(
            f"the voice {name!r} was made with another model ({voice.model}): "
            "a voice only fits the model it was made with. Enrol it again with this one"
        )
    return voice


def list_voices(folder: Path) -> list[VoiceEntry]:
    """Every voice in ``folder`` by name, damaged ones with what is wrong."""
    paths = sorted(path for path in folder.glob(f"*{SUFFIX}") if not path.name.startswith("."))
    return [_entry(path) for path in paths]


def _entry(path: Path) -> VoiceEntry:
    name = path.name.removesuffix(SUFFIX)
    try:
        voice = _read(name, read_archive(path))
    except DAMAGED as error:
        return VoiceEntry(name, problem=f"cannot be read: {error}")
    in_context = voice.codes is not None
    return VoiceEntry(name, voice.model, voice.content_hash, voice.seconds, in_context)


def _head(arrays: Mapping[str, npt.NDArray[np.generic]]) -> dict[str, str]:
    head = {key: str(arrays[key]) for key in _HEAD}
    if head["format"] != str(FORMAT):
        raise ValueError(f"it is of format {head['format']}, this program reads {FORMAT}")
    return head


def _read(name: str, arrays: Mapping[str, npt.NDArray[np.generic]]) -> Voice:
    """A voice from its arrays. Raises ValueError or KeyError that names what is wrong."""
    head = _head(arrays)
    states = [key for key in arrays if key.startswith(_STATE_PREFIX)]
    warm = None
    if states:
        tensors = {key.removeprefix(_STATE_PREFIX): _floats(arrays, key) for key in states}
        warm = WarmStart(int(str(arrays["decoder_version"])), tensors)
    speaker, seconds = _floats(arrays, "speaker"), float(head["seconds"])
    if speaker.ndim != 1 or not speaker.size:
        raise ValueError(f"speaker is {list(speaker.shape)}, no vector")
    if not 0 <= seconds <= _MAX_SECONDS:
        raise ValueError(f"seconds is {seconds}, outside 0 to {_MAX_SECONDS}")
    return Voice(
        name=name,
        model=head["model"],
        content_hash=head[_HASH],
        speaker=speaker,
        seconds=seconds,
        codes=_codes(arrays),
        text=head["text"],
        warm_start=warm,
    )


def _codes(arrays: Mapping[str, npt.NDArray[np.generic]]) -> Ids | None:
    """int64 [frames, groups] of the reference, if there are any."""
    found = arrays.get("codes")
    if found is None:
        return None
    if found.ndim != 2 or not found.size or found.dtype.kind not in "ui":
        raise ValueError(f"codes are {found.dtype} {list(found.shape)}, not numbers of frames")
    codes = found.astype(np.int64)
    if codes.min() < 0:
        raise ValueError(f"codes holds {codes.min()}, which is no code")
    return codes


def _floats(arrays: Mapping[str, npt.NDArray[np.generic]], key: str) -> Floats:
    array = arrays[key]
    if array.dtype != np.float32:
        raise ValueError(f"{key} is {array.dtype}, not float32")
    values = array.astype(np.float32)
    if not np.isfinite(values).all():
        raise ValueError(f"{key} holds what is no finite number")
    return values


def voice_path(name: str, folder: Path) -> Path:
    """The file of that voice. Raises VoiceError for what is no name of a voice."""
    if not _NAME.fullmatch(name):
        raise VoiceError(
            f"{name!r} is no name for a voice: use up to 64 letters, digits, spaces, '.', '-', '_'"
        )
    return folder / f"{name}{SUFFIX}"
