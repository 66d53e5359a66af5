"""The satellite's port: Home Assistant comes to it, and one connection at a time has the satellite.

Two threads: an event loop for the sockets, and the transport's own for what is heard and played.
Whoever asks what there is, is answered on any connection; the satellite belongs to the one that
said `run-satellite` last: Home Assistant comes again before it knows that its last one is gone.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from wyoming.event import Event, Eventable, async_write_event
from wyoming.ping import Pong
from wyoming.satellite import PauseSatellite

from s2s.core.clock import Clock
from s2s.core.messages import AudioIn
from s2s.transport.base import Transport
from s2s.transport.wyoming.config import WyomingConfig
from s2s.transport.wyoming.connection import Streams
from s2s.transport.wyoming.framing import WireFault, read_event
from s2s.transport.wyoming.port import WyomingPort
from s2s.transport.wyoming.satellite.config import SatelliteConfig
from s2s.transport.wyoming.satellite.description import described_satellite
from s2s.transport.wyoming.satellite.loudspeaker import SatelliteSound
from s2s.transport.wyoming.satellite.talk import SatelliteTalk
from s2s.turns.base import VadModel, WakeModel

log = logging.getLogger(__name__)

MOST_UNSENT = 512
"""Events that wait for Home Assistant: some ten seconds of sound. With more it has gone."""


@dataclass(frozen=True, slots=True)
class SatelliteEars:
    """What the satellite hears with."""

    words: Mapping[str, WakeModel]
    """Wake words by their names."""
    vad: VadModel
    echo_bar_db: float
    """See `OverEcho`."""


class _Visitor:
    """A connection."""

    def __init__(self, streams: Streams, wyoming: WyomingConfig) -> None:
        self._reader, self._writer = streams
        self._wyoming = wyoming
        self._outgoing: asyncio.Queue[Eventable] = asyncio.Queue(MOST_UNSENT)
        self._task = asyncio.current_task()

    def tell(self, event: Eventable) -> None:
        """Have an event sent; one who reads too slowly is cut off."""
        try:
            self._outgoing.put_nowait(event)
        except asyncio.QueueFull:
            log.warning("wyoming: the satellite's client reads too slowly")
            if self._task is not None:
                self._task.cancel()

    async def next_event(self) -> Event | None:
        """
        Raises:
            WireFault, TimeoutError: see `read_event`; it says nothing any more.
        """
        async with asyncio.timeout(self._wyoming.idle_s):
            return await read_event(self._reader, self._wyoming.max_payload_bytes)

    async def send_all(self) -> None:
        """Send what is told, until it is cancelled.

        Raises:
            ConnectionError, TimeoutError: it has gone, or reads nothing.
        """
        while True:
            event = await self._outgoing.get()
            async with asyncio.timeout(self._wyoming.slow_reader_s):
                await async_write_event(event.event(), self._writer)


class SatelliteServer:
    """One satellite.

    Args:
        wyoming: who is let in, and how much is taken.
        transport: microphone and loudspeaker; `run` uses them until the end.
        clock: the transport's.
        addresses: see `WyomingPort`.

    Raises:
        ValueError: other machines reach it, and nothing says who may.
    """

    def __init__(
        self,
        wyoming: WyomingConfig,
        transport: Transport,
        ears: SatelliteEars,
        clock: Clock,
        addresses: Callable[[], list[str]] = list,
    ) -> None:
        config: SatelliteConfig = wyoming.satellite
        self._wyoming = wyoming
        self._transport = transport
        self._info = described_satellite(config, ears.words)
        self._came: deque[Event] = deque()
        """What Home Assistant said and the transport's thread has not taken."""
        self._owner: _Visitor | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._sound = SatelliteSound(transport.playback, clock, self._played)
        self._talk = SatelliteTalk(
            config, ears.words, ears.vad, self._sound, self._tell, echo_bar_db=ears.echo_bar_db
        )
        self._port = WyomingPort(wyoming, config.name, config.port, self._serve, addresses)
        self.ready: Callable[[], None] = lambda: None
        """Called once it listens."""
        self._failure: Exception | None = None

    @property
    def port(self) -> int:
        """Once it listens."""
        return self._port.number

    def run(self) -> None:
        """Until `stop`, or until the transport ends.

        Raises:
            WyomingError: it cannot listen.
            DeviceError: microphone or loudspeaker are gone, and are not to be waited for.
        """
        heard = threading.Thread(target=self._converse, name="s2s-satellite")

        def begin() -> None:
            self._loop = asyncio.get_running_loop()
            heard.start()
            self.ready()

        self._port.ready = begin
        try:
            self._port.run()
        finally:
            self._transport.stop()
            if heard.ident is not None:
                heard.join()
            self._sound.close()
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        """End soon; from any thread and from a signal handler. Idempotent."""
        self._port.stop()

    # --- the event loop's thread ---------------------------------------------------------------

    async def _serve(self, streams: Streams) -> None:
        """The life of a connection."""
        visitor = _Visitor(streams, self._wyoming)
        sending = asyncio.ensure_future(visitor.send_all())
        try:
            while (event := await visitor.next_event()) is not None and not sending.done():
                self._take(visitor, event)
        except (ConnectionError, TimeoutError):
            pass  # it has gone
        except WireFault as fault:
            log.warning("wyoming: the satellite's client: %s", fault)
        finally:
            if self._owner is visitor:
                self._owner = None
                self._came.append(PauseSatellite().event())
            sending.cancel()
            with suppress(asyncio.CancelledError, ConnectionError, TimeoutError):
                await sending

    def _take(self, visitor: _Visitor, event: Event) -> None:
        match event.type:
            case "describe":
                visitor.tell(self._info)
            case "ping":
                said: object = event.data.get("text")
                visitor.tell(Pong(said if isinstance(said, str) else None))
            case "run-satellite":
                if self._owner is not None:
                    self._came.append(PauseSatellite().event())
                self._owner = visitor
                self._came.append(event)
            case _ if self._owner is visitor:
                self._came.append(event)
            case _:
                log.debug("wyoming: %s means nothing here", event.type[:60])

    def _deliver(self, event: Eventable) -> None:
        if self._owner is not None:
            self._owner.tell(event)

    # --- the transport's thread ----------------------------------------------------------------

    def _converse(self) -> None:
        try:
            self._transport.run(self._hear, self._tick)
        except Exception as error:  # noqa: BLE001  (raised by `run`)
            self._failure = error
        finally:
            self._port.stop()

    def _hear(self, window: AudioIn) -> None:
        self._take_all()
        own_voice = self._transport.half_duplex and self._sound.sounding
        self._talk.hear(window, own_voice=own_voice)

    def _tick(self) -> bool:
        self._take_all()
        self._sound.look()
        return not self._talk.hearing and not self._sound.sounding

    def _take_all(self) -> None:
        while self._came:
            self._talk.take(self._came.popleft())

    def _played(self) -> None:
        self._talk.played()

    def _tell(self, event: Eventable) -> None:
        assert self._loop is not None
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._deliver, event)
