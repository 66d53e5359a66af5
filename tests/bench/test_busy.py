"""Conversations beside busy programs: the sums, the programs, and the measurement on request."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import psutil
import pytest

from s2s.bench import busy
from s2s.bench.busy import BusyRow, busy_programs

QUIET = BusyRow(0, 22, 22, first_token_ms=200.0, first_sound_ms=250.0, heard_ms=350.0)


def test_a_figure_may_grow_with_the_programs_beside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(busy, "cores", lambda: 2)
    beside = replace(QUIET, busy=1)
    assert beside.allowed(QUIET) == pytest.approx((1.5 * 1.3 * 200, 1.5 * 1.3 * 250))
    assert beside.keeps(QUIET)
    assert replace(beside, first_token_ms=389.0, first_sound_ms=487.0).keeps(QUIET)
    assert not replace(beside, first_token_ms=391.0).keeps(QUIET)
    assert not replace(beside, first_sound_ms=488.0).keeps(QUIET)
    assert not replace(beside, answered=21).keeps(QUIET)


def test_the_programs_run_in_sessions_of_their_own_and_are_gone_afterwards() -> None:
    before = set(psutil.Process().children())
    with busy_programs(2):
        running = set(psutil.Process().children()) - before
        assert len(running) == 2
        if hasattr(os, "getsid"):
            assert {os.getsid(each.pid) for each in running} == {each.pid for each in running}
    assert not set(psutil.Process().children()) - before


def test_the_programs_are_gone_when_the_conversation_fails() -> None:
    before = set(psutil.Process().children())
    with pytest.raises(ZeroDivisionError), busy_programs(1):
        raise ZeroDivisionError
    assert not set(psutil.Process().children()) - before


def test_a_row_that_is_too_slow_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = {0: QUIET, 1: replace(QUIET, busy=1, first_sound_ms=9999.0)}
    monkeypatch.setattr(busy, "converse", lambda count, turns, settings: rows[count])
    assert busy.main(["--busy", "0", "1"]) == 1
    told = capsys.readouterr().out.strip().splitlines()
    assert "too slow" in told[2]
    assert json.loads(told[-1])["good"] is False


@pytest.mark.full
@pytest.mark.timeout(3600)
@pytest.mark.skipif(not os.environ.get("TESTS_BUSY"), reason="set TESTS_BUSY=1 on a quiet machine")
def test_answers_come_in_time_beside_busy_programs() -> None:
    assert busy.main(["--turns", "22"]) == 0
