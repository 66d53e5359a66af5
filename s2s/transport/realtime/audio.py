"""Sound as a client sends and gets it: bytes of a format into blocks, and blocks into bytes.

Both ways are streams: any split into messages gives the same sound, and what is less than a sample
waits for the rest of it.
"""

from __future__ import annotations

import numpy as np

from s2s.core.audio import PIPELINE_HZ, Block, Resampler, empty, from_int16, to_int16
from s2s.transport.realtime.g711 import decoding, encoding
from s2s.transport.realtime.wire.audio_formats import (
    PcmaFormat,
    PcmFormat,
    WireFormat,
    format_rate_hz,
)


class SoundFromBytes:
    """What the client's microphone hears."""

    def __init__(self, audio_format: WireFormat, rate_hz: int = PIPELINE_HZ) -> None:
        self.format = audio_format
        self._resampler = Resampler(format_rate_hz(audio_format), rate_hz)
        self._odd = b""

    def push(self, data: bytes) -> Block:
        """The samples that `data` completes, float32 [samples] at the rate asked for."""
        if isinstance(self.format, PcmFormat):
            data = self._odd + data
            whole = len(data) - len(data) % 2
            self._odd = data[whole:]
            samples = np.frombuffer(data, "<i2", whole // 2).astype(np.int16, copy=False)
        else:
            law = "a" if isinstance(self.format, PcmaFormat) else "mu"
            samples = decoding(law)[np.frombuffer(data, dtype=np.uint8)]
        return self._resampler.push(from_int16(samples))

    def flush(self) -> Block:
        """The samples that are still inside the filter: a turn ends here."""
        return self._resampler.flush()

    def reset(self) -> None:
        """What comes next has nothing to do with what came."""
        self._odd = b""
        self._resampler.reset()


class SoundToBytes:
    """What the client's loudspeaker plays."""

    def __init__(self, audio_format: WireFormat) -> None:
        self.format = audio_format
        self._rate_hz = format_rate_hz(audio_format)
        self._resampler: Resampler | None = None

    def push(self, block: Block, rate_hz: int) -> bytes:
        """The bytes of float32 [samples] at `rate_hz`, as far as they are certain already."""
        tail = b""
        if self._resampler is None or self._resampler.in_hz != rate_hz:
            tail = self.flush()
            self._resampler = Resampler(rate_hz, self._rate_hz)
        return tail + self._bytes(self._resampler.push(block))

    def flush(self) -> bytes:
        """The last bytes; what comes next is a new stream."""
        return b"" if self._resampler is None else self._bytes(self._resampler.flush())

    def duration_ms(self, length: int) -> float:
        """How long so many bytes sound."""
        per_sample = 2 if isinstance(self.format, PcmFormat) else 1
        return 1000 * length / per_sample / self._rate_hz

    def _bytes(self, block: Block) -> bytes:
        samples = to_int16(block)
        if isinstance(self.format, PcmFormat):
            return samples.astype("<i2").tobytes()
        law = "a" if isinstance(self.format, PcmaFormat) else "mu"
        return encoding(law)[samples.view(np.uint16)].tobytes()


def whole_sound(block: Block, rate_hz: int, audio_format: WireFormat) -> bytes:
    """A whole recording float32 [samples] in a format."""
    if not len(block):
        return b""
    to_bytes = SoundToBytes(audio_format)
    return to_bytes.push(block, rate_hz) + to_bytes.flush()


def sound_of(data: bytes, audio_format: WireFormat) -> Block:
    """A whole recording in a format as float32 [samples] at 16 kHz."""
    from_bytes = SoundFromBytes(audio_format)
    if not data:
        return empty()
    return np.concatenate([from_bytes.push(data), from_bytes.flush()])
