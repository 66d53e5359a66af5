"""What a satellite says of itself."""

from __future__ import annotations

from collections.abc import Iterable

from wyoming.info import Info, Satellite

from s2s import __version__
from s2s.transport.wyoming.description import SELF, wake_program
from s2s.transport.wyoming.satellite.config import SatelliteConfig


def described_satellite(config: SatelliteConfig, words: Iterable[str]) -> Info:
    """The answer to `describe`. words: the wake words that it listens for."""
    names = list(words)
    satellite = Satellite(
        name=config.name,
        attribution=SELF,
        installed=True,
        description="Microphone and loudspeaker of a machine with s2s",
        version=__version__,
        area=config.area or None,
        has_vad=True,
        active_wake_words=names,
        max_active_wake_words=len(names),
        supports_trigger=True,
    )
    return Info(satellite=satellite, wake=[wake_program(names)] if names else [])
