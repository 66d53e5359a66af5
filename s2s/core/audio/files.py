"""Sound files. What is read goes by what a file holds; what is made by the suffix of its name, and
whether it can be made is looked at before the work.
"""

from __future__ import annotations

import io
import math
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from s2s.core.audio.blocks import AudioError, Block, resample, to_int16
from s2s.core.audio.downmix import downmix

if TYPE_CHECKING:
    import soundfile

MIN_FILE_HZ = 2_000
"""Below this no speech is left; a header that says less is damaged."""
MAX_FILE_HZ = 768_000
"""The highest rate of studio equipment."""
_NO_LENGTH = 1 << 60
"""What libsndfile says of a length that is not known is more."""
_READ_AT_ONCE = 1 << 20
"""Samples at least: a header may tell of fewer than there are."""
_WRITTEN_AT_ONCE = 1 << 15
"""Samples given to libsndfile at once."""


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


def read_wav(path: str | Path, rate_hz: int | None = None) -> tuple[Block, int]:
    """Read a sound file (WAV of any width, FLAC, OGG, MP3) as mono float32; see `downmix`.

    Args:
        path: the file; a pipe, or `-` for the standard input, is read to its end.
        rate_hz: resample to this rate; None keeps the file's own.

    Returns:
        (float32 [samples], rate in Hz).

    Raises:
        AudioError: not there, not audio, no samples, samples that are no numbers, or a rate that
            no recording has.
    """
    with _opened(path) as source:
        return decode_sound(source, str(path), rate_hz)


def decode_sound(
    source: io.BytesIO, name: str, rate_hz: int | None = None, *, most_s: float | None = None
) -> tuple[Block, int]:
    """Read the bytes of a sound file; as `read_wav`.

    Args:
        source: the bytes.
        name: what they are called in errors.
        rate_hz: resample to this rate; None keeps the file's own.
        most_s: more seconds of sound are refused, before memory is taken for them.
    """
    import soundfile

    try:
        with soundfile.SoundFile(source) as file:
            file_hz = int(file.samplerate)
            samples = _all_of(file, name, most_s)
    except AudioError:
        raise
    except (soundfile.SoundFileError, TypeError, ValueError) as error:
        reason = str(error).split(": ")[-1].rstrip(".")
        raise AudioError(f"{name}: not readable as audio ({reason}). Convert it to WAV.") from error
    if not len(samples):
        raise AudioError(f"{name}: holds no audio samples.")
    if not MIN_FILE_HZ <= file_hz <= MAX_FILE_HZ:
        raise AudioError(
            f"{name}: says that it has {file_hz} samples a second, which no recording has "
            f"({MIN_FILE_HZ} to {MAX_FILE_HZ}). Its header is damaged: export it again."
        )
    samples = np.asarray(samples, dtype=np.float32)
    if not np.isfinite(samples).all():
        raise AudioError(f"{name}: holds samples that are not finite numbers.")
    mono = downmix(samples, file_hz)
    if rate_hz is not None and rate_hz != file_hz:
        return resample(mono, file_hz, rate_hz), rate_hz
    return mono, file_hz


def _all_of(file: soundfile.SoundFile, name: str, most_s: float | None) -> npt.NDArray[np.float32]:
    """All of a sound file, float32 [samples, channels]; there may be more than its header says.

    Raises:
        AudioError: there is more than `most_s`, or the header says nothing: libsndfile reads no
            FLAC that was sent while it was made.
    """
    if file.frames >= _NO_LENGTH:
        raise AudioError(f"{name}: does not say how long it is. Convert it to WAV.")
    most = math.inf if most_s is None else most_s * file.samplerate
    parts: list[npt.NDArray[np.float32]] = []
    held = file.frames if file.frames > most else 0
    while held <= most:
        part = file.read(max(file.frames, _READ_AT_ONCE), dtype="float32", always_2d=True)
        parts.append(np.asarray(part, dtype=np.float32))
        if not len(part):
            return np.concatenate(parts)
        held += len(part)
    raise AudioError(
        f"{name}: holds {held / file.samplerate:.0f} s of sound or more; {most_s:g} are the most. "
        "Send it in parts."
    )


def _opened(path: str | Path) -> io.BytesIO:
    """The bytes of a file, or of a pipe to its end, so that they can be sought in."""
    if str(path) == "-":
        return io.BytesIO(_standard_input())
    path = Path(path)
    try:
        kind = path.stat().st_mode
        if stat.S_ISDIR(kind):
            raise AudioError(f"{path}: is a folder. Give the files in it, such as {path / '*.wav'}")
        if stat.S_ISCHR(kind) or stat.S_ISBLK(kind):
            raise AudioError(f"{path}: is a device, not a sound file.")
        if stat.S_ISREG(kind):
            # Handed on without its name, by which soundfile would take x.raw for bare samples.
            return io.BytesIO(path.read_bytes())
        with path.open("rb") as pipe:
            return io.BytesIO(pipe.read())
    except FileNotFoundError as error:
        raise AudioError(
            f"{path}: no such file. Give the path of a WAV, FLAC or OGG file."
        ) from error
    except (OSError, ValueError) as error:
        if isinstance(error, AudioError):
            raise
        reason = error.strerror if isinstance(error, OSError) else error
        raise AudioError(f"{path}: cannot be read ({reason}).") from error


def _standard_input() -> bytes:
    if sys.stdin is None or sys.stdin.isatty():
        raise AudioError("-: is the standard input, but nothing is piped into it.")
    return sys.stdin.buffer.read()


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
    _write(path, samples, rate_hz, chosen.container, chosen.subtype)


def write_wav(path: str | Path, samples: npt.NDArray[np.float32], rate_hz: int) -> None:
    """Write float32 [samples] or [samples, channels] as a 16-bit WAV file, whatever its name.

    Raises:
        AudioError: the file cannot be written.
    """
    _write(path, samples, rate_hz, "WAV", "PCM_16")


def _write(
    path: str | Path, samples: npt.NDArray[np.float32], rate_hz: int, container: str, subtype: str
) -> None:
    """Write float32 [samples] or [samples, channels] in one of libsndfile's formats.

    Raises:
        AudioError: the file cannot be written.
    """
    import soundfile

    encoded = io.BytesIO()
    channels = 1 if samples.ndim == 1 else samples.shape[1]
    try:
        with soundfile.SoundFile(encoded, "w", rate_hz, channels, subtype, format=container) as out:
            # In parts: libvorbis keeps what it is given at once on its stack.
            for start in range(0, len(samples), _WRITTEN_AT_ONCE):
                part = samples[start : start + _WRITTEN_AT_ONCE]
                # libsndfile 1.2.2 writes MP3 of two channels twice as loud from int16.
                out.write(to_int16(part) if subtype == "PCM_16" else np.clip(part, -1.0, 1.0))
        data = encoded.getbuffer()
        if str(path) == "-":
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        else:
            Path(path).write_bytes(data)
    except (soundfile.SoundFileError, OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise AudioError(f"{path}: cannot be written ({reason}).") from error


def _is_special(path: Path) -> bool:
    """A pipe or device: it has no suffix that means something, and may not be opened twice."""
    try:
        return path.exists() and not path.is_file() and not path.is_dir()
    except OSError:  # a name that is too long: opening it says so
        return False
