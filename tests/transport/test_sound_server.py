"""Whole conversations with real models through a real sound server: slow devices, devices that are
unplugged and come back at another rate, a loudspeaker that the microphone hears."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from s2s.bench.interruptions import voice
from s2s.core.audio import PIPELINE_HZ, rms_db, write_wav
from s2s.models.resources import Resources
from s2s.models.store import Store
from tests.support.recordings import DATA
from tests.support.sound_server import RATE_HZ, Program, SoundServer

pytestmark = [pytest.mark.pulse, pytest.mark.models, pytest.mark.timeout(240)]

QUESTION = DATA / "something.wav"
HEARD = "you  Go somewhere and do something."
ANSWERED = "ms after you stopped"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[SoundServer]:
    server = SoundServer(tmp_path)
    yield server
    server.close()


@pytest.fixture
def program(server: SoundServer) -> Iterator[Program]:
    program = Program(server)
    yield program
    program.kill()


def asked(server: SoundServer, program: Program) -> None:
    """Ask, and wait until the answer was played."""
    server.say(QUESTION)
    program.wait_for(HEARD)
    program.wait_for(ANSWERED)


def loud_s(block: np.ndarray) -> float:
    """Seconds of a recording that are no silence."""
    frames = block[: len(block) // 240 * 240].reshape(-1, 240)
    return sum(rms_db(frame) > -50 for frame in frames) * 240 / RATE_HZ


def test_a_conversation_through_a_sound_server(server: SoundServer, program: Program):
    program.wait_for("ready in")
    with server.recorded() as recorded:
        asked(server, program)
    assert loud_s(recorded[0]) > 0.5
    assert program.end() == 0
    shown = "".join(program.lines)
    assert "no more sound" not in shown
    assert "interrupted" not in shown
    assert "is quiet" not in shown


@pytest.mark.parametrize("sinks", [("box",), ("room",), ("room", "box")], ids="+".join)
def test_a_device_that_sleeps_at_the_start_wakes_up(server: SoundServer, sinks: tuple[str, ...]):
    """Its streams stand still for as long as a recording of three seconds takes elsewhere."""
    server.plug("clock", 48_000)
    for sink in sinks:
        server.suspend(sink, on=True)
    with server.until_something_records():
        program = Program(server)
    try:
        server.wait_a_recording("clock", QUESTION)
        for sink in sinks:
            server.suspend(sink, on=False)
        program.wait_for("ready in")
        with server.recorded() as recorded:
            asked(server, program)
        assert loud_s(recorded[0]) > 0.5
        assert program.end() == 0
        assert "no more sound" not in "".join(program.lines)
    finally:
        program.kill()


@pytest.mark.parametrize("rate_hz", [44_100, 16_000])
def test_devices_that_were_unplugged_come_back_at_another_rate(
    server: SoundServer, program: Program, rate_hz: int
):
    """Both: of one alone the sound server moves the stream to the other sink."""
    program.wait_for("ready in")
    asked(server, program)
    for sink in ("room", "box"):
        server.unplug(sink)
    program.wait_for("no more sound")
    for sink in ("room", "box"):
        server.plug(sink, rate_hz)
    server.control("set-default-sink", "box")
    server.control("set-default-source", "room.monitor")
    program.wait_for("sound is back")
    with server.recorded() as recorded:
        asked(server, program)
    assert loud_s(recorded[0]) > 0.5
    assert program.end() == 0


def test_a_loudspeaker_in_the_microphone_interrupts_nobody(server: SoundServer, program: Program):
    server.loop_back()
    program.wait_for("ready in")
    with server.recorded() as recorded:
        asked(server, program)
        asked(server, program)
    assert loud_s(recorded[0]) > 1.0
    assert program.end() == 0
    shown = "".join(program.lines)
    assert shown.count("you  ") == shown.count(HEARD) == 2
    if "underrun" not in shown:  # where the machine is too busy for the device, no echo is known
        assert "interrupted" not in shown


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A question with a long answer, and an order, by a voice that is not the assistant's."""
    folder = tmp_path_factory.mktemp("spoken")
    say = voice("hibari-slow", Resources(Store(), 1))
    files: dict[str, Path] = {}
    for name, text in (
        ("question", "Please tell me a long story about whales."),
        ("order", "That is enough for today, please stop talking now."),
    ):
        files[name] = folder / f"{name}.wav"
        quiet = np.zeros(PIPELINE_HZ // 10, dtype=np.float32)
        write_wav(files[name], np.concatenate([quiet, say(text), quiet]), PIPELINE_HZ)
    return files


ECHO_DB = -10.0
"""Of the loudspeaker in the microphone, where the person speaks as loud as it."""


@pytest.mark.parametrize("latency_ms", [20, 120, 250])
def test_an_order_is_heard_beside_an_open_loudspeaker(
    server: SoundServer, program: Program, spoken: dict[str, Path], latency_ms: int
):
    """At the first answer, when the room is not known yet, and at the second."""
    server.plug("clock", 48_000)
    server.loop_back(latency_ms, ECHO_DB)
    program.wait_for("ready in")
    for _ in range(2):
        server.say(spoken["question"])
        program.wait_for("s2s  ")
        server.wait_a_recording("clock", QUESTION)
        server.say(spoken["order"])
        program.wait_for("(interrupted")
    assert program.end() == 0
