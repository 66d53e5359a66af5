"""Sound files that are made: the suffix says the format, and all is looked at before the work.

Reading is `s2s.core.audio.read_wav`, which goes by what a file holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from s2s.core.audio import AudioError, write_encoded


@dataclass(frozen=True, slots=True)
class Format:
    """How samples are kept in a file, in libsndfile's words."""

    container: str
    subtype: str


WAV = Format("WAV", "PCM_16")
FORMATS = {
    ".wav": WAV,
    ".wave": WAV,
    ".flac": Format("FLAC", "PCM_16"),
    ".ogg": Format("OGG", "VORBIS"),
    ".mp3": Format("MP3", "MPEG_LAYER_III"),
}
"""By the suffix of a file's name."""


def output_format(path: Path) -> Format:
    """The format that a file's name asks for; WAV for `-` and for a name without suffix.

    Raises:
        AudioError: the suffix is of another format, or of one that libsndfile lacks here.
    """
    import soundfile

    suffix = path.suffix.lower()
    if not suffix or str(path) == "-" or _is_special(path):
        return WAV
    chosen = FORMATS.get(suffix)
    if chosen is None or chosen.container not in soundfile.available_formats():
        what = "an unknown format" if chosen is None else "one that this libsndfile lacks"
        raise AudioError(f"{path}: {suffix} is {what}. Name it {', '.join(FORMATS)}.")
    return chosen


def check_output(path: Path) -> None:
    """See that a sound file can be written at `path`, without touching what is there.

    Raises:
        AudioError: a suffix of another format, no such folder, a folder, or no permission.
    """
    output_format(path)
    if str(path) != "-":
        check_writable(path)


def check_writable(path: Path) -> None:
    """See that a file can be written at `path`: it is opened, and removed if it was not there.

    Raises:
        AudioError: no such folder, a folder, or no permission.
    """
    try:
        if path.is_dir():
            raise AudioError(f"{path}: is a folder. Name a file in it.")
        if _is_special(path):
            return
        existed = path.exists()
        with path.open("ab"):
            pass
        if not existed:
            path.unlink()
    except FileNotFoundError as error:
        raise AudioError(
            f"{path}: cannot be written: there is no folder {path.parent}. Make it first."
        ) from error
    except OSError as error:
        raise AudioError(f"{path}: cannot be written ({error.strerror}).") from error


def write_sound(path: Path, samples: npt.NDArray[np.float32], rate_hz: int) -> None:
    """Write float32 [samples] or [samples, channels] in the format that the name asks for.

    Raises:
        AudioError: the name asks for another format, or the file cannot be written.
    """
    chosen = output_format(path)
    write_encoded(path, samples, rate_hz, chosen.container, chosen.subtype)


def _is_special(path: Path) -> bool:
    """A pipe or device: it has no suffix that means something, and may not be opened twice."""
    try:
        return path.exists() and not path.is_file() and not path.is_dir()
    except OSError:  # a name that is too long: opening it says so
        return False
