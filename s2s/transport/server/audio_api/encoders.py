"""Sound to bytes as it is made: the formats of `/v1/audio/speech`. Knows no HTTP."""

from __future__ import annotations

import io
import struct
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from s2s.core.audio import Block, Resampler, to_int16

RATE_HZ = 24_000
"""Of everything that is sent, as the API has it."""

_UNKNOWN = 0xFFFFFFFF
"""The length of what is still being made, in a WAV header."""


@dataclass(frozen=True, slots=True)
class SpeechFormat:
    """A form in which speech is sent."""

    media_type: str
    container: str = ""
    """libsndfile's word for it; "": bare samples, with or without a header."""
    subtype: str = ""


SPEECH_FORMATS = {
    "mp3": SpeechFormat("audio/mpeg", "MP3", "MPEG_LAYER_III"),
    "opus": SpeechFormat("audio/ogg", "OGG", "OPUS"),
    "flac": SpeechFormat("audio/flac", "FLAC", "PCM_16"),
    "wav": SpeechFormat("audio/wav"),
    "pcm": SpeechFormat("audio/pcm"),
}
"""By the name that clients use."""


class Encoder(Protocol):
    """One answer's sound, float32 [samples at `RATE_HZ`] in, bytes out. For one thread."""

    def push(self, block: Block) -> bytes:
        """What can be sent by now; may be empty."""
        ...

    def finish(self) -> bytes:
        """The rest."""
        ...


class BareEncoder:
    """16-bit samples, little-endian, behind a WAV header or nothing."""

    def __init__(self, *, header: bool) -> None:
        self._head = wav_header(RATE_HZ) if header else b""

    def push(self, block: Block) -> bytes:
        """See `Encoder`."""
        head, self._head = self._head, b""
        return head + to_int16(block).astype("<i2").tobytes()

    def finish(self) -> bytes:
        """See `Encoder`."""
        head, self._head = self._head, b""
        return head


def wav_header(rate_hz: int) -> bytes:
    """Of a WAV file of one channel and 16 bits whose length is not yet known."""
    head = struct.pack("<4sI4s4sIHHIIHH", b"RIFF", _UNKNOWN, b"WAVE", b"fmt ", 16, 1, 1,
                       rate_hz, 2 * rate_hz, 2, 16)  # fmt: skip
    return head + struct.pack("<4sI", b"data", _UNKNOWN)


class _Growing(io.BytesIO):
    """A file that libsndfile writes and that is read as it grows.

    At the end libsndfile goes back and writes lengths into the beginning; what has been sent by
    then stays as it was.
    """

    def __init__(self) -> None:
        super().__init__()
        self._taken = 0

    def take(self) -> bytes:
        """What was added since the last call."""
        new = self.getvalue()[self._taken :]
        self._taken += len(new)
        return new


MP3_COMPRESSION = 0.5
"""libsndfile's level: 80 kbit/s at 24 kHz."""


class FileEncoder:
    """A format of libsndfile.

    FLAC comes at its end, and MP3 has one bit rate throughout:
    docs/decisions/flac-comes-at-its-end.md.
    """

    def __init__(self, chosen: SpeechFormat) -> None:
        import soundfile

        self._file = _Growing()
        is_mp3 = chosen.container == "MP3"
        self._sound = soundfile.SoundFile(
            self._file,
            "w",
            RATE_HZ,
            1,
            chosen.subtype,
            format=chosen.container,
            compression_level=MP3_COMPRESSION if is_mp3 else None,
            bitrate_mode="CONSTANT" if is_mp3 else None,
        )
        self._whole = self._as_int = chosen.container == "FLAC"

    def push(self, block: Block) -> bytes:
        """See `Encoder`."""
        if len(block):
            self._sound.write(to_int16(block) if self._as_int else np.clip(block, -1.0, 1.0))
        return b"" if self._whole else self._file.take()

    def finish(self) -> bytes:
        """See `Encoder`."""
        self._sound.close()
        return self._file.take()


def encoder(name: str) -> Encoder:
    """One for a format of `SPEECH_FORMATS`."""
    chosen = SPEECH_FORMATS[name]
    return FileEncoder(chosen) if chosen.container else BareEncoder(header=name == "wav")


class Resampled:
    """An encoder that takes sound of another rate."""

    def __init__(self, inner: Encoder, rate_hz: int) -> None:
        self._inner = inner
        self._resampler = None if rate_hz == RATE_HZ else Resampler(rate_hz, RATE_HZ)
        self.samples = 0
        """At `RATE_HZ`, so far."""

    def push(self, block: Block) -> bytes:
        """See `Encoder`."""
        if self._resampler is not None:
            block = self._resampler.push(block)
        self.samples += len(block)
        return self._inner.push(block)

    def finish(self) -> bytes:
        """See `Encoder`."""
        rest = b""
        if self._resampler is not None:
            last = self._resampler.flush()
            self.samples += len(last)
            rest = self._inner.push(last)
        return rest + self._inner.finish()
