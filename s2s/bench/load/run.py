"""How many sessions a server carries: 10, 50 and 200 of them send sound, a tenth talks.

    python -m s2s.bench.load --sessions 1,10,50,200 --turns 10000 --picture load.png

The models take no time, so what an answer takes is the server's: from the message in which the turn
ended to the first sound of the answer at the client. What that is with one session alone is the
measure; what it is more with many is added by them. Server and clients are processes of their own
on the same machine, so the clients take from the server what they need themselves.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from s2s.bench.conditions import Conditions
from s2s.bench.entry import LackingError
from s2s.bench.load.clients import STAGGER_S
from s2s.bench.load.rows import LoadRow
from s2s.core.metrics import percentile
from s2s.core.untyped import is_list, is_object

SETTLE_S = 2.0
SILENT_S = 8.0
FEW = 3
"""Fewer who talk than this hurry."""
CYCLE_S, HURRIED_CYCLE_S = 3.6, 1.5
"""From the first word of one who talks to the next."""
WARM_S = 6.0
"""Somebody talks first, so that nothing is measured that happens once."""


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """A running server."""

    process: psutil.Process
    port: int

    def cpu_s(self) -> float:
        """Seconds of computing so far."""
        times = self.process.cpu_times()
        return times.user + times.system

    def memory_mb(self) -> float:
        """What it holds now."""
        return self.process.memory_info().rss / 1e6


@contextmanager
def served(sessions: int, profile: str | None = None) -> Generator[ServerProcess]:
    """A server for so many sessions, in a process of its own; on models that take no time, or on
    those of a profile. Raises LackingError when it ended before it served."""
    command = [sys.executable, "-m", "s2s.bench.load.served", "--sessions", str(sessions)]
    command += ["--profile", profile] if profile is not None else []
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            port = process.stdout.readline()
            if not port:
                raise LackingError(f"the server ended with {process.wait()}, and said above why")
            yield ServerProcess(psutil.Process(process.pid), int(port))
        finally:
            process.stdin.close()


class ClientsProcess:
    """Clients that run, in a process of their own."""

    def __init__(self, port: int, sessions: int, talking: int, seconds: float) -> None:
        numbers = {"port": port, "sessions": sessions, "talking": talking, "seconds": seconds}
        flags = [text for name, value in numbers.items() for text in (f"--{name}", str(value))]
        hurry = ["--hurry"] if 0 < talking < FEW else []
        command = [sys.executable, "-m", "s2s.bench.load.clients", *hurry, *flags]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def seen(self) -> tuple[list[float], list[str]]:
        """Latencies in ms and errors, once they have ended."""
        out, _ = self._process.communicate()
        told: object = json.loads(out.strip().splitlines()[-1])
        assert is_object(told)
        latencies, errors = told["latencies_ms"], told["errors"]
        assert is_list(latencies)
        assert is_list(errors)
        return [float(str(each)) for each in latencies], [str(each) for each in errors]


def silent(server: ServerProcess, sessions: int, seconds: float) -> tuple[float, float, float]:
    """(share of a core, MB, threads) of one session of so many that say nothing."""
    before_mb, before_threads = server.memory_mb(), server.process.num_threads()
    clients = ClientsProcess(server.port, sessions, 0, seconds + 2 * SETTLE_S + sessions / 50)
    _wait_until(lambda: server.process.num_threads() > before_threads, 30.0)
    time.sleep(SETTLE_S + sessions / 50)
    start_s, start_cpu_s = time.perf_counter(), server.cpu_s()
    time.sleep(seconds)
    cpu = (server.cpu_s() - start_cpu_s) / (time.perf_counter() - start_s) / sessions
    held_mb = (server.memory_mb() - before_mb) / sessions
    threads = (server.process.num_threads() - before_threads) / sessions
    clients.seen()
    return cpu, held_mb, threads


def measured(sessions: int, seconds: float, alone_p95_ms: float | None) -> LoadRow:
    """One row: the same server first with silent sessions, then with talking ones."""
    talking = max(1, sessions // 10)
    with served(sessions) as server:
        ClientsProcess(server.port, 1, 1, min(seconds, WARM_S)).seen()
        cpu, held_mb, threads = silent(server, sessions, min(seconds, SILENT_S))
        start_s, start_cpu_s = time.perf_counter(), server.cpu_s()
        latencies, errors = ClientsProcess(server.port, sessions, talking, seconds).seen()
        cores = (server.cpu_s() - start_cpu_s) / (time.perf_counter() - start_s)
    for error in dict.fromkeys(errors):
        print(f"note: {error}", file=sys.stderr)
    p95_ms = percentile(latencies, 0.95) if latencies else float("nan")
    p50_ms = percentile(latencies, 0.5) if latencies else float("nan")
    added_ms = 0.0 if alone_p95_ms is None else p95_ms - alone_p95_ms
    return LoadRow(sessions, talking, len(latencies), p50_ms, p95_ms, added_ms, cpu, held_mb,
                   threads, cores, len(errors))  # fmt: skip


def seconds_for(answers: int, talking: int) -> float:
    """How long so many must talk for so many answers."""
    cycle_s = HURRIED_CYCLE_S if talking < FEW else CYCLE_S
    return 2.0 + talking * STAGGER_S + answers * cycle_s / talking


def long_talk(turns: int) -> list[tuple[int, float, int]]:
    """(turns so far, MB, threads) along one session of so many typed turns."""
    from s2s.bench.load.typed import typed_turns

    with served(2) as server:
        return [
            (done, server.memory_mb(), server.process.num_threads())
            for done in typed_turns(server.port, turns, max(1, turns // 20))
        ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print a table and one JSON line."""
    parser = argparse.ArgumentParser(description="how many sessions a server carries")
    parser.add_argument("--sessions", default="1,10,50,200", help="default: %(default)s")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each measurement, at least")
    parser.add_argument("--answers", type=int, default=60, help="to be timed in each, at least")
    parser.add_argument("--turns", type=int, default=0, help="also so many typed turns in a row")
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args(arguments)
    rows: list[LoadRow] = []
    print(_HEAD)
    for sessions in map(int, options.sessions.split(",")):
        seconds = max(options.seconds, seconds_for(options.answers, max(1, sessions // 10)))
        row = measured(sessions, seconds, rows[0].p95_ms if rows else None)
        rows.append(row)
        print(_line(row), flush=True)
    talked = long_talk(options.turns) if options.turns else []
    if talked:
        (first, first_mb, _), (last, last_mb, threads) = talked[1], talked[-1]
        print(f"{first_mb:.1f} MB after {first} turns, {last_mb:.1f} after {last}; "
              f"{threads} threads")  # fmt: skip
    if options.picture is not None:
        from s2s.bench.load.picture import draw_load

        draw_load(options.picture, rows, talked)
    print(json.dumps({"rows": [asdict(row) for row in rows], "talked": talked,
                      "conditions": asdict(Conditions.here())}))  # fmt: skip
    return 1 if any(row.errors for row in rows) else 0


_HEAD = (
    "sessions  talk  answers  p50 ms  p95 ms  added p95  silent: core %     MB  threads"
    "  server cores  errors"
)


def _line(row: LoadRow) -> str:
    return (
        f"{row.sessions:8}  {row.talking:4}  {row.answers:7}  {row.p50_ms:6.1f}  "
        f"{row.p95_ms:6.1f}  {row.added_p95_ms:9.1f}  {100 * row.silent_cpu:14.2f}  "
        f"{row.silent_mb:5.2f}  {row.threads:7.1f}  {row.server_cpu:12.2f}  {row.errors:6}"
    )


def _wait_until(happened: Callable[[], bool], most_s: float) -> None:
    until_s = time.perf_counter() + most_s
    while not happened() and time.perf_counter() < until_s:
        time.sleep(0.05)
