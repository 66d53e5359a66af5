"""The load benchmark's figures from what was seen; how long anything takes is not looked at."""

from __future__ import annotations

import json
import math
import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager

import psutil
import pytest

from s2s.bench.load import run
from s2s.bench.load.run import ClientsProcess, LoadRow, ServerProcess

ROW = LoadRow(1, 1, 9, 1.0, 2.0, 0.0, 0.01, 0.5, 5.0, 0.1, 0)


class Clients:
    """Clients that saw what they are told to."""

    latencies_ms: tuple[float, ...] = ()
    errors: tuple[str, ...] = ()
    began: tuple[tuple[int, int], ...] = ()

    def __init__(self, port: int, sessions: int, talking: int, seconds: float) -> None:
        type(self).began += ((sessions, talking),)

    def seen(self) -> tuple[list[float], list[str]]:
        return list(self.latencies_ms), list(self.errors)


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> type[Clients]:
    """The clients of a server that is this process."""

    class Here(Clients):
        pass

    @contextmanager
    def served(sessions: int) -> Generator[ServerProcess]:
        yield ServerProcess(psutil.Process(os.getpid()), 9)

    def silent(server: ServerProcess, sessions: int, seconds: float) -> tuple[float, float, float]:
        return 0.01, 0.5, 5.0

    monkeypatch.setattr(run, "served", served)
    monkeypatch.setattr(run, "silent", silent)
    monkeypatch.setattr(run, "ClientsProcess", Here)
    return Here


def test_a_tenth_talks_and_what_many_add_is_counted_from_one_alone(clients: type[Clients]) -> None:
    clients.latencies_ms = tuple(float(n) for n in range(1, 101))
    alone = run.measured(1, 1.0, None)
    assert (alone.sessions, alone.talking, alone.answers, alone.added_p95_ms) == (1, 1, 100, 0.0)
    many = run.measured(50, 1.0, 10.0)
    assert (many.talking, many.silent_cpu, many.silent_mb, many.threads) == (5, 0.01, 0.5, 5.0)
    assert many.p50_ms == pytest.approx(50, abs=1)
    assert many.p95_ms == pytest.approx(95, abs=1)
    assert many.added_p95_ms == many.p95_ms - 10.0
    assert clients.began == ((1, 1), (1, 1), (1, 1), (50, 5))  # somebody talks first


def test_where_nobody_was_answered_there_is_no_latency(
    clients: type[Clients], capsys: pytest.CaptureFixture[str]
) -> None:
    clients.errors = ("refused", "refused", "gone")
    row = run.measured(10, 1.0, None)
    assert math.isnan(row.p50_ms)
    assert math.isnan(row.p95_ms)
    assert row.errors == 3
    assert capsys.readouterr().err.splitlines() == ["note: refused", "note: gone"]


def test_what_clients_print_last_is_what_they_saw(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    class Process:
        def __init__(self, command: list[str], **_: object) -> None:
            asked.extend(command)

        def communicate(self) -> tuple[str, None]:
            return 'a warning\n{"latencies_ms": [1, 2.5], "turns": 2, "errors": ["x"]}\n', None

    monkeypatch.setattr(subprocess, "Popen", Process)
    assert ClientsProcess(8765, 20, 2, 1.5).seen() == ([1.0, 2.5], ["x"])
    assert asked[-8:] == [
        "--port",
        "8765",
        "--sessions",
        "20",
        "--talking",
        "2",
        "--seconds",
        "1.5",
    ]


def test_a_servers_process_is_looked_at() -> None:
    server = ServerProcess(psutil.Process(os.getpid()), 9)
    assert server.memory_mb() > 1
    assert server.cpu_s() > 0


@pytest.mark.parametrize(("errors", "code"), [(0, 0), (2, 1)])
def test_a_table_and_last_one_line_of_json(
    errors: int, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[tuple[int, float | None]] = []

    def measured(sessions: int, seconds: float, alone_p95_ms: float | None) -> LoadRow:
        asked.append((sessions, alone_p95_ms))
        return LoadRow(sessions, 1, 9, 1.0, 2.0, 0.0, 0.01, 0.5, 5.0, 0.1, errors)

    talked = [(10, 80.0, 9), (20, 81.0, 9), (30, 81.5, 9)]

    def long_talk(turns: int) -> list[tuple[int, float, int]]:
        return talked[: turns // 10]

    monkeypatch.setattr(run, "measured", measured)
    monkeypatch.setattr(run, "long_talk", long_talk)
    assert run.main(["--sessions", "1,20", "--turns", "30"]) == code
    head, one, twenty, memory, line = capsys.readouterr().out.strip().splitlines()
    assert asked == [(1, None), (20, 2.0)]
    assert head.split()[0] == "sessions"
    assert (one.split()[0], twenty.split()[0]) == ("1", "20")
    assert memory == "81.0 MB after 20 turns, 81.5 after 30; 9 threads"
    told = json.loads(line)
    assert [row["sessions"] for row in told["rows"]] == [1, 20]
    assert told["talked"] == [list(each) for each in talked]
    assert told["conditions"]["cores"] >= 1
