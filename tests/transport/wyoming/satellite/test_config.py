"""Settings of the satellite that cannot be."""

from __future__ import annotations

from dataclasses import replace

import pytest

from s2s.transport.wyoming.satellite.config import SatelliteConfig


@pytest.mark.parametrize(
    ("name", "value"), [("port", 65_536), ("end_ms", 0), ("no_speech_s", 0.0), ("max_speech_s", -1)]
)
def test_what_cannot_be_is_told_by_its_name(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=name):
        replace(SatelliteConfig(), **{name: value})  # pyright: ignore[reportArgumentType]
