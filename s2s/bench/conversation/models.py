"""Real models on the simulated clock: what a call really took is added to it."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace

import numpy as np

from s2s.app.loading import load_models
from s2s.bench.recording import speech_end
from s2s.config import registry
from s2s.config.schema import Config
from s2s.core.audio import PIPELINE_HZ, Block, resample
from s2s.core.clock import Clock
from s2s.core.markup import Call
from s2s.core.work import Work
from s2s.llm.base import PLAIN, ChatMessage, ChatModel, ChatOptions, Urgency
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.session.models import Models
from s2s.stt.base import Transcriber, Transcription
from s2s.tts.base import AudioChunk, Synthesizer
from s2s.turns.handler import TurnEnd


class _Costed:
    """Adds what a call really took to the simulated clock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def spend(self, started_s: float) -> None:
        self._clock.wait_until(self._clock.now() + time.perf_counter() - started_s)


class _CostedTranscriber(_Costed):
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


class _CostedTurnEnd(_Costed):
    def __init__(self, inner: TurnEnd, clock: Clock) -> None:
        super().__init__(clock)
        self._inner = inner

    def probability(self, audio: Block) -> float:
        started_s = time.perf_counter()
        result = self._inner.probability(audio)
        self.spend(started_s)
        return result


class _CostedSynthesizer(_Costed):
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


class _LongWinded(_Costed):
    """The real model's first token, then a text long enough to be interrupted."""

    def __init__(self, inner: ChatModel, scripted: ChatModel, clock: Clock) -> None:
        super().__init__(clock)
        self._inner, self._scripted = inner, scripted
        self.warm, self.count_tokens, self.close = inner.warm, inner.count_tokens, inner.close
        self.reads_ahead = inner.reads_ahead
        self.ending = inner.ending

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        stop: Callable[[], bool] = lambda: False,
        work: Urgency = lambda: Work.FIRST_SOUND,
        options: ChatOptions = PLAIN,
    ) -> Iterator[str | Call]:
        started_s = time.perf_counter()
        tokens = self._inner.stream(messages, stop=stop)
        try:
            next(tokens, None)
        finally:
            if isinstance(tokens, Generator):
                tokens.close()
        self.spend(started_s)
        yield from self._scripted.stream(messages, stop=stop)


def real_models(config: Config, store: Store) -> Callable[[Models, Clock], Models]:
    """Puts the models of `config` in place of the scripted ones, with their real costs."""
    loaded = load_models(config, store, lambda _: None)

    def put(scripted: Models, clock: Clock) -> Models:
        end = loaded.end_of_turn
        return replace(
            loaded,
            end_of_turn=None if end is None else _CostedTurnEnd(end, clock),
            transcriber=_CostedTranscriber(loaded.transcriber, clock),
            chat=_LongWinded(loaded.chat, scripted.chat, clock),
            synthesizer=_CostedSynthesizer(loaded.synthesizer, clock),
        )

    return put


def spoken_by(store: Store, backend: str = "hibari") -> Callable[[str], Block]:
    """A voice for the person: float32 [samples] at 16 kHz, without silence around it."""
    voice = registry.create_synthesizer(backend, None, Resources(store, 1))
    rate_hz = voice.capabilities.sample_rate_hz

    def say(text: str) -> Block:
        audio = np.concatenate([chunk.samples for chunk in voice.synthesize(text)])
        audio = resample(audio, rate_hz, PIPELINE_HZ)
        return audio[: speech_end(audio)]

    return say
