"""Sound as the protocol carries it: PCM of any rate, width and number of channels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from wyoming.event import Event

from s2s.core.audio import PIPELINE_HZ, Block, Resampler, to_int16
from s2s.transport.wyoming.framing import WireFault

CHUNK_SAMPLES = 2048
"""Of what is sent: at 24 kHz 85 ms."""
LOWEST_HZ, HIGHEST_HZ = 4_000, 192_000
MOST_CHANNELS = 8


class PcmStream:
    """Sound that comes in chunks; its format may change within.

    Args:
        rate_hz: at which it is wanted.
    """

    def __init__(self, rate_hz: int = PIPELINE_HZ) -> None:
        self._rate_hz = rate_hz
        self._format: tuple[int, int, int] | None = None
        self._resampler = Resampler(rate_hz, rate_hz)
        self._rest = b""

    def push(self, event: Event) -> Block:
        """The sound of an `audio-chunk`, float32 [samples].

        Raises:
            WireFault: its format cannot be.
        """
        found = _format(event)
        if found != self._format:
            self._format, self._rest = found, b""
            self._resampler = Resampler(found[0], self._rate_hz)
        _, width, channels = found
        data = self._rest + (event.payload or b"")
        whole = len(data) - len(data) % (width * channels)
        self._rest = data[whole:]
        samples = _samples(data[:whole], width).reshape(-1, channels)
        return self._resampler.push(samples.mean(axis=1, dtype=np.float32))

    def flush(self) -> Block:
        """What is still inside the filter."""
        return self._resampler.flush()


def pcm_chunks(block: Block) -> Iterator[bytes]:
    """Float32 [samples] as little-endian 16-bit PCM, in pieces."""
    samples = to_int16(block).astype("<i2")
    for start in range(0, len(samples), CHUNK_SAMPLES):
        yield samples[start : start + CHUNK_SAMPLES].tobytes()


def _format(event: Event) -> tuple[int, int, int]:
    """Rate, width and channels."""
    values: list[object] = [event.data.get(name) for name in ("rate", "width", "channels")]
    rate_hz, width, channels = (each if isinstance(each, int) else -1 for each in values)
    fits = LOWEST_HZ <= rate_hz <= HIGHEST_HZ and width in (2, 3, 4)
    if not (fits and 1 <= channels <= MOST_CHANNELS):
        raise WireFault(
            "bad_audio",
            f"Sound of rate {values[0]}, width {values[1]} and {values[2]} channels cannot be "
            "heard: send PCM of 16000 Hz, 2 bytes and 1 channel.",
        )
    return rate_hz, width, channels


def _samples(data: bytes, width: int) -> Block:
    """Interleaved PCM, little-endian, as float32 within -1 to 1."""
    match width:
        case 2:
            samples, full = np.frombuffer(data, "<i2"), 2.0**15
        case 3:
            wide = np.zeros((len(data) // 3, 4), np.uint8)
            wide[:, 1:] = np.frombuffer(data, np.uint8).reshape(-1, 3)
            samples, full = wide.reshape(-1).view("<i4"), 2.0**31
        case _:
            samples, full = np.frombuffer(data, "<i4"), 2.0**31
    return (samples / full).astype(np.float32)
