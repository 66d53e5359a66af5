"""What a satellite says of itself."""

from __future__ import annotations

from wyoming.info import Info

from s2s.transport.wyoming.satellite.config import SatelliteConfig
from s2s.transport.wyoming.satellite.description import described_satellite


def test_it_is_a_satellite_with_its_wake_words_and_nothing_else() -> None:
    """Home Assistant loads none of the services of who is a satellite."""
    told = described_satellite(SatelliteConfig(name="Hall"), ["okay_nabu", "alexa"])
    info = Info.from_event(told.event())
    assert info.satellite is not None
    assert (info.satellite.name, info.satellite.area) == ("Hall", None)
    assert info.satellite.has_vad
    assert info.satellite.max_active_wake_words == 2
    assert [model.phrase for model in info.wake[0].models] == ["okay nabu", "alexa"]
    assert info.asr == info.tts == info.handle == []
