"""The server of the load benchmark, in a process of its own: real sessions and sockets, and models
that take no time, so that all time is the server's; or, with a profile, its models.

    python -m s2s.bench.load.served --sessions 200

Prints its port once it listens; ends with its standard input.
"""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from s2s.app.loading import close_models, load_models
from s2s.bench.entry import run_measurement
from s2s.config import loader as configuration
from s2s.config.schema import Config
from s2s.core.audio import Block
from s2s.core.work import Work
from s2s.llm.base import PLAIN, ChatMessage, ChatOptions, Urgency
from s2s.models.store import Store
from s2s.session.models import Models
from s2s.stt.base import Transcription
from s2s.testing.simulator import EnergyVad
from s2s.transport.server.config import ServeConfig
from s2s.tts.base import AudioChunk, Capabilities

ANSWER = "This is a short answer."
ANSWER_S = 0.96
VOICE_HZ = 24_000
CHUNK_S = 0.08


class AtOnceEar:
    """Hears a question in everything."""

    def transcribe(
        self,
        audio: Block,
        *,
        language: str | None = None,
        earlier: Transcription | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Transcription:
        return Transcription("Is this a question?", "en")

    def warm(self) -> None:
        """Nothing to load."""

    def close(self) -> None:
        """Nothing to free."""


class AtOnceChat:
    """Answers everything with the same sentence."""

    reads_ahead = False

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        stop: Callable[[], bool] = lambda: False,
        work: Urgency = lambda: Work.FIRST_SOUND,
        options: ChatOptions = PLAIN,
    ) -> Iterator[str]:
        yield ANSWER

    def warm(self, messages: Sequence[ChatMessage], *, options: ChatOptions = PLAIN) -> None:
        """Nothing to load."""

    def ending(
        self, messages: Sequence[ChatMessage], *, options: ChatOptions = PLAIN
    ) -> float | None:
        """It has no opinion."""
        return None

    def count_tokens(self, text: str) -> int:
        return len(text) // 4 + 1

    def close(self) -> None:
        """Nothing to free."""


@dataclass(frozen=True)
class AtOnceVoice:
    """Hums for `ANSWER_S`, whatever it is to say."""

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(VOICE_HZ, streaming=True, languages=("en",))

    def synthesize(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        samples = int(CHUNK_S * VOICE_HZ)
        chunks = int(ANSWER_S / CHUNK_S)
        for number in range(chunks):
            if stop():
                return
            yield AudioChunk(_HUM[:samples], len(text) * (number + 1) // chunks)

    def warm(self) -> None:
        """Nothing to load."""

    def close(self) -> None:
        """Nothing to free."""


_HUM = (0.1 * np.sin(2 * np.pi * 220 * np.arange(VOICE_HZ) / VOICE_HZ)).astype(np.float32)


def models_at_once() -> Models:
    """Models that take no time."""
    return Models(EnergyVad(), None, AtOnceEar(), AtOnceChat(), AtOnceVoice())


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until the standard input ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--profile", help="real models, of these settings that come along")
    options = parser.parse_args(arguments)
    serving = ServeConfig(port=0, max_sessions=options.sessions, max_events_per_s=1e6)
    if options.profile is None:
        _serve(Config(serve=serving), models_at_once())
        return 0
    from s2s.app.serving.command import for_several

    config = for_several(replace(configuration.load(profile=options.profile), serve=serving))
    models = load_models(config, Store(), lambda text: print(text, file=sys.stderr))
    try:
        _serve(config, models)
    finally:
        close_models(models)
    return 0


def _serve(config: Config, models: Models) -> None:
    from s2s.app.serving.conversing import Conversing
    from s2s.transport.server.metrics import ServerMetrics
    from s2s.transport.server.run import WebServer, bind
    from s2s.transport.server.server import Server

    metrics = ServerMetrics()
    conversing = Conversing(config, models, metrics)
    with bind(config.serve) as bound:
        web = WebServer(Server(config.serve, None, conversing.services({}), metrics), bound)
        web.ready = lambda: print(web.port, flush=True)

        def wait_for_end() -> None:
            sys.stdin.read()
            web.stop()

        threading.Thread(target=wait_for_end, daemon=True).start()
        web.run()


if __name__ == "__main__":
    sys.exit(run_measurement(main))
