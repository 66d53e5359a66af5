"""Devices that start slowly, stall, end, or come back as another: one side never stops the other,
and what was said meanwhile is heard."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

from s2s.core.audio import Block
from s2s.core.clock import ManualClock
from s2s.core.messages import AudioIn, ResponseId
from s2s.transport.local import LocalConfig, LocalTransport
from s2s.transport.sides import STALL_S
from tests.transport.test_local import FakePortAudio, PortAudioError, device

RESPONSE = ResponseId("t", 0, 0, "r")
STEP_S = 0.01
Stalls = dict[str, list[tuple[float, float]]]
"""Side ("in", "out") to the times in which its callback does not come."""


class Card:
    """A fake sound card in simulated time: a ramp in the microphone, 1 a second, and all that was
    played. Each side works but in its stalls."""

    def __init__(self, **options: Any) -> None:
        self.clock = ManualClock()
        self.fake = FakePortAudio([device("Mic", 1, 0), device("Box", 0, 2)])
        self.notices: list[str] = []
        self.heard: list[AudioIn] = []
        self.played: list[tuple[float, Block]] = []
        """(rate in Hz, samples) of each callback."""
        self.local = LocalTransport(
            LocalConfig(echo="off", **options),
            self.clock,
            self.notices.append,
            sounddevice=cast(Any, self.fake),
        )
        self.clock.start(lambda: self.local.run(self.heard.append, lambda: True), "transport")
        self.clock.wait_until(0.001)

    def play(self, until_s: float, stalls: Stalls | None = None) -> None:
        while self.clock.now() < until_s:
            now_s = self.clock.now()
            for stream in list(self.fake.streams):
                if any(a <= now_s < b for a, b in (stalls or {}).get(stream.kind, [])):
                    continue
                count = round(stream.samplerate * STEP_S)
                if stream.kind == "in":
                    ramp = (now_s + np.arange(count) / stream.samplerate) / 1000
                    stream.callback(ramp.astype(np.float32)[:, None], count, None, 0)
                else:
                    out = np.full((count, 2), np.nan, dtype=np.float32)
                    stream.callback(out, count, None, 0)
                    self.played.append((stream.samplerate, out[:, 0]))
            self.clock.wait_until(now_s + STEP_S)

    def end(self) -> None:
        self.local.stop()
        self.clock.wait_until(self.clock.now() + 0.2)

    def opened(self, kind: str) -> int:
        return sum(stream.kind == kind for stream in self.fake.opened)

    def heard_s(self) -> list[float]:
        """When each window that was heard was captured, by what is in it."""
        return [1000 * float(np.median(each.block)) for each in self.heard]


@pytest.fixture
def card() -> Card:
    return Card()


@pytest.mark.parametrize("kind", ["in", "out"])
@pytest.mark.parametrize("delay_s", [0.5, 1.3, 1.9, 3.0, STALL_S - 0.2])
@pytest.mark.parametrize("when", ["at the start", "after the first callback", "later"])
def test_a_device_has_time(card: Card, kind: str, delay_s: float, when: str) -> None:
    start = {"at the start": 0.0, "after the first callback": 0.02, "later": 3.0}[when]
    card.play(10.0, {kind: [(start, start + delay_s)]})
    card.end()
    assert card.notices == []
    assert (card.opened("in"), card.opened("out")) == (1, 1)
    quiet = start, start + (delay_s if kind == "in" else 0.0)
    wanted = np.arange(0.1, 9.8, 0.1)
    heard = np.array(card.heard_s())
    for at_s in wanted:
        if not quiet[0] - 0.05 <= at_s <= quiet[1] + 0.05:
            assert np.abs(heard - at_s).min() < 0.05, at_s


@pytest.mark.parametrize("kind", ["in", "out"])
@pytest.mark.parametrize("start_s", [0.0, 2.0])
@pytest.mark.parametrize("again_s", [0.0, 1.9, STALL_S - 0.5])
def test_a_side_that_stalls_is_opened_again_and_the_other_goes_on(
    card: Card, kind: str, start_s: float, again_s: float
) -> None:
    """It is lost for good, and after it was opened again it takes `again_s` to start."""
    other = {"in": "out", "out": "in"}[kind]
    ready_s = start_s + STALL_S + 0.2 + again_s
    card.play(ready_s + 3.0, {kind: [(start_s, ready_s)]})
    card.end()
    assert [("no more sound" in text, "sound is back" in text) for text in card.notices] == [
        (True, False),
        (False, True),
    ]
    assert card.opened(kind) == 2
    assert card.opened(other) == 1
    heard = np.array(card.heard_s())
    for at_s in np.arange(0.1, ready_s + 2.8, 0.1):
        if kind == "out" or not start_s - 0.05 <= at_s <= ready_s + 0.25:
            assert np.abs(heard - at_s).min() < 0.05, at_s
    for each in card.heard:
        assert each.captured_at_s == pytest.approx(1000 * float(each.block[-1]), abs=0.15)


def test_an_answer_waits_for_a_slow_loudspeaker(card: Card) -> None:
    tone = np.full(24_000, 0.25, dtype=np.float32)
    card.local.playback.write(tone, RESPONSE, "hello", stale=lambda: False)
    card.play(4.0, {"out": [(0.0, 1.9)]})
    card.end()
    sound = np.concatenate([samples for _, samples in card.played])
    assert np.count_nonzero(sound == 0.25) == 24_000


@pytest.mark.parametrize("kind", ["in", "out"])
def test_a_stream_that_ended_is_not_waited_for(card: Card, kind: str) -> None:
    card.play(1.0)
    (stream,) = [each for each in card.fake.streams if each.kind == kind]
    stream.active = False
    card.play(1.5)
    card.end()
    assert card.opened(kind) == 2
    assert "no more sound" in card.notices[0]
    assert "sound is back" in card.notices[-1]


@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 44_100, 48_000, 96_000])
@pytest.mark.parametrize("kind", ["in", "out"])
def test_a_device_comes_back_at_another_rate(card: Card, kind: str, rate_hz: int) -> None:
    card.play(1.0)
    card.fake.plugged = False
    for stream in card.fake.streams:
        stream.active = False
    card.play(1.5)
    index = {"in": 0, "out": 1}[kind]
    card.fake.devices[index]["default_samplerate"] = float(rate_hz)
    card.fake.plugged = True
    card.play(6.0)
    assert "sound is back" in card.notices[-1]
    assert card.fake.looks >= 1
    heard = np.array(card.heard_s())
    assert np.abs(heard - 5.5).min() < 0.05
    card.played.clear()
    t = np.arange(48_000) / 48_000
    tone = (0.25 * np.sin(2 * np.pi * 440 * t)).astype(np.float32)
    card.local.playback.write(tone, RESPONSE, "hello", stale=lambda: False)
    card.play(8.0)
    card.end()
    now_hz = float(rate_hz) if kind == "out" else 48_000.0
    assert {hz for hz, _ in card.played} == {now_hz}
    sound = np.concatenate([samples for _, samples in card.played])
    assert np.isfinite(sound).all()
    spectrum = np.abs(np.fft.rfft(sound))
    assert spectrum.argmax() * now_hz / len(sound) == pytest.approx(440, abs=2)
    assert np.count_nonzero(np.abs(sound) > 0.01) / now_hz == pytest.approx(1.0, abs=0.05)
    (report,) = [each for each in card.local.playback.reports() if each.what == "started"]
    assert report.response == RESPONSE


def test_while_there_is_no_loudspeaker_the_conversation_goes_on_in_writing(card: Card) -> None:
    card.play(1.0)
    card.fake.OutputStream = _unplugged  # type: ignore[method-assign]
    (stream,) = [each for each in card.fake.streams if each.kind == "out"]
    stream.active = False
    card.play(4.0)
    card.local.playback.write(
        np.full(48_000, 0.25, dtype=np.float32), RESPONSE, "hello", stale=lambda: False
    )
    card.local.playback.finish(RESPONSE)
    card.play(7.0)
    card.end()
    assert [each.what for each in card.local.playback.reports()] == ["started", "finished"]
    assert sum("no more sound" in text for text in card.notices) == 1
    heard = np.array(card.heard_s())
    for at_s in np.arange(0.2, 6.8, 0.1):
        assert np.abs(heard - at_s).min() < 0.05, at_s


def _unplugged(**_: Any) -> object:
    raise PortAudioError("Device unavailable")


def test_new_devices_are_looked_for_though_the_other_side_works(card: Card) -> None:
    card.play(1.0)
    card.fake.devices[1]["max_output_channels"] = 0
    before = card.fake.OutputStream
    card.fake.OutputStream = lambda **options: (  # type: ignore[method-assign]
        _unplugged() if options["device"] == 1 else before(**options)
    )
    (stream,) = [each for each in card.fake.streams if each.kind == "out"]
    stream.active = False
    card.play(8.0)
    card.fake.devices.append(device("Headphones", 0, 2, 44_100.0))
    card.fake.default.device = (0, 2)
    card.play(20.0)
    card.end()
    assert card.local.output.name == "Headphones"
    assert card.notices[-1] == "sound is back: Mic, Headphones"
    assert card.opened("in") <= 4


@pytest.mark.parametrize("refused", [{48_000.0}, {48_000.0, 44_100.0}])
def test_a_device_that_refuses_its_own_rate_is_opened_at_another(refused: set[float]) -> None:
    fake = FakePortAudio([device("Mic", 1, 0), device("Box", 0, 2)])
    fake.refused_hz = refused
    clock, heard = ManualClock(), []
    local = LocalTransport(
        LocalConfig(echo="off"), clock, lambda _: None, sounddevice=cast(Any, fake)
    )
    clock.start(lambda: local.run(heard.append, lambda: True), "transport")
    clock.wait_until(0.01)
    assert not {stream.samplerate for stream in fake.streams} & refused
    for _ in range(50):
        fake.cycle(np.zeros(441, dtype=np.float32))
        clock.wait_until(clock.now() + 0.01)
    local.stop()
    clock.wait_until(clock.now() + 0.2)
    assert heard


def _speech(samples: int) -> Block:
    random = np.random.default_rng(0)
    loud = (np.arange(samples) // 9_600) % 2
    return (random.standard_normal(samples) * (1e-5 + 0.2 * loud)).astype(np.float32)


@pytest.mark.parametrize(
    ("channels", "gain"),
    [
        ((1.0, -1.0), 1.0),
        ((0.0, 1.0), 1.0),
        ((1.0, 1.0), 1.0),
        ((1.0, -1.0), 0.004),
        ((1.0,), 0.004),
    ],
    ids=["opposite", "the right alone", "both", "opposite and quiet", "quiet"],
)
def test_a_microphone_is_heard_whatever_its_channels_and_level(
    channels: tuple[float, ...], gain: float
) -> None:
    fake = FakePortAudio([device("Mic", len(channels), 0), device("Box", 0, 2)])
    clock, heard, notices = ManualClock(), list[AudioIn](), list[str]()
    local = LocalTransport(
        LocalConfig(echo="off"), clock, notices.append, sounddevice=cast(Any, fake)
    )
    clock.start(lambda: local.run(heard.append, lambda: True), "transport")
    clock.wait_until(0.001)
    speech = gain * _speech(48_000 * 4)
    for start in range(0, len(speech), 480):
        fake.cycle(speech[start : start + 480, None] * np.array(channels, dtype=np.float32))
        clock.wait_until(clock.now() + 0.01)
    local.stop()
    clock.wait_until(clock.now() + 0.2)
    loudest = max(float(np.sqrt(np.mean(each.block**2))) for each in heard[-60:])
    assert loudest > 0.03
    assert any("'Mic' is quiet" in text for text in notices) == (gain < 1.0)
