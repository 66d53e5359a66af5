"""A Wyoming server on fakes, and the official client against it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncTcpClient
from wyoming.event import Event, Eventable

from s2s.core.audio import PIPELINE_HZ, Block, to_int16
from s2s.core.work import Unlimited
from s2s.llm.base import ChatModel
from s2s.session.client.session import ClientSessions
from s2s.session.config import SessionConfig
from s2s.session.models import Models
from s2s.testing.simulator import EnergyVad, tone
from s2s.transport.wyoming.config import WyomingConfig
from s2s.transport.wyoming.server import WyomingServer
from s2s.transport.wyoming.services import WyomingServices
from tests.support.scripted_server import Repeater
from tests.support.serving import Ear, Voice

WAIT_S = 60.0
"""At most, for what comes at once: a test that fails says so."""
CHUNK = 1024


class LoudWord:
    """A wake word that is heard in the first window that is loud."""

    phrase = "loud"

    def open(self) -> LoudWord:
        return LoudWord()

    _heard = False

    def heard(self, block: Block) -> int | None:
        loud = float(np.abs(block).max()) > 0.1
        woken, self._heard = loud and not self._heard, loud or self._heard
        return 160 if woken else None


def fake_wyoming(chat: ChatModel | None = None, /, **replaced: object) -> WyomingServices:
    """Everything fake but the sessions."""
    chat = chat or Repeater()
    models = Models(EnergyVad(), None, Ear(), chat, Voice())
    made = WyomingServices(
        models.transcriber,
        models.synthesizer,
        models.vad,
        Unlimited(),
        ClientSessions(models, SessionConfig()),
        "Be brief.",
        {"loud": LoudWord()},
    )
    return replace(made, **replaced)  # pyright: ignore[reportArgumentType]


@contextmanager
def wyoming_served(
    services: WyomingServices | None = None, config: WyomingConfig | None = None
) -> Generator[int]:
    """A server on a free port of this machine, which is given, in a thread of this process."""
    config = replace(config or WyomingConfig(zeroconf=False), port=0)
    server = WyomingServer(config, services or fake_wyoming())
    listens = threading.Event()
    server.ready = listens.set
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        assert listens.wait(WAIT_S)
        yield server.port
    finally:
        server.stop()
        thread.join(WAIT_S)
        assert not thread.is_alive()


def exchange(port: int, sent: Sequence[Eventable], until: str) -> list[Event]:
    """What one connection of the official client is told, up to an event of the type `until` or
    the end."""

    async def main() -> list[Event]:
        found: list[Event] = []
        async with AsyncTcpClient("127.0.0.1", port) as client:
            for event in sent:
                await client.write_event(event.event())
            while not found or found[-1].type != until:
                event = await asyncio.wait_for(client.read_event(), WAIT_S)
                if event is None:
                    break
                found.append(event)
        return found

    return asyncio.run(main())


def spoken(*parts: tuple[Callable[[float], Block], float]) -> Block:
    """Sounds of so many seconds each, behind each other."""
    return np.concatenate([make(seconds) for make, seconds in parts])


def silence(seconds: float) -> Block:
    return np.zeros(int(seconds * PIPELINE_HZ), np.float32)


def said(seconds: float = 1.0) -> Block:
    """Half a second of silence, then speech, then a second of silence."""
    return spoken((silence, 0.5), (tone, seconds), (silence, 1.0))


def as_events(sound: Block) -> list[Eventable]:
    """Sound float32 [samples at 16 kHz] as a client sends it, from its start to its stop."""
    pcm = to_int16(sound)
    chunks = [pcm[at : at + CHUNK].tobytes() for at in range(0, len(pcm), CHUNK)]
    return [
        AudioStart(PIPELINE_HZ, 2, 1),
        *(AudioChunk(PIPELINE_HZ, 2, 1, data) for data in chunks),
        AudioStop(),
    ]


def types(events: Sequence[Event]) -> list[str]:
    """The types of events, each run of the same type once."""
    found: list[str] = []
    for event in events:
        if not found or found[-1] != event.type:
            found.append(event.type)
    return found
