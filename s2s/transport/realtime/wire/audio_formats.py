"""Audio formats as they are written."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from s2s.transport.realtime.wire.model import WireModel

PCM_RATE_HZ = 24000
"""Of `audio/pcm` where no rate is given."""


class PcmFormat(WireModel):
    """Signed 16-bit little-endian samples, one channel. The real service knows 24 kHz only."""

    type: Literal["audio/pcm"] = "audio/pcm"
    rate: int = Field(default=PCM_RATE_HZ, ge=8000, le=96000)


class PcmuFormat(WireModel):
    """G.711 mu-law at 8 kHz, one byte a sample."""

    type: Literal["audio/pcmu"] = "audio/pcmu"


class PcmaFormat(WireModel):
    """G.711 A-law at 8 kHz, one byte a sample."""

    type: Literal["audio/pcma"] = "audio/pcma"


WireFormat = Annotated[PcmFormat | PcmuFormat | PcmaFormat, Field(discriminator="type")]


def format_rate_hz(audio_format: WireFormat) -> int:
    """Samples a second."""
    return audio_format.rate if isinstance(audio_format, PcmFormat) else 8000
