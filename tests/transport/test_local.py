"""The sound card, played by a fake PortAudio: choosing devices, losing them, never blocking."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from s2s.core.audio import Block, rms_db
from s2s.core.clock import ManualClock
from s2s.core.messages import AudioIn, ResponseId
from s2s.transport.base import DeviceError
from s2s.transport.local import LocalConfig, LocalTransport

RESPONSE = ResponseId("t", 0, 0, "r")


class PortAudioError(Exception):
    """As sounddevice's."""


def device(name: str, inputs: int, outputs: int, rate: float = 48_000.0) -> dict[str, object]:
    return {
        "name": name,
        "max_input_channels": inputs,
        "max_output_channels": outputs,
        "default_samplerate": rate,
    }


class FakePortAudio:
    """Devices and streams; the test plays the sound card by calling `cycle`."""

    PortAudioError = PortAudioError

    def __init__(self, devices: list[dict[str, object]], default: tuple[int, int] = (0, 1)) -> None:
        self.devices = devices
        self.default = SimpleNamespace(device=default)
        self.streams: list[Any] = []
        self.opened: list[Any] = []
        """Every stream there ever was."""
        self.busy = False
        self.plugged = True
        self.refused_hz: set[float] = set()
        self.looks = 0
        """How often it was made to list its devices anew."""

    def _terminate(self) -> None:
        assert not self.streams, "a stream is open"

    def _initialize(self) -> None:
        self.looks += 1

    def query_devices(self) -> list[dict[str, object]]:
        return self.devices

    def InputStream(self, **options: Any) -> object:
        return self._stream("in", options)

    def OutputStream(self, **options: Any) -> object:
        return self._stream("out", options)

    def _stream(self, kind: str, options: dict[str, Any]) -> object:
        if self.busy or not self.plugged:
            raise PortAudioError("Device unavailable")
        if options["samplerate"] in self.refused_hz:
            raise PortAudioError("Invalid sample rate")
        stream = SimpleNamespace(kind=kind, active=False, closed=False, **options)
        stream.start = lambda: setattr(stream, "active", True)
        stream.close = lambda: (setattr(stream, "closed", True), self.streams.remove(stream))
        self.streams.append(stream)
        self.opened.append(stream)
        return stream

    def cycle(self, microphone: Block, *, but: str = "") -> Block:
        """One callback of each stream, `but` of one kind; returns what was played, float32
        [samples, channels]. The microphone's samples may have channels."""
        played = np.full((len(microphone), 2), np.nan, dtype=np.float32)
        for stream in list(self.streams):
            if stream.kind == but:
                continue
            if stream.kind == "in":
                sound = microphone if microphone.ndim == 2 else microphone[:, np.newaxis]
                stream.callback(sound, len(microphone), None, 0)
            else:
                stream.callback(played, len(played), None, 0)
        return played


DEVICES = [device("Laptop Mic", 1, 0), device("Laptop Speakers", 0, 2), device("USB Headset", 1, 2)]


def transport(
    fake: FakePortAudio, clock: ManualClock, notices: list[str] | None = None, **options: Any
) -> LocalTransport:
    config = LocalConfig(echo="off", **options)
    said = [] if notices is None else notices
    return LocalTransport(config, clock, said.append, sounddevice=cast(Any, fake))


def run(
    local: LocalTransport, clock: ManualClock, heard: Callable[[AudioIn], None]
) -> list[BaseException]:
    errors: list[BaseException] = []

    def body() -> None:
        try:
            local.run(heard, lambda: True)
        except DeviceError as error:
            errors.append(error)

    clock.start(body, "transport")
    return errors


def test_microphone_windows_come_at_16_khz_with_their_time() -> None:
    clock, fake = ManualClock(), FakePortAudio(DEVICES)
    local, heard = transport(fake, clock), []
    run(local, clock, heard.append)
    t = np.arange(48_000) / 48_000
    tone = (0.5 * np.sin(2 * np.pi * 440 * t)).astype(np.float32)
    for start in range(0, 48_000, 480):
        clock.wait_until(clock.now() + 0.01)
        fake.cycle(tone[start : start + 480])
    clock.wait_until(clock.now() + 0.05)
    local.stop()
    clock.wait_until(clock.now() + 0.1)
    assert {len(each.block) for each in heard} == {512}
    assert [each.end_sample for each in heard] == [512 * (n + 1) for n in range(len(heard))]
    samples = np.concatenate([each.block for each in heard])
    assert len(samples) > 15_000
    assert np.sqrt(np.mean(samples[1000:] ** 2)) == pytest.approx(0.5 / np.sqrt(2), abs=0.01)
    for each in heard[5:]:
        assert each.captured_at_s == pytest.approx(each.end_sample / 16_000, abs=0.03)


