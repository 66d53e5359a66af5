"""The echo that the doctor hears: found where it is, and nowhere else."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from s2s.app.doctor.echo import HIGH_HZ, LEVEL, SWEEP_S, echo_finding, echo_of, measured, sweep
from s2s.core.audio import Block
from s2s.core.clock import ManualClock
from s2s.transport.local import LocalConfig
from tests.support.sound_server import SoundServer
from tests.transport.test_local import FakePortAudio, device

HZ = 16_000
NOISE = np.random.default_rng(2).normal(0, 1, 2 * HZ).astype(np.float32)


def room(delay_ms: float, level_db: float, noise: float = 0.001) -> Block:
    """Two seconds in which the sweep comes back: with two reflections, float32 [samples]."""
    heard = noise * NOISE
    played = sweep(HZ) * 10 ** (level_db / 20)
    for later_ms, part in ((0, 1.0), (4, 0.2), (11, -0.1)):
        at = int((delay_ms + later_ms) * HZ / 1000)
        heard[at : at + len(played)] += np.float32(part) * played
    return heard.astype(np.float32)


@pytest.mark.parametrize("rate_hz", [16_000, 24_000, 44_100, 48_000])
def test_the_sweep_is_soft_and_rises_and_does_not_click(rate_hz: int) -> None:
    sound = sweep(rate_hz)
    assert len(sound) == int(SWEEP_S * rate_hz)
    assert 0.9 * LEVEL < np.abs(sound).max() <= LEVEL
    assert abs(sound[0]) + abs(sound[-1]) < 1e-4
    assert np.abs(np.diff(sound)).max() <= LEVEL * 2 * np.pi * HIGH_HZ / rate_hz


@pytest.mark.parametrize("delay_ms", [5.0, 120.0, 480.0])
@pytest.mark.parametrize("level_db", [-30.0, -10.0, 3.0])
def test_an_echo_is_found_with_its_delay_and_level(delay_ms: float, level_db: float) -> None:
    echo = echo_of(sweep(HZ), room(delay_ms, level_db), HZ)
    assert echo is not None
    assert echo.delay_ms == pytest.approx(delay_ms, abs=0.2)
    assert echo.level_db == pytest.approx(level_db, abs=1.5)


@pytest.mark.parametrize(
    "heard",
    [np.zeros(2 * HZ, np.float32), 0.01 * NOISE, room(50.0, -80.0), np.zeros(10, np.float32)],
    ids=["silence", "noise", "far below the noise", "cut short"],
)
def test_what_is_not_certain_is_no_echo(heard: Block) -> None:
    assert echo_of(sweep(HZ), heard, HZ) is None


def test_what_is_said_of_it() -> None:
    found = echo_finding(echo_of(sweep(HZ), room(120.0, -20.0), HZ), "Box", "Mic")
    assert "Mic hears Box at -20 dB after 120 ms" in found.what
    assert (found.area, found.values["heard"]) == ("echo", True)
    loud = echo_finding(echo_of(sweep(HZ), room(20.0, 6.0), HZ), "Box", "Mic")
    assert "turn the loudspeaker down" in loud.remedy
    none = echo_finding(None, "Box", "Mic")
    assert none.values["heard"] is False
    assert "headphones" in none.what


def test_without_devices_it_is_said_why() -> None:
    none = FakePortAudio([], (-1, -1))
    found = measured(LocalConfig(), ManualClock(), cast(Any, none))
    assert (found.state, found.area) == ("warning", "echo")
    busy = FakePortAudio([device("Mic", 1, 0), device("Box", 0, 2)])
    busy.busy = True
    assert "cannot be opened" in measured(LocalConfig(), ManualClock(), cast(Any, busy)).what


class LoopedPortAudio(FakePortAudio):
    """The microphone hears the loudspeaker 60 ms later and at half its amplitude. It is played and
    heard whenever the clock is looked at."""

    def __init__(self) -> None:
        super().__init__([device("Mic", 1, 0), device("Box", 0, 2)])
        self.clock = ManualClock()
        self.air = np.zeros(int(0.06 * 48_000), dtype=np.float32)

    def start(self) -> None:
        """Let a hundredth of a second pass after the other."""

        def play() -> None:
            for step in range(400):
                self.clock.wait_until(0.01 * (step + 1))
                if len(self.streams) == 2:
                    heard, self.air = self.air[:480], self.air[480:]
                    played = self.cycle(heard)[:, 0]
                    self.air = np.concatenate([self.air, 0.5 * played])

        self.clock.start(play, "s2s-test")


def test_it_is_measured_through_the_devices() -> None:
    looped = LoopedPortAudio()
    looped.start()
    found = measured(LocalConfig(), looped.clock, cast(Any, looped))
    looped.clock.wait_until(5.0)  # the thread that plays ends
    assert found.values["heard"] is True
    assert found.values["level_db"] == pytest.approx(-6.0, abs=1.0)
    assert found.values["delay_ms"] == pytest.approx(60.0, abs=25.0)
    assert looped.streams == []


@pytest.fixture
def server(tmp_path: Path) -> Iterator[SoundServer]:
    server = SoundServer(tmp_path)
    yield server
    server.close()


def doctor(server: SoundServer, *arguments: str) -> list[dict[str, Any]]:
    """What `doctor --json` finds at a sound server."""
    done = subprocess.run(
        [sys.executable, "-m", "s2s", "doctor", "--json", *arguments],
        env=server.environment | {"HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    return json.loads(done.stdout)["findings"]


@pytest.mark.pulse
@pytest.mark.timeout(240)
def test_a_real_sound_server_tells_level_and_echo(server: SoundServer) -> None:
    [level] = [each for each in doctor(server) if each["area"] == "level"]
    assert "nothing but zeros" in level["what"], "nobody speaks in the room"
    assert not [each for each in doctor(server) if "hears" in each["what"]], "only when it is asked"
    heard = [each for each in doctor(server, "--sound") if each["area"] == "echo"]
    assert heard[-1]["values"]["heard"] is False
    server.loop_back(40, -12.0)
    heard = [each for each in doctor(server, "--sound") if each["area"] == "echo"]
    assert heard[-1]["values"]["heard"] is True
    assert heard[-1]["values"]["level_db"] == pytest.approx(-12.0, abs=2.0)
