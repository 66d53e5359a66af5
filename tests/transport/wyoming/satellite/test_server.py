"""A satellite as Home Assistant meets it: the official client, a port, and a conversation."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager

import numpy as np
import pytest
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncTcpClient
from wyoming.event import Event
from wyoming.info import Describe, Info
from wyoming.ping import Ping, Pong
from wyoming.pipeline import PipelineStage, RunPipeline
from wyoming.satellite import PauseSatellite, RunSatellite

from s2s.core.audio import Block, to_int16
from s2s.core.clock import SystemClock
from s2s.testing.simulator import EnergyVad, tone
from s2s.transport.base import DeviceError
from s2s.transport.wyoming.config import WyomingConfig
from s2s.transport.wyoming.satellite.config import SatelliteConfig
from s2s.transport.wyoming.satellite.server import SatelliteEars, SatelliteServer
from tests.support.satellite import BeepWord, Room, beep, said, silence
from tests.support.wyoming import WAIT_S


@contextmanager
def satellite(room: Room) -> Generator[SatelliteServer]:
    """On a free port, in a thread of this process."""
    config = SatelliteConfig(port=0, area="Kitchen")
    wyoming = WyomingConfig(zeroconf=False, satellite=config)
    ears = SatelliteEars({"beep": BeepWord()}, EnergyVad(), 6.0)
    server = SatelliteServer(wyoming, room, ears, SystemClock())
    listens = threading.Event()
    server.ready = listens.set
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        assert listens.wait(WAIT_S)
        yield server
    finally:
        server.stop()
        thread.join(WAIT_S)
        assert not thread.is_alive()


class HomeAssistant:
    """What its integration does with a satellite, by the official client."""

    def __init__(self, client: AsyncTcpClient) -> None:
        self.client = client
        self.got: list[Event] = []

    async def until(self, kind: str) -> Event:
        """The next event of that type; what comes before is kept in `got`."""
        while True:
            event = await asyncio.wait_for(self.client.read_event(), WAIT_S)
            assert event is not None
            self.got.append(event)
            if event.type == kind:
                return event

    async def begin(self) -> None:
        """Have the satellite run, and know that it does."""
        await self.client.write_event(RunSatellite().event())
        await self.client.write_event(Ping().event())
        await self.until("pong")

    async def answer(self, sound: Block) -> None:
        """Send its speech, as fast as it goes."""
        pcm = to_int16(sound)
        await self.client.write_event(AudioStart(22_050, 2, 1, timestamp=0).event())
        for at in range(0, len(pcm), 1024):
            chunk = AudioChunk(22_050, 2, 1, pcm[at : at + 1024].tobytes())
            await self.client.write_event(chunk.event())
        await self.client.write_event(AudioStop().event())


def met(
    room: Room, script: Callable[[HomeAssistant, int], Coroutine[object, object, None]]
) -> None:
    """Home Assistant meets the satellite."""

    async def main(port: int) -> None:
        async with AsyncTcpClient("127.0.0.1", port) as client:
            await script(HomeAssistant(client), port)

    with satellite(room) as server:
        asyncio.run(main(server.port))


def test_it_says_what_it_is_and_that_it_is_there() -> None:
    async def script(home: HomeAssistant, _port: int) -> None:
        await home.client.write_event(Describe().event())
        info = Info.from_event(await home.until("info"))
        assert info.satellite is not None
        assert info.satellite.name == "s2s satellite"
        assert info.satellite.area == "Kitchen"
        assert info.satellite.active_wake_words == ["beep"]
        assert info.wake[0].models[0].phrase == "beep"
        assert not info.asr
        await home.client.write_event(Ping("are you there").event())
        assert Pong.from_event(await home.until("pong")).text == "are you there"

    met(Room(), script)


def test_one_asks_and_hears_the_answer() -> None:
    """A whole run of a pipeline, and the next one."""
    room = Room()

    async def script(home: HomeAssistant, _port: int) -> None:
        await home.begin()
        for _ in range(2):
            home.got.clear()
            room.say(np.concatenate([beep(), silence(0.3), said()]))
            run = RunPipeline.from_event(await home.until("run-pipeline"))
            assert (run.start_stage, run.end_stage) == (PipelineStage.ASR, PipelineStage.TTS)
            await home.until("streaming-stopped")
            kinds = [event.type for event in home.got]
            assert kinds[:3] == ["detection", "run-pipeline", "streaming-started"]
            assert kinds[-2:] == ["audio-stop", "streaming-stopped"]
            assert kinds.count("audio-chunk") > 40
            before_s = room.heard_s
            await home.answer(np.full(2 * 22_050, 0.3, np.float32))
            await home.until("played")
            assert room.heard_s - before_s == pytest.approx(2.0, abs=0.1)

    met(room, script)


def test_the_newest_connection_that_wants_it_has_it() -> None:
    """Home Assistant looks at it on a second connection, and comes again after a break."""
    room = Room()

    async def script(first: HomeAssistant, port: int) -> None:
        await first.begin()
        async with AsyncTcpClient("127.0.0.1", port) as client:
            second = HomeAssistant(client)
            await client.write_event(Describe().event())
            await second.until("info")
            await client.write_event(PauseSatellite().event())  # it is not its own
            room.say(np.concatenate([beep(), silence(0.3)]))
            await first.until("streaming-started")
            await second.begin()
            room.say(np.concatenate([beep(), silence(0.3)]))
            await second.until("streaming-started")

    met(room, script)


def test_without_home_assistant_it_hears_nothing() -> None:
    room = Room()

    async def script(home: HomeAssistant, port: int) -> None:
        await home.begin()
        room.say(np.concatenate([beep(), tone(1.0)]))
        await home.until("streaming-started")
        await home.client.disconnect()
        async with AsyncTcpClient("127.0.0.1", port) as client:
            again = HomeAssistant(client)
            room.say(np.concatenate([beep(), said()]))
            await client.write_event(Ping().event())
            assert (await again.until("pong")).type == again.got[0].type
            await again.begin()
            room.say(np.concatenate([silence(1.0), beep(), tone(1.0)]))
            await again.until("streaming-started")

    met(room, script)


def test_a_sound_card_that_is_gone_ends_it_with_the_reason() -> None:
    room = Room()
    config = WyomingConfig(zeroconf=False, satellite=SatelliteConfig(port=0))
    ears = SatelliteEars({"beep": BeepWord()}, EnergyVad(), 6.0)
    server = SatelliteServer(config, room, ears, SystemClock())
    server.ready = room.lose
    with pytest.raises(DeviceError, match="sound card"):
        server.run()
