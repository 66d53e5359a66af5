"""A server on fakes: models that only do as they are told, in no time."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from s2s.core.audio import Block
from s2s.core.markup import Call
from s2s.core.work import Unlimited, Work
from s2s.llm.base import PLAIN, ChatMessage, ChatOptions, Urgency
from s2s.stt.base import Transcription
from s2s.testing.simulator import EnergyVad
from s2s.transport.server.config import ServeConfig
from s2s.transport.server.handover import ClientOpening, ClientSocket, Services
from s2s.transport.server.metrics import ServerMetrics
from s2s.transport.server.run import WebServer, bind
from s2s.transport.server.server import Server
from s2s.transport.server.tls import TlsFiles
from s2s.tts.base import AudioChunk, Capabilities

VOICE_HZ = 24_000


@dataclass
class Ear:
    """Hears how long each piece is; fails where it is told to."""

    heard: list[tuple[int, str | None]] = field(default_factory=list)
    """Samples and language of each call."""
    words: str = "{seconds:.1f} seconds of speech."
    error: Exception | None = None

    def transcribe(
        self,
        audio: Block,
        *,
        language: str | None = None,
        earlier: Transcription | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Transcription:
        self.heard.append((len(audio), language))
        if self.error is not None:
            raise self.error
        return Transcription(self.words.format(seconds=len(audio) / 16_000), language or "en")

    def warm(self) -> None: ...

    def close(self) -> None: ...


@dataclass
class Writer:
    """Answers with its pieces; fails behind them where it is told to."""

    pieces: Sequence[str | Call] = ("Hello ", "there, ", "friend.")
    error: Exception | None = None
    asked: list[list[ChatMessage]] = field(default_factory=list)
    options: list[ChatOptions] = field(default_factory=list)
    stopped: int = 0
    """Answers that were given up."""

    reads_ahead = True

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        stop: Callable[[], bool] = lambda: False,
        work: Urgency = lambda: Work.FIRST_SOUND,
        options: ChatOptions = PLAIN,
    ) -> Iterator[str | Call]:
        self.asked.append(list(messages))
        self.options.append(options)
        for piece in self.pieces:
            if stop():
                self.stopped += 1
                return
            yield piece
        if self.error is not None:
            raise self.error

    def warm(self, messages: Sequence[ChatMessage], *, options: ChatOptions = PLAIN) -> None: ...

    def ending(
        self, messages: Sequence[ChatMessage], *, options: ChatOptions = PLAIN
    ) -> float | None:
        return None

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def close(self) -> None: ...


@dataclass
class Voice:
    """Hums a tenth of a second for each word; fails behind them where it is told to."""

    rate_hz: int = VOICE_HZ
    voices: tuple[str, ...] = ("ada", "ben")
    error: Exception | None = None
    spoken: list[tuple[str, str | None, str | None]] = field(default_factory=list)
    """Text, voice and language of each call."""

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(self.rate_hz, streaming=True, languages=("en",), voices=self.voices)

    def synthesize(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        self.spoken.append((text, voice, language))
        for _ in text.split():
            if stop():
                return
            t = np.arange(self.rate_hz // 10) / self.rate_hz
            yield AudioChunk((0.3 * np.sin(2 * np.pi * 440 * t)).astype(np.float32))
        if self.error is not None:
            raise self.error

    def warm(self) -> None: ...

    def close(self) -> None: ...


async def echo(socket: ClientSocket, opening: ClientOpening) -> object | None:
    """A conversation that says back what it hears, and leaves how much that was."""
    said = opening.resumed if isinstance(opening.resumed, int) else 0
    await socket.send_text(f"hello {opening.model} {said}")
    while (text := await socket.receive_text()) is not None:
        said += 1
        await socket.send_text(text)
    return said


def any_session(session: Mapping[str, object]) -> Mapping[str, object]:
    """Takes every session, and adds nothing."""
    return session


def fake_services() -> Services:
    """Everything fake."""
    return Services(
        transcriber=Ear(),
        chat=Writer(),
        synthesizer=Voice(),
        vad=EnergyVad(),
        compute=Unlimited(),
        converse=echo,
        validate_session=any_session,
        models={"writer": "llm", "ear": "stt"},
    )


def fake_server(
    config: ServeConfig | None = None, key: str | None = None, **services: object
) -> Server:
    """A server of fakes, some of them replaced."""
    made = replace(fake_services(), **services)  # pyright: ignore[reportArgumentType]
    return Server(config or ServeConfig(), key, made, ServerMetrics())


@contextmanager
def served(
    server: Server,
    tls: TlsFiles | None = None,
    drain: Callable[[], Awaitable[None]] | None = None,
) -> Iterator[int]:
    """`server` on a free port of this machine, which is given, in a thread of this process; it ends
    with `drain`."""
    listens = threading.Event()
    with bind(replace(server.config, port=0)) as bound:
        web = WebServer(server, bound, tls)
        web.ready = listens.set
        web.drain = drain
        thread = threading.Thread(target=web.run)
        thread.start()
        try:
            assert listens.wait(30)
            yield web.port
        finally:
            web.stop()
            thread.join(30)
            assert not thread.is_alive()
