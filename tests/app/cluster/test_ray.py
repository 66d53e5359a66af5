"""The cluster itself, under Ray Serve (`--require cluster`), on models that cost nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence

import pytest

from s2s.bench.cluster.engine import Wanted

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]

ALLOWANCE = 20.0
"""Times the limits of the figures, which are for a machine that does nothing else: what is looked
at here is that it happens at all."""


def figures(parts: Sequence[str], *flags: str) -> dict[str, float]:
    """What the benchmark finds, in a process of its own: name -> value."""
    command = [sys.executable, "-m", "s2s.bench.cluster", "--parts", ",".join(parts), *flags]
    done = subprocess.run(command, capture_output=True, text=True, timeout=550, check=False)
    assert done.stdout.strip(), done.stderr
    told = json.loads(done.stdout.strip().splitlines()[-1])
    for each in told["figures"]:
        limit = each["limit"]
        assert each["value"] <= (limit * ALLOWANCE if limit else 0), (each, done.stderr)
    return {each["name"]: each["value"] for each in told["figures"]}


def test_every_place_is_taken_and_who_is_too_many_is_refused_at_once() -> None:
    found = figures(["admission"])
    assert "session N+1 refused" in found


def test_one_is_killed_and_replaced_and_its_clients_come_back_with_their_history() -> None:
    found = figures(["killed"])
    assert found["killed: token holders are back"] < 20


def test_all_are_replaced_without_losing_an_answer() -> None:
    found = figures(["redeployed"])
    assert found["redeployed: answers lost"] == 0
    assert found["redeployed: connections closed otherwise than 1012"] == 0


def test_a_voice_of_its_own_is_killed_in_a_sentence_and_the_next_turn_works() -> None:
    figures(["voice"])


def test_it_works_behind_the_proxy_that_every_system_has_too() -> None:
    figures(["admission", "redeployed"], "--proxy", "python")


def test_the_fakes_are_the_cluster_that_is_meant() -> None:
    assert Wanted().config().cluster.replicas == 2
