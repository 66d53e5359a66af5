"""What a Wyoming satellite is made of: this machine's sound, wake words, and voice activity."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from s2s.app.serving.beside import running
from s2s.app.serving.wyoming import WyomingUnavailable, addresses
from s2s.app.signals import handled
from s2s.app.voice_activity import open_vad
from s2s.config.schema import Config
from s2s.core.clock import SystemClock
from s2s.models.store import Store
from s2s.transport.local import LocalTransport
from s2s.turns.base import VadModel, WakeModel
from s2s.turns.orders.wake_word import MicroWakeModel, builtin_names

if TYPE_CHECKING:
    from s2s.transport.wyoming.satellite.server import SatelliteServer


def satellite_words(config: Config) -> Mapping[str, WakeModel]:
    """The wake words that the satellite listens for, by their names.

    Raises:
        WyomingUnavailable: there is none, or not the one that is wanted.
        WakeWordError: one's own cannot be loaded.
    """
    files = {name: name for name in builtin_names()}
    own = config.models.wake_word
    if own is not None:
        files[Path(own).stem] = own
    wanted = config.wyoming.satellite.wake_words or tuple(files)
    if not wanted:
        raise WyomingUnavailable(
            "a satellite sleeps until a wake word, and none is installed: "
            "pip install 's2s[wake-word]'"
        )
    if missing := [name for name in wanted if name not in files]:
        known = ", ".join(files) or "none: pip install 's2s[wake-word]'"
        raise WyomingUnavailable(f"no wake word {missing[0]!r}; there is {known}")
    return {name: MicroWakeModel(files[name]) for name in wanted}


def satellite_server(
    config: Config, vad: VadModel, notice: Callable[[str], None]
) -> SatelliteServer:
    """A satellite on this machine's microphone and loudspeaker.

    Raises:
        DeviceError: there is no microphone, or no loudspeaker.
        WyomingUnavailable, WakeWordError: see `satellite_words`.
    """
    from s2s.transport.wyoming.satellite.server import SatelliteEars, SatelliteServer

    words = satellite_words(config)
    clock = SystemClock()
    transport = LocalTransport(config.audio, clock, notice)
    ears = SatelliteEars(words, vad, config.session.turns.interruption.echo_bar_db)
    host = config.wyoming.host
    return SatelliteServer(config.wyoming, transport, ears, clock, lambda: addresses(host))


@contextmanager
def satellite_beside(config: Config, vad: VadModel, console: Console) -> Generator[None]:
    """Inside there is a satellite too, where the settings want one.

    Raises:
        WyomingError, DeviceError, WyomingUnavailable, WakeWordError: it cannot be.
    """
    if config.wyoming.satellite.mode == "off":
        yield
        return
    server = satellite_server(config, vad, lambda text: console.print(text, markup=False))
    with running(server, "s2s-satellite-server"):
        tell_satellite(console, config, server.port)
        yield


def serve_satellite(config: Config, store: Store) -> int:
    """Be a satellite and nothing else, until Ctrl-C; returns the exit code.

    Raises:
        As `satellite_beside`; StoreError: the model of voice activity is missing.
    """
    console = Console(highlight=False)
    with handled() as signals:
        vad = open_vad(config.models.vad, store)
        server = satellite_server(config, vad, lambda text: console.print(text, markup=False))
        server.ready = lambda: tell_satellite(console, config, server.port)
        with signals.ending(server.stop):
            server.run()
    return 0


def tell_satellite(console: Console, config: Config, port: int) -> None:
    """Say where it is, and what wakes it."""
    found = addresses(config.wyoming.host)
    where = f"{found[0] if found else config.wyoming.host}:{port}"
    words = ", ".join(name.replace("_", " ") for name in satellite_words(config))
    console.print(f"Satellite: tcp://{where}; it wakes at: {words}", markup=False, soft_wrap=True)
