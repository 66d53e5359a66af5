"""The benchmark of a cluster prints what its parts find, and says whether all is held. No Ray."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from s2s.bench.cluster import run
from s2s.bench.cluster.engine import RunningCluster, Wanted
from s2s.bench.cluster.fakes import AT_ONCE, WITH_SLOW_VOICE
from s2s.bench.cluster.parts import Figure, Part
from s2s.bench.cluster.rows import ClusterRow


class Deployed(RunningCluster):
    """A cluster that only notes how it is deployed."""

    def deploy(self, **changes: object) -> float:
        deployed.append(changes)
        return 0.0


def part(name: str) -> Part:
    """One that finds the same figure whatever it is given."""

    def found(cluster: RunningCluster) -> list[Figure]:
        return [Figure(name, 1.0, 2, "ms")]

    return found


deployed: list[dict[str, object]] = []


@pytest.fixture(autouse=True)
def fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def engine(wanted: Wanted) -> Generator[RunningCluster]:
        yield Deployed(wanted)

    deployed.clear()
    monkeypatch.setattr(run, "engine", engine)
    monkeypatch.setattr(run, "memory_mb", lambda *_: 900.0)  # pyright: ignore
    monkeypatch.setattr(run, "replicas", lambda: [1, 2])
    monkeypatch.setattr(run, "SETTLE_S", 0.0)
    monkeypatch.setattr(run, "PARTS", {name: part(name) for name in run.PARTS})


def test_every_part_is_measured_on_the_processes_it_needs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run.main([]) == 0
    lines = capsys.readouterr().out.strip().splitlines()
    names = [each["name"] for each in json.loads(lines[-1])["figures"]]
    assert names[2:] == list(run.PARTS)
    assert all(name in "\n".join(lines[:-1]) for name in names)
    assert deployed == [
        {"made_by": WITH_SLOW_VOICE},
        {"made_by": WITH_SLOW_VOICE, "voice": True},
    ]
    assert Wanted().made_by == AT_ONCE


def test_only_some_can_be_asked_for_and_what_is_above_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run, "memory_mb", lambda *_: 2000.0)  # pyright: ignore
    assert run.main(["--parts", "admission"]) == 1
    out = capsys.readouterr().out
    assert "ABOVE" in out
    assert "latency" not in out


def test_rows_are_printed_as_a_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row = ClusterRow(2, 10, 0.5, 1.0, 0.1, 1000.0, 260.0)
    monkeypatch.setattr(run, "measured_rows", lambda _: [row])  # pyright: ignore
    assert run.main(["--rows"]) == 0
    out = capsys.readouterr().out.strip().splitlines()
    assert out[2].startswith("| 2 | 10 |")
    assert json.loads(out[-1])["rows"][0]["processes"] == 2
