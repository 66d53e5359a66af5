"""The sound of one connection: what is told while it comes."""

from __future__ import annotations

import asyncio

from wyoming.asr import Transcribe
from wyoming.audio import AudioChunk, AudioStart
from wyoming.event import Event, Eventable

from s2s.core.audio import PIPELINE_HZ, Block, to_int16
from s2s.testing.simulator import tone
from s2s.transport.wyoming.config import WyomingConfig
from s2s.transport.wyoming.listening import SoundListener
from s2s.transport.wyoming.services import JobThreads
from tests.support.wyoming import WAIT_S, fake_wyoming, silence, types
from tests.transport.wyoming.test_hearing import WORDS, Counting


class Listened:
    """A listener, and what it told."""

    def __init__(self, threads: JobThreads, *, partials: bool = True) -> None:
        self.told: list[Event] = []
        services = fake_wyoming(transcriber=Counting())
        config = WyomingConfig(partials=partials)
        self.listener = SoundListener(services, config, threads, self._send)

    async def _send(self, event: Eventable) -> None:
        self.told.append(event.event())

    async def chunk(self, sound: Block, timestamp: int | None = None) -> None:
        """Hear it, and wait for what is read ahead."""
        data = to_int16(sound).tobytes()
        event = AudioChunk(PIPELINE_HZ, 2, 1, data, timestamp).event()
        await self.listener.chunk(event)
        others = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.wait_for(asyncio.gather(*others), WAIT_S)


def test_words_are_told_while_they_are_said_and_all_of_them_once() -> None:
    async def main() -> list[Event]:
        threads = JobThreads(2)
        listened = Listened(threads)
        listened.listener.ask(Transcribe().event())
        await listened.listener.start(AudioStart(PIPELINE_HZ, 2, 1).event())
        for _ in range(6):
            await listened.chunk(tone(0.5))
        before = types(listened.told)
        assert before == ["voice-started", "transcript-start", "transcript-chunk"]
        await listened.chunk(silence(1.0))
        await listened.listener.stop()
        threads.close()
        return listened.told

    told = asyncio.run(main())
    assert types(told)[-3:] == ["transcript-chunk", "transcript", "transcript-stop"]
    chunks = [event.data["text"] for event in told if event.type == "transcript-chunk"]
    assert len(chunks) > 3
    whole = told[-2].data["text"]
    assert "".join(chunks) == whole
    assert whole.split() == WORDS[: len(whole.split())]


def test_times_are_the_clients_own() -> None:
    async def main() -> list[Event]:
        threads = JobThreads(2)
        listened = Listened(threads, partials=False)
        await listened.chunk(tone(0.5), timestamp=5_000)
        await listened.chunk(silence(1.0), timestamp=5_500)
        await listened.listener.stop()
        threads.close()
        return listened.told

    told = asyncio.run(main())
    assert types(told)[:2] == ["voice-started", "voice-stopped"]
    assert told[0].data["timestamp"] == 5_000
    assert abs(told[1].data["timestamp"] - 5_500) <= 64


def test_a_sound_that_begins_anew_forgets_the_one_before() -> None:
    async def main() -> list[Event]:
        threads = JobThreads(2)
        listened = Listened(threads)
        for _ in range(3):
            await listened.chunk(tone(0.5))
        listened.told.clear()
        await listened.listener.start(AudioStart(PIPELINE_HZ, 2, 1).event())
        await listened.chunk(silence(0.5))
        await listened.listener.stop()
        await listened.listener.stop()
        threads.close()
        return listened.told

    assert types(asyncio.run(main())) == ["transcript"]
