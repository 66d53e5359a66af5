"""`talk --url`: this machine's microphone and loudspeaker, another machine's models."""

from __future__ import annotations

import argparse
import os
import secrets
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

from rich.console import Console

from s2s.app.signals import handled
from s2s.app.talking.talk import (
    GivenFiles,
    opened_transport,
    save_output,
    tell_about_devices,
)
from s2s.app.talking.view import View
from s2s.config.schema import Config
from s2s.core.audio import check_writable
from s2s.core.clock import SystemClock
from s2s.core.metrics import Metrics
from s2s.models.store import Store
from s2s.transport.local import LocalTransport
from s2s.transport.remote.address import realtime_address
from s2s.transport.remote.client import RemoteClient
from s2s.transport.remote.websocket import WebSocket, open_websocket
from s2s.transport.remote.wishes import RemoteWishes
from s2s.transport.wav import WavTransport


@dataclass(frozen=True, slots=True)
class RemotePlace:
    """Which server, and what is asked of it."""

    url: str
    key: str = ""
    fingerprint: str = ""
    """SHA-256 of the certificate that is trusted; "": one of a known authority."""
    voice: str | None = None
    language: str | None = None


def place_of(options: argparse.Namespace) -> RemotePlace:
    """What the command line says; the key may come from the environment instead."""
    return RemotePlace(
        options.url,
        options.api_key or os.environ.get("S2S_API_KEY", ""),
        options.fingerprint or "",
        voice=options.voice,
        language=options.language,
    )


def run_remote(
    config: Config,
    store: Store,
    place: RemotePlace,
    given: GivenFiles,
) -> int:
    """Converse until the recordings end, Ctrl-C, or the server ends it; returns the exit code.

    Raises:
        LinkError: there is no conversation with the server; the message says why.
    """
    address = realtime_address(place.url)
    resume = secrets.token_hex(16)

    def connect() -> WebSocket:
        return open_websocket(address, key=place.key, resume=resume, fingerprint=place.fingerprint)

    with handled() as signals:
        view = View(Console(highlight=False))
        clock = SystemClock()
        started_s = time.perf_counter()
        if config.metrics.file is not None:
            check_writable(config.metrics.file)
        opened = opened_transport(config, given, clock, view)
        transport, output_file = opened.transport, opened.output_file
        metrics = Metrics(config.metrics.file)
        wishes = _wishes(config, place)
        client = RemoteClient(transport, connect, wishes, events=view, clock=clock, metrics=metrics)
        view.timelines = metrics.finished
        try:
            client.connect()
            if isinstance(transport, LocalTransport):
                transport.listen()
            took_s = time.perf_counter() - started_s
            name = urlsplit(address).netloc
            view.ready_remote(name, transport, took_s, talk=wishes.push_to_talk)
            reading = opened.keys(client, view, push_to_talk=wishes.push_to_talk)
            try:
                with signals.ending(transport.stop), reading:
                    client.run()
            finally:
                if isinstance(transport, WavTransport) and output_file is not None:
                    save_output(transport, output_file, view)
        finally:
            client.close()
            if isinstance(transport, LocalTransport):
                transport.close()
            metrics.close()
        if isinstance(transport, LocalTransport):
            tell_about_devices(transport, store, view)
        view.summarise(metrics.finished())
        return 1 if view.failed else 0


def _wishes(config: Config, place: RemotePlace) -> RemoteWishes:
    turns = config.session.turns
    return RemoteWishes(
        voice=place.voice,
        language=place.language,
        push_to_talk=turns.input.push_to_talk,
        muted=turns.input.muted,
        echo_bar_db=turns.interruption.echo_bar_db,
    )
