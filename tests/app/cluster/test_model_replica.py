"""The processes of models, without an engine: what they give piece by piece, and how they end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing

import numpy as np
import pytest

from s2s.app.cluster import model_replica
from s2s.app.cluster.calls import ModelFailed, StillWorking
from s2s.app.cluster.model_replica import (
    AnsweringReplica,
    HearingReplica,
    ModelProcess,
    SpeakingReplica,
)
from s2s.app.cluster.plan import ClusterPlan
from s2s.app.cluster.remote_models import VoiceFacts
from s2s.bench.cluster.fakes import AT_ONCE
from s2s.bench.load.served import ANSWER
from s2s.config import loader
from s2s.config.schema import Config
from s2s.llm.base import PLAIN, ChatMessage
from s2s.stt.base import Transcription
from s2s.transport.threaded import Stop
from s2s.tts.base import AudioChunk, TtsError
from tests.support.serving import Ear

PLAN = ClusterPlan(loader.as_dict(Config()), made_by=AT_ONCE)


async def all_of(items: AsyncGenerator[object]) -> list[object]:
    async with aclosing(items):
        return [item async for item in items if not isinstance(item, StillWorking)]


def test_the_recogniser_gives_one_transcription() -> None:
    replica = HearingReplica(PLAN)
    sound = np.zeros(16_000, np.float32)
    (heard,) = asyncio.run(all_of(replica.transcribe(sound, "en", None)))
    assert heard == Transcription("Is this a question?", "en")


def test_the_language_model_gives_its_words() -> None:
    replica = AnsweringReplica(PLAN)
    messages = (ChatMessage("user", "Hello?"),)
    assert asyncio.run(all_of(replica.answer(messages, PLAIN))) == [ANSWER]


def test_the_voice_says_what_it_can_and_speaks() -> None:
    replica = SpeakingReplica(PLAN)
    (facts,) = asyncio.run(all_of(replica.facts()))
    assert isinstance(facts, VoiceFacts)
    assert not facts.takes_instructions
    chunks = asyncio.run(all_of(replica.speak("Hello.", None, None, "cheerful")))
    assert len(chunks) == 12
    assert all(isinstance(each, AudioChunk) for each in chunks)


@pytest.fixture
def process() -> Iterator[ModelProcess[Ear]]:
    made = ModelProcess("stt", 1, Ear())
    yield made
    made.end()


def test_a_failure_is_an_item_with_its_reason(process: ModelProcess[Ear]) -> None:
    def fails(stop: Stop) -> Iterator[object]:
        yield "one"
        raise TtsError("no such voice")

    assert asyncio.run(all_of(process.made(fails))) == ["one", ModelFailed("no such voice")]


def test_a_defect_is_told_without_its_inside(
    process: ModelProcess[Ear], caplog: pytest.LogCaptureFixture
) -> None:
    def breaks(stop: Stop) -> Iterator[object]:
        yield from ()
        raise KeyError("inside")

    (failed,) = asyncio.run(all_of(process.made(breaks)))
    assert isinstance(failed, ModelFailed)
    assert "inside" not in failed.message
    assert "inside" in caplog.text


def test_a_model_that_works_long_gives_signs_of_life(
    process: ModelProcess[Ear], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_replica, "SIGN_S", 0.001)
    go_on = threading.Event()

    def slow(stop: Stop) -> Iterator[object]:
        assert go_on.wait(60)
        yield "done"

    async def run() -> list[object]:
        given: list[object] = []
        async with aclosing(process.made(slow)) as items:
            async for item in items:
                given.append(item)
                go_on.set()
        return given

    given = asyncio.run(run())
    assert given[0] == StillWorking()
    assert given[-1] == "done"


def test_who_reads_no_further_stops_the_work(process: ModelProcess[Ear]) -> None:
    stopped = threading.Event()

    def endless(stop: Stop) -> Iterator[object]:
        while not stop():
            yield "again"
        stopped.set()

    async def run() -> None:
        async with aclosing(process.made(endless)) as items:
            assert await anext(items) == "again"

    asyncio.run(run())
    assert stopped.wait(60)
