"""Real models on a simulated clock: what a call really took is added to it."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence

from s2s.core.audio import Block
from s2s.core.clock import Clock
from s2s.core.markup import Call
from s2s.core.work import Work
from s2s.llm.base import PLAIN, ChatMessage, ChatModel, ChatOptions, Urgency
from s2s.stt.base import Transcriber, Transcription
from s2s.tts.base import AudioChunk, Synthesizer
from s2s.turns.base import TurnEnd


class Costed:
    """Adds what a call really took to the simulated clock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def spend(self, started_s: float) -> None:
        """What began when the processor's clock read `started_s` is done."""
        self._clock.wait_until(self._clock.now() + time.perf_counter() - started_s)


class CostedTranscriber(Costed):
    """`Transcriber`."""

    def __init__(self, inner: Transcriber, clock: Clock) -> None:
        super().__init__(clock)
        self._inner = inner
        self.warm, self.close = inner.warm, inner.close

    def transcribe(
        self,
        audio: Block,
        *,
        language: str | None = None,
        earlier: Transcription | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Transcription:
        started_s = time.perf_counter()
        result = self._inner.transcribe(audio, language=language, earlier=earlier, stop=stop)
        self.spend(started_s)
        return result


class CostedTurnEnd(Costed):
    """`TurnEnd`."""

    def __init__(self, inner: TurnEnd, clock: Clock) -> None:
        super().__init__(clock)
        self._inner = inner

    def probability(self, audio: Block) -> float:
        started_s = time.perf_counter()
        result = self._inner.probability(audio)
        self.spend(started_s)
        return result


class CostedSynthesizer(Costed):
    """`Synthesizer`, given whole texts."""

    def __init__(self, inner: Synthesizer, clock: Clock) -> None:
        super().__init__(clock)
        self._inner = inner
        self.warm, self.close = inner.warm, inner.close
        self.capabilities = inner.capabilities

    def synthesize(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        chunks = self._inner.synthesize(text, voice=voice, language=language, stop=stop)
        while True:
            started_s = time.perf_counter()
            chunk = next(chunks, None)
            self.spend(started_s)
            if chunk is None:
                return
            yield chunk


class CostedChat(Costed):
    """`ChatModel`."""

    def __init__(self, inner: ChatModel, clock: Clock) -> None:
        super().__init__(clock)
        self._inner = inner
        self.count_tokens, self.close = inner.count_tokens, inner.close

    @property
    def reads_ahead(self) -> bool:
        return self._inner.reads_ahead

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        stop: Callable[[], bool] = lambda: False,
        work: Urgency = lambda: Work.FIRST_SOUND,
        options: ChatOptions = PLAIN,
    ) -> Iterator[str | Call]:
        pieces = self._inner.stream(messages, stop=stop, work=work, options=options)
        try:
            while True:
                started_s = time.perf_counter()
                piece = next(pieces, None)
                self.spend(started_s)
                if piece is None:
                    return
                yield piece
        finally:
            if isinstance(pieces, Generator):
                pieces.close()

    def warm(self, messages: Sequence[ChatMessage], *, options: ChatOptions = PLAIN) -> None:
        started_s = time.perf_counter()
        self._inner.warm(messages, options=options)
        self.spend(started_s)

    def ending(
        self, messages: Sequence[ChatMessage], *, options: ChatOptions = PLAIN
    ) -> float | None:
        started_s = time.perf_counter()
        value = self._inner.ending(messages, options=options)
        self.spend(started_s)
        return value
