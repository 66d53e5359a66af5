"""What is measured of a cluster, part by part: each takes one that runs, and gives figures."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from s2s.bench.cluster.clients import ClusterClient, Gone, NotLetIn, connected, leave, ways_ms
from s2s.bench.cluster.engine import PORT, RunningCluster, kill, memory_mb, replicas, wait_until
from s2s.bench.load.run import served
from s2s.core.metrics import percentile

SESSIONS = 20
"""Of the comparison with one process."""
STORM = 30
"""Clients that come at once to a full server."""
CONNECTIONS, FIRST, AT_ONCE = 1000, 300, 10
"""That come and go; so many before memory is looked at; at a time."""
REPLACED_S = 60.0
SETTLE_S = 1.0
"""What processes are left alone before their memory is looked at."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One number, and what it must not be above."""

    name: str
    value: float
    limit: float
    unit: str
    note: str = ""

    @property
    def held(self) -> bool:
        """It is within its limit."""
        return self.value <= self.limit

    def line(self) -> str:
        """For the table."""
        held = "ok" if self.held else "ABOVE"
        return (
            f"{self.name:<58} {self.value:>9.2f} {self.unit:<3} <= {self.limit:>7g}  {held}  "
            f"{self.note}"
        )


def latency(engine: RunningCluster, seconds: float = 4.0, rounds: int = 3) -> list[Figure]:
    """The way there and back with 20 sessions, through the engine and to uvicorn by turns."""
    del engine
    ways: dict[str, list[float]] = {"alone": [], "cluster": []}
    with served(SESSIONS) as alone:
        for _ in range(rounds):
            for name, port in (("alone", alone.port), ("cluster", PORT)):
                ways[name] += asyncio.run(_ways(port, SESSIONS, seconds))
    p95 = {name: percentile(found, 0.95) for name, found in ways.items()}
    p50 = {name: percentile(found, 0.5) for name, found in ways.items()}
    note = ", ".join(f"{name} p50 {p50[name]:.2f} p95 {p95[name]:.2f}" for name in ways)
    return [
        Figure("added p95 against uvicorn alone, 20 sessions", p95["cluster"] - p95["alone"], 3,
               "ms", note)
    ]  # fmt: skip


async def _ways(port: int, sessions: int, seconds: float) -> list[float]:
    talkers = await connected(port, sessions)
    try:
        await ways_ms(talkers, 0.5)
        return [each for found in await ways_ms(talkers, seconds) for each in found]
    finally:
        await leave(talkers)


def admission(engine: RunningCluster) -> list[Figure]:
    """Every place is taken; then one client after the other, and a storm of them, is refused."""
    return asyncio.run(_admission(engine.wanted.replicas * engine.wanted.sessions))


async def _admission(places: int) -> list[Figure]:
    talkers = await connected(PORT, places)
    try:
        single = [await ClusterClient(PORT).connect() for _ in range(10)]
        storm = await asyncio.gather(*(ClusterClient(PORT).connect() for _ in range(STORM)))
    finally:
        await leave(talkers)
    for name, told in (("one by one", single), ("a storm", storm)):
        wrong = [each for each in told if each is None or each.status != 503]
        if wrong:
            raise RuntimeError(f"{name}: not refused with 503: {wrong[:3]}")
    note = f"all {places} places taken before; HTTP 503"
    return [
        Figure("session N+1 refused", _slowest(single), 200, "ms", note),
        Figure(f"{STORM} at once refused, the last", _slowest(storm), 200, "ms"),
    ]


def _slowest(told: Sequence[NotLetIn | None]) -> float:
    return max(each.after_ms for each in told if each is not None)


def killed(engine: RunningCluster) -> list[Figure]:
    """A process of sessions is killed under half of them."""
    return asyncio.run(_killed(engine))


async def _killed(engine: RunningCluster) -> list[Figure]:
    talkers = await connected(PORT, 8)
    try:
        for each in talkers:
            await each.ask()
        quiet = [way for found in await ways_ms(talkers, 4.0) for way in found]
        before = replicas()
        lost: list[ClusterClient] = []
        others: list[float] = []

        async def hold(talker: ClusterClient) -> None:
            found = await ways_ms([talker], 4.0)
            if talker.lost.codes:
                lost.append(talker)
                await talker.come_back()
                if not await talker.remembers():
                    raise RuntimeError("a conversation came back without its history")
            else:
                others.extend(found[0])

        holding = [asyncio.create_task(hold(each)) for each in talkers]
        await asyncio.sleep(0.5)
        kill(before[0])
        killed_s = time.perf_counter()
        await asyncio.gather(*holding)
        if not lost or not others:
            raise RuntimeError(f"{len(lost)} of {len(talkers)} sessions were on that process")
        replaced_s = await _replaced(engine, before, killed_s)
    finally:
        await leave(talkers)
    back_s = max(each.lost.back_s[-1] for each in lost)
    shift_ms = percentile(others, 0.95) - percentile(quiet, 0.95)
    note = f"{len(lost)} of {len(talkers)} sessions lost, all with their history again"
    return [
        Figure("killed: token holders are back", back_s, 2, "s", note),
        Figure("killed: p95 of the other process' sessions shifts by", shift_ms, 5, "ms",
               f"from {percentile(quiet, 0.95):.2f} ms"),
        Figure("killed: replaced, and all places can be taken again", replaced_s, 20, "s"),
    ]  # fmt: skip