def test_playback_goes_to_every_channel_at_the_devices_rate() -> None:
    clock, fake = ManualClock(), FakePortAudio(DEVICES)
    local = transport(fake, clock)
    assert local.playback.rate_hz == 48_000
    run(local, clock, lambda window: None)
    clock.wait_until(0.01)
    local.playback.write(np.full(480, 0.25, dtype=np.float32), RESPONSE, "", stale=lambda: False)
    played = fake.cycle(np.zeros(480, dtype=np.float32))
    assert np.array_equal(played, np.full((480, 2), 0.25, dtype=np.float32))
    assert not fake.cycle(np.zeros(480, dtype=np.float32)).any()
    local.stop()
    clock.wait_until(clock.now() + 0.1)


def test_barge_in_is_silent_within_one_callback() -> None:
    clock, fake = ManualClock(), FakePortAudio(DEVICES)
    local = transport(fake, clock)
    run(local, clock, lambda window: None)
    clock.wait_until(0.01)
    local.playback.write(np.full(9_600, 0.25, dtype=np.float32), RESPONSE, "", stale=lambda: False)
    assert fake.cycle(np.zeros(480, dtype=np.float32)).all()
    local.playback.clear()
    assert not fake.cycle(np.zeros(480, dtype=np.float32)).any()
    local.stop()
    clock.wait_until(clock.now() + 0.1)


def test_a_busy_device_is_named_with_what_to_do() -> None:
    clock, fake = ManualClock(), FakePortAudio(DEVICES)
    local = transport(fake, clock)
    fake.busy = True
    errors = run(local, clock, lambda window: None)
    clock.wait_until(0.1)
    (error,) = errors
    assert "cannot be opened (Device unavailable): close the program that uses it" in str(error)


def test_noise_is_taken_out_where_it_is_asked_for() -> None:
    pytest.importorskip("pywebrtc_audio")

    def level(**options: Any) -> float:
        clock, fake = ManualClock(), FakePortAudio(DEVICES)
        local, heard = transport(fake, clock, **options), []
        run(local, clock, heard.append)
        random = np.random.default_rng(1)
        for _ in range(300):
            clock.wait_until(clock.now() + 0.01)
            fake.cycle((0.02 * random.standard_normal(480)).astype(np.float32))
        local.stop()
        clock.wait_until(clock.now() + 0.15)
        assert [each.end_sample for each in heard] == [512 * (n + 1) for n in range(len(heard))]
        return rms_db(np.concatenate([each.block for each in heard[-30:]]))

    assert level(suppress_noise=True) < level() - 4.0


def test_a_lost_device_is_waited_for_and_used_again() -> None:
    clock, fake, notices = ManualClock(), FakePortAudio(DEVICES), []
    local, heard = transport(fake, clock, notices), []
    run(local, clock, heard.append)
    clock.wait_until(0.01)
    fake.cycle(np.zeros(4800, dtype=np.float32))
    fake.plugged = False
    clock.wait_until(5.5)
    assert any("delivers no more sound" in text and "waiting" in text for text in notices)
    assert fake.streams == []
    fake.plugged = True
    clock.wait_until(7.6)
    before = len(heard)
    for _ in range(10):
        clock.wait_until(clock.now() + 0.01)
        fake.cycle(np.zeros(4800, dtype=np.float32))
    clock.wait_until(clock.now() + 0.11)
    assert any("sound is back" in text for text in notices)
    assert len(heard) > before
    assert [each.end_sample for each in heard] == [512 * (n + 1) for n in range(len(heard))]
    local.stop()
    clock.wait_until(clock.now() + 0.1)


@pytest.mark.parametrize(("kind", "name"), [("in", "Laptop Mic"), ("out", "Laptop Speakers")])
def test_a_lost_device_ends_the_session_when_configured(kind: str, name: str) -> None:
    clock, fake = ManualClock(), FakePortAudio(DEVICES)
    local = transport(fake, clock, when_lost="end")
    errors = run(local, clock, lambda window: None)
    clock.wait_until(0.01)
    for _ in range(60):
        fake.cycle(np.zeros(4800, dtype=np.float32), but=kind)
        clock.wait_until(clock.now() + 0.1)
    (error,) = errors
    assert name in str(error)
    assert "ending, as audio.when_lost says" in str(error)
    assert fake.streams == []


def test_stop_ends_at_once_and_closes_the_streams() -> None:
    clock, fake = ManualClock(), FakePortAudio(DEVICES)
    local = transport(fake, clock)
    run(local, clock, lambda window: None)
    clock.wait_until(0.01)
    assert len(fake.streams) == 2
    local.stop()
    clock.wait_until(0.02)
    assert fake.streams == []


def test_what_is_said_once_it_listens_waits_for_the_conversation() -> None:
    clock, fake = ManualClock(), FakePortAudio(DEVICES)
    local, heard = transport(fake, clock), list[AudioIn]()
    clock.start(local.listen, "listens")
    clock.wait_until(1.9)
    fake.cycle(np.full(48_000, 0.25, dtype=np.float32))
    clock.wait_until(2.0)
    assert len(fake.streams) == 2
    run(local, clock, heard.append)
    clock.wait_until(2.2)
    assert len(fake.opened) == 2
    assert len(heard) >= 30
    local.stop()
    clock.wait_until(2.4)
    local.close()
    assert fake.streams == []
