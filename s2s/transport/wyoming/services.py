"""What the server is given, and the threads that its models work in."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TypeVar

from s2s.core.work import Compute
from s2s.stt.base import Transcriber
from s2s.transport.client_transport import OpenSession
from s2s.transport.threaded import Stop, ThreadStream
from s2s.tts.base import Synthesizer
from s2s.turns.base import VadModel, WakeModel

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class WyomingServices:
    """The models, shared with whoever else talks to them."""

    transcriber: Transcriber
    synthesizer: Synthesizer
    vad: VadModel
    compute: Compute
    open_session: OpenSession
    """Sessions that answer what was written down."""
    instructions: str
    wake_words: Mapping[str, WakeModel] = field(default_factory=dict[str, WakeModel])
    """By the names that clients use."""
    language: str | None = None
    """ISO 639-1 code of what is spoken; None: told from each text or recording."""
    stt_name: str = "stt"
    stt_languages: tuple[str, ...] = ("en",)
    llm_name: str = "llm"
    tts_name: str = "tts"


class JobThreads:
    """Threads for what computes: a connection hears in one, and reads ahead in another."""

    def __init__(self, connections: int) -> None:
        self._pool = ThreadPoolExecutor(2 * connections, thread_name_prefix="s2s-wyoming")

    async def call(self, work: Callable[[Stop], T]) -> T:
        """What `work` returns; it is told to stop when nobody waits for it any more."""
        given_up = threading.Event()
        future = asyncio.get_running_loop().run_in_executor(self._pool, work, given_up.is_set)
        try:
            return await future
        finally:
            given_up.set()

    async def stream(self, make: Callable[[Stop], Iterator[T]]) -> AsyncGenerator[T]:
        """What `make` makes, as it is made. To be closed."""
        loop = asyncio.get_running_loop()
        made = ThreadStream(loop, make)
        loop.run_in_executor(self._pool, made.run)
        try:
            async with aclosing(made.items()) as items:
                async for item in items:
                    yield item
        finally:
            made.give_up()

    def close(self) -> None:
        """Take no more work; what runs ends by itself."""
        self._pool.shutdown(wait=False, cancel_futures=True)
