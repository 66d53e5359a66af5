"""The processes of models: one class a stage, each a deployment of its own. Know no Ray.

What a method gives are pieces of an answer, between them signs of life, and a failure as an item:
which exceptions cross from one process to another is not left to a library
(docs/decisions/cluster-failures-are-items.md).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from typing import Generic, TypeVar

from s2s.app.cluster.calls import ModelFailed, StillWorking
from s2s.app.cluster.plan import ClusterPlan, StageName, made_models, stage_config
from s2s.app.cluster.remote_models import VoiceFacts
from s2s.app.loading import Threads, create_ear, create_voice
from s2s.config import registry
from s2s.config.schema import Config
from s2s.core.audio import Block
from s2s.core.errors import StageError
from s2s.llm.base import ChatMessage, ChatModel, ChatOptions
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.session.models import Models
from s2s.stt.base import Transcriber, Transcription
from s2s.transport.threaded import Stop, ThreadStream
from s2s.tts.base import InstructedSynthesizer, Synthesizer

log = logging.getLogger(__name__)

M = TypeVar("M", Transcriber, ChatModel, Synthesizer)

SIGN_S = 1.0
"""Between two signs of life."""


class ModelProcess(Generic[M]):
    """One process of one model.

    Args:
        stage: which.
        at_once: answers that are made at a time, each in a thread.
        model: loaded and warm.
    """

    def __init__(self, stage: StageName, at_once: int, model: M) -> None:
        self._stage = stage
        self._pool = ThreadPoolExecutor(at_once, thread_name_prefix=f"s2s-cluster-{stage}")
        self.model = model

    def end(self) -> None:
        """Free the model; what runs is given up by who asked."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self.model.close()

    async def made(self, make: Callable[[Stop], Iterator[object]]) -> AsyncGenerator[object]:
        """What `make` makes in a thread, with signs of life; closing it stops the work."""
        loop = asyncio.get_running_loop()
        stream = ThreadStream(loop, make)
        loop.run_in_executor(self._pool, stream.run)
        try:
            async with aclosing(stream.items()) as items:
                following = asyncio.ensure_future(anext(items, None))
                try:
                    while True:
                        done, _ = await asyncio.wait([following], timeout=SIGN_S)
                        if not done:
                            yield StillWorking()
                            continue
                        if (item := following.result()) is None:
                            return
                        yield item
                        following = asyncio.ensure_future(anext(items, None))
                finally:
                    following.cancel()
                    await asyncio.gather(following, return_exceptions=True)
        except StageError as error:
            yield ModelFailed(str(error))
        except Exception:
            log.exception("%s failed", self._stage)
            yield ModelFailed(f"The process of {self._stage} failed at this; its log says why.")
        finally:
            stream.give_up()


class HearingReplica:
    """A process of the recogniser."""

    def __init__(self, plan: ClusterPlan) -> None:
        config = plan.config()
        at_once = stage_config(config, "stt").at_once
        self._replica = ModelProcess("stt", at_once, _transcriber(plan, config))

    async def transcribe(
        self, audio: Block, language: str | None, earlier: Transcription | None
    ) -> AsyncGenerator[object]:
        """One `Transcription` of the utterance."""

        def make(stop: Stop) -> Iterator[object]:
            yield self._replica.model.transcribe(
                audio, language=language, earlier=earlier, stop=stop
            )

        async with aclosing(self._replica.made(make)) as items:
            async for item in items:
                yield item

    def __del__(self) -> None:
        self._replica.end()


class AnsweringReplica:
    """A process of the language model."""

    def __init__(self, plan: ClusterPlan) -> None:
        config = plan.config()
        at_once = stage_config(config, "llm").at_once
        self._replica = ModelProcess("llm", at_once, _chat(plan, config))

    async def answer(
        self, messages: tuple[ChatMessage, ...], options: ChatOptions
    ) -> AsyncGenerator[object]:
        """The words and calls of an answer."""

        def make(stop: Stop) -> Iterator[object]:
            return self._replica.model.stream(messages, stop=stop, options=options)

        async with aclosing(self._replica.made(make)) as items:
            async for item in items:
                yield item

    def __del__(self) -> None:
        self._replica.end()


class SpeakingReplica:
    """A process of the voice."""

    def __init__(self, plan: ClusterPlan) -> None:
        config = plan.config()
        at_once = stage_config(config, "tts").at_once
        self._replica = ModelProcess("tts", at_once, _voice(plan, config))

    async def facts(self) -> AsyncGenerator[object]:
        """What the voice can do."""
        voice = self._replica.model
        instructed = isinstance(voice, InstructedSynthesizer) and voice.takes_instructions
        yield VoiceFacts(voice.capabilities, instructed)

    async def speak(
        self, text: str, voice: str | None, language: str | None, instructions: str
    ) -> AsyncGenerator[object]:
        """The sound of `text`."""

        def make(stop: Stop) -> Iterator[object]:
            model = self._replica.model
            if instructions and isinstance(model, InstructedSynthesizer):
                return model.synthesize_instructed(
                    text, instructions, voice=voice, language=language, stop=stop
                )
            return model.synthesize(text, voice=voice, language=language, stop=stop)

        async with aclosing(self._replica.made(make)) as items:
            async for item in items:
                yield item

    def __del__(self) -> None:
        self._replica.end()


def _fakes(plan: ClusterPlan) -> Models | None:
    return None if plan.made_by is None else made_models(plan.made_by)


def _transcriber(plan: ClusterPlan, config: Config) -> Transcriber:
    if (made := _fakes(plan)) is not None:
        return made.transcriber
    model = create_ear(config.stt, Resources(Store(), Threads.of(config).stt))
    model.warm()
    return model


def _chat(plan: ClusterPlan, config: Config) -> ChatModel:
    if (made := _fakes(plan)) is not None:
        return made.chat
    resources = Resources(Store(), Threads.of(config).llm)
    model = registry.create_chat_model(config.llm.backend, config.llm.options, resources)
    model.warm([ChatMessage("system", config.session.system_prompt)])
    return model


def _voice(plan: ClusterPlan, config: Config) -> Synthesizer:
    if (made := _fakes(plan)) is not None:
        return made.synthesizer
    voice = create_voice(config.tts, Resources(Store(), Threads.of(config).tts))
    voice.warm()
    return voice