async def _replaced(engine: RunningCluster, before: list[int], killed_s: float) -> float:
    """Until every place can be taken again."""
    await asyncio.to_thread(
        wait_until,
        lambda: len(set(replicas()) - set(before)) == 1 and engine.running() == len(before),
        REPLACED_S,
        "a new process",
    )
    places = engine.wanted.sessions + 1  # more than one process has
    while True:
        talkers: list[ClusterClient] = []
        with contextlib.suppress(RuntimeError, OSError, TimeoutError):
            talkers = await connected(PORT, places)
        took_s = time.perf_counter() - killed_s
        await leave(talkers)
        if len(talkers) == places:
            return took_s
        if took_s > REPLACED_S:
            raise TimeoutError(f"the new process serves nobody after {REPLACED_S:g} s")
        await asyncio.sleep(0.2)


@dataclass(slots=True)
class _Told:
    """What became of answers while processes were replaced."""

    whole: int = 0
    lost: int = 0


def redeployed(engine: RunningCluster) -> list[Figure]:
    """All processes are replaced one after the other while people are answered."""
    return asyncio.run(_redeployed(engine))


async def _redeployed(engine: RunningCluster) -> list[Figure]:
    talkers = await connected(PORT, 6)
    told, over = _Told(), asyncio.Event()

    async def talk(talker: ClusterClient) -> None:
        while not over.is_set():
            begun = False
            try:
                await talker.begin_asking("Is this a question?")
                begun = True
                status = await talker.answered()
                told.whole += status == "completed"
                told.lost += status != "completed"
                await asyncio.sleep(0.3)
            except Gone:
                told.lost += begun
                await talker.come_back()

    talking = [asyncio.create_task(talk(each)) for each in talkers]
    before = replicas()
    await asyncio.sleep(1.0)
    began_s = time.perf_counter()
    try:
        version = str(int(engine.wanted.version) + 1)
        await asyncio.to_thread(lambda: engine.deploy(version=version))
        await asyncio.to_thread(
            wait_until, lambda: not set(before) & set(replicas()), 90.0, "the old processes' end"
        )
        took_s = time.perf_counter() - began_s
        await asyncio.sleep(1.0)
    finally:
        over.set()
        await asyncio.gather(*talking, return_exceptions=True)
        await leave(talkers)
    codes = [code for each in talkers for code in each.lost.codes]
    back_s = max((s for each in talkers for s in each.lost.back_s), default=0.0)
    abrupt = sum(code != 1012 for code in codes)
    note = f"{told.whole} whole; {len(codes)} connections told to come again, {took_s:.0f} s in all"
    return [
        Figure("redeployed: answers lost", told.lost, 0, "", note),
        Figure("redeployed: connections closed otherwise than 1012", abrupt, 0, ""),
        Figure("redeployed: who was told to come again is back", back_s, 2, "s"),
    ]


def connections(engine: RunningCluster) -> list[Figure]:
    """Very many come and go: does anything grow?"""
    del engine
    asyncio.run(_come_and_go(FIRST))
    time.sleep(SETTLE_S)
    before_mb, engine_mb = memory_mb(replicas()), memory_mb()
    began_s = time.perf_counter()
    asyncio.run(_come_and_go(CONNECTIONS))
    took_s = time.perf_counter() - began_s
    time.sleep(SETTLE_S)
    after_mb, engine_after_mb = memory_mb(replicas()), memory_mb()
    grown = 100 * (after_mb - before_mb) / before_mb
    all_grown = 100 * (engine_after_mb - engine_mb) / engine_mb
    note = f"{before_mb:.0f} to {after_mb:.0f} MB, in {took_s:.0f} s"
    return [
        Figure("1,000 connections: processes of sessions grow by", grown, 5, "%", note),
        Figure("1,000 connections: all of the cluster grows by", all_grown, 5, "%",
               f"{engine_mb:.0f} to {engine_after_mb:.0f} MB"),
    ]  # fmt: skip


async def _come_and_go(number: int) -> None:
    for _ in range(0, number, AT_ONCE):
        await leave(await _together(AT_ONCE))


async def _together(number: int) -> list[ClusterClient]:
    talkers = [ClusterClient(PORT) for _ in range(number)]
    refused = [each for each in await asyncio.gather(*(t.connect() for t in talkers)) if each]
    if refused:
        raise RuntimeError(f"{len(refused)} of {number} were not let in: {refused[0]}")
    return talkers


def voice_killed(engine: RunningCluster) -> list[Figure]:
    """The voice has a process of its own, which is killed in the middle of a sentence."""
    return asyncio.run(_voice_killed(engine))


async def _voice_killed(engine: RunningCluster) -> list[Figure]:
    del engine
    (talker,) = await connected(PORT, 1)
    try:
        whole = await talker.ask()
        await talker.begin_asking("Once more?")
        await talker.first_sound()
        kill(replicas("tts")[0])
        killed_s = time.perf_counter()
        failed = await talker.answered()
        told_s = time.perf_counter() - killed_s
        again = await talker.ask("And now?")
        works_s = time.perf_counter() - killed_s
        tries = 1
        while again != "completed" and works_s < REPLACED_S:
            again = await talker.ask("And now?")
            works_s = time.perf_counter() - killed_s
            tries += 1
    finally:
        await leave([talker])
    if (whole, failed) != ("completed", "failed"):
        raise RuntimeError(f"an answer before was {whole}, the one without a voice {failed}")
    return [
        Figure("voice killed in a sentence: the answer is told as failed", told_s, 5, "s"),
        Figure("voice killed in a sentence: turns until one works", tries, 1, "",
               f"whole after {works_s:.1f} s"),
    ]  # fmt: skip


Part = Callable[[RunningCluster], list[Figure]]
