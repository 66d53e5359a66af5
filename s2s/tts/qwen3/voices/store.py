"""Enrolled voices: one small file each, made once, good for the model it was made with.

A file is a NumPy archive without pickled objects. It holds the speaker vector; with a transcript
also the recording's codes and the codec decoder's state after them, so that speech goes on where
the reference ended without decoding it again. Knows nothing of models: see `enrol`.
"""

from __future__ import annotations

import os
import re
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from s2s.tts.qwen3.errors import VoiceError
from s2s.tts.qwen3.interfaces import Floats, Ids
from s2s.tts.qwen3.text.prompt import Reference

FORMAT = 1
SUFFIX = ".voice.npz"

_NAME = re.compile(r"\w([\w .-]{0,62}\w)?")
_STATE_PREFIX = "decoder/"
_HASH = "fingerprint"  # what files of format 1 call it
_HEAD = ("format", "model", _HASH, "text", "seconds")
_DAMAGED = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile)


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
    path = _path(voice.name, folder)
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
    path = _path(name, folder)
    if not path.is_file():
        known = ", ".join(entry.name for entry in list_voices(folder)) or "none"
        raise VoiceError(f"no voice named {name!r}; enrolled: {known}")
    try:
        with np.load(path, allow_pickle=False) as arrays:
            voice = _read(name, arrays)
    except _DAMAGED as error:
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
        with np.load(path, allow_pickle=False) as arrays:
            head = _head(arrays)
            return VoiceEntry(
                name,
                head["model"],
                head[_HASH],
                float(head["seconds"]),
                "codes" in arrays.files,
            )
    except _DAMAGED as error:
        return VoiceEntry(name, problem=f"cannot be read: {error}")


def _head(arrays: Mapping[str, npt.NDArray[np.generic]]) -> dict[str, str]:
    head = {key: str(arrays[key]) for key in _HEAD}
    if head["format"] != str(FORMAT):
        raise ValueError(f"it is of format {head['format']}, this program reads {FORMAT}")
    return head


def _read(name: str, arrays: Mapping[str, npt.NDArray[np.generic]]) -> Voice:
    head = _head(arrays)
    states = [key for key in arrays if key.startswith(_STATE_PREFIX)]
    warm = None
    if states:
        tensors = {key.removeprefix(_STATE_PREFIX): _floats(arrays[key]) for key in states}
        warm = WarmStart(int(str(arrays["decoder_version"])), tensors)
    codes = arrays["codes"].astype(np.int64) if "codes" in arrays else None
    if codes is not None and codes.ndim != 2:
        raise ValueError(f"its codes are {codes.shape}")
    return Voice(
        name=name,
        model=head["model"],
        content_hash=head[_HASH],
        speaker=_floats(arrays["speaker"]),
        seconds=float(head["seconds"]),
        codes=codes,
        text=head["text"],
        warm_start=warm,
    )


def _floats(array: npt.NDArray[np.generic]) -> Floats:
    if array.dtype != np.float32:
        raise ValueError(f"an array of it is {array.dtype}, not float32")
    return array.astype(np.float32)


def _path(name: str, folder: Path) -> Path:
    if not _NAME.fullmatch(name):
        raise VoiceError(
            f"{name!r} is no name for a voice: use up to 64 letters, digits, spaces, '.', '-', '_'"
        )
    return folder / f"{name}{SUFFIX}"
