"""Audio as this project holds it: float32 mono blocks in [-1, 1].

Everything else is converted at the edge. Knows nothing about devices, models or time.
"""

from __future__ import annotations

import io
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from s2s.core.downmix import downmix

Block = npt.NDArray[np.float32]
"""Mono samples, float32 [samples], nominally within [-1, 1]."""

PIPELINE_HZ = 16_000
"""Rate of everything between the microphone and the transcript, in Hz."""

BLOCK_SAMPLES = 512
"""Samples in one block at any rate; at 16 kHz 32 ms, which is also Silero VAD's window."""

MIN_FILE_HZ = 2_000
"""Below this no speech is left; a header that says less is damaged."""
MAX_FILE_HZ = 768_000
"""The highest rate of studio equipment."""

_INT16_SCALE = 32768.0
_WRITTEN_AT_ONCE = 1 << 15


class AudioError(ValueError):
    """Audio that cannot be used. The message names the file or value and what to do."""


def empty() -> Block:
    """A block without samples."""
    return np.zeros(0, dtype=np.float32)


def to_int16(block: Block) -> npt.NDArray[np.int16]:
    """Convert float32 [samples] to int16 [samples], clipped at full scale."""
    scaled = np.rint(np.asarray(block, dtype=np.float32) * _INT16_SCALE)
    return np.clip(scaled, -32768, 32767).astype(np.int16)


def from_int16(samples: npt.NDArray[np.int16]) -> Block:
    """Convert int16 [samples] to float32 [samples]; exact inverse of `to_int16`."""
    return samples.astype(np.float32) / np.float32(_INT16_SCALE)


def to_mono(samples: npt.NDArray[np.float32]) -> Block:
    """Mix float32 [samples] or [samples, channels] down to float32 [samples] by the mean."""
    if samples.ndim == 1:
        return np.ascontiguousarray(samples, dtype=np.float32)
    return np.ascontiguousarray(samples.mean(axis=1), dtype=np.float32)


def rms_db(block: Block) -> float:
    """Level of `block` in dB relative to full scale; -inf for silence or no samples."""
    if len(block) == 0:
        return float("-inf")
    power = float(np.mean(np.square(block, dtype=np.float64)))
    return 10.0 * float(np.log10(power)) if power > 0.0 else float("-inf")


class Framer:
    """Cuts a stream of blocks into frames of one size. Any split gives the same frames."""

    def __init__(self, frame_samples: int) -> None:
        if frame_samples < 1:
            raise ValueError(f"frame_samples must be at least 1, got {frame_samples}")
        self._frame_samples = frame_samples
        self._rest = empty()

    @property
    def pending_samples(self) -> int:
        """Samples that wait for the rest of their frame."""
        return len(self._rest)

    def push(self, block: Block) -> Iterator[Block]:
        """Add `block` float32 [samples] and yield each complete frame float32 [frame_samples]."""
        joined = np.concatenate([self._rest, block]) if len(self._rest) else block
        whole = len(joined) - len(joined) % self._frame_samples
        self._rest = joined[whole:].copy()
        for start in range(0, whole, self._frame_samples):
            yield joined[start : start + self._frame_samples]

    def flush(self) -> Iterator[Block]:
        """Yield the last, incomplete frame padded with zeros, if there is one; start afresh."""
        if len(self._rest):
            frame = np.zeros(self._frame_samples, dtype=np.float32)
            frame[: len(self._rest)] = self._rest
            self._rest = empty()
            yield frame


class Resampler:
    """Changes the rate of a stream. Stateful: any split into blocks gives the same samples.

    Equal rates pass through untouched. Filter: soxr "HQ", band-limited sinc.
    """

    def __init__(self, in_hz: int, out_hz: int) -> None:
        if in_hz < 1 or out_hz < 1:
            raise ValueError(f"rates must be positive, got {in_hz} and {out_hz} Hz")
        self.in_hz = in_hz
        self.out_hz = out_hz
        self.reset()

    def reset(self) -> None:
        """Forget the stream so far."""
        self._stream = None
        if self.in_hz != self.out_hz:
            import soxr

            self._stream = soxr.ResampleStream(
                self.in_hz, self.out_hz, 1, dtype="float32", quality="HQ"
            )

    def push(self, block: Block) -> Block:
        """Resample `block` float32 [samples at in_hz]; returns what is ready, at out_hz."""
        if self._stream is None:
            return block
        if len(block) == 0:
            return empty()
        return np.asarray(self._stream.resample_chunk(block), dtype=np.float32)

    def flush(self) -> Block:
        """The samples still inside the filter; the next push starts a new stream."""
        if self._stream is None:
            return empty()
        tail = np.asarray(self._stream.resample_chunk(empty(), last=True), dtype=np.float32)
        self.reset()
        return tail


def resample(samples: Block, in_hz: int, out_hz: int) -> Block:
    """Resample a whole recording float32 [samples at in_hz] to float32 [samples at out_hz]."""
    resampler = Resampler(in_hz, out_hz)
    return np.concatenate([resampler.push(samples), resampler.flush()])


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
    import soundfile

    with _opened(path) as source:
        try:
            samples, file_hz = soundfile.read(source, dtype="float32", always_2d=True)
        except (soundfile.SoundFileError, TypeError, ValueError) as error:
            reason = str(error).split(": ")[-1].rstrip(".")
            raise AudioError(
                f"{path}: not readable as audio ({reason}). Convert it to WAV."
            ) from error
    if not len(samples):
        raise AudioError(f"{path}: holds no audio samples.")
    if not MIN_FILE_HZ <= file_hz <= MAX_FILE_HZ:
        raise AudioError(
            f"{path}: says that it has {file_hz} samples a second, which no recording has "
            f"({MIN_FILE_HZ} to {MAX_FILE_HZ}). Its header is damaged: export it again."
        )
    samples = np.asarray(samples, dtype=np.float32)
    if not np.isfinite(samples).all():
        raise AudioError(f"{path}: holds samples that are not finite numbers.")
    mono = downmix(samples, file_hz)
    if rate_hz is not None and rate_hz != file_hz:
        return resample(mono, file_hz, rate_hz), rate_hz
    return mono, int(file_hz)


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


def write_wav(path: str | Path, samples: npt.NDArray[np.float32], rate_hz: int) -> None:
    """Write float32 [samples] or [samples, channels] as a 16-bit WAV file, whatever its name.

    Raises:
        AudioError: the file cannot be written.
    """
    write_encoded(path, samples, rate_hz, "WAV", "PCM_16")


def write_encoded(
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
