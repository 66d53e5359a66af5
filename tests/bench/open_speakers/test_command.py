"""The report of conversations beside an open loudspeaker: rates, intervals, and what is kept."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.bench.open_speakers.command import Kept, interval, report
from s2s.bench.open_speakers.conversation import SceneOutcome
from s2s.bench.open_speakers.material import SELF_ANSWERS


def outcome(**changes: object) -> SceneOutcome:
    usual: dict[str, object] = {
        "right": True, "answers": 3, "self_interrupted": 0, "ducks": 0, "stop_ms": 300.0,
        "heard": "stop", "half_duplex": False, "delay_error_ms": None, "residual_db": -30.0,
    }  # fmt: skip
    return SceneOutcome(**(usual | changes))  # type: ignore[arg-type]


def scene(kind: str, number: int = 0, *, warm: bool = False) -> SimpleNamespace:
    return SimpleNamespace(kind=kind, number=number, warm=warm)


def test_an_interval_is_wilsons() -> None:
    assert interval(0, 0) == (0.0, 1.0)
    low, high = interval(5, 100)
    assert (low, high) == (pytest.approx(0.0215, abs=1e-3), pytest.approx(0.1118, abs=1e-3))


@given(st.integers(1, 500), st.data())
def test_an_interval_holds_the_rate_and_narrows(of: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, of))
    low, high = interval(count, of)
    assert 0 <= low <= count / of + 1e-12
    assert count / of - 1e-12 <= high <= 1
    wider_low, wider_high = low, high
    low, high = interval(10 * count, 10 * of)
    assert high - low < wider_high - wider_low


def test_rates_are_told_by_kind_and_answer(capsys: pytest.CaptureFixture[str]) -> None:
    done = [
        (scene("nobody"), outcome(self_interrupted=1, ducks=2)),
        (scene("stop"), outcome()),
        (scene("stop", warm=True), outcome(right=False, stop_ms=None)),
    ]
    found = report(done)  # type: ignore[arg-type]
    assert found["answers interrupted by themselves"] == pytest.approx(1 / SELF_ANSWERS)
    assert found["ducked by themselves"] == pytest.approx(2 / SELF_ANSWERS)
    assert (found["stop, first answer"], found["stop, later answer"]) == (1.0, 0.0)
    assert "answers interrupted by themselves" in capsys.readouterr().out


def test_what_was_held_is_not_held_again(tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    held = outcome(stop_ms=123.0)
    Kept(path).put(scene("stop", 4), held)  # type: ignore[arg-type]
    kept = Kept(path)
    assert kept.get(scene("stop", 4)) == held  # type: ignore[arg-type]
    assert kept.get(scene("stop", 5)) is None  # type: ignore[arg-type]
    assert Kept(None).put(scene("stop", 4), held) == held  # type: ignore[arg-type]
