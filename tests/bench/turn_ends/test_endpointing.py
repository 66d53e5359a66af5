"""Policies of the end of a turn over recorded pauses: who is cut off, and who waits how long."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from s2s.bench.turn_ends.endpointing import (
    MS,
    curve,
    draw,
    judge,
    policy,
    print_table,
    rule_before,
    silence_curve,
)
from s2s.bench.turn_ends.evidence import WINDOW_MS, HeardPause
from s2s.turns.grace import GraceConfig

END = HeardPause("t", "end", 1000, 1000 + 64 * MS, None, 1000, {WINDOW_MS: 6.0}, "It is late.", 4.0)
MIDDLE = HeardPause(
    "t", "cut", 500, 500 + 64 * MS, 500 + 800 * MS, 1000, {WINDOW_MS: -6.0}, "I would", -4.0
)


def test_a_wait_cuts_what_comes_back_later_and_delays_the_end() -> None:
    quick = judge([MIDDLE, END], lambda _: 300.0, 0.0)
    assert (quick.cut_pauses, quick.cut_turns, quick.median_ms) == (1.0, 1.0, 300.0)
    slow = judge([MIDDLE, END], lambda _: 1200.0, 0.0)
    assert (slow.cut_pauses, slow.median_ms, slow.over_1s) == (0.0, 1200.0, 1.0)


def test_natural_pauses_are_told_apart() -> None:
    natural = replace(MIDDLE, kind="natural", turn="u")
    found = judge([MIDDLE, natural, END], lambda pause: 100.0 if pause.turn == "u" else 2000.0, 0.0)
    assert (found.cut_natural, found.cut_pauses, found.cut_turns) == (1.0, 0.5, 0.5)


def test_evidence_takes_its_time() -> None:
    assert judge([END], lambda _: 0.0, 150.0).median_ms == 64.0 + 150.0


def test_the_stages_own_policy_goes_by_its_witnesses() -> None:
    config = GraceConfig()
    every = policy(config)
    assert every(END) < 500 < every(MIDDLE)
    contradicted = replace(END, sound={WINDOW_MS: -6.0})
    assert policy(config, ("sound", "words"))(contradicted) > policy(config, ("words",))(END)
    assert rule_before(END) < rule_before(MIDDLE)


def test_curves_are_in_the_order_of_their_waits() -> None:
    pauses = [MIDDLE, END]
    silent = silence_curve(pauses)
    assert [each.median_ms for each in silent] == sorted(each.median_ms for each in silent)
    biased = curve(pauses, GraceConfig(), ("sound", "words", "model"), 0.0)
    assert [each.mean_ms for each in biased] == sorted(
        (each.mean_ms for each in biased), reverse=True
    )


def test_they_are_shown_and_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    found = judge([MIDDLE, END], lambda _: 300.0, 0.0)
    print_table({"three hundred": found})
    assert "three hundred" in capsys.readouterr().out
    draw(tmp_path / "x.png", {"silence": silence_curve([MIDDLE, END])}, {"now": found})
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
