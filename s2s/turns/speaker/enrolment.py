"""The voice that is listened to, as it is kept: one file of two vectors, nothing of the recording.

`my-voice.json` in the folder where the program keeps its files. Erasing it is deleting it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from s2s.core.arrays import Floats
from s2s.system.whole_file import write_whole

FILE = "my-voice.json"

MIN_SPEECH_S = 3.0
"""Less speech than this tells too little of a voice to enrol it."""


class EnrolmentError(RuntimeError):
    """A voice that cannot be enrolled or read. The message says what to do."""


@dataclass(frozen=True, slots=True)
class VoicePrint:
    """A voice as vectors."""

    vectors: Floats
    """What it is like as it is, and in noise: float32 [2, dimensions], each of length 1."""
    model: str
    """The embedder it was made with: vectors of another one cannot be compared with it."""
    speech_s: float
    """Speech it was made from."""


def enrolled_path(home: Path) -> Path:
    """Where the voice is kept, below the folder `home` of the program's files."""
    return home / FILE


def read_enrolled(home: Path) -> VoicePrint | None:
    """The enrolled voice, None when there is none.

    Raises:
        EnrolmentError: the file is damaged.
    """
    path = enrolled_path(home)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    try:
        kept = json.loads(text)
        vectors = np.array(kept["vectors"], dtype=np.float32)
        voice = VoicePrint(vectors, str(kept["model"]), float(kept["speech_s"]))
    except (ValueError, KeyError, TypeError) as error:
        raise EnrolmentError(f"{path}: {_again(error)}") from error
    lengths = np.linalg.norm(vectors, axis=1) if vectors.ndim == 2 else np.zeros(1)
    if not len(lengths) or not np.all(np.abs(lengths - 1.0) < 1e-3):
        raise EnrolmentError(f"{path}: {_again('vectors of another length than 1')}")
    return voice


def write_enrolled(home: Path, voice: VoicePrint) -> Path:
    """Keep `voice` in place of an earlier one, readable by its owner alone; returns the file."""
    path = enrolled_path(home)
    home.mkdir(parents=True, exist_ok=True)
    kept = {
        "model": voice.model,
        "speech_s": round(voice.speech_s, 2),
        "vectors": [[round(float(value), 6) for value in vector] for vector in voice.vectors],
    }
    write_whole(path, json.dumps(kept) + "\n", mode=0o600)
    return path


def erase_enrolled(home: Path) -> bool:
    """Forget the enrolled voice; False when there was none."""
    try:
        enrolled_path(home).unlink()
    except FileNotFoundError:
        return False
    return True


def _again(what: object) -> str:
    return f"the enrolled voice cannot be read ({what}). Enrol it again: python -m s2s voices me"
