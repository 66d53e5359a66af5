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
from s2s.records.replay.costed import (
    Costed,
    CostedSynthesizer,
    CostedTranscriber,
    CostedTurnEnd,
)
from s2s.session.models import Models


class _LongWinded(Costed):
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
            end_of_turn=None if end is None else CostedTurnEnd(end, clock),
            transcriber=CostedTranscriber(loaded.transcriber, clock),
            chat=_LongWinded(loaded.chat, scripted.chat, clock),
            synthesizer=CostedSynthesizer(loaded.synthesizer, clock),
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
